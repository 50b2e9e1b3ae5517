"""What every engine does for the package: it runs SQL on private data, and gives whole numbers back.

Statements and queries are sqlglot trees of DuckDB's dialect. An engine that is not DuckDB is handed what
writes them in its own.

A table in a tree may have a second name, `with_care`: the same rows, read so that no value in them can make
the reading fail. An engine may try the quick one first in a statement that leaves nothing behind when it
fails, and must read with care where rows leave it one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from sqlglot import exp

if TYPE_CHECKING:
    import pyarrow as pa

Result = TypeVar("Result")
Tree = TypeVar("Tree", bound=exp.Expression)

_CARE = "deniable_care"


def quick(table: exp.Table, careful: str) -> exp.Table:
    """Return the table, marked: `careful` is the name of the same rows, read with care."""
    table.meta[_CARE] = careful
    return table


def with_care(tree: Tree) -> Tree:
    """Return the tree with every table that was marked by `quick` read with care instead."""
    if not any(_CARE in table.meta for table in tree.find_all(exp.Table)):
        return tree
    careful = tree.copy()
    for table in [found for found in careful.find_all(exp.Table) if _CARE in found.meta]:
        table.replace(exp.to_table(table.meta[_CARE]))
    return careful


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
