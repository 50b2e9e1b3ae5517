"""`dn.Laplace` and `dn.Gaussian`: what they cost, how far off they are, that they draw what they claim."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from math import inf, log, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mechanism_oracles import ALPHA, MP, chi_square, real

from deniable import accounting, events
from deniable.bits import SeededBits, SystemBits
from deniable.errors import ParameterError
from deniable.guarantees import ApproxDP, PureDP
from deniable.mechanisms import Gaussian, Laplace, textbook_sigma
from deniable.mechanisms.grids import LIMIT

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "accounting.json"
PUBLISHED = [
    ("1", "1e-5", "3.73063163482"),
    ("0.1", "1e-6", "36.3046904262"),
    ("1e-3", "1e-6", "2436.55249375"),
    ("10", "1e-5", "0.499888619709"),
    ("100", "1e-5", "0.0946699070147"),
    ("1", "1e-12", "6.55782206746"),
]


def bits() -> SeededBits:
    return SeededBits(7, insecure=True)


def laplace_law(epsilon: str, xs: range) -> list[float]:
    """P(x) of discrete Laplace noise of scale 1/epsilon."""
    q = MP.exp(-real(Fraction(epsilon)))
    return [float((1 - q) / (1 + q) * q ** abs(x)) for x in xs]


def gaussian_law(sigma: Fraction, xs: range) -> list[Any]:
    """P(x) of discrete Gaussian noise, summed far beyond where it matters."""
    far = int(20 * sigma) + 20
    weights = {x: MP.exp(-(MP.mpf(x) ** 2) / (2 * real(sigma) ** 2)) for x in range(-far, far + 1)}
    total = MP.fsum(weights.values())
    return [weights.get(x, MP.mpf(0)) / total for x in xs]


def delta_by_enumeration(sigma: Fraction, epsilon: Fraction, shift: int = 1) -> Any:
    """Sum over all integers of (P(x) - e**epsilon P(x - shift))+."""
    far = int(20 * sigma) + 20
    law = gaussian_law(sigma, range(-far - shift, far + 1))
    growth = MP.exp(real(epsilon))
    gaps = (p - growth * q for p, q in zip(law[shift:], law[: len(law) - shift], strict=True))
    return MP.fsum(gap for gap in gaps if gap > 0)


@pytest.mark.parametrize("epsilon", ["1e-12", "1/3", "ln 3", 1, 0.1, "10", 710, 1e4])
@pytest.mark.parametrize("arguments", [{}, {"whole": True}, {"shape": 5}, {"shape": (2, 3), "whole": True}])
def test_laplace_costs_exactly_its_epsilon(epsilon: str | float, arguments: dict[str, Any]) -> None:
    mechanism = Laplace(epsilon=epsilon, sensitivity="7/3", **arguments)
    assert mechanism.event.epsilon == mechanism.epsilon == mechanism.guarantee.epsilon
    assert accounting.account(mechanism.event).epsilon() == mechanism.epsilon


def test_laplace_on_counts_is_the_geometric_mechanism_and_its_odds_change_by_no_more_than_e_to_epsilon() -> (
    None
):
    mechanism = Laplace(epsilon="ln 3", sensitivity=2, whole=True)
    assert mechanism.event == events.DiscreteLaplace(scale=2 / mechanism.epsilon, sensitivity=2)
    q = MP.exp(-1 / real(mechanism.event.scale))
    worst = max(q ** (abs(x) - abs(x - 2)) for x in range(-50, 50))
    assert MP.almosteq(worst, MP.mpf(3), rel_eps=MP.mpf(2) ** -100)


@pytest.mark.parametrize("epsilon", [0, "5e-324", "1e-320", inf, nan, -1, True, "abc", None, 1e300])
def test_an_epsilon_that_cannot_be_is_named(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="^epsilon"):
        Laplace(epsilon=epsilon, sensitivity=1)
    if epsilon not in ("5e-324", "1e-320"):
        with pytest.raises(ParameterError, match="^epsilon"):
            Gaussian(epsilon=epsilon, delta=1e-5, sensitivity=1)


@pytest.mark.parametrize("delta", [0, 1, 2, nan, -1e-5, True, None, "x"])
def test_a_delta_that_cannot_be_is_named(delta: Any) -> None:
    with pytest.raises(ParameterError, match="^delta"):
        Gaussian(epsilon=1, delta=delta, sensitivity=1)


@pytest.mark.parametrize("sensitivity", [0, -1, nan, inf, True, None, "1e-320"])
def test_a_sensitivity_that_cannot_be_is_named(sensitivity: Any) -> None:
    with pytest.raises(ParameterError, match="^sensitivity"):
        Laplace(epsilon=1, sensitivity=sensitivity)
    with pytest.raises(ParameterError, match="^sensitivity"):
        Gaussian(epsilon=1, delta=1e-5, sensitivity=sensitivity)


@pytest.mark.parametrize(("epsilon", "delta", "sigma"), PUBLISHED)
def test_gaussian_noise_is_that_of_the_exact_calibration(epsilon: str, delta: str, sigma: str) -> None:
    found = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma
    assert float(sigma) * (1 - 1e-11) < found < float(sigma) * (1 + 2e-5)


def test_the_published_calibrations_are_those_of_the_case_file() -> None:
    if not CASES.exists():
        pytest.skip("the case file is not beside this checkout")
    rows = json.loads(CASES.read_text())["gaussian_calibration"]
    assert [(row["epsilon"], row["delta"], row["sigma"]) for row in rows] == PUBLISHED


@pytest.mark.parametrize("delta", ["0.5", "1e-300"])
def test_gaussian_noise_for_extreme_deltas_is_proved(delta: str) -> None:
    mechanism = Gaussian(epsilon=1, delta=delta, sensitivity=1)
    assert accounting.within(mechanism.event, epsilon=1, delta=delta)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1", "1e-5"), ("2", "1e-3"), ("10", "1e-5"), ("0.5", "1e-4")]
)
def test_gaussian_noise_on_counts_is_priced_as_discrete_and_is_hardly_more_than_needed(
    epsilon: str, delta: str
) -> None:
    sigma = Gaussian(epsilon=epsilon, delta=delta, sensitivity=1, whole=True).sigma
    assert delta_by_enumeration(sigma, Fraction(epsilon)) <= real(Fraction(delta))
    assert delta_by_enumeration(sigma * Fraction(995, 1000), Fraction(epsilon)) > real(Fraction(delta))


def test_the_continuous_calibration_would_not_do_for_counts() -> None:
    assert float(delta_by_enumeration(Fraction("3.73063"), Fraction(1))) == pytest.approx(1.0346e-5, rel=1e-4)
    assert Gaussian(epsilon=1, delta="1e-5", sensitivity=1, whole=True).sigma > Fraction("3.735")


@pytest.mark.parametrize("arguments", [{"shape": 1000}, {"shape": (30, 30), "whole": True}])
def test_a_vector_is_priced_with_the_steps_that_rounding_adds(arguments: dict[str, Any]) -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=3, **arguments)
    moved = 3 / mechanism.grid.step
    root = 0 if mechanism.grid.whole else Fraction(1000**0.5)
    assert mechanism.event.sensitivity >= moved + root
    assert mechanism.event.sensitivity < (moved + root) * Fraction("1.00001")
    assert mechanism.event.coordinates == (9 if mechanism.grid.whole else 1000)
    assert mechanism.sigma < Fraction("12.7") + mechanism.grid.whole * Fraction("0.1")


def test_laplace_on_a_vector_is_priced_with_the_steps_that_rounding_adds() -> None:
    mechanism = Laplace(epsilon=1, sensitivity=3, shape=1000)
    assert mechanism.event.sensitivity == 3 / mechanism.grid.step + 999
    assert mechanism.scale < 3 * Fraction("1.001")
    assert Laplace(epsilon=1, sensitivity=3, shape=1000, whole=True).event.sensitivity == 3


def test_laplace_draws_have_the_law_of_the_event_and_no_other() -> None:
    mechanism = Laplace(epsilon="0.5", sensitivity=1, shape=20_000, whole=True)
    found = mechanism.release(np.full(20_000, 40), bits=bits())
    assert isinstance(found, np.ndarray)
    assert chi_square(np.clip(found, 0, 80), laplace_law("0.5", range(-40, 41))) > ALPHA
    assert chi_square(np.clip(found, 0, 80), laplace_law("0.55", range(-40, 41))) < ALPHA


def test_gaussian_draws_have_the_law_of_the_event_and_no_other() -> None:
    mechanism = Gaussian(epsilon=1, delta="1e-5", sensitivity=1, whole=True)
    found = [int(str(mechanism.release(40, bits=source))) for source in [bits()] for _ in range(4000)]
    law = [float(p) for p in gaussian_law(mechanism.sigma, range(-40, 41))]
    twin = [float(p) for p in gaussian_law(mechanism.sigma * Fraction(108, 100), range(-40, 41))]
    assert chi_square(found, law) > ALPHA
    assert chi_square(found * 5, twin) < ALPHA


def test_a_fine_grid_has_the_noise_of_its_scale() -> None:
    source = bits()
    mechanism = Laplace(epsilon=1, sensitivity=1, shape=4000)
    found = np.asarray(mechanism.release(np.full(4000, 0.3), bits=source)) - 0.3
    quarters = [-log(2), 0.0, log(2)]
    cells = np.searchsorted(quarters, found)
    assert chi_square(cells, [0.25] * 4) > ALPHA
    assert chi_square(np.searchsorted([1.25 * x for x in quarters], found), [0.25] * 4) < ALPHA


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_no_bit_pattern_tells_two_values_apart(kind: str) -> None:
    mechanism: Laplace | Gaussian = Laplace(epsilon=1, sensitivity=1)
    if kind == "gaussian":
        mechanism = Gaussian(epsilon=1, delta=1e-5, sensitivity=1)
    step = mechanism.grid.step
    source = bits()
    for value in (0, 1, 0.1, Fraction(1, 3), 1 + 2**-40):
        released = [float(str(mechanism.release(value, bits=source))) for _ in range(50)]
        assert all(Fraction(one) % step == 0 for one in released)
    close = [mechanism.release(value, bits=bits()) for value in (0, step / 3, -step / 3, float(step / 2.01))]
    assert set(close) == {mechanism.release(0, bits=bits())}


@pytest.mark.parametrize("value", [nan, None, inf, -inf, 1e300, -(10**400), 1000, -2.5])
@pytest.mark.parametrize("whole", [False, True])
def test_every_number_is_released_in_the_same_way(value: Any, whole: bool) -> None:
    for mechanism in (
        Laplace(epsilon=1, sensitivity=1, whole=whole),
        Gaussian(epsilon=1, delta=1e-5, sensitivity=1, whole=whole),
    ):
        found = mechanism.release(value, bits=bits())
        assert type(found) is (int if whole else float)
        noise = Fraction(str(mechanism.release(0, bits=bits())))
        place = 0 if value is None or value != value else value
        limit = LIMIT * mechanism.grid.step
        exact = min(
            max(Fraction(place) if abs(place) < inf else (limit if place > 0 else -limit), -limit), limit
        )
        assert abs(Fraction(str(found)) - exact - noise) <= max(mechanism.grid.step, abs(exact) / 2**52)


def test_arrays_come_back_in_their_shape() -> None:
    for whole, dtype in ((False, np.float64), (True, np.int64)):
        found = Laplace(epsilon=1, sensitivity=1, shape=(2, 3), whole=whole).release(np.zeros((2, 3)))
        assert isinstance(found, np.ndarray)
        assert found.shape == (2, 3)
        assert found.dtype == dtype
        assert len(np.unique(found)) > 1 or whole
    assert isinstance(Laplace(epsilon=1, sensitivity=1, shape=3).release([1, None, 2.5]), np.ndarray)


def test_an_error_covers_noise_and_rounding() -> None:
    counts = Laplace(epsilon=1, sensitivity=1, whole=True)
    assert [int(counts.error(confidence=sure)) for sure in ("0.95", "0.9", 0)] == [3, 2, 0]
    fine = Laplace(epsilon=1, sensitivity=1)
    q = MP.exp(-real(fine.grid.step))
    steps = int(MP.ceil(MP.log(40 / (1 + q)) / -MP.log(q))) - 1
    assert fine.error() == (steps + Fraction(1, 2)) * fine.grid.step
    assert log(20) < fine.error() < log(20) + 2**-9
    gaussian = Gaussian(epsilon=1, delta="1e-5", sensitivity=1)
    assert 1.959963984 * gaussian.sigma < gaussian.error() < 1.959963985 * gaussian.sigma + Fraction(1, 2**9)


@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.95", "0.99", "0.999999"])
def test_an_error_holds_as_often_as_it_says_and_is_the_least_that_does(confidence: str) -> None:
    w = int(Laplace(epsilon=1, sensitivity=1, whole=True).error(confidence=confidence))
    law = laplace_law("1", range(-w, w + 1))
    assert sum(law) >= float(confidence) > sum(law[1:-1])


def test_a_wrong_confidence_is_named() -> None:
    for wrong in (1, 2, -1, nan, None, "x"):
        with pytest.raises(ParameterError, match="confidence"):
            Laplace(epsilon=1, sensitivity=1).error(confidence=wrong)  # type: ignore[arg-type]


def test_without_bits_two_releases_differ() -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-5, sensitivity=1)
    assert len({mechanism.release(0) for _ in range(4)}) > 1
    assert len({mechanism.release(0, bits=SystemBits()) for _ in range(4)}) > 1
    assert mechanism.release(0, bits=bits()) == mechanism.release(0, bits=bits())


def test_mechanisms_are_values() -> None:
    laplace, gaussian = (
        Laplace(epsilon="1/3", sensitivity=2, shape=3),
        Gaussian(epsilon=1, delta=1e-5, sensitivity=1),
    )
    assert repr(laplace) == "Laplace(epsilon=1/3, sensitivity=2, shape=(3,))"
    assert repr(gaussian) == "Gaussian(epsilon=1, delta=1e-5, sensitivity=1)"
    assert (
        repr(Laplace(epsilon=1, sensitivity=1, whole=True)) == "Laplace(epsilon=1, sensitivity=1, whole=True)"
    )
    for mechanism in (laplace, gaussian):
        assert pickle.loads(pickle.dumps(mechanism)) == mechanism
        assert hash(pickle.loads(pickle.dumps(mechanism))) == hash(mechanism)
        with pytest.raises(AttributeError):
            mechanism.epsilon = Fraction(9)  # type: ignore[misc]
    assert (laplace.guarantee, gaussian.guarantee) == (
        PureDP(epsilon="1/3"),
        ApproxDP(epsilon=1, delta="1e-5"),
    )


def test_a_statement_says_what_is_promised_and_taken_for_granted() -> None:
    assert Laplace(epsilon="ln 3", sensitivity=1, whole=True).statement == (
        "Laplace noise of scale 0.9103 on one number. Differential privacy with epsilon\n"
        "1.0987 (ln 3), delta 0: with or without any one unit, the odds of a result\n"
        "change at most 3-fold. Somebody who holds both tables names the right one at\n"
        "most 75 % of the time; a coin gives 50 %. In 95 % of cases a result is within 3\n"
        "of the value. Taken for granted: one unit moves the number by at most 1. What is\n"
        "missing counts as 0, what is beyond 2.31e+18 on either side as that. Each\n"
        "release costs this again.\n"
    )
    words = " ".join(Gaussian(epsilon=1, delta="1e-6", sensitivity=2, shape=4).statement.split())
    assert words.startswith("Gaussian noise of standard deviation 8.454 on each of 4 numbers, in steps of ")
    assert "epsilon 1, delta 1e-6" in words
    assert "but for a risk of 1 in 1,000,000" in words
    assert "one unit moves them by at most 2 in all (L2)" in words


def test_the_textbook_formula_is_kept_for_comparison_and_refuses_what_it_does_not_cover() -> None:
    assert float(textbook_sigma(epsilon=1, delta="1e-6")) == pytest.approx(
        (2 * log(1.25e6)) ** 0.5, rel=1e-12
    )
    for epsilon in ("1.0001", 10):
        with pytest.raises(ParameterError, match=r"(?s)epsilon must be at most 1 for the textbook.*0\.49989"):
            textbook_sigma(epsilon=epsilon, delta="1e-5")


def test_the_textbook_formula_would_be_too_small_at_epsilon_10() -> None:
    textbook = (2 * MP.log(MP.mpf("1.25e5"))) ** 0.5 / 10
    assert float(textbook) == pytest.approx(0.4845, abs=1e-4)
    mu = 1 / textbook
    near, far = (MP.erfc((10 / mu + side * mu / 2) / MP.sqrt(2)) / 2 for side in (-1, 1))
    assert near - MP.exp(10) * far > 1e-5


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1"])
@pytest.mark.parametrize("delta", ["0.9", "0.1", "1e-5", "1e-12"])
def test_the_exact_calibration_never_needs_more_than_the_textbook(epsilon: str, delta: str) -> None:
    assert Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma <= textbook_sigma(
        epsilon=epsilon, delta=delta
    )
