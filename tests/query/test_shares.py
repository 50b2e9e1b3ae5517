"""Parts of the budget that columns are to have: who gets what, prices that still add up, reviews."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest
from colours import some_rows, table

from deniable import accounting, events
from deniable.errors import ParameterError
from deniable.query import aggregates as dn
from deniable.query.aggregates import Aggregate
from deniable.query.parts import weights
from deniable.query.plan import Plan
from deniable.query.review import review
from deniable.query.survey import protect

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)


def test_shares_are_split_among_measures_and_what_is_left_among_the_others() -> None:
    assert weights([(None, (0,)), (None, (1, 2))], 3) == ()
    assert weights([(HALF, (0,)), (None, (1, 2))], 3) == (HALF, HALF / 2, HALF / 2)
    assert weights([(HALF, (0, 1)), (None, (2,))], 3) == (HALF / 2, HALF / 2, HALF)
    assert weights([(HALF, (0, 1)), (THIRD, (1,))], 2) == (
        HALF / 2 / (HALF + THIRD),
        1 - HALF / 2 / (HALF + THIRD),
    )
    assert weights([(HALF, (1,))], 2) == (HALF, HALF)
    assert weights([(HALF, (0,)), (None, (0,))], 1) == (Fraction(1),)


def plan(noise: Literal["laplace", "gaussian"], **outputs: Aggregate) -> Plan:
    query = protect(table([]), unit="person").aggregate(**outputs)
    return query.plan(epsilon=1, delta="1e-8" if noise == "gaussian" else 0, noise=noise)


SUM: dict[str, Any] = {"bounds": (0, 8), "max_rows": 1}


@pytest.mark.parametrize(("noise", "ratio"), [("laplace", 9.0), ("gaussian", 3.0)])
def test_nine_times_the_share_is_so_much_less_noise(noise: Any, ratio: float) -> None:
    one = plan(noise, first=dn.sum("spend", share="0.9", **SUM), second=dn.count(max_rows=1))
    first, second = one.price.measured
    assert float(second.event.sensitivity / first.event.sensitivity) * ratio == pytest.approx(
        float(second.scale / second.step / (first.scale / first.step)), rel=1e-3
    )
    assert accounting.within(one.events, epsilon=Fraction(1), delta=one.guarantee.delta)


def test_laplace_epsilons_are_the_shares_and_add_up() -> None:
    found = plan("laplace", a=dn.sum("spend", share="0.5", **SUM), b=dn.count(max_rows=2), c=dn.units())
    epsilons = [
        Fraction(event.sensitivity) / event.scale
        for event in found.events
        if isinstance(event, events.DiscreteLaplace)
    ]
    assert epsilons == [HALF, HALF / 2, HALF / 2]


@pytest.mark.parametrize("selection", ["threshold", "truncated-geometric", "sips"])
def test_shares_hold_after_every_way_to_find_groups_and_are_reviewed(selection: Any, tmp_path: Path) -> None:
    query = (
        protect(table(some_rows(1)), unit="person")
        .group_by("colour", max_groups=2, selection=selection, other=True)
        .aggregate(
            spend=dn.mean("spend", share="0.6", **SUM),
            quarters=dn.quantile("spend", [0.25, 0.75], bounds=(0, 8), max_rows=1, share="0.2"),
            rows=dn.count(max_rows=1),
        )
    )
    plan = query.plan(epsilon=2, delta="1e-6")
    assert accounting.within(plan.events, epsilon=Fraction(2), delta=Fraction(1, 10**6))
    assert "share=0.6" in str(plan)
    plan.release().save(tmp_path / "saved")
    assert all(f.verdict == "right" for f in review(tmp_path / "saved").findings), str(
        review(tmp_path / "saved")
    )
    record = json.loads((tmp_path / "saved" / "release.json").read_text("utf-8"))
    assert [column["share"] for column in record["plan"]["columns"]] == ["0.6", "0.1", "0.1", None]
    record["plan"]["columns"][0]["share"] = "0.1"
    (tmp_path / "saved" / "release.json").write_text(json.dumps(record), "utf-8")
    assert review(tmp_path / "saved")["events"].verdict == "wrong"


@pytest.mark.parametrize("share", [0, -1, 1, "1", 2, "x", float("nan"), True])
def test_a_share_is_a_number_between_0_and_1(share: Any) -> None:
    with pytest.raises(ParameterError, match="share"):
        dn.count(max_rows=1, share=share)


def test_shares_that_leave_nothing_are_refused() -> None:
    outputs = {"a": dn.units(share="0.5"), "b": dn.count(max_rows=1, share="0.5")}
    with pytest.raises(ParameterError, match="share.*too much"):
        protect(table([]), unit="person").aggregate(**outputs)
