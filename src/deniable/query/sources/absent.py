"""A table that is not here: names and types are known, and nothing can be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from deniable.errors import ParameterError, SourceError
from deniable.query.schema import Column, Schema, Type, distinct

if TYPE_CHECKING:
    from deniable.engines.engine import Engine


@dataclass(frozen=True, slots=True)
class Absent:
    """What is said of data that are elsewhere: enough to plan, not to release."""

    label: str
    schema: Schema
    assumed: tuple[str, ...] = ()

    def rows(self, engine: Engine, columns: Sequence[str]) -> NoReturn:  # noqa: ARG002
        """Raise SourceError."""
        raise self._nothing()

    def check_unchanged(self) -> NoReturn:
        """Raise SourceError: asked before anything is paid for."""
        raise self._nothing()

    def _nothing(self) -> SourceError:
        return SourceError(
            f"There are no rows of {self.label}, only the names and types of its columns. "
            "Protect the data themselves to release something."
        )


def from_schema(types: Mapping[str, Type], other: Mapping[str, Type]) -> Absent:
    """Return the source of a declared schema.

    Raises:  ParameterError: there are no columns, or `types=` is given too. SourceError: impossible names.
    """
    if other:
        raise ParameterError("types", dict(other), "is given twice", "Write the types into the schema.")
    label = "a table that is not here"
    if not types:
        fix = "Write for example {'person': 'text', 'age': 'integer'}."
        raise ParameterError("source", {}, "names no columns", fix)
    distinct(tuple(types), label)
    return Absent(label, Schema(tuple(Column(name, kind, declared=True) for name, kind in types.items())))
