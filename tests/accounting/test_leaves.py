"""What events are made of, and what they are when one unit replaces another."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from accounting_oracles import gaussian_delta, number

from deniable import events
from deniable.accounting import account
from deniable.accounting.leaves import leaves
from deniable.errors import ParameterError
from deniable.guarantees import Neighbours


def test_repetitions_multiply_and_equal_events_come_together() -> None:
    one = events.Laplace(scale=2)
    found = leaves(
        [
            one,
            events.Repeated(events.Composed([one, events.Repeated(one, 3)]), 5),
            events.Laplace(scale="2.0"),
        ],
        Neighbours.ADD_OR_REMOVE,
    )
    assert found == {one: 22}


def test_what_is_drawn_on_one_sample_stays_together() -> None:
    inner = events.Composed([events.Laplace(scale=2), events.PureDP(epsilon=0)])
    found = leaves(events.Repeated(events.Subsampled(inner, "0.1"), 4), Neighbours.ADD_OR_REMOVE)
    assert found == {events.Subsampled(events.Laplace(scale=2), "0.1"): 4}
    both = events.Composed([events.Laplace(scale=2), events.Gaussian(sigma=2)])
    assert leaves(events.Subsampled(both, "0.1"), Neighbours.ADD_OR_REMOVE) == {
        events.Subsampled(both, "0.1"): 1
    }


REPLACED: list[tuple[events.Event, events.Event]] = [
    (events.Laplace(scale=2), events.Laplace(scale=2, sensitivity=2)),
    (events.DiscreteLaplace(scale=2), events.DiscreteLaplace(scale=2, sensitivity=2)),
    (events.Gaussian(sigma=2), events.Gaussian(sigma=2, sensitivity=2)),
    (
        events.DiscreteGaussian(sigma=2, coordinates=3),
        events.DiscreteGaussian(sigma=2, sensitivity=2, coordinates=6),
    ),
    (events.PureDP(epsilon="0.3"), events.PureDP(epsilon="0.6")),
    (events.Exponential(epsilon="0.3"), events.Exponential(epsilon="0.6")),
    (events.ZeroConcentratedDP(rho="0.1"), events.ZeroConcentratedDP(rho="0.4")),
    (events.RandomizedResponse(epsilon=1, options=3), events.RandomizedResponse(epsilon=1, options=3)),
    (events.Selection(delta="1e-8"), events.ApproxDP(epsilon=0, delta="2e-8")),
]


@pytest.mark.parametrize(("event", "replaced"), REPLACED, ids=lambda event: type(event).__name__)
def test_replacing_one_is_removing_and_adding(event: events.Event, replaced: events.Event) -> None:
    assert leaves(event, Neighbours.REPLACE_ONE) == {replaced: 1}


def test_a_promise_that_may_fail_fails_more_often_when_one_is_replaced() -> None:
    (found,) = leaves(events.ApproxDP(epsilon=1, delta="1e-6"), Neighbours.REPLACE_ONE)
    assert isinstance(found, events.ApproxDP)
    assert found.epsilon == 2
    truth = (1 + mp.e) * mp.mpf("1e-6")
    assert truth <= number(found.delta) <= truth * (1 + mp.mpf(10) ** -20)


def test_a_promise_that_means_nothing_when_one_is_replaced_is_refused() -> None:
    with pytest.raises(ParameterError, match="promise nothing"):
        leaves(events.ApproxDP(epsilon=20, delta="1e-6"), Neighbours.REPLACE_ONE)


def test_a_selection_beside_noise_joins_its_delta() -> None:
    """delta of both at epsilon is 1 - (1 - d)(1 - delta of the noise)."""
    spent: list[events.Event] = [events.Gaussian(sigma=2), events.Selection(delta="0.001")]
    truth = 1 - (1 - mp.mpf("0.001")) * (1 - gaussian_delta("0.5", 1))
    found = account(spent).delta(epsilon=1)
    assert truth <= number(found) <= truth * (1 + mp.mpf(10) ** -12)
    assert account(spent).epsilon(found) == pytest.approx(1, abs=1e-9)
    assert account(spent).epsilon(found - Fraction(1, 10**6)) > 1
