"""What is charged where bounds are chosen: no outcome costs more, and columns have less noise than apart."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from colours import table
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable import accounting, events
from deniable.query import automatic, charged, settling
from deniable.query.automatic import Choice
from deniable.query.charged import NODES, ONE, grown, reference, widened
from deniable.query.plan import Plan
from deniable.query.question import Query
from deniable.query.survey import protect

EPSILON, DELTA = Fraction(1), Fraction(1, 10**8)


def discrete_laplace(shift: int, scale: float, epsilon: float) -> float:
    """delta at epsilon of integer noise q**|x| (1 - q)/(1 + q) that moves by `shift`, summed term by term."""
    x = np.arange(-int(60 * scale) - shift, int(60 * scale) + 2 * shift, dtype=np.longdouble)
    q = np.exp(-1 / np.longdouble(scale))
    law, moved = q ** abs(x), q ** abs(x - shift)
    return float(np.maximum(law - np.exp(np.longdouble(epsilon)) * moved, 0).sum() * (1 - q) / (1 + q))


def continuous_laplace(move: float, epsilon: float) -> float:
    """The same for continuous noise of scale 1 that moves by `move` (Balle, Barthe, Gaboardi 2018)."""
    return max(0.0, -math.expm1((epsilon - move) / 2))


@pytest.mark.parametrize("shift", [1, 2, 3, 8])
@pytest.mark.parametrize("ratio", [Fraction(1, 10), Fraction(1), Fraction(3), Fraction(12)])
def test_no_discrete_noise_of_any_reach_costs_more_than_its_reference(
    shift: int, ratio: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ONE = 1 the difference is large enough to be seen."""
    monkeypatch.setattr(charged, "ONE", 1)
    event = events.DiscreteLaplace(scale=shift / ratio, sensitivity=shift)
    charge = reference(event, max_keys=1, pure=False)
    assert isinstance(charge, events.Laplace)
    move = float(charge.sensitivity / charge.scale)
    grid = [float(ratio) * step / 23 for step in range(-23, 24)]
    short = 0
    for epsilon in grid:
        cost = discrete_laplace(shift, shift / float(ratio), epsilon)
        at_zero = max(0.0, 1 - math.exp(epsilon))
        assert cost <= (at_zero if epsilon < -move else _of(move, epsilon)) + 1e-13
        short += cost > _of(float(ratio), epsilon) + 1e-13
    assert short, "without the slack, continuous noise of the same ratio would not be enough"


def _of(move: float, epsilon: float) -> float:
    """delta of continuous noise, below zero too: 1 - e**epsilon + e**epsilon delta(-epsilon)."""
    if epsilon >= 0:
        return continuous_laplace(move, epsilon)
    return 1 - math.exp(epsilon) + math.exp(epsilon) * continuous_laplace(move, -epsilon)


@given(
    steps=st.integers(1, 1 << 40),
    whole=st.booleans(),
    reaches=st.lists(st.integers(ONE, 1 << 50), min_size=2, max_size=2),
    touched=st.integers(1, NODES),
)
def test_noise_that_grows_keeps_its_reference_and_never_falls_below_it(
    steps: int, whole: bool, reaches: list[int], touched: int
) -> None:
    first = Fraction(steps + (1 << 16)) if whole else Fraction(steps, 1 << 16)
    if not whole and first >= 1 << 16:
        first = Fraction(steps % (1 << 32) or 1, 1 << 16)
    planned = events.DiscreteGaussian(sigma=widened(first, reaches[0]), sensitivity=reaches[0], coordinates=9)
    drawn = grown(planned, reaches[1], coordinates=touched)
    charge = reference(planned, max_keys=1, pure=False)
    assert charge == reference(drawn, max_keys=1, pure=True)
    assert charge == events.DiscreteGaussian(sigma=first, sensitivity=ONE, coordinates=NODES)
    assert drawn.sensitivity == reaches[1]
    assert isinstance(drawn, events.DiscreteGaussian)
    assert drawn.sigma / drawn.sensitivity >= first / ONE
    assert drawn.coordinates == touched


@given(ratio=st.fractions(Fraction(1, 10**6), 100), reaches=st.lists(st.integers(ONE, 1 << 50), min_size=2))
def test_laplace_noise_has_one_epsilon_at_every_reach(ratio: Fraction, reaches: list[int]) -> None:
    event: Any = events.DiscreteLaplace(scale=reaches[0] / ratio, sensitivity=reaches[0])
    for reach in reaches:
        event = grown(event, reach, coordinates=1)
        assert (event.sensitivity, event.epsilon) == (reach, ratio)
        assert reference(event, max_keys=7, pure=True) == events.PureDP(epsilon=ratio)


def everything(auto: bool, selection: Any = "auto", keys: Any = None, **of: Any) -> Query:
    """The query with bounds that are chosen, or with the public numbers that stand for them."""
    rows, bounds = ("auto", "auto") if auto else (1, (0, 1))
    chosen: Any = {"max_groups": ("auto" if auto else 4) if keys is None and selection == "auto" else 1}
    return (
        protect(table([]), unit="person", population=1_000_000)
        .group_by("colour", selection=selection, keys=keys, **chosen)
        .aggregate(
            people=dn.units(),
            rows=dn.count(max_rows=rows),
            total=dn.sum("spend", bounds=bounds, max_rows=rows),
            average=dn.mean("spend", bounds=bounds, max_rows=rows),
            middle=dn.median("spend", bounds=bounds, max_rows=rows),
            fixed=dn.sum("spend", bounds=(0, 1), max_rows=1),
            **of,
        )
    )


def outcomes(plan: Plan) -> list[Plan]:
    """What becomes of the plan for the least, a middle and the largest of everything that may be chosen."""
    places = [sorted({0, len(one.ends) // 2, len(one.ends) - 1}) for one in plan.choices]
    found = []
    for picks in product(*places):
        settled = []
        for choice, pick in zip(plan.choices, picks, strict=True):
            low = min(pick, len(choice.ends) - 2)
            ends = choice.ends[low : low + 2] if choice.argument == "bounds" else (choice.ends[pick],)
            settled.append(_with(choice, ends))
        if any(choice.argument == "bounds" for choice in plan.choices) and picks[-1] == places[-1][0]:
            settled[-1] = _with(plan.choices[-1], (Fraction(-1024), Fraction(1024)))
        found.append(plan.settled(settled))
    return found


def _with(choice: Choice, chosen: tuple[Fraction, ...]) -> Choice:
    return replace(choice, chosen=chosen, found=True)


@pytest.fixture(params=["auto", "threshold", "truncated-geometric", "declared", "declared, laplace"])
def plan(request: pytest.FixtureRequest) -> Plan:
    keys = ["red", "blue", "green"] if "declared" in request.param else None
    selection = "auto" if keys else request.param
    noise: Any = "laplace" if "laplace" in request.param else "auto"
    delta: Any = 0 if noise == "laplace" else DELTA
    return everything(True, selection, keys).plan(epsilon=1, delta=delta, noise=noise)


def test_every_outcome_is_carried_out_for_the_events_that_were_paid(plan: Plan) -> None:
    assert accounting.within(plan.events, epsilon=EPSILON, delta=plan.guarantee.delta)
    for settled in outcomes(plan):
        assert all(choice.found for choice in settled.choices)
        assert settled.events == plan.events
        assert settled.guarantee == plan.guarantee
        assert settled.price.found == plan.price.found
        for planned, drawn in zip(plan.price.measured, settled.price.measured, strict=True):
            assert type(planned.event) is type(drawn.event)
            _check(planned.event, drawn.event, drawn.measure, settled)
    done = (*settled.price.choices, *settled.price.done)
    assert accounting.within(done, epsilon=EPSILON, delta=plan.guarantee.delta)


def _check(planned: Any, drawn: Any, measure: Any, settled: Plan) -> None:
    """The noise per reach, from the very bound of the measure, is that of the plan, up to rounding up."""
    contributions = settled.price.contributions
    moved = contributions.l1(measure) if settled.noise == "laplace" else contributions.l2(measure)
    spread = "scale" if settled.noise == "laplace" else "sigma"
    assert drawn.sensitivity == moved >= (1 if settled.noise == "laplace" else ONE)
    before, after = getattr(planned, spread) / planned.sensitivity, getattr(drawn, spread) / moved
    assert abs(after / before - 1) <= (0 if settled.noise == "laplace" else Fraction(1, 1 << 16))


def test_columns_that_happen_to_be_equal_keep_noise_of_their_own() -> None:
    """The public bounds (0, 1) are those that are stated; (-1024, 1024) make a sum and a mean alike."""
    stated = dn.sum("spend", bounds=(0, 1), max_rows="auto")
    plan = everything(True, stated=stated).plan(epsilon=1, delta="1e-8")
    alike = ("total", "fixed", "stated")
    assert len({output.parts for output in plan.outputs if output.name in alike}) == 3
    for settled in outcomes(plan):
        assert [output.parts for output in settled.outputs] == [output.parts for output in plan.outputs]


@pytest.mark.parametrize("selection", ["auto", "declared"])
def test_gaussian_columns_have_less_noise_than_if_choices_were_paid_apart(selection: str) -> None:
    """Apart: nine tenths of epsilon for the same columns with stated bounds, as basic composition has it."""
    keys = ["red", "blue", "green"] if selection == "declared" else None
    together = everything(True, "auto", keys).plan(epsilon=1, delta="1e-8", noise="gaussian")
    apart = everything(False, "auto", keys).plan(epsilon="0.9", delta="1e-8", noise="gaussian")
    before = {output.name: apart.price.measured[output.parts[0]].scale for output in apart.outputs}
    # one column more: the fixed sum is no longer the same as the sum whose bounds are chosen
    columns = len(together.price.measured), len(apart.price.measured)
    for output in together.outputs:
        after = float(together.price.measured[output.parts[0]].scale)
        assert after < 0.96 * float(before[output.name]) * math.sqrt(columns[0] / columns[1])


def test_laplace_columns_have_the_same_noise_as_if_choices_were_paid_apart() -> None:
    keys = ["red", "blue", "green"]
    together = everything(True, "auto", keys).plan(epsilon=1, noise="laplace", coverage=False)
    assert together.guarantee == events.PureDP(epsilon=1)
    ratios = [noise.epsilon for noise in together.price.noises if isinstance(noise, events.DiscreteLaplace)]
    chosen = len(together.choices)
    assert (sum(ratios[:chosen]), sum(ratios[chosen:])) == (Fraction(1, 10), Fraction(9, 10))


def test_many_laplace_columns_are_composed_by_their_losses_for_every_outcome() -> None:
    aggregates: Any = {
        f"s{place}": dn.sum("spend", bounds=(0, place + 1), max_rows="auto") for place in range(24)
    }
    query = protect(table([]), unit="person", population=1_000_000).aggregate(**aggregates)
    plan = query.plan(epsilon=1, delta="1e-4", noise="laplace", allow_large_delta=True)
    assert plan.price.composed == "loss distribution"
    assert any(isinstance(event, events.Laplace) for event in plan.events)
    assert accounting.within(plan.events, epsilon=EPSILON, delta=Fraction(1, 10**4))
    ratios = [noise.epsilon for noise in plan.price.noises if isinstance(noise, events.DiscreteLaplace)]
    total = sum(ratios[1:])
    assert total > Fraction(95, 100)
    for settled in outcomes(plan):
        assert settled.events == plan.events


def test_a_column_without_the_planned_noise_is_not_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the noise of a column ever less than was paid, the public numbers would be used."""
    plan = everything(True).plan(epsilon=1, delta="1e-8")
    planned: Any = plan.price.measured[1].event
    smaller = replace(planned, sigma=planned.sigma / 2)
    monkeypatch.setattr("deniable.query.charged.grown", lambda *_, **__: smaller)
    for settled in outcomes(plan):
        assert settled.price == plan.price
        assert all(choice.chosen == choice.fallback for choice in settled.choices)
        assert all(choice.found == (choice.read == choice.fallback) for choice in settled.choices)


def test_what_has_no_room_is_measured_with_the_public_numbers() -> None:
    groups = protect(table([]), unit="person", population=1 << 32).group_by(
        "colour", keys=["red", "green", "blue"], max_groups=2, over="weight"
    )
    plan = groups.aggregate(total=dn.sum("spend", bounds=(0, 1), max_rows="auto")).plan(epsilon=1)
    fits, does_not = (plan.settled([_with(plan.choices[0], (Fraction(most),))]) for most in (2, 1024))
    assert (fits.choices[0].found, does_not.choices[0].found) == (True, False)
    assert does_not.choices[0].wanted == (Fraction(1024),)
    assert does_not.price == fits.price != plan.price, "2 is the most that there is room for"


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("people", [None, 1 << 27, 1 << 31, 1 << 33])
def test_as_many_rows_as_have_room_are_measured_and_what_was_found_is_kept(kind: Any, people: Any) -> None:
    """Room is what planning the same with stated numbers says."""
    groups = protect(table([]), unit="person", population=people).group_by(
        "colour", keys=["red", "green", "blue"], max_groups=2, over="weight"
    )

    def plan(rows: Any, bounds: Any) -> Plan:
        return groups.aggregate(a=dn.mean("spend", bounds=bounds, max_rows=rows)).plan(
            epsilon=1, delta="1e-20", noise=kind
        )

    def has_room(rows: Fraction) -> bool:
        with suppress(dn.errors.ParameterError):
            return bool(plan(int(rows), (16, 128)))
        return False

    planned = plan("auto", "auto")
    [rows, bounds] = sorted(planned.choices, key=lambda choice: choice.argument, reverse=True)
    between = _with(bounds, (Fraction(16), Fraction(128)))
    room = [end for end in rows.ends if has_room(end)]
    for wanted in rows.ends[::3]:
        settled = planned.settled(
            [_with(rows, (wanted,)) if one is rows else between for one in planned.choices]
        )
        found = {choice.argument: choice for choice in settled.choices}
        assert found["bounds"] == between
        assert found["max_rows"].chosen == (max(end for end in room if end <= wanted),)
        assert found["max_rows"].read == (wanted,)
        assert found["max_rows"].found == (wanted in room)
        assert settled.events == planned.events


def hand_made(selection: Any, over: Any, **of: Any) -> Plan:
    """A plan whose groups are not found in rounds, up to four of one unit."""
    groups = protect(table([]), unit="person").group_by(
        "colour", max_groups=4, selection=selection, over=over, max_keys=40
    )
    query = groups.aggregate(people=dn.units(), rows=dn.count(max_rows="auto"))
    return query.plan(epsilon=1, delta="1e-8", **of)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("selection", "over"), [("threshold", "drop"), ("threshold", "weight"), ("truncated-geometric", "drop")]
)
def test_what_finds_groups_is_never_used_for_more_groups_than_it_was_made_for(
    selection: Any, over: Any, noise: Any
) -> None:
    plan = hand_made(selection, over, noise=noise)
    event: Any = plan.choices[0].event
    groups = Choice("max_groups", None, automatic.ends_of("max_groups", 40), event)
    more, rows = groups.ends[6], _with(plan.choices[0], (Fraction(4),))
    settled = plan.settled([_with(groups, (more,)), rows])
    assert settled.choices == (replace(groups, chosen=groups.fallback, wanted=(more,)), rows)
    before, after = plan.price.contributions, settled.price.contributions
    assert (after.max_groups, after.groups) == (4, before.groups)
    same = plan.settled([_with(groups, (Fraction(4),)), rows])
    assert same.choices[0].found


def test_each_thing_that_a_threshold_rests_on_is_compared() -> None:
    """Weights and the noise of units change together in every plan; here each changes alone."""
    price = hand_made("threshold", "weight", noise="gaussian").price
    units, *others = price.measured
    event: Any = units.event
    less = replace(event, sigma=event.sigma - 1)
    more = replace(price.contributions, max_groups=8)
    assert settling.selection_holds(price, price)
    assert not settling.selection_holds(price, replace(price, contributions=more))
    assert not settling.selection_holds(price, replace(price, measured=(replace(units, event=less), *others)))
    assert not settling.selection_holds(price, replace(price, found=None))


def test_max_groups_is_not_chosen_for_a_threshold() -> None:
    """Nothing public asks for this; a query that was put together by hand is refused."""
    groups = protect(table([]), unit="person").group_by("colour", max_groups=4, selection="threshold")
    query = replace(groups, auto=True).aggregate(people=dn.units())
    with pytest.raises(dn.errors.ParameterError, match="max_groups does not go with 'threshold'"):
        query.plan(epsilon=1, delta="1e-8")


def test_the_plan_of_a_release_can_be_had_as_it_was_before_anything_was_read(plan: Plan) -> None:
    for settled in outcomes(plan):
        assert settled != plan
        assert settled.unread == plan
        assert "nothing has been read" not in str(settled)
        assert settled.settled(outcomes(plan)[0].choices) == outcomes(plan)[0]
    assert plan.unread is plan
    assert "nothing has been read" in str(plan)


def test_public_numbers_are_those_of_the_plan_though_something_was_chosen_before(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = outcomes(plan)[-1]
    monkeypatch.setattr("deniable.query.settling.most", lambda *_: None)
    missed = settled.settled(settled.choices)
    assert (missed.query, missed.price) == (plan.query, plan.price)
    assert all(choice.chosen == choice.fallback for choice in missed.choices)


def test_a_plan_that_cannot_be_had_back_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    settled = outcomes(everything(True).plan(epsilon=1, delta="1e-8"))[0]
    monkeypatch.setattr(Plan, "_with", lambda *_: None)
    with pytest.raises(dn.errors.ParameterError, match="Ask the query again"):
        settled.release()


def test_noise_that_64_bits_do_not_hold_is_not_drawn() -> None:
    survey = protect(table([]), unit="person", population=1000)
    query = survey.aggregate(total=dn.sum("spend", bounds=(0, 1), max_rows="auto"))
    plan = query.plan(epsilon=Fraction(1, 1 << 24))
    fits, does_not = (plan.settled([_with(plan.choices[0], (Fraction(most),))]) for most in (2, 1024))
    assert (fits.choices[0].found, does_not.choices[0].found) == (True, False)
    [used] = does_not.choices[0].chosen or ()
    assert 2 < used < 1024 == does_not.choices[0].wanted[0]  # type: ignore[index]
    assert all(noisy.event.scale <= 1 << 56 for noisy in does_not.price.measured)  # type: ignore[union-attr]


def test_each_choice_counts_the_classes_that_one_unit_can_be_in() -> None:
    plan = everything(True).plan(epsilon=1, delta="1e-8")
    moved = {choice.argument: choice.event for choice in plan.choices}
    entries = {name: getattr(event, "coordinates", None) for name, event in moved.items()}
    assert entries == {"max_groups": 1, "max_rows": 1, "bounds": len(automatic.edges()) - 1}
