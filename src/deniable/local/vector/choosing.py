"""Which mechanism: by name, or the one with the least error, from public parameters alone."""

from __future__ import annotations

from fractions import Fraction

from deniable.errors import ParameterError
from deniable.local.vector import attributes
from deniable.local.vector.ball import Ball
from deniable.local.vector.caps import best
from deniable.local.vector.corners import Corners
from deniable.local.vector.scheme import Scheme

_FOR_L2 = ("privunit", "privunitg")
_FOR_LINF = ("sampling", "harmony", "duchi")
_LARGE = 1024
_LEAST = Fraction(1, 10**12)
_CLOSE = 50
"""From so many an entry on, another mean mechanism cannot be better by 2 %."""


def scheme(epsilon: Fraction, dimension: int, norm: str, mechanism: str, k: object, mean: str) -> Scheme:
    """Return the mechanism.

    Raises:  ParameterError: it is unknown or made for the other norm; k or mean do not belong to it.
    """
    if norm not in ("l2", "linf"):
        fix = 'Write "l2" (length at most 1) or "linf" (each entry in [-1, 1]).'
        raise ParameterError("norm", norm, "is unknown", fix)
    known = _FOR_L2 if norm == "l2" else _FOR_LINF
    if mechanism not in (*known, "auto"):
        fix = f"For {norm} write {', '.join(known)} or auto."
        raise ParameterError("mechanism", mechanism, f"is none for norm {norm}", fix)
    if mechanism != "sampling" and (k is not None or mean != "optimal"):
        fix = 'They belong to mechanism="sampling".'
        raise ParameterError("k or mean", k if k is not None else mean, "is not for this mechanism", fix)
    match mechanism:
        case "sampling":
            return attributes.chosen(epsilon, dimension, k, mean)
        case "harmony":
            return attributes.harmony(epsilon, dimension)
        case "duchi":
            return Corners.at(epsilon, dimension)
        case "auto" if norm == "linf":
            return _best(epsilon, dimension)
    gaussian = mechanism == "privunitg" or (mechanism == "auto" and dimension > _LARGE)
    return Ball(best(epsilon, dimension, gaussian=gaussian))


def _best(epsilon: Fraction, dimension: int) -> Scheme:
    """Return the mechanism for the cube with the least error at worst, up to 2 % (`attributes`)."""
    sampled = attributes.chosen(epsilon, dimension, None, "duchi")
    schemes: list[Scheme] = [attributes.harmony(epsilon, dimension) if sampled.k == 1 else sampled]
    if sampled.largest < _CLOSE * dimension:
        schemes.append(attributes.chosen(epsilon, dimension, None, "optimal"))
    if epsilon >= _LEAST:
        schemes.append(Corners.at(epsilon, dimension))
    return min(schemes, key=lambda scheme: scheme.largest)
