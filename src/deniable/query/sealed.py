"""The un-noised result, which nobody should look at: it can be opened once, by what adds the noise.

`batches`, `schema` and `coverage` are read by `query/run.py` alone (a test reads the imports). Showing,
comparing, copying or pickling a `Sealed` shows nothing or is refused, so that no log, traceback or notebook
prints private counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import pyarrow as pa


class Sealed:
    """The exact integers of a question, bounded and without noise.

    `batches()` streams Arrow batches: key columns g0, g1, ..., then measures m0, m1, ... as int64 within
    +-2**62. With declared keys there is one row for each, in their order. Without group columns there is one
    row. Otherwise the order of rows is whatever the engine made of private data and must not be published:
    whoever publishes sorts.
    `coverage`: how many units fall in each class of m, a tuple, or None if it was not asked for.
    `schema`: names and types of the columns; they follow from the question alone.
    """

    __slots__ = ("_coverage", "_reader", "_schema")

    def __init__(self, reader: pa.RecordBatchReader, coverage: tuple[int, ...] | None) -> None:
        self._reader: pa.RecordBatchReader | None = reader
        self._coverage = coverage
        self._schema: pa.Schema = reader.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the batches, once: a second noise on the same numbers would be a second release.

        Raises:  RuntimeError: they were taken before. EngineError: the engine failed; why is private.
        """
        if self._reader is None:
            raise RuntimeError("A sealed result can be opened once. Ask the question again.")
        reader, self._reader = self._reader, None
        return iter(reader)

    @property
    def schema(self) -> pa.Schema:
        """The columns of `batches()`."""
        return self._schema

    @property
    def coverage(self) -> tuple[int, ...] | None:
        """Units in each class of m, exact."""
        return self._coverage

    def __repr__(self) -> str:
        return "<Sealed: un-noised, not to be shown>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("A sealed result holds private counts: it cannot be pickled or copied.")
