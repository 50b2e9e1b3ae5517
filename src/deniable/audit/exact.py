"""`dn.audit.exact`: decide a claim about a mechanism whose probabilities are known.

    dn.audit.exact(lambda answer: {"yes": 3, "no": 1} if answer else {"yes": 1, "no": 3},
                   [True, False], epsilon="ln 3")

| the mechanism                                         | decided by                | verdict             |
|-------------------------------------------------------|---------------------------|---------------------|
| a function from an input to a table (`distributions`) | enumeration in rationals  | Proved, Violated    |
| ... to `Steps`, a piecewise constant density          | the same, on all pieces   | Proved, Violated    |
| ... to a table of `Between`                           | the same, on enclosures   | or Computed         |
| ... to a `Density`, any Python function               | numerical integration     | Computed, Violated  |
| a protocol of `dn.local` with a finite table          | the same; its own inputs  | Proved, Violated    |
|                                                       | and its own epsilon       |                     |
| an event: Laplace, Gaussian, DiscreteLaplace,         | interval arithmetic on    | Proved, Violated    |
| DiscreteGaussian                                      | the density (`additive`)  |                     |

A proof speaks of the probabilities that were given. Whether a program draws by them is for `sampled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import permutations
from typing import Any, Protocol, runtime_checkable

from deniable.audit import additive, enumeration, quadrature
from deniable.audit.distributions import Distribution, tabulated
from deniable.audit.quadrature import Density
from deniable.audit.verdict import Claim, Computed, Proved, Violated
from deniable.errors import ParameterError
from deniable.events import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from deniable.exact import Number, probability
from deniable.guarantees import ApproxDP, PureDP


@runtime_checkable
class Tabled(Protocol):
    """A protocol that knows its whole table: its event, the inputs to compare, their probabilities."""

    @property
    def event(self) -> PureDP:
        """What one report costs."""
        ...

    def inputs(self) -> Sequence[Any]:
        """Return the inputs whose laws are the extremes of all."""
        ...

    def probabilities(self, value: Any, /) -> Distribution:
        """Return the probability of each report for an input."""
        ...


Mechanism = additive.Additive | Callable[[Any], Distribution | Density]


def exact(
    mechanism: Mechanism | Tabled,
    inputs: Iterable[object] = (),
    *,
    epsilon: Number | None = None,
    delta: Number = 0,
    pairs: Iterable[tuple[object, object]] | None = None,
) -> Proved | Violated | Computed:
    """Return whether the mechanism keeps (epsilon, delta), decided from its probabilities.

    Args:    mechanism: see the table above. inputs: all inputs to compare; none for an event.
             epsilon: "ln 3" is rounded up, as a claim. A protocol states its own when this is omitted.
             pairs: the neighbours, each taken both ways; every two inputs are neighbours when omitted.
    Raises:  ParameterError: what the mechanism returns is no distribution; there are fewer than two inputs; a
             pair names another input.
    """
    if isinstance(mechanism, Tabled):
        claim = claimed(mechanism.event.epsilon if epsilon is None else epsilon, delta)
        compared = list(inputs) or mechanism.inputs()
        return exact(mechanism.probabilities, compared, epsilon=claim.epsilon, delta=delta, pairs=pairs)
    if epsilon is None:
        raise ParameterError("epsilon", None, "must be given", "Write the claim: epsilon=1.")
    claim = claimed(epsilon, delta)
    if isinstance(mechanism, Laplace | DiscreteLaplace | Gaussian | DiscreteGaussian):
        return additive.decided(mechanism, claim)
    given = list(inputs)
    if len(given) < 2:
        raise ParameterError("inputs", given, "must be at least two", "List the inputs to compare.")
    places = None if pairs is None else _places(given, pairs)
    described = [_described(mechanism, value) for value in given]
    densities = [one for one in described if isinstance(one, Density)]
    if not densities:
        tables = [one for one in described if not isinstance(one, Density)]
        return enumeration.decided(tabulated(given, tables), places, claim)
    if len(densities) < len(described):
        raise ParameterError(
            "mechanism", "both", "mixes densities and tables", "Return one kind for every input."
        )
    every = list(permutations(range(len(given)), 2))
    return quadrature.decided(given, densities, every if places is None else places, claim)


def _described(mechanism: object, given: object) -> Distribution | Density:
    if not callable(mechanism):
        fix = "Give a function from an input to a table of probabilities, or an additive event."
        raise ParameterError("mechanism", mechanism, "is nothing whose probabilities are known", fix)
    found: Distribution | Density = mechanism(given)
    return found


def claimed(epsilon: Number, delta: Number) -> Claim:
    """Return the claim as a guarantee: pure if delta is 0."""
    allowed = probability(delta, "delta")
    return ApproxDP(epsilon=epsilon, delta=allowed) if allowed else PureDP(epsilon=epsilon)


def _places(inputs: Sequence[object], pairs: Iterable[tuple[object, object]]) -> list[tuple[int, int]]:
    """Return the pairs as places in `inputs`, both ways, each once."""
    found: dict[tuple[int, int], None] = {}
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(end in inputs for end in pair)):
            raise ParameterError("pairs", pair, "is not a pair of the inputs", "Give tuples of two inputs.")
        first, second = inputs.index(pair[0]), inputs.index(pair[1])
        found |= {(first, second): None, (second, first): None}
    if not found:
        raise ParameterError("pairs", [], "must not be empty", "Leave pairs out to compare every two inputs.")
    return list(found)
