"""JSON lines, read as text: one object a line, with the columns that `types=` names.

The columns must be declared, because keys found in the rows would be private. Each line by itself:

| line                                        | becomes                                             |
|---------------------------------------------|-----------------------------------------------------|
| an object                                   | a row; keys that are not declared do not exist      |
| malformed, an array, a number, blank        | dropped                                             |
| a key that is missing, or null              | NULL                                                |
| a key twice                                 | the first one counts                                |
| an array or object as a value               | its JSON text, where text is declared; else NULL    |

Keys are matched exactly. Proof that a line touches itself alone: `Lines` separates them, and every
function below is total: `doc` is NULL unless the line is JSON, and each works on `doc`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from deniable.engines.engine import Engine
from deniable.errors import ParameterError
from deniable.query.schema import Column, Schema, Type, distinct
from deniable.query.sources.casts import call, cast, parsed, text
from deniable.query.sources.files import File, check_unchanged
from deniable.query.sources.lines import Lines
from deniable.query.sources.select import chosen, quoted, select


@dataclass(frozen=True)
class JsonLines:
    """Files of one object a line. See the table above for what is a row."""

    label: str
    schema: Schema
    files: tuple[File, ...]

    @property
    def assumed(self) -> tuple[str, ...]:
        return (
            f"The columns of {self.label} are those that were declared, which is public.",
            "A row is one line that is a JSON object; any other line is no row, "
            "and how many there are is not said.",
        )

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns; each scan reads the files anew."""
        asked = chosen(self.schema, columns)
        lines = exp.to_table(engine.view(Lines(self.files, header=False)))
        docs = exp.select(exp.alias_(cast(quoted("line"), "JSON"), "doc", quoted=True)).from_(lines)
        is_object = exp.EQ(this=call("json_type", quoted("doc")), expression=text("OBJECT"))
        paths = exp.Array(expressions=[text(_pointer(column.name)) for column in asked])
        field = call("json_extract_string", quoted("doc"), paths) if asked else exp.null()
        fields = exp.select(exp.alias_(field, "field", quoted=True)).from_(docs.subquery("docs"))

        def value(column: Column) -> exp.Expression:
            place = exp.Literal.number(asked.index(column) + 1)
            return parsed(call("list_extract", quoted("field"), place), column.type)

        return select(asked, value, fields.where(is_object).subquery("objects"))

    def check_unchanged(self) -> None:
        """Raise SourceError if a file is no longer what it was when it was opened."""
        check_unchanged(self.files)


def json_lines(files: tuple[File, ...], label: str, types: Mapping[str, Type]) -> JsonLines:
    """Return the source of files of JSON lines. No file is opened.

    Raises:  ParameterError: no types; without them the columns would have to be read from private rows.
    """
    if not types:
        raise ParameterError(
            "types", None, "must name the columns of JSON lines",
            "Write types={'person': 'text', 'age': 'integer'}: a key that is not named does not exist.",
        )  # fmt: skip
    distinct(tuple(types), "types")
    columns = (Column(name, kind, declared=True) for name, kind in types.items())
    return JsonLines(label, Schema(tuple(columns)), files)


def _pointer(key: str) -> str:
    """Return the JSON pointer (RFC 6901) of a key of the outermost object."""
    return "/" + key.replace("~", "~0").replace("/", "~1")
