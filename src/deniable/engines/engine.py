"""What every engine does for the package: it runs SQL on private data, and gives whole numbers back.

Statements and queries are sqlglot trees of DuckDB's dialect. An engine that is not DuckDB is handed what
writes them in its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

Result = TypeVar("Result")


class Engine(Protocol):
    """A place where tables are made and read. Its failures are `EngineError` with one fixed message."""

    def execute(self, statement: exp.Expression | str, *, once: bool = False) -> None:
        """Run one statement: CREATE TEMPORARY TABLE ... AS, INSERT, DROP TABLE, ALTER TABLE ... RENAME TO.

        once: a single query will read the table that is made.
        """
        ...

    def stream(self, query: exp.Expression | str, *, few: bool = False) -> pa.RecordBatchReader:
        """Return the rows of a query as they are computed.

        few: they certainly fit in this process's memory at once. Otherwise they may be many millions.
        """
        ...

    def describe(self, query: exp.Query) -> dict[str, str]:
        """Return the columns of a query and their types, as DuckDB calls them. No row is read."""
        ...

    def view(self, stream: object) -> str:
        """Give a table that this engine can read a name that SQL can use; return the name."""
        ...

    def run(self, work: Callable[[], Result]) -> Result:
        """Do work on private data; a failure is an EngineError."""
        ...
