"""A table as JSON, for files and for the way from a server to its devices.

A table is symmetric, so half of it is written: the rows for v >= 0, outputs y > 0 in units of 2**-shift.
Whoever reads one trusts nobody: it is checked in exact numbers (`restored`), so that a device which was sent
a table knows that it keeps epsilon.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from deniable.errors import ParameterError
from deniable.local.mean.laws import Law
from deniable.local.tables import Table

_MOST = 4096


def written(law: Law) -> dict[str, Any] | None:
    """Return the table of a law as plain JSON values; None if it is no symmetric table of 32 bits."""
    table, half = law.drawn, len(law.values) // 2
    if not isinstance(table, Table) or table.bits != 32 or law.unit.numerator != 1:
        return None
    shift = law.unit.denominator.bit_length() - 1
    found = {
        "shift": shift,
        "values": list(law.values[half:]),
        "rows": [list(row) for row in table.entries[len(table.entries) // 2 :]],
    }
    return found if law.unit.denominator == 1 << shift and _whole(found).digest == law.digest else None


def restored(record: object, epsilon: Fraction) -> Law:
    """Return the law that was written, once it is proved to keep epsilon.

    Raises:  ParameterError: this is no table, its inputs do not rise to 1, or it does not keep epsilon.
    """
    if not (isinstance(record, Mapping) and set(record) >= {"shift", "values", "rows"} and _sane(record)):
        raise ParameterError("table", "a record", "is no table", "Give what Mean.to_json wrote.")
    law = _whole(record)
    law.drawn.check(epsilon)
    return law


def _whole(record: Mapping[str, Any]) -> Law:
    half, values = record["rows"], record["values"]
    rows = [*(row[::-1] for row in reversed(half[1:])), *half]
    return Law(Table(rows), [*(-y for y in reversed(values)), *values], Fraction(1, 1 << record["shift"]))


def _sane(record: Mapping[str, Any]) -> bool:
    rows, values, shift = record["rows"], record["values"], record["shift"]
    if not (isinstance(rows, list) and isinstance(values, list) and 0 < len(rows) <= _MOST):
        return False
    width = 2 * len(values)
    numbers = [shift, *values, *(entry for row in rows if isinstance(row, list) for entry in row)]
    if not all(type(number) is int and abs(number) < 1 << 62 for number in numbers):
        return False
    sizes = all(isinstance(row, list) and len(row) == width for row in rows)
    return sizes and 0 < width <= _MOST and 0 <= int(shift) <= 62
