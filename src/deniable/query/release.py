"""A release: the published table, what it promises, and the forms in which people take it away.

Everything in it may be published: numbers have their noise, the statement speaks of the plan and of the
released numbers alone.

`save` writes five files. In `table.csv` a text key that starts with = + - @ or a control character gets a
leading apostrophe: spreadsheets would run it as a formula. `table.parquet` holds keys as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from html import escape
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from deniable.errors import ParameterError
from deniable.exact import written
from deniable.guarantees import ApproxDP, PureDP
from deniable.publish import statement, terminal
from deniable.publish.cells import OTHERS
from deniable.publish.facts import Coverage, Facts, LedgerFacts, Table
from deniable.query import coverage, wording
from deniable.query.saving import new_folder, written_whole

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from deniable.events import Event
    from deniable.publish.page import Figure
    from deniable.query.plan import Plan

VERSION = 2
"""1 rounded long numbers to twelve digits."""

_SHOWN = 40


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """What was published. `print` shows the table; `statement` says what it promises.

    table:     keys, then each output with `<name>_low` and `<name>_high`; with other=True the last row, whose
               keys are missing, is everything that was not found.
    histogram: noisy numbers of units by how many groups they are in (`plan.classes`), steps of 1/one.
    secure:    whether the noise came from the operating system's bits; False makes it a test.
    ledger:    what the ledger said when it was charged; None without one.
    """

    plan: Plan
    table: pa.Table
    histogram: tuple[int, ...] | None
    purpose: str | None
    when: str
    secure: bool
    ledger: LedgerFacts | None = None

    @property
    def guarantee(self) -> PureDP | ApproxDP:
        """What is promised to every unit."""
        return self.plan.guarantee

    @property
    def events(self) -> tuple[Event, ...]:
        """What was done with private data: `dn.account(release.events)` prices it again."""
        return self.plan.events

    @property
    def facts(self) -> Facts:
        """Everything that the statement says, as values."""
        return replace(
            wording.facts(self.plan),
            coverage=self._coverage(),
            purpose=self.purpose,
            when=self.when,
            secure=self.secure,
            ledger=self.ledger,
        )

    @property
    def statement(self) -> str:
        """Who is protected, what is promised, at which risk, and how to read the numbers."""
        return statement.write(self.facts)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas data frame.

        Raises:  ParameterError: pandas is not installed.
        """
        _installed("pandas")
        frame: pd.DataFrame = self.table.to_pandas()
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a Polars data frame.

        Raises:  ParameterError: Polars is not installed.
        """
        _installed("polars")
        import polars

        frame = polars.from_arrow(self.table)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def to_json(self) -> dict[str, Any]:
        """Return rows, guarantee, statement and plan as plain JSON values."""
        return {"rows": [_plain_row(row) for row in self.table.to_pylist()], **self.record()}

    def page(
        self, path: str | os.PathLike[str], *, title: str | None = None, figures: Sequence[Figure] = ()
    ) -> None:
        """Write the release as one HTML file that needs nothing else; it appears whole or not at all."""
        words = self._page(title, figures)
        written_whole(path, lambda file: file.write_text(words, "utf-8"))

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write table.parquet, table.csv, statement.txt, release.json and page.html into a new folder.

        The folder appears whole or not at all.
        Raises:  ParameterError: the folder exists, or there is no folder to put it into.
        """
        import pyarrow.parquet

        with new_folder(directory) as folder:
            pyarrow.parquet.write_table(self.table, folder / "table.parquet")
            for name, content in self.files().items():
                (folder / name).write_bytes(content)
        return Path(directory)

    def files(self) -> dict[str, bytes]:
        """Return what `save` writes besides table.parquet: these follow from it and from release.json."""
        from io import BytesIO

        import pyarrow.csv

        rows = BytesIO()
        pyarrow.csv.write_csv(_harmless(self.table), rows)
        record = json.dumps(self.record(), indent=2, ensure_ascii=False, allow_nan=False)
        return {
            "table.csv": rows.getvalue(),
            "statement.txt": self.statement.encode(),
            "release.json": f"{record}\n".encode(),
            "page.html": self._page(None, ()).encode(),
        }

    def __str__(self) -> str:
        return terminal.table(self._published(), self.facts, most=_SHOWN)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from deniable.publish import page

        if not self.table.num_rows:
            return f"<p>{terminal.empty(self.facts)}</p>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in statement.shortfall(self.facts))
        return page.fragment(self._published(), self.facts) + notes

    def _page(self, title: str | None, figures: Sequence[Figure]) -> str:
        from deniable.publish import page

        return page.write(self._published(), self.facts, self.statement, title=title, figures=figures)

    def _published(self) -> Table:
        groups = self.plan.query.groups
        keys = 0 if groups is None or not groups.other else len(groups.columns)
        columns = enumerate(self.table.columns)
        values = tuple(_Values(column, others=place < keys) for place, column in columns)
        return Table(tuple(self.table.column_names), values)

    def _coverage(self) -> Coverage | None:
        groups = self.plan.query.groups
        if self.histogram is None or self.plan.classes is None or groups is None:
            return None
        contributions = self.plan.price.contributions
        noise = wording.coverage_error(self.plan.price, coverage.SURE)
        counts = [float(Fraction(count, contributions.one)) for count in self.histogram]
        most = contributions.max_groups
        return coverage.described(counts, self.plan.classes, most, groups.over, float(noise))

    def record(self) -> dict[str, Any]:
        """Return what release.json holds: everything but the rows."""
        promised = self.guarantee
        one = self.plan.price.contributions.one
        groups_of_a_unit = self.histogram and [written(Fraction(count, one)) for count in self.histogram]
        return {
            "version": VERSION,
            "guarantee": {"epsilon": written(promised.epsilon), "delta": written(promised.delta)},
            "statement": self.statement,
            "plan": self.plan.to_json(),
            "purpose": self.purpose,
            "when": self.when,
            "secure": self.secure,
            "ledger": None if self.ledger is None else asdict(self.ledger),
            "groups_of_a_unit": groups_of_a_unit,
        }


class _Values(Sequence[object]):
    """An Arrow column as a sequence of Python values, converted when they are looked at.

    others: the last value is the key of everything that was not found.
    """

    def __init__(self, column: pa.ChunkedArray, *, others: bool = False) -> None:
        self._column, self._others = column, others

    def __len__(self) -> int:
        return len(self._column)

    @overload
    def __getitem__(self, place: int) -> object: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[object]: ...
    def __getitem__(self, place: int | slice) -> object:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step == 1:
                values: list[object] = self._column.slice(start, max(0, stop - start)).to_pylist()
                if self._others and values and stop == len(self):
                    values[-1] = OTHERS
                return values
            return [self[at] for at in range(start, stop, step)]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        if self._others and place in (-1, len(self) - 1):
            return OTHERS
        return self._column[place].as_py()


def _harmless(table: pa.Table) -> pa.Table:
    """Return the table with an apostrophe before text that a spreadsheet would run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, column in enumerate(table.columns):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            acts = pc.match_substring_regex(column, r"^[=+\-@\x00-\x1f]")
            quoted = pc.binary_join_element_wise("'", column, "")
            table = table.set_column(place, table.column_names[place], pc.if_else(acts, quoted, column))
    return table


def _plain_row(row: dict[str, object]) -> dict[str, object]:
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: object) -> object:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case date() | datetime() | time():
            return value.isoformat()
        case Decimal():
            return str(value)
        case _:
            return str(value)


def _installed(package: str) -> None:
    if find_spec(package) is None:
        fix = f"Run pip install {package}, or take `table`, which is an Arrow table."
        raise ParameterError(f"to_{package}", package, "needs a package that is not installed", fix)
