"""Directions for PrivUnit: integers proposed at random, kept by odds that are proved.

An upright proposal is a vector X of d independent draws of `DiscreteGaussian`, sigma = 2**48. A leaning one
is such a vector G, turned to the side of the unit vector u and moved by whole numbers c near shift sigma u:
X = G + c or c - G. 64 fresh bits decide which it is. An upright one is kept with probability h(X), a leaning
one only in the cap; `tilts` says what h and `shift` are, and why. What is not kept is replaced by a fresh
proposal (`directions`).

The guarantee: for any two vectors u, w that `lifted` can give, and any set S of directions,
P(X in S | u) <= e**epsilon P(X in S | w).

1. With D the law of an upright X, U/2**64 the chance of one, and H and A the probabilities with which an
   upright or a leaning proposal at X is kept, the kept ones have the weights first(X) = (U/2**64) D(X) H(X)
   and second(X, u) <= (1 - U/2**64) 2 D(X - c) A(X, u), as G and -G have the same chance and no X comes from
   more than those two. P(X | u) = (first + second)/Z(u), Z(u) being their sum over all X. `first` has nothing
   to do with u, so P(X | u) / P(X | w) <= (1 + second(X, u)/first(X)) Z(w)/Z(u).
2. D(X - c)/D(X) = exp((2 <X, c> - |c|**2) / (2 sigma**2)), exactly. In deviations, with r = |X| and
   t = <X, u>, that is exp(shift t - shift**2 / 2) up to 1 +- eta (step 5). A(X, u) is at most exp(-shift (t -
   level)), and H(X) is exp(-shift (gamma top - level)), up to 1 +- eta, where level = gamma min(r, top)
   depends on X alone. Both are 0 where r is below `near`, which is decided exactly (`_reaching`).
3. So second/first <= (2**64 - U)/U 2 exp(shift gamma top - shift**2 / 2) (1 + eta)/(1 - eta), which is at
   most (1 - a)/a (1 + eta)/(1 - eta): U is an integer, proved by `tilts._upright`. Then 1 + second/first is
   at most (1/a)(1 + eta)/(1 - eta), and 1/a <= e**(epsilon - 2**-30): integers, proved by `caps.odds`.
4. Nothing here needs A from below: a leaning proposal that is lost costs no privacy by itself. What is left
   is Z(w)/Z(u), steps 6 to 11. `Cap.slack` is 4 eta + the bound on ln(Z(w)/Z(u)) there, and `caps.best`
   demands that it is below 2**-30.
5. eta (`Cap._pointwise`): `_falling` errs by 2**-43 of itself; `_kept` rounds A down and H up to a multiple
   of 2**-53. c = shift sigma u + e with |e| <= (sqrt(d) + 1)/2, and t is computed as |<G, u>| + shift: with
   that the exponent of step 2 is off by <X, e>/sigma**2, which is at most (sqrt(d) + 15)(sqrt(d) + 1) 2**-49
   since leaning proposals beyond r = sqrt(d) + 14 are not kept, by shift**2 times |u|**2 - 1, which is below
   (block + blocks + 4) 2**-52, as `lifted` made it, and by rounding. `_inner` adds in `blocks` blocks of
   `block` coordinates, so it errs by (block + blocks + 2) 2**-53 |G| |u| at most (Cauchy-Schwarz); |X| errs
   by half of that and two roundings.
6. Z(u) is, up to 1 +- eta and by step 2, a constant times a E h(X) + (1 - a) I(u), where X has the law D and
   I(u) = E[h(X); X is found in the cap]. The first part is the same for all u. Let I = E[h(G); <G, u> >=
   gamma |G|] for a normal vector G (Gaussian form: >= gamma s): the same for all |u| = 1.
7. The law of X is, up to a factor 1 +- d 2**-400, that of G + E with G ~ N(0, s**2 I), s**2 = sigma**2 -
   r**2, r = 4, and E given G discrete Gaussian on the shifted grid with parameter r: the product of the two
   densities, integrated over G, is that of X over a sum along the grid, which is constant up to 1 +- 2 e**(-2
   pi**2 r**2) in each coordinate (Poisson summation).
8. Outside an event of probability below 10 d e**(-13**2 / 2) < 2**-100, every |X_i| < 13 sigma, |E_i| < 13 r,
   |<E, u>| and |<E, G>|/|G| < 13 r, |X| < (sqrt(d) + 13) sigma, and every partial sum of <X, u> over a set A
   of coordinates is below 13 sigma |u_A|, for the sets that come up in adding (discrete Gaussians have no
   heavier tails than Gaussians). Then |X| and |G| differ by less than 13.01 r, as |E|**2/|G| is far below r
   where h(G) > 0. Each addition errs by at most 2**-53 of its result, so <X, u> is off by at most 13 sigma
   2**-53 (block sqrt(blocks) + blocks + sqrt(d)): the parts within blocks (Cauchy-Schwarz over blocks),
   across, and the products; with 13 + shift for X - c. A sum of squares is off by at most (block + blocks +
   1) 2**-53 of itself, its root by half of that and one more rounding.
9. So it is found as for G whether X is in the cap, unless |<G, u> - gamma |G|| <= tau s, with tau = 13 r (1 +
   gamma)/sigma + the errors of step 8 + those of c. For the direction U = G/|G|, which is independent of |G|,
   P(|<G, u> - gamma |G|| <= tau s) = E P(|<U, u> - gamma| <= tau s/|G|) <= 2 tau f(gamma) E[s/|G|], f the
   density of <U, u>, which falls from 0 on for d >= 3 (1 % is added for its change over the slab). f(0)
   E[s/|G|] = phi(0), so that is 0.8 tau f(gamma)/f(0). For d = 2: given G at right angles to u, the
   difference grows in <G, u> with a slope of at least 1 - gamma, so 0.8 tau / (1 - gamma). In the Gaussian
   form: 0.8 tau phi(gamma)/phi(0).
10. On which side of u a draw is, is in doubt only where |<X, u> - shift sigma| is within tau sigma: 0.8 tau
    exp(-shift**2 / 2). |X| and |G| are on different sides of `near` with a probability (weighted by h) of 2
    edge radius, radius = 13 r/sigma + the error of |X|; elsewhere h differs by shift gamma radius at most.
11. So |I(u) - I| <= kappa, the sum of these and 2**-100; with share = E h and Z = a + (1 - a) Q,
    ln(Z(w)/Z(u)) <= 2 kappa / (share Z - kappa) + 2 eta. (A is rounded down: that loses 2**-53 of a proposal,
    below 2**-46 of what is kept.) Rounding may differ with the place in an array, and so from trial to trial.
    Then each trial has its own Z(u), all within these bounds, and so has the sum over trials.
12. `lifted` turns v into u or -u at random: a mixture over u; a bound between all pairs holds for mixtures.
13. What is reported is a function of X and of bits that are independent of everything (`codes`).

Kept directions have the law that `caps` states, since the direction of a draw is independent of its length.
How many bits a report takes depends on v only through Z(u): by less than 2**-30 of it.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.local.vector.caps import FAR, SIGMA_BITS, Cap
from deniable.noise.gaussian import DiscreteGaussian

Reals = NDArray[np.float64]

_PIECE = 1 << 17
_AT_ONCE = 256
_HALF = 1 << 15
_GAUSSIAN_STEP = SIGMA_BITS - 11
_FARTHEST = (_HALF - 1) * 2.0**16
_TINY = 2.0**-400
_SIGMA = 2.0**SIGMA_BITS
_HAIR = 2.0**-40


def step(cap: Cap) -> float:
    """Return what one unit of a code means: 1/32767 on the sphere, 2**-11 deviations in the Gaussian form."""
    return 2.0 ** (_GAUSSIAN_STEP - SIGMA_BITS) if cap.gaussian else 1 / (_HALF - 1)


def lifted(vectors: Reals, bits: Bits) -> Reals:
    """Return unit vectors u with E[u] = v for each row v of `(n, d)`, all of length at most 1.

    u = v/|v| with probability (1 + |v|)/2, off by less than 2**-53, otherwise -v/|v|. Tiny vectors are scaled
    up first, so they are as good as any; zero is taken for one along (1, ..., 1).
    """
    length = np.sqrt(_inner(vectors, vectors))
    true, scaled = length, vectors
    tiny = np.flatnonzero(~(length > _TINY))
    if len(tiny):
        scaled, true = vectors.copy(), length.copy()
        scaled[tiny], true[tiny] = _scaled(vectors[tiny])
        length[tiny] = np.sqrt(_inner(scaled[tiny], scaled[tiny]))
    uniform = (bits.uint64(len(vectors)) >> np.uint64(11)) * 2.0**-53
    sign = np.where(2 * uniform < 1 + np.minimum(true, 1.0), 1.0, -1.0)
    return scaled * (sign / length)[:, None]


def _scaled(vectors: Reals) -> tuple[Reals, Reals]:
    """Return vectors in the direction of tiny ones, that of (1, ..., 1) for 0; how long the tiny ones are."""
    largest = np.abs(vectors).max(axis=1)
    scaled = vectors / np.where(largest == 0, 1.0, largest)[:, None]
    scaled[largest == 0] = 1.0
    return scaled, largest * np.sqrt(_inner(scaled, scaled))


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
        tries = 1 if after < n else max(1, min(_AT_ONCE // len(waiting), int(2 / cap.chance)))
        asking = waiting if tries == 1 else np.repeat(waiting, tries)
        proposals, keep = _tried(vectors, asking, cap, bits)
        kept = keep.reshape(-1, tries)
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


def _drawn(n: int, d: int, bits: Bits) -> NDArray[np.int64]:
    """Return n vectors of independent draws, `(n, d)`."""
    return _noise().sample(n * d, bits=bits).reshape(n, d)


@cache
def _noise() -> DiscreteGaussian:
    return DiscreteGaussian(Fraction(1 << (2 * SIGMA_BITS)))


def _tried(
    vectors: Reals, asking: NDArray[np.int64], cap: Cap, bits: Bits
) -> tuple[Reals, NDArray[np.bool_]]:
    """Return one proposal for each of these people, `(n, d)`, and which are kept (step 1)."""
    tilt = cap.tilt
    drawn = _drawn(len(asking), vectors.shape[1], bits)
    proposals = drawn.astype(np.float64)
    leaning = np.flatnonzero(bits.uint64(len(asking)) > np.uint64(tilt.upright - 1))
    unit = vectors[asking[leaning]]
    along = _inner(proposals[leaning], unit)
    moved = np.where(along < 0, -1, 1)[:, None] * drawn[leaning]
    moved += np.rint(unit * (tilt.shift * _SIGMA)).astype(np.int64)
    proposals[leaning] = moved
    odds = _odds(proposals, leaning, np.abs(along) / _SIGMA + tilt.shift, cap)
    return proposals, _kept(odds, leaning, bits)


def _odds(proposals: Reals, leaning: NDArray[np.int64], high: Reals, cap: Cap) -> Reals:
    """Return H of proposals, A of those at `leaning`, whose <X, u> in deviations are `high` (step 2)."""
    tilt, gamma = cap.tilt, cap.gamma
    length = np.sqrt(_inner(proposals, proposals)) / _SIGMA
    reach = np.ones(len(length)) if cap.gaussian else length
    level = gamma * np.minimum(reach, tilt.top)
    inside = (high >= gamma * reach[leaning]) & (length[leaning] <= sqrt(proposals.shape[1]) + FAR)
    excess = tilt.shift * (gamma * tilt.top - level)
    excess[leaning] = tilt.shift * (high - level[leaning])
    odds = _falling(excess)
    odds[leaning[~inside]] = 0.0
    odds[~_reaching(proposals, length, tilt.near)] = 0.0
    return odds


def _reaching(proposals: Reals, length: Reals, least: float) -> NDArray[np.bool_]:
    """Return where |X| is at least this many deviations: exactly, so that it depends on X alone (step 2)."""
    reaching: NDArray[np.bool_] = length >= least
    for place in np.flatnonzero(np.abs(length - least) <= least * _HAIR):
        square = sum(int(x) ** 2 for x in proposals[place])
        reaching[place] = square >= Fraction(least) ** 2 * (1 << (2 * SIGMA_BITS))
    return reaching


def _kept(odds: Reals, down: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
    """Return True with these odds: multiples of 2**-53, those at `down` rounded down, all others up."""
    limits = odds * 2.0**53
    whole = np.ceil(limits)
    whole[down] = np.floor(limits[down])
    kept: NDArray[np.bool_] = bits.uint64(len(odds)) >> np.uint64(11) < whole.astype(np.uint64)
    return kept


def _falling(excess: Reals) -> Reals:
    """Return exp(-excess), off by less than 2**-43 of itself; 1 below 0, and exp(-64) above 64.

    y = excess / 256 is in [0, 1/4]. The nested Taylor polynomial of degree 12 cuts off less than 2**-58; each
    of its steps t <- 1 - t y / i rounds by 2**-54 and passes on a quarter of the error of t at most, with two
    roundings of a product below 1/4: so it is off by less than 2**-53, of at least 3/4. Eight squarings make
    that 256 times as much, and add less than 2**-45.
    """
    y = np.clip(excess, 0.0, 64.0) / 256
    odds = np.ones_like(y)
    for term in range(12, 0, -1):
        odds *= y
        odds /= -term
        odds += 1.0
    for _ in range(8):
        odds *= odds
    return odds


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
