"""Copies of small tables in one: each is a release of its own, also of what is one for a whole table.

Without noise to speak of (epsilon a million) every copy must come out as a release of its table alone does.
The lines in tests/faults/audit.toml break what the audits here must notice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import deniable as dn
from deniable.audit import Case, Findings, release
from deniable.audit.copies import Copies
from deniable.query.automatic import ONE
from deniable.query.pricing import sampler
from deniable.query.question import Query

COLUMNS = {"person": pa.int64(), "colour": pa.string(), "spend": pa.float64()}
SURE = 1 - Fraction(1, 10**6)
KEYS = ["red", "blue", "green"]
Rows = Sequence[Mapping[str, object]]


def survey(rows: Rows = (), unit: Any = "person") -> Any:
    columns = [pa.array([row[name] for row in rows], kind) for name, kind in COLUMNS.items()]
    return dn.protect(pa.table(columns, names=list(COLUMNS)), unit=unit)


def row(person: int, colour: str | None, spend: float = 3.0) -> dict[str, object]:
    return {"person": person, "colour": colour, "spend": spend}


def group(people: int, colour: str | None, first: int) -> list[dict[str, object]]:
    return [row(first + place, colour, float(place % 7)) for place in range(people)]


SMALL = [*group(40, "red", 1), *group(1, "blue", 50), *group(3, None, 60), *group(30, "green", 1)]
LARGE = [*group(60, "blue", 1), *[row(7, f"c{i}") for i in range(9)], *group(20, "red", 100)]

TOTAL = {"n": dn.units(), "spend": dn.sum("spend", bounds=(0, 10), max_rows=2)}
AUTO = {"spend": dn.sum("spend", bounds="auto", max_rows="auto")}

QUERIES: dict[str, Callable[[Any], Query]] = {
    "the rest, by a threshold": lambda s: s.group_by("colour", max_groups=3, other=True).aggregate(**TOTAL),
    "the rest, in rounds": lambda s: s.group_by(
        "colour", max_groups=3, selection="sips", other=True
    ).aggregate(**TOTAL),
    "the rest, by value": lambda s: s.group_by(
        "colour", max_groups=3, selection="sips", other=True
    ).aggregate(
        bins=dn.histogram("spend", edges=[0, 5, 10], max_rows=2), values=dn.distinct("spend", max_values=2)
    ),
    "groups chosen": lambda s: s.group_by("colour", max_groups="auto").aggregate(n=dn.units()),
    "rows and bounds chosen": lambda s: s.group_by("colour", keys=KEYS, max_groups=2).aggregate(**AUTO),
    "rows and bounds of totals chosen": lambda s: s.aggregate(**AUTO),
    "all of it": lambda s: s.group_by("colour", max_groups="auto", other=True).aggregate(**AUTO),
}


@pytest.mark.parametrize("name", QUERIES)
def test_each_copy_is_released_as_its_table_alone_would_be(name: str) -> None:
    def planned(rows: Rows) -> Any:
        query = QUERIES[name](survey(rows))
        return query.plan(epsilon=10**6, delta="1e-6", coverage=False, allow_large_delta=True)

    bits = dn.SeededBits(1, insecure=True)
    small, large = Copies(planned(()), ((SMALL, 3), (LARGE, 2))).outcomes(bits)
    for rows, outcomes in ((SMALL, small), (LARGE, large)):
        expected = _alone(planned(rows).release(bits=bits))
        for outcome in outcomes:
            found = {key: numbers for key, numbers in outcome.items() if numbers}
            assert found.keys() == expected.keys()
            for key, values in expected.items():
                assert found[key][:: len(found[key]) // len(values)] == pytest.approx(values, abs=0.4)


def _alone(release: Any) -> dict[tuple[Any, ...], list[float]]:
    """The published values by key, straight from the table."""
    outputs = [output.name for output in release.plan.outputs]
    keys = [
        name
        for name in release.table.column_names
        if name not in outputs and not name.endswith(("_low", "_high"))
    ]
    return {
        tuple(row[name] for name in keys): [row[name] for name in outputs]
        for row in release.table.to_pylist()
    }


def test_what_a_copy_chose_is_part_of_its_outcome() -> None:
    plan = survey().aggregate(spend=dn.sum("spend", bounds="auto", max_rows=1)).plan(epsilon=10**6)
    [outcome], [other] = Copies(plan, ((group(9, "red", 1), 1), ((), 1))).outcomes(
        dn.SeededBits(2, insecure=True)
    )
    assert ("bounds of spend = 0 to 8",) in outcome
    assert ("bounds of spend = 0 to 1, not found",) in other


def test_a_single_copy_shows_the_histogram_of_contributions() -> None:
    query = survey().group_by("colour", keys=KEYS, max_groups=1).aggregate(n=dn.units())
    copies = Copies(query.plan(epsilon=10**6), ((group(5, "red", 1), 1),))
    [[outcome]] = copies.outcomes(dn.SeededBits(3, insecure=True))
    assert outcome["units by the number of their groups",][0] == pytest.approx(5, abs=0.01)


def audited(query: Query, case: Case, **options: Any) -> list[str]:
    found: Findings = release(query, confidence=SURE, cases=[case], seed=4, coverage=False, **options)
    return [str(finding.verdict) for finding in found.violations]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_row_of_everything_else_keeps_its_promise(noise: str) -> None:
    """The added unit is in two groups that are shown, as much as counts, and in no group too."""
    query = survey().group_by("colour", max_groups=2, other=True, over="drop").aggregate(n=dn.units())
    crowd = [*group(30, "red", 1), *group(30, "blue", 31)]
    case = Case("in both", crowd, [row(0, colour) for colour in ("red", "blue", None)])
    assert audited(query, case, epsilon=1, delta="0.02", noise=noise, trials=2500) == []


def test_groups_that_are_chosen_keep_their_promise() -> None:
    """One unit more lets a class stand out of the noise: without noise it would decide what is chosen."""
    query = survey().group_by("colour", keys=KEYS, max_groups="auto").aggregate(n=dn.units())
    case = Case("on the edge", group(_just_hidden(query), "red", 1), [row(0, "red")])
    assert audited(query, case, epsilon=1, trials=1000) == []


@pytest.mark.parametrize("unit", ["person", dn.ROW])
def test_bounds_that_are_chosen_keep_their_promise(unit: Any) -> None:
    most = {"max_rows": 1} if unit == "person" else {}
    query = survey(unit=unit).aggregate(spend=dn.sum("spend", bounds="auto", **most))
    crowd = [row(place + 1, "red") for place in range(_just_hidden(query))]
    case = Case("on the edge", crowd, [row(0, "red")])
    assert audited(query, case, epsilon=1, trials=1000) == []


def test_a_unit_of_many_values_weighs_no_more_than_others_where_bounds_are_chosen() -> None:
    query = survey().aggregate(spend=dn.sum("spend", bounds="auto", max_rows=1))
    case = Case("many values", [row(1, "red", 0.0)], [row(0, "red", 1000.0)] * 200)
    assert audited(query, case, epsilon=1, trials=1000) == []


def _just_hidden(query: Query) -> int:
    """How many units a class may have that counts as empty."""
    [choice] = query.plan(epsilon=1).choices
    return sampler(choice.event).quantile(choice.width_confidence) // ONE
