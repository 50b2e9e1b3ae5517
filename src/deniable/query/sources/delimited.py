"""CSV and its like, read as text, one physical line a row, each line split by itself in SQL.

The first line names the columns: it is public. Everything below it is private, so nothing below it can
cause an error, a type, or the loss of another line:

| line                                    | becomes                                                 |
|-----------------------------------------|---------------------------------------------------------|
| as many fields as the header            | a row                                                   |
| more or fewer fields                    | dropped                                                 |
| `"a ""b"" c"`                           | the field `a "b" c`                                     |
| a quote inside a field without quotes   | the line is dropped                                     |
| a quote that does not end in its line   | the line is dropped, and the next line is a line again  |
| an empty field, quoted or not           | NULL                                                    |
| blank                                   | dropped                                                 |

Blanks around a field belong to it, and blanks around the name of a column do not.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from deniable.engines.engine import Engine
from deniable.errors import ParameterError, SourceError
from deniable.query.schema import Column, Schema, Type, distinct
from deniable.query.sources.casts import call, parsed, text
from deniable.query.sources.files import File, check_unchanged
from deniable.query.sources.lines import MARK, Lines, first_line
from deniable.query.sources.select import chosen, quoted, select

_LONGEST_HEADER = 1 << 20
_FIELDS = r'(?:\r(?:"(?:[^"]|"")*"|[^"\r]*))*'
_USUAL = (",", ";", "\t", "|")


@dataclass(frozen=True)
class Delimited:
    """Files with one header, split at `delimiter`. See the table above for what is a row."""

    label: str
    schema: Schema
    files: tuple[File, ...]
    delimiter: str

    @property
    def assumed(self) -> tuple[str, ...]:
        fields = len(self.schema.columns)
        return (
            f"The first line of {self.label} and the types declared for it are public.",
            f"A row is one line of UTF-8 text with {fields} field{'s' if fields != 1 else ''}; "
            "any other line is no row, and how many there are is not said.",
        )

    def rows(self, engine: Engine, columns: Sequence[str]) -> exp.Select:
        """Return the SELECT of these columns; each scan reads the files anew."""
        asked = chosen(self.schema, columns)
        lines = exp.to_table(engine.view(Lines(self.files, header=True, delimiter=self.delimiter)))
        fields = exp.alias_(call("string_split", quoted("line"), _mark()), "field", quoted=True)
        rows = exp.select(fields).from_(lines).where(self._is_row())
        return select(asked, self._value, rows.subquery("lines"))

    def check_unchanged(self) -> None:
        """Raise SourceError if a file is no longer what it was when it was opened."""
        check_unchanged(self.files)

    def _is_row(self) -> exp.Expression:
        """Return whether the line is as many fields as the header has, each quoted as a whole or not at all.

        Proof that this is the pattern of the table: (1) `Lines` marks the delimiters with an even number of
        quotes before them. (2) In a line that is a row, these are those between fields: a field holds an
        even number of quotes. (3) A line that passes is a row: a field without quotes is preceded by an
        even number, so that every delimiter in it would have been marked and ended it.
        """
        bare = call("replace", quoted("line"), _mark(), text(""))
        marks = exp.Sub(this=call("strlen", quoted("line")), expression=call("strlen", bare))
        count = exp.EQ(this=marks, expression=exp.Literal.number(len(self.schema.columns) - 1))
        whole = call("regexp_full_match", call("concat", _mark(), quoted("line")), text(_FIELDS))
        fields = exp.Case().when(call("contains", quoted("line"), text('"')), whole).else_(exp.true())
        filled = exp.NEQ(this=quoted("line"), expression=text(""))
        return exp.And(this=exp.And(this=filled, expression=count), expression=fields)

    def _value(self, column: Column) -> exp.Expression:
        place = self.schema.columns.index(column) + 1
        field = call("list_extract", quoted("field"), exp.Literal.number(place))
        inner = call("array_slice", field.copy(), exp.Literal.number(2), exp.Literal.number(-2))
        plain = call("replace", inner, text('""'), text('"'))
        bare = exp.Case().when(call("starts_with", field.copy(), text('"')), plain).else_(field)
        return parsed(call("nullif", bare, text("")), column.type)


def _mark() -> exp.Expression:
    return call("chr", exp.Literal.number(ord(MARK)))


def delimited(
    files: tuple[File, ...], label: str, types: Mapping[str, Type], delimiter: str | None
) -> Delimited:
    """Return the source of files which share one header.

    Raises:  ParameterError: delimiter or types. SourceError: a header that cannot be used.
    """
    mark = _delimiter(files[0], delimiter)
    names = _header(files[0], mark)
    for file in files[1:]:
        if _header(file, mark) != names:
            raise SourceError(f"The headers of {files[0].name} and {file.name} differ. Read them one by one.")
    own = Schema(tuple(Column(name, Type.TEXT) for name in names))
    wanted = {own.find(name, "types").name: kind for name, kind in types.items()}
    columns = (Column(name, wanted.get(name, Type.TEXT), name in wanted) for name in names)
    return Delimited(label, Schema(tuple(columns)), files, mark)


def _delimiter(file: File, delimiter: object) -> str:
    if delimiter is None:
        return "\t" if file.ending in (".tsv", ".tab") else ","
    if (
        isinstance(delimiter, str)
        and re.fullmatch(r"[\t -~]", delimiter)
        and not re.match(r'["\w]', delimiter)
    ):
        return delimiter
    fix = "Write one character such as ',', ';' or '\\t'; not a letter, digit or quote."
    raise ParameterError("delimiter", delimiter, "cannot separate fields", fix)


def _header(file: File, delimiter: str) -> tuple[str, ...]:
    line = _first_line(file).rstrip("\r")
    if not line.strip():
        raise SourceError(f"{file.name} is empty: its first line must name the columns.")
    if "\r" in line:
        raise SourceError(f"The lines of {file.name} end in a bare CR. Save it with ordinary line ends.")
    mark = re.escape(delimiter)
    field = f'{mark}("(?:[^"]|"")*"|[^"{mark}]*)'
    if not re.fullmatch(f"(?:{field})*", delimiter + line):
        raise SourceError(f'The first line of {file.name} has a stray quote. Quote names as "a ""b"" c".')
    fields = re.findall(field, delimiter + line)
    if len(fields) == 1 and not fields[0].startswith('"'):
        _refuse_other_delimiter(file, fields[0], delimiter)
    names = tuple(_unquoted(field).strip() for field in fields)
    distinct(names, file.name)
    return names


def _first_line(file: File) -> str:
    try:
        line = first_line(file, _LONGEST_HEADER)
    except (OSError, EOFError, zlib.error):
        kind = "as gzip" if file.gzipped else "at all"
        line, problem = None, f"cannot be read {kind}"
    else:
        problem = "has a first line of more than 1 MiB, so it is no table of lines"
    if line is None:
        raise SourceError(f"{file.name} {problem}.")
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in line:
        raise SourceError(f"{file.name} is UTF-16 or UTF-32 text, or not text. Save it as UTF-8.")
    try:
        return line.decode()
    except UnicodeDecodeError:
        problem = "is not UTF-8 in its first line. Save it as UTF-8"
    raise SourceError(f"{file.name} {problem}.")


def _refuse_other_delimiter(file: File, only: str, delimiter: str) -> None:
    best = max(_USUAL, key=only.count)
    if best != delimiter and best in only:
        raise SourceError(
            f"{file.name} has one column if {delimiter!r} separates; "
            f"its first line looks as if {best!r} did. Pass delimiter={best!r}."
        )


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if field.startswith('"') else field
