"""Which protocol `mechanism="auto"` takes: the least total variance within the size of a report.

| name         | protocol                     | report          | best for                                |
|--------------|------------------------------|-----------------|-----------------------------------------|
| "response"   | k-ary randomised response    | log2 k bits     | few items: below about 3 + e**epsilon   |
| "subset"     | subset selection             | 2 log2 k bits   | everything: never far from the best     |
| "projective" | projective geometry response | log2 k bits     | many items in small reports             |
| "olh"        | optimised local hashing      | log2 k bits + 3 | comparison                              |
| "oue", "sue" | optimised, symmetric unary   | k bits          | comparison                              |
| "hadamard"   | Hadamard response            | log2 k bits     | comparison                              |

The choice depends on the number of items, epsilon and the size alone: both ends make the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal, get_args

from deniable.errors import ParameterError
from deniable.exact import text, whole
from deniable.local.frequency.hadamard import hadamard
from deniable.local.frequency.hashing import hashing
from deniable.local.frequency.projective import projective
from deniable.local.frequency.randomizer import Randomizer, report_bytes, total_variance
from deniable.local.frequency.response import response
from deniable.local.frequency.subset import subset
from deniable.local.frequency.unary import optimised, symmetric

Name = Literal["response", "subset", "projective", "hadamard", "olh", "oue", "sue"]
_USUAL = 64
NAMES: tuple[Name, ...] = get_args(Name)


def makers() -> dict[Name, Callable[[int, Fraction], Randomizer | None]]:
    """Return what makes each protocol, in the order in which equal ones are preferred."""
    return {
        "response": response,
        "subset": subset,
        "projective": projective,
        "hadamard": hadamard,
        "olh": hashing,
        "oue": optimised,
        "sue": symmetric,
    }


def named(name: Name, items: int, epsilon: Fraction) -> Randomizer:
    """Return the protocol of this name.

    Raises:  ParameterError: there are too many items for it.
    """
    made = makers()[name](items, epsilon)
    if made is None:
        fix = "Take mechanism='auto'."
        raise ParameterError(
            "mechanism", name, f"cannot serve {items:,} items at epsilon {text(epsilon)}", fix
        )
    return made


def best(items: int, epsilon: Fraction, size: int | None) -> Randomizer:
    """Return the protocol with the least total variance; of equal ones the smallest report.

    Args:    size: the most bytes that a payload may have (9 more say what it is); 64 if None.
    Raises:  ParameterError: no protocol has so small a report.
    """
    most = _USUAL if size is None else whole(size, "report_bytes", at_least=1, at_most=1 << 20)
    made = [one for make in makers().values() if (one := make(items, epsilon)) is not None]
    fitting = [one for one in made if report_bytes(one) <= most]
    if not fitting:
        least = min(report_bytes(one) for one in made)
        fix = f"Give at least {least}, or leave it out."
        raise ParameterError("report_bytes", size, f"is too small for {items:,} items", fix)
    return min(fitting, key=lambda one: (total_variance(one), report_bytes(one)))
