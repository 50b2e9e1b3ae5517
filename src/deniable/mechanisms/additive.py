"""Noise on a number, or on an array of numbers, that somebody has in hand: `dn.Laplace`, `dn.Gaussian`.

A value is put on a public grid of steps (`grids`), gets an exact draw of discrete noise in steps, and is
handed back in its own units. Only integers are random, so no bit pattern of a float tells anything.

Proof that `event` is what `release` does, for a value that one unit moves by at most `sensitivity`:
1. In steps, two neighbours differ by at most `grid.l1` in L1 and by at most `grid.l2` in L2 (`grids`, steps
   1 to 5). Both follow from the parameters alone.
2. `release` publishes a function of the integers plus noise: one draw for each, of the sampler that
   `event` names, exact given uniform bits (`noise.laplace`, `noise.gaussian`).
3. Laplace: discrete noise of scale l1/epsilon on integers with this L1 bound has the pure guarantee
   l1/(l1/epsilon) = epsilon, whatever the shape.
4. Gaussian: `accounting.within` proves (epsilon, delta) of the very event, which is priced as discrete,
   never as the continuous Gaussian. Nothing is made that it has not proved (`_least`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, isqrt

from deniable import events
from deniable.accounting import UpperBound, calibrate, within
from deniable.bits import Bits, SystemBits
from deniable.brackets import logarithm, square_root
from deniable.errors import ParameterError
from deniable.exact import Number, positive, probability, text
from deniable.guarantees import ApproxDP, PureDP
from deniable.mechanisms import words
from deniable.mechanisms.grids import Grid, Result, check_scale, checked_shape, fine_grid, whole_grid
from deniable.noise.gaussian import DiscreteGaussian
from deniable.noise.laplace import DiscreteLaplace

_SIGNIFICANT = 24
_BISECTIONS = 10


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Laplace:
    """Laplace noise: pure epsilon, scale sensitivity/epsilon.

    Args:    sensitivity: the most by which one unit moves the value, in its units; summed over all entries
                 of an array (L1). Your promise: nothing here can check it.
             shape: of the arrays that will be released; () is a single number, 3 is (3,).
             whole: values are whole numbers (counts), and so are results. Otherwise results are multiples
                 of `grid.step`, a power of two about 1000 times smaller than the noise.
    Raises:  ParameterError: an argument is out of range, or noise so large does not fit 64-bit integers.

    | value                                  | released                                              |
    |----------------------------------------|-------------------------------------------------------|
    | a number, an array of the shape        | it, with noise                                        |
    | nan, None, infinity, 1e300             | 0, 0, the end of the range, the end, with noise       |
    | True, "7", another shape               | ParameterError, from its type or shape alone          |
    """

    epsilon: Fraction
    sensitivity: Fraction
    grid: Grid
    event: events.DiscreteLaplace
    _noise: DiscreteLaplace = field(compare=False)

    def __init__(
        self, *, epsilon: Number, sensitivity: Number, shape: int | tuple[int, ...] = (), whole: bool = False
    ) -> None:
        spend, moved = spendable(epsilon), positive(sensitivity, "sensitivity", up=True)
        form = checked_shape(shape)
        size = Grid(0, form, True).size
        grid = whole_grid(moved, form) if whole else fine_grid(moved, moved / spend, form, size)
        steps = grid.l1(moved)
        check_scale(steps / spend, spend)
        event = events.DiscreteLaplace(scale=steps / spend, sensitivity=steps)
        _set(self, epsilon=spend, sensitivity=moved, grid=grid, event=event)
        _set(self, _noise=DiscreteLaplace(event.scale))

    def __repr__(self) -> str:
        return words.called("Laplace", self.grid, epsilon=self.epsilon, sensitivity=self.sensitivity)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in the units of the value: its expected size."""
        return self.event.scale * self.grid.step

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return PureDP(epsilon=self.epsilon)

    def release(self, value: object, *, bits: Bits | None = None) -> Result:
        """Return the value with noise: int, float or array, as `whole` and `shape` say.

        Each call costs `event` once more. bits: fresh bits of the operating system when omitted.
        """
        return _released(self.grid, self._noise, value, bits)

    def error(self, *, confidence: Number = Fraction(95, 100)) -> UpperBound:
        """Return the w such that a result is within w of its value with this probability (each entry)."""
        return _error(self.grid, self._noise, confidence)

    @property
    def statement(self) -> str:
        """What a release promises, and how far off it may be, in words."""
        noise = f"Laplace noise of scale {words.short(self.scale)}"
        return words.additive(noise, self.grid, self.sensitivity, "L1", self.guarantee, self.error())


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Gaussian:
    """Gaussian noise, calibrated exactly (not by the textbook formula): epsilon and delta, any epsilon.

    Args:    delta: above 0 and below 1: far below 1 in the number of people.
             sensitivity: the most by which one unit moves the value, in its units; Euclidean length for an
                 array (L2). Your promise: nothing here can check it.
             shape, whole: as for `Laplace`.
    Raises:  ParameterError: an argument is out of range, or noise so large does not fit 64-bit integers.

    The sampler is discrete, and is priced so: on a grid where the noise has 1000 steps the continuous
    calibration holds but for a millionth; on whole numbers the noise may have to be some percent larger.
    Values that are not numbers are treated as by `Laplace`.
    Source:  Balle, Wang 2018 (calibration); Canonne, Kamath, Steinke 2020 (discrete noise).
    """

    epsilon: Fraction
    delta: Fraction
    sensitivity: Fraction
    grid: Grid
    event: events.DiscreteGaussian
    _noise: DiscreteGaussian = field(compare=False)

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number,
        sensitivity: Number,
        shape: int | tuple[int, ...] = (),
        whole: bool = False,
    ) -> None:
        spend, risk = spendable(epsilon), _risk(delta)
        moved, form = positive(sensitivity, "sensitivity", up=True), checked_shape(shape)
        multiplier = calibrate(events.Gaussian, epsilon=spend, delta=risk).sigma
        size = Grid(0, form, True).size
        grid = (
            whole_grid(moved, form) if whole else fine_grid(moved, moved * multiplier, form, isqrt(size) + 1)
        )
        event = _least(grid, moved, multiplier, spend, risk)
        _set(self, epsilon=spend, delta=risk, sensitivity=moved, grid=grid, event=event)
        _set(self, _noise=DiscreteGaussian(event.sigma**2))

    def __repr__(self) -> str:
        return words.called(
            "Gaussian", self.grid, epsilon=self.epsilon, delta=self.delta, sensitivity=self.sensitivity
        )

    @property
    def sigma(self) -> Fraction:
        """The standard deviation of the noise, in the units of the value (its parameter, to be exact)."""
        return self.event.sigma * self.grid.step

    @property
    def guarantee(self) -> ApproxDP:
        """Approximate differential privacy."""
        return ApproxDP(epsilon=self.epsilon, delta=self.delta)

    def release(self, value: object, *, bits: Bits | None = None) -> Result:
        """Return the value with noise: int, float or array, as `whole` and `shape` say.

        Each call costs `event` once more. bits: fresh bits of the operating system when omitted.
        """
        return _released(self.grid, self._noise, value, bits)

    def error(self, *, confidence: Number = Fraction(95, 100)) -> UpperBound:
        """Return the w such that a result is within w of its value with this probability (each entry)."""
        return _error(self.grid, self._noise, confidence)

    @property
    def statement(self) -> str:
        """What a release promises, and how far off it may be, in words."""
        noise = f"Gaussian noise of standard deviation {words.short(self.sigma)}"
        return words.additive(noise, self.grid, self.sensitivity, "L2", self.guarantee, self.error())


def textbook_sigma(*, epsilon: Number, delta: Number, sensitivity: Number = 1) -> UpperBound:
    """Return sqrt(2 ln(1.25/delta)) * sensitivity / epsilon, rounded up: a reference, to compare with.

    `Gaussian` needs less noise, for any epsilon. The theorem behind the formula (Dwork, Roth 2014, Theorem
    A.1) covers epsilon up to 1 only: at epsilon 10 and delta 1e-5 it gives .4845, and .49989 is needed.
    Raises:  ParameterError: epsilon is above 1.
    """
    spend, risk = spendable(epsilon), _risk(delta)
    if not spend <= 1:
        fix = (
            "The formula is proved for epsilon up to 1 and gives too little noise above (0.4845 at epsilon "
            "10, delta 1e-5, where 0.49989 is needed). Use dn.Gaussian, which is exact for every epsilon."
        )
        raise ParameterError("epsilon", text(spend), "must be at most 1 for the textbook formula", fix)
    moved = positive(sensitivity, "sensitivity", up=True)
    root = square_root(2 * logarithm(Fraction(5, 4) / risk)[1])[1]
    return UpperBound(root * moved / spend)


def spendable(epsilon: object) -> Fraction:
    """Return epsilon, above 0 and at most 2**20.

    Raises:  ParameterError: it is no such number.
    """
    spend = positive(epsilon, "epsilon")
    if not spend <= 1 << 20:
        raise ParameterError("epsilon", epsilon, "is so large that nothing is protected", "Give 1, say.")
    return spend


def _risk(delta: object) -> Fraction:
    risk = probability(delta, "delta")
    if not risk > 0:
        fix = "Give for example '1e-8', or use dn.Laplace, which needs no delta."
        raise ParameterError("delta", delta, "must be above 0 for Gaussian noise", fix)
    return risk


def _least(
    grid: Grid, moved: Fraction, multiplier: Fraction, epsilon: Fraction, delta: Fraction
) -> events.DiscreteGaussian:
    """Return the event with about the least sigma that is proved.

    It starts from the continuous sigma, adds 16 times more until the proof succeeds, then halves the gap.
    """
    steps = grid.l2(moved)
    touched = min(grid.size, int(steps**2))

    def event(extra: Fraction) -> events.DiscreteGaussian:
        sigma = _short(steps * multiplier * (1 + extra))
        check_scale(sigma, epsilon)
        return events.DiscreteGaussian(sigma=sigma, sensitivity=steps, coordinates=touched)

    def holds(extra: Fraction) -> bool:
        return within(event(extra), epsilon=epsilon, delta=delta)

    low, high = Fraction(0), Fraction(1, 1 << _SIGNIFICANT)
    while not holds(high):
        low, high = high, 16 * high
        if high > 1 << 20:
            raise ParameterError("epsilon", text(epsilon), "is out of reach here", "Use dn.Laplace.")
    for _ in range(_BISECTIONS if low else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return event(high)


def _short(sigma: Fraction) -> Fraction:
    """Return sigma rounded up to about 24 significant bits."""
    grid = Fraction(2) ** (_SIGNIFICANT + sigma.denominator.bit_length() - sigma.numerator.bit_length())
    return ceil(sigma * grid) / grid


def _released(
    grid: Grid, noise: DiscreteLaplace | DiscreteGaussian, value: object, bits: Bits | None
) -> Result:
    steps = grid.integers(value)
    return grid.result(steps + noise.sample(grid.size, bits=SystemBits() if bits is None else bits))


def _error(grid: Grid, noise: DiscreteLaplace | DiscreteGaussian, confidence: Number) -> UpperBound:
    return UpperBound(noise.quantile(confidence) * grid.step + grid.rounding)


def _set(mechanism: object, **fields: object) -> None:
    """Write the fields of a frozen value while it is being made."""
    for name, value in fields.items():
        object.__setattr__(mechanism, name, value)
