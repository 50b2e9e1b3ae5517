"""The least noise that keeps a promise."""

from __future__ import annotations

from fractions import Fraction

from deniable.accounting import gaussian
from deniable.brackets import square_root
from deniable.errors import ParameterError
from deniable.events import Gaussian
from deniable.exact import Number, at_least_zero, positive, whole


def calibrate(
    kind: type[Gaussian],
    *,
    epsilon: Number,
    delta: Number = 0,
    times: int = 1,
    sensitivity: Number = 1,
) -> Gaussian:
    """Return the event with the least noise that is (epsilon, delta)-private when done `times` times."""
    target, allowed = at_least_zero(epsilon, "epsilon"), positive(delta, "delta")
    if kind is not Gaussian:
        raise ParameterError("kind", kind, "cannot be calibrated", "Give events.Gaussian.")
    number = whole(times, "times", at_least=1, at_most=10**12)
    moved = positive(sensitivity, "sensitivity", up=True)
    mu = gaussian.largest_mu(target, allowed)
    return Gaussian(sigma=moved * square_root(Fraction(number), 96)[1] / mu, sensitivity=moved)
