"""Claims decided from probabilities: against brute force over all sets, closed forms, published numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from math import exp, expm1, inf, log

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.audit import Between, Computed, Proved, Steps, Violated, exact, specimens
from deniable.errors import ParameterError
from deniable.events import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace

laws = st.lists(st.integers(0, 12), min_size=4, max_size=4).map(
    lambda weights: [weights[0] + 1, *weights[1:]]
)


def worst_set(p: list[Fraction], q: list[Fraction], epsilon: float) -> float:
    """Try every set of outputs."""
    places = range(len(p))
    sets = chain.from_iterable(combinations(places, size) for size in range(len(p) + 1))
    return max(sum(float(p[i]) for i in s) - exp(epsilon) * sum(float(q[i]) for i in s) for s in sets)


@given(laws, laws, st.sampled_from(["0", "0.3", "1", "ln 3"]))
@settings(deadline=None, max_examples=60)
def test_delta_is_that_of_the_worst_of_all_sets(first: list[int], second: list[int], epsilon: str) -> None:
    p, q = ([Fraction(w, sum(law)) for w in law] for law in (first, second))
    found = exact(lambda place: (p, q)[place], [0, 1], epsilon=epsilon, delta="0.999999999")
    assert isinstance(found, Proved)
    number = log(3) if epsilon == "ln 3" else float(epsilon)
    truth = max(worst_set(p, q, number), worst_set(q, p, number))
    assert float(found.curve.delta(epsilon)) == pytest.approx(truth, abs=1e-12)


@given(laws, laws, st.sampled_from(["0.2", "1", "2.5"]))
@settings(deadline=None, max_examples=60)
def test_a_violation_names_two_inputs_and_a_set_that_refute_the_claim(
    first: list[int], second: list[int], epsilon: str
) -> None:
    found = exact(lambda place: (first, second)[place], [0, 1], epsilon=epsilon, delta="0.01")
    p, q = ([Fraction(w, sum(law)) for w in law] for law in (first, second))
    truth = max(worst_set(p, q, float(epsilon)), worst_set(q, p, float(epsilon)))
    assert isinstance(found, Violated) == (truth > 0.01)
    if isinstance(found, Violated):
        one, other = (p, q) if found.inputs == (0, 1) else (q, p)
        inside = [i for i in range(len(p)) if i in found.outputs]
        assert found.first == sum(one[i] for i in inside)
        assert found.second == sum(other[i] for i in inside)
        assert float(found.first) > exp(float(epsilon)) * float(found.second) + 0.01


@given(laws, laws, st.sampled_from(["0.001", "0.1"]))
@settings(deadline=None, max_examples=40)
def test_epsilon_of_a_delta_is_enough_and_hardly_more(
    first: list[int], second: list[int], delta: str
) -> None:
    found = exact(lambda place: (first, second)[place], [0, 1], epsilon=20, delta="0.999999999")
    assert isinstance(found, Proved)
    p, q = ([Fraction(w, sum(law)) for w in law] for law in (first, second))
    alone = max(
        sum((a for a, b in zip(p, q, strict=True) if not b), Fraction(0)),
        sum((b for a, b in zip(p, q, strict=True) if not a), Fraction(0)),
    )
    if alone > Fraction(delta):
        with pytest.raises(ParameterError, match="impossible on one input only"):
            found.curve.epsilon(delta)
        return
    epsilon = float(found.curve.epsilon(delta))
    assert max(worst_set(p, q, epsilon), worst_set(q, p, epsilon)) <= float(delta) + 1e-9
    if epsilon > 1e-6:
        assert max(worst_set(p, q, epsilon - 1e-6), worst_set(q, p, epsilon - 1e-6)) > float(delta)


def test_randomised_response_with_odds_of_three_is_ln_3_and_no_less() -> None:
    law = {True: {"yes": 3, "no": 1}, False: {"yes": 1, "no": 3}}
    found = exact(law.__getitem__, [True, False], epsilon="ln 3")
    assert isinstance(found, Proved)
    assert found.curve.delta(0) == Fraction(1, 2)
    assert float(found.epsilon) == pytest.approx(log(3), abs=1e-15)
    assert isinstance(exact(law.__getitem__, [True, False], epsilon="1.0986"), Violated)


def test_only_the_neighbours_that_are_named_are_compared() -> None:
    def law(place: int) -> list[int]:
        return [4 - place, place]

    near = [(0, 1), (1, 2), (2, 3)]
    found = exact(law, [1, 2, 3], epsilon="ln 2", pairs=[(1, 2), (2, 3)])
    assert isinstance(found, Proved)
    assert isinstance(exact(law, [1, 2, 3], epsilon="ln 2"), Violated)
    with pytest.raises(ParameterError, match="not a pair of the inputs"):
        exact(law, [1, 2, 3], epsilon=1, pairs=near)


def test_step_densities_are_compared_on_the_pieces_between_all_edges() -> None:
    def law(place: int) -> Steps:
        return Steps([0, 1, 3], ["1/2", "1/4"]) if place else Steps([0, "1/2", 3], ["1/2", "3/10"])

    assert isinstance(exact(law, [0, 1], epsilon="ln 2"), Proved)  # the largest ratio is (1/2)/(3/10)
    found = exact(law, [0, 1], epsilon="0.5")
    assert isinstance(found, Violated)
    assert found.outputs == ((Fraction(1, 2), Fraction(1)),)
    assert (found.first, found.second) == (Fraction(1, 4), Fraction(3, 20))


def test_a_step_density_must_have_area_one() -> None:
    with pytest.raises(ParameterError, match="area 1"):
        Steps([0, 1], [Fraction(1, 2)])
    with pytest.raises(ParameterError, match="do not fit"):
        Steps([0, 1, 1], [1, 1])


def test_enclosed_probabilities_prove_refute_or_leave_open() -> None:
    def law(wide: Fraction) -> object:
        third, half = Between(Fraction(1, 3) - wide, Fraction(1, 3) + wide), Fraction(1, 2)
        two_thirds = Between(Fraction(2, 3) - wide, Fraction(2, 3) + wide)
        return lambda place: [half, half] if place else [third, two_thirds]

    sharp, dull = law(Fraction(1, 10**9)), law(Fraction(1, 10))
    assert isinstance(exact(sharp, [0, 1], epsilon="0.41"), Proved)  # type: ignore[arg-type]
    assert isinstance(exact(sharp, [0, 1], epsilon="0.40"), Violated)  # type: ignore[arg-type]
    assert isinstance(exact(dull, [0, 1], epsilon="0.41"), Computed)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("law", "problem"),
    [
        ({"a": "1/2", "b": "1/3"}, "sum to 5/6, not 1"),
        ({"a": 0.1, "b": 0.2}, "sum to 3/10, not 1"),
        ({"a": -1, "b": 2}, "below 0"),
    ],
)
def test_what_is_no_distribution_is_refused(law: dict[str, object], problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        exact(lambda _: law, [0, 1], epsilon=1)  # type: ignore[arg-type]


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least two"):
        exact(lambda _: [1], [0], epsilon=1)
    with pytest.raises(ParameterError, match="probabilities are known"):
        exact("noise", [0, 1], epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="mixes"):
        exact(lambda place: [1] if place else Steps([0, 1], [1]), [0, 1], epsilon=1)


# Added noise: closed forms at 50 digits, and numbers from the literature


def laplace_delta(scale: float, epsilon: float) -> float:
    return max(0.0, -expm1((epsilon - 1 / scale) / 2))


@pytest.mark.parametrize(("scale", "epsilon"), [("1", "0.5"), ("2", "0"), ("0.5", "1.9"), ("3", "0.1")])
def test_laplace_noise_has_the_delta_of_its_closed_form(scale: str, epsilon: str) -> None:
    found = exact(Laplace(scale=scale), epsilon=epsilon, delta="0.9")
    assert isinstance(found, Proved)
    assert float(found.delta) == pytest.approx(laplace_delta(float(scale), float(epsilon)), rel=1e-12)


def test_laplace_noise_of_scale_one_is_epsilon_one_and_no_less() -> None:
    for noise in (Laplace(scale=1), DiscreteLaplace(scale=1)):
        assert isinstance(exact(noise, epsilon=1), Proved)
        assert isinstance(exact(noise, epsilon="0.999"), Violated)


def test_gaussian_noise_is_calibrated_as_published() -> None:
    """Balle and Wang 2018: sigma 3.7306316 for (1, 1e-5), .49988862 for (10, 1e-5)."""
    for sigma, epsilon in (("3.7306316", 1), ("0.49988862", 10)):
        above = Gaussian(sigma=Fraction(sigma) * (1 + Fraction(1, 10**7)))
        below = Gaussian(sigma=Fraction(sigma) * (1 - Fraction(1, 10**7)))
        assert isinstance(exact(above, epsilon=epsilon, delta="1e-5"), Proved)
        assert isinstance(exact(below, epsilon=epsilon, delta="1e-5"), Violated)


def lattice_delta(sigma: str, epsilon: str) -> mpmath.mpf:
    with mpmath.workdps(50):
        s, e = mpmath.mpf(sigma), mpmath.exp(mpmath.mpf(epsilon))
        reach = range(-int(40 * float(sigma)) - 5, int(40 * float(sigma)) + 6)
        weight = {x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * s * s)) for x in reach}
        total = mpmath.fsum(weight.values())
        return mpmath.fsum(max(0, weight.get(x - 1, 0) - e * w) for x, w in weight.items()) / total


@pytest.mark.parametrize(("sigma", "epsilon"), [("1", "0"), ("3.73063", "1"), ("0.3", "2"), ("5", "0.5")])
def test_discrete_gaussian_noise_has_the_delta_of_the_whole_sum(sigma: str, epsilon: str) -> None:
    found = exact(DiscreteGaussian(sigma=sigma), epsilon=epsilon, delta="0.99")
    assert isinstance(found, Proved)
    assert float(found.delta) == pytest.approx(float(lattice_delta(sigma, epsilon)), rel=1e-12)


def test_the_discrete_gaussian_is_not_priced_as_the_continuous_one() -> None:
    noise = DiscreteGaussian(sigma="3.73063")
    assert isinstance(exact(noise, epsilon=1, delta="1e-5"), Violated)
    assert isinstance(exact(noise, epsilon=1, delta="1.0347e-5"), Proved)


@given(
    st.sampled_from(["Laplace", "DiscreteLaplace", "Gaussian", "DiscreteGaussian"]),
    st.integers(1, 40),
    st.integers(1, 3),
    st.integers(0, 30),
)
@settings(deadline=None, max_examples=40)
def test_the_accountant_never_says_less_than_interval_arithmetic(
    kind: str, tenths: int, shift: int, epsilon: int
) -> None:
    size = {"scale" if "Laplace" in kind else "sigma": Fraction(tenths, 10)}
    noise = getattr(dn.events, kind)(**size, sensitivity=shift)
    claimed = Fraction(dn.account(noise).delta(epsilon=Fraction(epsilon, 10)))
    assume(claimed < 1)
    assert not isinstance(exact(noise, epsilon=Fraction(epsilon, 10), delta=claimed), Violated)


def test_a_curve_answers_both_ways() -> None:
    for noise in (Gaussian(sigma=2), DiscreteGaussian(sigma=2), Laplace(scale=2)):
        found = exact(noise, epsilon=5, delta="0.5")
        assert isinstance(found, Proved)
        epsilon = found.curve.epsilon("0.01")
        assert (
            found.curve.delta(epsilon) <= Fraction(1, 100) < found.curve.delta(epsilon - Fraction(1, 10**6))
        )
    with pytest.raises(ParameterError, match="above 0"):
        exact(Gaussian(sigma=1), epsilon=5, delta="0.5").curve.epsilon(0)  # type: ignore[union-attr]


def test_nothing_moves_nothing_is_lost() -> None:
    assert isinstance(exact(Laplace(scale=1, sensitivity=0), epsilon=0), Proved)
    assert isinstance(exact(Gaussian(sigma=1, sensitivity=0), epsilon=0), Proved)


# Specimens


def test_subset_selection_that_lists_the_true_item_first_is_caught() -> None:
    found = exact(specimens.unshuffled, range(specimens.ITEMS), epsilon=1)
    assert isinstance(found, Violated)
    assert (found.first, found.second) == (Fraction(5, 8), Fraction(1, 8))
    shuffled = exact(specimens.shuffled, range(specimens.ITEMS), epsilon="ln 3/2")
    assert isinstance(shuffled, Proved)


def test_a_bit_that_never_falls_is_caught() -> None:
    found = exact(specimens.one_way, range(specimens.BITS), epsilon="ln 3")
    assert isinstance(found, Violated)
    assert found.second == 0
    assert found.epsilon == inf
    assert "no epsilon will do" in str(found)


def test_publishing_everything_now_and_then_is_0_delta_private_and_no_better() -> None:
    tables = [(), ("ann",), ("ann", "bob")]
    assert isinstance(exact(specimens.published, tables, epsilon=0, delta="0.01"), Proved)
    found = exact(specimens.published, tables, epsilon=100, delta="0.0099")
    assert isinstance(found, Violated)
    assert (found.first, found.second) == (Fraction(1, 100), Fraction(0))


def test_verdicts_say_in_words_what_they_are() -> None:
    proved = exact(Laplace(scale=1), epsilon=1)
    assert str(proved).startswith("Proved: epsilon 1.")
    refuted = exact(specimens.unshuffled, range(specimens.ITEMS), epsilon=1)
    assert "(0, 1), (0, 2)" in str(refuted)
    assert "with probability 0.625, on 1 0.125" in str(refuted)
