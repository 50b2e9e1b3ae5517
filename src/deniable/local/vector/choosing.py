"""Which mechanism: by name, or the one with the least error, from public parameters alone."""

from __future__ import annotations

from fractions import Fraction

from deniable.errors import ParameterError
from deniable.local.vector.ball import Ball
from deniable.local.vector.caps import best
from deniable.local.vector.corners import Corners
from deniable.local.vector.scheme import Scheme

_FOR_L2 = ("privunit", "privunitg")
_FOR_LINF = ("duchi",)
_LARGE = 1024


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
    if norm == "l2":
        gaussian = mechanism == "privunitg" or (mechanism == "auto" and dimension > _LARGE)
        return Ball(best(epsilon, dimension, gaussian=gaussian))
    return Corners.at(epsilon, dimension)
