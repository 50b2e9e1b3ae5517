"""Which engine reads a source, and what may be said in expressions about its rows."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from deniable.engines.frames import is_frame
from deniable.errors import ParameterError
from deniable.query.expressions import Expression

if TYPE_CHECKING:
    from deniable.engines.engine import Engine
    from deniable.query.source import Source


def opened(
    source: Source, *, memory_limit: str | None, threads: int | None
) -> AbstractContextManager[Engine]:
    """Return the engine for a source, to be entered: DuckDB, but for a Spark frame its own session.

    Raises:  ParameterError: a setting that is DuckDB's, for Spark.
    """
    if (frame := frame_of(source)) is None:
        from deniable.engines.duckdb import DuckDB

        return DuckDB(memory_limit=memory_limit, threads=threads)
    from deniable.engines.spark import Spark
    from deniable.query.dialects.spark import written

    for name, given in (("memory_limit", memory_limit), ("threads", threads)):
        if given is not None:
            fix = "Leave it out, and set up the Spark session instead."
            raise ParameterError(name, given, "means nothing where Spark reads the rows", fix)
    return Spark(frame.sparkSession, written)


def check_expression(source: Source, expression: Expression, argument: str) -> None:
    """Refuse an expression that the engine of this source cannot answer exactly.

    Raises:  ExpressionError: with the place and a fix.
    """
    if frame_of(source) is not None:
        from deniable.query.dialects.offered import check

        check(expression, argument)


def frame_of(source: Source) -> Any:
    """Return the Spark frame behind a source; None if there is none."""
    frame = getattr(source, "frame", None)
    return frame if is_frame(frame) else None
