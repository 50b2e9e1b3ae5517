"""From leaves to pairs: what a privacy loss distribution is made of.

Equal things are put together first: all Gaussians (mu**2 adds), all rho-zCDP events (rho adds), all events
with the same pure epsilon. A chance that a promise fails, `mass`, stays an exact number beside the pairs.
Discrete Gaussians are summed on their lattice where one integer moves and sigma is at most LATTICE; else
they are seen as continuous ones (`discrete`), at a `distance`; where sigma is too small for that, as rho =
shift**2 / (2 sigma**2). Parameters become the nearest float: an error of 2**-53 of each loss, far below
`losses.SLACK`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, sqrt
from typing import assert_never

from deniable.accounting import discrete
from deniable.accounting.curves import (
    Added,
    BoundedRangeCurve,
    DiscreteLaplaceCurve,
    GaussianCurve,
    LaplaceCurve,
    Removed,
)
from deniable.accounting.leaves import Leaf, Simple, leaves
from deniable.accounting.pairs import Atoms, Pair, answers, steps
from deniable.accounting.powers import any_of, chance_of_any
from deniable.accounting.promised import concentrated_pair
from deniable.accounting.sums import DiscreteGaussianCurve
from deniable.accounting.together import Items, together
from deniable.events import (
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    Selection,
    Subsampled,
    ZeroConcentratedDP,
)
from deniable.guarantees import Neighbours

LATTICE = 128
_MOST_ATOMS = 64
_DEEPEST = 600.0
_FINE, _MOST_STEEP, _NARROW = 1 << 40, 1 << 10, Fraction(1, 10)
_SMALLEST = 1e-150


@dataclass(frozen=True, slots=True)
class Question:
    """How far the tails matter (to exp(-depth)), and the r**2 of `discrete`."""

    depth: float
    r_squared: Fraction


@dataclass(frozen=True, slots=True)
class Recipe:
    """Pairs for a unit that is removed and for one that is added; what may fail; a distance (`discrete`)."""

    removed: Items
    added: Items
    mass: Fraction
    distance: Fraction

    @property
    def directions(self) -> tuple[Items, ...]:
        """Both, or one where they are the same."""
        return (self.removed,) if self.added is self.removed else (self.removed, self.added)


def recipe(found: Mapping[Leaf, int], question: Question) -> Recipe:
    """Return the pairs of the leaves."""
    shelf = _Shelf(question)
    for leaf, times in found.items():
        if isinstance(leaf, Subsampled):
            shelf.add_sampled(leaf, times)
        else:
            shelf.add(leaf, times)
    return shelf.recipe()


@dataclass(slots=True)
class _Shelf:
    """Where leaves of one kind come together."""

    question: Question
    pure: dict[Fraction, int] = field(default_factory=dict)
    mu_squared: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    masses: list[Fraction] = field(default_factory=list)
    distance: Fraction = Fraction(0)
    pairs: Items = field(default_factory=list)
    removed: Items = field(default_factory=list)
    added: Items = field(default_factory=list)

    def add(self, leaf: Simple, times: int) -> None:
        match leaf:
            case PureDP():
                self._add_pure(leaf.epsilon, times)
            case ApproxDP() | Selection():
                self._add_pure(leaf.epsilon, times)
                self.masses.append(chance_of_any(leaf.delta, times))
            case RandomizedResponse():
                if leaf.options == 2:
                    self._add_pure(leaf.epsilon, times)
                else:
                    self.pairs.append((answers(_float(leaf.epsilon), leaf.options), times))
            case Exponential():
                self.pairs.append((BoundedRangeCurve(_float(leaf.epsilon)), times))
            case Laplace():
                self.pairs.append((LaplaceCurve(_float(leaf.epsilon)), times))
            case DiscreteLaplace():
                self._add_steps(leaf, times)
            case Gaussian():
                self.mu_squared += times * leaf.sensitivity**2 / leaf.sigma**2
            case DiscreteGaussian():
                self._add_lattice(leaf, times)
            case ZeroConcentratedDP():
                self.rho += times * leaf.rho
            case _:
                assert_never(leaf)

    def add_sampled(self, leaf: Subsampled, times: int) -> None:
        """What is drawn on one sample becomes one pair, in each direction, before it is sampled."""
        inner = recipe(leaves(leaf.event, Neighbours.ADD_OR_REMOVE), self.question)
        rate = float(leaf.rate)
        removed, added = together(inner.removed, inner.mass), together(inner.added, inner.mass)
        self.removed.append((_removed(removed, rate), times))
        self.added.append((_added(added, rate), times))
        self.distance += times * inner.distance

    def recipe(self) -> Recipe:
        common = [*self.pairs, *((answers(_float(epsilon)), times) for epsilon, times in self.pure.items())]
        if self.mu_squared:
            common.append((GaussianCurve(sqrt(_float(self.mu_squared))), 1))
        if self.rho:
            common.append((concentrated_pair(_float(self.rho), self.question.depth), 1))
        removed = common + self.removed
        added = common + self.added if self.added else removed
        return Recipe(removed, added, any_of(self.masses), self.distance)

    def _add_pure(self, epsilon: Fraction, times: int) -> None:
        if epsilon:
            self.pure[epsilon] = self.pure.get(epsilon, 0) + times

    def _add_steps(self, leaf: DiscreteLaplace, times: int) -> None:
        """A move by one step has two losses only, those of randomised response.

        Where scale >= 2**40 the noise is as good as continuous. A mean is at least the root of a product, so
        delta of `curves` is at most 1 - exp((epsilon - shift/scale)/2) / cosh(1/(2 scale)), and 1 - 1/cosh is
        below 2**-80, far below SLACK times P's tail, which is at least 1/2 there.
        """
        shift = floor(leaf.sensitivity)
        if shift == 1 or leaf.epsilon > _MOST_STEEP:
            self._add_pure(leaf.epsilon, times)
        elif leaf.scale >= _FINE:
            self.pairs.append((LaplaceCurve(_float(leaf.epsilon)), times))
        elif shift < _MOST_ATOMS:
            self.pairs.append((steps(shift, float(leaf.scale)), times))
        else:
            self.pairs.append((DiscreteLaplaceCurve(shift, float(leaf.scale)), times))

    def _add_lattice(self, leaf: DiscreteGaussian, times: int) -> None:
        depth = self.question.depth
        if leaf.coordinates == 1 and _NARROW <= leaf.sigma <= LATTICE and depth <= _DEEPEST:
            curve = DiscreteGaussianCurve(floor(leaf.sensitivity), float(leaf.sigma), depth)
            self.pairs.append((curve, times))
        elif smoothed := discrete.smoothed([(leaf, times)], self.question.r_squared):
            self.mu_squared += smoothed.mu_squared
            self.distance += smoothed.distance
        else:
            self.rho += times * leaf.sensitivity**2 / (2 * leaf.sigma**2)


def _removed(pair: Pair, rate: float) -> Pair:
    return pair.removed(rate) if isinstance(pair, Atoms) else Removed(pair, rate)


def _added(pair: Pair, rate: float) -> Pair:
    return pair.added(rate) if isinstance(pair, Atoms) else Added(pair, rate)


def _float(x: Fraction) -> float:
    return max(float(x), _SMALLEST)
