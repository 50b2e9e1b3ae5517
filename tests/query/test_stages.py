"""What finding groups in rounds or by chance costs, and what the planner chooses from public facts."""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import pyarrow as pa
import pytest

from deniable import account, events
from deniable.errors import ParameterError
from deniable.query import aggregates as dn
from deniable.query.measures import Units
from deniable.query.plan import Plan
from deniable.query.question import Query
from deniable.query.stages import ROUNDS_SHARE
from deniable.query.survey import ROW, protect
from deniable.selection import sips
from deniable.selection.geometric import TruncatedGeometric
from deniable.selection.sips import Rounds

TABLE = pa.table({"person": ["a"], "colour": ["red"], "spend": [1.0]})
DELTA = Fraction(1, 10**6)


def query(unit: Any = "person", **groups: Any) -> Query:
    rows: dict[str, Any] = {} if unit is ROW else {"max_rows": 2}
    return (
        protect(TABLE, unit=unit)
        .group_by("colour", **groups)
        .aggregate(n=dn.units(), spend=dn.sum("spend", bounds=(0, 10), **rows))
    )


def plan(noise: Any = "auto", coverage: bool = True, **groups: Any) -> Plan:
    return query(**groups).plan(epsilon=1, delta=DELTA, noise=noise, coverage=coverage)


def rounds_of(made: Plan) -> Rounds:
    assert isinstance(made.price.found, Rounds)
    return made.price.found


@pytest.mark.parametrize("coverage", [True, False])
@pytest.mark.parametrize("over", ["weight", "drop"])
def test_the_events_are_rounds_then_columns_and_cost_what_was_asked(over: Any, coverage: bool) -> None:
    made = plan(selection="sips", max_groups=3, over=over, coverage=coverage)
    found = rounds_of(made)
    kinds = [type(event) for event in made.events]
    assert kinds[:6] == [events.DiscreteGaussian, events.Selection] * 3
    assert kinds[6:] == [events.DiscreteGaussian] * (3 if coverage else 2)
    assert made.events[:6] == tuple(event for one in found.rounds for event in (one.noise, one.events[1]))
    assert all(
        isinstance(event, events.DiscreteGaussian) and event.coordinates == 100 for event in made.events[6:]
    )
    epsilon = account(made.events).epsilon(delta=DELTA)
    assert 0.99 < float(epsilon) <= 1


def test_a_final_column_is_priced_with_its_whole_bound_and_each_round_with_one_unit() -> None:
    made = plan(selection="sips", max_groups=3)
    bounds = made.price.contributions
    assert [noisy.event.sensitivity for noisy in made.price.measured] == [
        bounds.l2(noisy.measure) for noisy in made.price.measured
    ]
    assert [one.noise.sensitivity for one in rounds_of(made).rounds] == [sips.ONE] * 3


def test_the_squared_budget_is_cut_as_was_said() -> None:
    for share in (None, Fraction(1, 4)):
        made = plan(selection="sips", max_groups=3, share=share)
        parts = [float(noise.sensitivity**2 / noise.sigma**2) for noise in made.price.noises]  # type: ignore[union-attr]
        whole, first = sum(parts), float(Fraction(98, 100) * (share or ROUNDS_SHARE))
        expected = [first * float(part) for part in sips.SHARES] + [(0.98 - first) / 2] * 2 + [0.02]
        assert [part / whole for part in parts] == pytest.approx(expected, rel=1e-4)


def test_whoever_is_alone_in_any_number_of_groups_is_shown_in_no_round_but_for_the_mass() -> None:
    found = rounds_of(plan(selection="sips", max_groups=3, max_keys=40))
    worst = Fraction(0)
    for groups in range(1, 41):
        hidden = [(1 - one.chance(one.weights[groups])[1]) ** groups for one in found.rounds]
        worst = max(worst, 1 - Fraction(prod(hidden)))
    assert 0.9 * found.delta < worst <= found.delta * (1 + Fraction(1, 10**9))
    assert found.delta <= DELTA / 2


def test_noise_and_masses_join_to_no_more_than_delta() -> None:
    made = plan(selection="sips", max_groups=8)
    noise = float(account(made.price.noises).delta(epsilon=1))
    assert 1 - (1 - noise) * (1 - float(rounds_of(made).delta)) <= float(DELTA)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_by_chance_the_rule_and_the_columns_cost_what_was_asked(noise: Any) -> None:
    made = plan(noise, selection="truncated-geometric", max_groups=3)
    found = made.price.found
    assert isinstance(found, TruncatedGeometric)
    assert made.events[0] == found.event
    assert found.max_groups == 3
    assert found.epsilon == Fraction(1, 3)
    assert made.price.contributions.over == "drop"
    assert float(account(made.events).epsilon(delta=DELTA)) <= 1
    if noise == "laplace":
        added = [event.epsilon for event in made.price.noises if isinstance(event, events.DiscreteLaplace)]
        assert sum(added) == Fraction(2, 3)
        assert found.delta == DELTA


def test_units_have_noise_of_their_own_unless_they_are_the_selection() -> None:
    for selection, expected in (("sips", False), ("truncated-geometric", False), ("threshold", True)):
        groups = protect(TABLE, unit="person").group_by("colour", max_groups=3, selection=selection)  # type: ignore[arg-type]
        made = groups.aggregate(rows=dn.count(max_rows=2)).plan(epsilon=1, delta=DELTA)
        assert (Units() in [noisy.measure for noisy in made.price.measured]) is expected


def test_the_planner_takes_rounds_above_two_groups() -> None:
    assert [plan(max_groups=k).selection for k in (1, 2, 3, 20)] == ["threshold", "threshold", "sips", "sips"]
    assert plan("laplace", max_groups=8).selection == "threshold"
    assert plan(max_groups=8, keys=["red"]).selection is None
    assert query(unit=ROW).plan(epsilon=1, delta=DELTA).selection == "threshold"


def test_where_gaussian_noise_is_out_of_reach_the_planner_falls_back_to_a_threshold() -> None:
    groups = protect(TABLE, unit="person").group_by("colour", max_groups=3, over="drop")
    tiny = groups.aggregate(n=dn.units()).plan(epsilon="1e-10", delta="1e-30")
    assert tiny.selection == "threshold"


def test_every_other_way_is_shown_for_the_same_price() -> None:
    made = plan(max_groups=3)
    assert [other.selection for other in made.alternatives] == ["threshold", "truncated-geometric"]
    assert {other.guarantee for other in made.alternatives} == {made.guarantee}
    words = str(made)
    for name in ("* ", "sips", "threshold", "truncated-geometric", "people needed"):
        assert name in words
    assert [other.selection for other in query(unit=ROW).plan(epsilon=1, delta=DELTA).alternatives] == [
        "truncated-geometric"
    ]
    assert plan(max_groups=3, keys=["red"]).alternatives == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"selection": "first"}, "is not known"),
        ({"selection": "sips", "keys": ["red"]}, "declared keys are all published"),
        ({"selection": "truncated-geometric", "over": "weight"}, "over='drop'"),
        ({"selection": "threshold", "share": "0.5"}, "share"),
        ({"keys": ["red"], "share": "0.5"}, "declared keys cost nothing"),
        ({"selection": "sips", "share": 1}, "between 0 and 1"),
        ({"selection": "sips", "share": 0}, "share"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        query(**given)


def test_rounds_are_refused_with_laplace_noise_rows_as_units_and_delta_0() -> None:
    with pytest.raises(ParameterError, match="Gaussian"):
        plan("laplace", max_groups=3, selection="sips")
    with pytest.raises(ParameterError, match=r"dn\.ROW"):
        query(unit=ROW, selection="sips")
    with pytest.raises(ParameterError, match="cannot be 0"):
        query(max_groups=3, selection="sips").plan(epsilon=1)
    with pytest.raises(ParameterError, match="share"):
        plan(max_groups=1, share="0.5")


def test_a_plan_in_rounds_is_saved_with_its_thresholds_and_events() -> None:
    made = plan(max_groups=3)
    saved = made.to_json()
    assert saved["selection"] == "sips"
    assert [Fraction(people) for people in saved["rounds"]] == [one.people for one in rounds_of(made).rounds]
    assert [events.from_json(event) for event in saved["events"]] == list(made.events)
    assert plan(max_groups=3, share="0.3").to_json()["share"] == "0.3"


def test_the_words_say_which_rule_and_what_happens_to_a_unit_with_more() -> None:
    words = str(plan(max_groups=3))
    for said in (
        "3 rounds",
        "max_groups  3: a person in more of the groups that were found",
        "max_keys    100",
        "max_rows",
    ):
        assert said in words
    facts = plan(max_groups=3, selection="truncated-geometric").facts
    assert facts.selection == "truncated-geometric"
    assert facts.certain is not None
    assert facts.threshold is not None
    assert facts.certain > facts.threshold


def test_the_plan_says_one_number_of_units_and_which_other_way_has_less_noise() -> None:
    made = plan(max_groups=3)
    (threshold,) = (one for one in made.alternatives if one.selection == "threshold")
    words = str(made)
    assert made.threshold is not None
    assert threshold.threshold is not None
    needed = -(-made.threshold.numerator // made.threshold.denominator)
    assert f"about {needed:,} people are needed" in words
    assert f"about {needed:,} " in next(line for line in words.splitlines() if "  *  sips" in line)
    assert "Selection threshold has less noise (n " in words
    assert f"groups of about {int(threshold.threshold) + 1:,} people or more" in words
    assert "Selection sips has less noise" not in str(threshold)
