"""The linear program behind the best mean mechanism, and the bound that its dual proves for all mechanisms.

Values lie in [-1, 1]. A mechanism has inputs v_i, outputs y_j, a base mass q_j and p_ij = P(y_j | v_i):

    q_j <= p_ij <= R q_j,   sum_j p_ij = 1,   sum_j p_ij y_j = v_i,    R = e**epsilon,

and the least of max_i (sum_j p_ij y_j**2 - v_i**2), or of an average of these, is a linear program. It is
mirrored (v, y) -> (-v, -y), so inputs v >= 0 are enough: q is symmetric, rows for -v are rows for v reversed.
Floating point is allowed here: what is made of a solution is checked elsewhere, in integers.

The bound. Take any weights w_i >= 0 that sum to 1 and any numbers lambda_i, mu_i, at inputs v_i of
both signs.
1. Any unbiased mechanism that keeps epsilon has a base measure q (the least of its laws, of mass at most 1)
   with q <= p_i <= R q. Its worst variance is at least sum_i w_i (integral of p_i y**2 - v_i**2).
2. With h_i(y) = w_i y**2 - lambda_i y - mu_i that is sum_i (mu_i + lambda_i v_i - w_i v_i**2) plus the sum of
   the integrals of p_i h_i, because p_i has mass 1 and mean v_i.
3. p_i h_i >= q min(h_i, R h_i). So with G(y) = sum_i min(h_i(y), R h_i(y)) the integrals together are at
   least min(0, min over y of G(y)), and the bound is the first sum plus that. G is piecewise quadratic and
   `_least` finds its least value between neighbouring roots of the h_i, where G is one parabola.
4. The solver's own dual has G >= 0 at the outputs of its grid and dips below 0 between them. `lifted` takes
   as much off the mu_i (about in proportion to w_i) as brings G above 0 everywhere: where G dips, some h_i
   are negative, and each of them gains R times what it costs.
Floating point decides the bound: it is good to about 1e-9 of itself (`_MARGIN` is taken off), which is no
claim about privacy. An average under a prior is bounded alike, with the prior's weights for w_i (`priors`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SLACK = 1e-9
_MARGIN = 1e-8
_FLAT = 1e-13
_BEYOND = 1e15
_SHAPES = (1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """Numbers that prove a bound, for inputs v >= 0, each mirrored to -v with half of it. All `(n,)`."""

    inputs: Floats
    weights: Floats
    slopes: Floats
    levels: Floats

    def bound(self, epsilon: float) -> float:
        """Return what no unbiased mechanism that keeps epsilon can go below (steps 1 to 3)."""
        return (self._start() + min(0.0, self._dip(epsilon))) * (1 - _MARGIN)

    def lifted(self, epsilon: float) -> Certificate:
        """Return the certificate with its levels lowered until G is nowhere below 0 (step 4)."""
        shares = (self.weights / self.weights.sum() + extra for extra in _SHAPES)
        better = (self._raised(epsilon, share / share.sum()) for share in shares)
        return max((self, *better), key=lambda one: one.bound(epsilon))

    def _raised(self, epsilon: float, share: Floats) -> Certificate:
        def lower(off: float) -> Certificate:
            return replace(self, levels=self.levels - off * share)

        low, high = 0.0, max(0.0, -self._dip(epsilon))
        for _ in range(40):
            middle = (low + high) / 2
            enough = lower(middle)._dip(epsilon) >= 0
            low, high = (low, middle) if enough else (middle, high)
        return lower(high)

    def _start(self) -> float:
        return float((self.levels + self.slopes * self.inputs - self.weights * self.inputs**2).sum())

    def _dip(self, epsilon: float) -> float:
        """Return the least value of G."""
        slopes = np.concatenate([self.slopes, -self.slopes]) / 2
        return _least(
            float(np.exp(epsilon)), np.tile(self.weights, 2) / 2, slopes, np.tile(self.levels, 2) / 2
        )


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A solved program. base: q, `(m,)`. rows: p, `(n, m)`, for the inputs v >= 0."""

    inputs: Floats
    outputs: Floats
    base: Floats
    rows: Floats
    certificate: Certificate


def solve(epsilon: float, inputs: Floats, outputs: Floats, weights: Floats | None = None) -> Solution:
    """Solve the program for inputs from 0 to 1 and an even number of outputs, symmetric around 0.

    weights: of a prior on the inputs v >= 0, summing to 1 (least average variance); None: least worst case.
    Raises:  ArithmeticError: the solver found no solution.
    """
    from scipy.optimize import linprog

    odds = float(np.exp(epsilon * (1 - _SLACK)))
    program = _Program(odds, inputs, outputs, weights)
    for method in ("highs-ipm", "highs-ds"):
        found = linprog(**program.arguments(), bounds=(0, None), method=method)
        if found.status == 0:
            return program.solution(found)
    raise ArithmeticError("the linear program has no solution")


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """Variables: half of q (m/2), the excess s_ij = p_ij - q_j (n m), and for the worst case its bound t."""

    odds: float
    inputs: Floats
    outputs: Floats
    weights: Floats | None

    def arguments(self) -> dict[str, Any]:
        """Return the program in the words of SciPy."""
        sparse: Any = import_module("scipy.sparse")
        n, m, half = len(self.inputs), len(self.outputs), len(self.outputs) // 2
        fold = sparse.csr_array(np.vstack([np.eye(half)[::-1], np.eye(half)]))
        ones, each = np.ones((n, 1)), sparse.eye_array(n)
        last = sparse.csr_array((n * m, 1))
        cap = sparse.hstack([-(self.odds - 1) * sparse.kron(ones, fold), sparse.eye_array(n * m), last])
        masses = sparse.hstack([2 * np.ones((n, half)), sparse.kron(each, np.ones((1, m))), np.zeros((n, 1))])
        means = sparse.hstack([np.zeros((n, half)), sparse.kron(each, self.outputs[None]), np.zeros((n, 1))])
        squares = self.outputs**2
        base = 2 * squares[half:]
        equal = sparse.vstack([masses, means]).tocsr()
        right = np.concatenate([np.ones(n), self.inputs])
        if self.weights is not None:
            cost = np.concatenate([base, np.kron(self.weights, squares), [0.0]])
            return {"c": cost, "A_ub": cap.tocsr(), "b_ub": np.zeros(n * m), "A_eq": equal, "b_eq": right}
        spread = sparse.hstack([np.tile(base, (n, 1)), sparse.kron(each, squares[None]), -ones])
        cost = np.zeros(half + n * m + 1)
        cost[-1] = 1
        bound = np.concatenate([np.zeros(n * m), self.inputs**2])
        upper = sparse.vstack([cap, spread]).tocsr()
        return {"c": cost, "A_ub": upper, "b_ub": bound, "A_eq": equal, "b_eq": right}

    def solution(self, found: Any) -> Solution:
        """Return what the solver found, with its dual."""
        n, m, half = len(self.inputs), len(self.outputs), len(self.outputs) // 2
        base = np.concatenate([found.x[:half][::-1], found.x[:half]])
        rows = base + found.x[half : half + n * m].reshape(n, m)
        duals = found.eqlin.marginals
        weights = self.weights if self.weights is not None else -found.ineqlin.marginals[n * m :]
        total = weights.sum()
        dual = Certificate(self.inputs, weights / total, duals[n:] / total, duals[:n] / total)
        return Solution(self.inputs, self.outputs, base, rows, dual)


def _least(odds: float, weights: Floats, slopes: Floats, levels: Floats) -> float:
    """Return the least value over all real y of sum_i min(h_i, odds h_i); minus infinity if there is none.

    h_i is negative between its roots. From left to right the coefficients of G change at roots alone: by
    (odds - 1) times those of h_i where it turns negative, and back. A weight of 0 counts as `_FLAT`.
    """
    weights = np.maximum(weights, _FLAT)
    inside = slopes**2 + 4 * weights * levels
    rooted = inside > 0
    root = np.copysign(np.sqrt(inside[rooted]), slopes[rooted])
    larger = (slopes[rooted] + root) / 2
    pair = np.sort([larger / weights[rooted], -levels[rooted] / larger], 0)
    low, high = pair
    parts = np.stack([weights, -slopes, -levels], 1)
    start = parts.sum(0)
    places = np.concatenate([low, high])
    order = np.argsort(places, kind="stable")
    changes = (odds - 1) * np.concatenate([parts[rooted], -parts[rooted]])[order]
    pieces = start + np.concatenate([np.zeros((1, 3)), np.cumsum(changes, 0)])
    ends = np.concatenate([[-np.inf], places[order], [np.inf]])
    return _lowest(pieces, ends[:-1], ends[1:])


def _lowest(pieces: Floats, left: Floats, right: Floats) -> float:
    """Return the least value of a y**2 + b y + c over its piece, over all pieces."""
    a, b, c = pieces.T
    with np.errstate(divide="ignore", invalid="ignore"):
        vertex = np.where(a > 0, -b / (2 * a), 0.0)
        low, high = np.maximum(left, -_BEYOND), np.minimum(right, _BEYOND)
        best = np.clip(vertex, low, high)
    return float(min((a * y * y + b * y + c).min() for y in (best, low, high)))
