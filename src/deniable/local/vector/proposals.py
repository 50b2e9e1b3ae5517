"""Directions for PrivUnit: proposed without looking at the vector, kept by exact odds.

A proposal is a vector X of d independent draws of `DiscreteGaussian`, sigma = 2**48: integers. It is kept if
`_inside(X, u)`, a fixed function of X and the unit vector u; otherwise with probability a = odds / 2**64,
by comparing 64 fresh bits. What is not kept is replaced by a fresh proposal (`directions`).

The guarantee: for any two vectors u, w that `lifted` can give, and any set S of directions,
P(X in S | u) <= e**epsilon P(X in S | w).

1. Let D be the law of a proposal: it has nothing to do with u. With k(X, u) = 1 inside the cap and a outside,
   P(X | u) = D(X) k(X, u) / Z(u), where Z(u) = sum over X of D(X) k(X, u) = a + (1 - a) Q(u),
   Q(u) = P(_inside(X, u)). This holds exactly, whatever floating point does inside `_inside`.
2. k(X, u) / k(X, w) <= 1/a <= e**(epsilon - 2**-30): integers, proved by `caps.odds`.
3. So all that is left is Z(w) / Z(u) <= e**(2**-30): the cap has nearly the same mass for every u. Let
   Q = P(<G, u> >= gamma |G|) for a normal vector G (Gaussian form: >= gamma s): the same for all |u| = 1.
4. The law of X is, up to a factor 1 +- d 2**-400, that of G + E with G ~ N(0, s**2 I),
   s**2 = sigma**2 - r**2, r = 4, and E given G discrete Gaussian on the shifted grid with parameter r: the
   product of the two densities, integrated over G, is that of X over a sum along the grid, which is constant
   up to 1 +- 2 e**(-2 pi**2 r**2) in each coordinate (Poisson summation).
5. Outside an event of probability below 10 d e**(-13**2 / 2) < 2**-100, every |X_i| < 13 sigma, |E_i| < 13 r,
   |<E, u>| < 13 r, and every partial sum of <X, u> over a set A of coordinates is below 13 sigma |u_A|, for
   the sets that come up in adding (discrete Gaussians have no heavier tails than Gaussians).
6. Then `_inner` adds in `blocks` blocks of `block` coordinates. Each addition errs by at most 2**-53 of its
   result, so <X, u> is off by at most 13 sigma 2**-53 (block sqrt(blocks) + blocks + sqrt(d)): the parts
   within blocks (Cauchy-Schwarz over blocks), across, and the products. A sum of squares is off by at most
   (block + blocks + 1) 2**-53 of itself, its root by half of that and one more rounding: so are |X| and the
   length of u, which `lifted` divides by.
7. So `_inside` compares h(G) = <G, u> - gamma |G| with 0, off by at most tau s:
   tau = 13 (r (1 + gamma sqrt(d)) / sigma + 2**-53 (step 6, and (1 + gamma sqrt(d)) times its last line)).
8. P(|h(G)| <= tau s) <= 2 tau phi(0) < 0.8 tau. With direction U = G/|G|, independent of |G|, this is
   E P(|<U, u> - gamma| <= tau s/|G|) <= 2 tau f(0) E[s/|G|], f the density of <U, u>, largest at 0 for
   d >= 3; f(0) E[s/|G|] = phi(0). For d = 2: given G at right angles to u, h grows in <G, u> with a slope of
   at least 1 - gamma, so 0.8 tau / (1 - gamma). In the Gaussian form h = <G, u> - gamma s: 0.8 tau.
   So |Q(u) - Q| <= kappa = that + 2**-100, and ln(Z(w)/Z(u)) <= 2 kappa / (Z - kappa): `Cap.slack`, which
   `caps.best` demands to be below 2**-30.
   Rounding may differ with the place in an array, and so from trial to trial. Then each trial has its own
   Z(u), all within kappa of Z; the sum over trials still lies between 1/(Z + kappa) and 1/(Z - kappa).
9. `lifted` turns v into u or -u at random: a mixture over u; a bound between all pairs holds for mixtures.
10. What is reported is a function of X and of bits that are independent of everything (`codes`).

The bits that a report takes, and so its time, depend on v only through Z(u): by less than 2**-30 of it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.vector.caps import ODDS_BITS, SIGMA_BITS, Cap
from deniable.noise.gaussian import DiscreteGaussian

Reals = NDArray[np.float64]

_PIECE = 1 << 17
_HALF = 1 << 15
_GAUSSIAN_STEP = SIGMA_BITS - 11
_FARTHEST = (_HALF - 1) * 2.0**16
_TINY = 2.0**-400


def step(cap: Cap) -> float:
    """Return what one unit of a code means: 1/32767 on the sphere, 2**-11 deviations in the Gaussian form."""
    return 2.0 ** (_GAUSSIAN_STEP - SIGMA_BITS) if cap.gaussian else 1 / (_HALF - 1)


def lifted(vectors: Reals, bits: Bits) -> Reals:
    """Return unit vectors u with E[u] = v for each row v of `(n, d)`, all of length at most 1.

    u = v/|v| with probability (1 + |v|)/2, off by less than 2**-53, otherwise -v/|v|; a uniform direction
    where v = 0. Tiny vectors are scaled up first, so they are as good as any.
    """
    length = np.sqrt(_inner(vectors, vectors))
    true, scaled = length, vectors
    tiny = np.flatnonzero(~(length > _TINY))
    if len(tiny):
        scaled, true = vectors.copy(), length.copy()
        scaled[tiny], true[tiny] = _scaled(vectors[tiny], bits)
        length[tiny] = np.sqrt(_inner(scaled[tiny], scaled[tiny]))
    uniform = (bits.uint64(len(vectors)) >> np.uint64(11)) * 2.0**-53
    sign = np.where(2 * uniform < 1 + np.minimum(true, 1.0), 1.0, -1.0)
    return scaled * (sign / length)[:, None]


def _scaled(vectors: Reals, bits: Bits) -> tuple[Reals, Reals]:
    """Return vectors in the direction of tiny ones, a random one for 0; and how long the tiny ones are."""
    largest = np.abs(vectors).max(axis=1)
    zero = np.flatnonzero(largest == 0)
    scaled = vectors / np.where(largest == 0, 1.0, largest)[:, None]
    scaled[zero] = _proposed(len(zero), vectors.shape[1], bits)
    scaled[zero[~scaled[zero].any(axis=1)], 0] = 1.0
    return scaled, largest * np.sqrt(_inner(scaled, scaled)) * (largest > 0)


def directions(vectors: Reals, cap: Cap, bits: Bits) -> NDArray[np.uint16]:
    """Return the codes of one kept direction for each unit vector, `(n, d)`; the proof is above.

    A pool of people proposes in turn: who is served makes room for the next.
    """
    n, d = vectors.shape
    out = np.empty((n, d), np.uint16)
    room = max(1, _PIECE // d)
    waiting = np.arange(min(room, n))
    after = len(waiting)
    while len(waiting):
        tries = 1 if after < n else max(1, min(room // len(waiting), int(2 / cap.kept)))
        proposals = _proposed(len(waiting) * tries, d, bits)
        asking = vectors[waiting] if tries == 1 else vectors[np.repeat(waiting, tries)]
        kept = _kept(proposals, asking, cap, bits).reshape(-1, tries)
        served = np.flatnonzero(kept.any(axis=1))
        first = served * tries + kept[served].argmax(axis=1)
        out[waiting[served]] = codes(proposals[first], cap, bits)
        waiting = np.concatenate([np.delete(waiting, served), np.arange(after, min(after + len(served), n))])
        after = min(after + len(served), n)
    return out


def codes(proposals: Reals, cap: Cap, bits: Bits) -> NDArray[np.uint16]:
    """Return each coordinate, in units of `step`, rounded at random to a neighbour so that the mean is kept.

    2**15 is added. In units of 2**-16 a coordinate is rounded to the nearest, 16 random bits are added, and
    16 cut off: the mean is off by at most 2**-17 of a unit. (All is below 2**32: 65535 * 2**16 + 65535.)
    """
    if cap.gaussian:
        units = np.clip(proposals * 2.0 ** (16 - _GAUSSIAN_STEP), -_FARTHEST, _FARTHEST)
    else:
        units = proposals * (_FARTHEST / np.sqrt(_inner(proposals, proposals)))[:, None]
    units += 2.0**31 + 0.5
    whole = units.astype(np.uint32)
    whole += bits.uint16(units.size).reshape(units.shape)
    whole >>= np.uint32(16)
    return whole.astype(np.uint16)


def _proposed(n: int, d: int, bits: Bits) -> Reals:
    """Return n proposals, `(n, d)`: whole numbers as float64 (exact below 2**53 = 32 sigma)."""
    return _noise().sample(n * d, bits=bits).astype(np.float64).reshape(n, d)


@cache
def _noise() -> DiscreteGaussian:
    return DiscreteGaussian(Fraction(1 << (2 * SIGMA_BITS)))


def _kept(proposals: Reals, vectors: Reals, cap: Cap, bits: Bits) -> NDArray[np.bool_]:
    """Return which proposals are kept: all in the cap, others with probability odds / 2**64."""
    kept = _inside(proposals, vectors, cap)
    outside = np.flatnonzero(~kept)
    kept[outside] = bits.uint64(len(outside)) < np.uint64(min(cap.odds, (1 << ODDS_BITS) - 1))
    return kept


def _inside(proposals: Reals, vectors: Reals, cap: Cap) -> NDArray[np.bool_]:
    reach: Any = 2.0**SIGMA_BITS if cap.gaussian else np.sqrt(_inner(proposals, proposals))
    inside: NDArray[np.bool_] = _inner(proposals, vectors) >= cap.gamma * reach
    return inside


def _inner(first: Reals, second: Reals) -> Reals:
    """Return the inner product of each row with the same row, added in blocks (step 6)."""
    n, d = first.shape
    block = isqrt(d) + 1
    whole = d - d % block
    shape = (n, whole // block, block)
    parts = np.einsum("nbk,nbk->nb", first[:, :whole].reshape(shape), second[:, :whole].reshape(shape))
    total: Reals = parts.sum(axis=1)
    if whole < d:
        total += np.einsum("nk,nk->n", first[:, whole:], second[:, whole:])
    return total
