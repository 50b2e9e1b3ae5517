"""delta at many epsilons, as numbers and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from deniable.accounting.number import UpperBound
from deniable.errors import ParameterError
from deniable.exact import text

_DIGITS = 6
_LOOKS = """<style>
.plot .curve{stroke:#b3541e;stroke-width:2} .plot .dot{fill:#b3541e} .plot .grid{stroke:#d5dae0}
.plot .axis{stroke:#57606a} .plot .tick{fill:#57606a;font:12px sans-serif}
</style>"""


@dataclass(frozen=True, slots=True)
class Point:
    """The events together are (epsilon, delta)-private."""

    epsilon: Fraction
    delta: UpperBound


@dataclass(frozen=True, slots=True)
class Curve:
    """Points by rising epsilon. All of them hold at once: they describe the same events."""

    points: tuple[Point, ...]

    def __post_init__(self) -> None:
        if not self.points:
            raise ParameterError("epsilons", [], "are none", "Give at least one.")

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __str__(self) -> str:
        lines = [f"{'epsilon':<14} delta"]
        for point in self.points:
            epsilon = text(point.epsilon, digits=_DIGITS)
            lines.append(f"{epsilon:<14} {text(point.delta, digits=_DIGITS)}")
        return "\n".join(lines)

    def svg(self) -> str:
        """Return the curve as a drawing, delta on a log scale; empty where fewer than two deltas are above 0.

        It takes its colours from the page around it, as all our drawings do.
        """
        drawn = [(float(point.epsilon), float(point.delta)) for point in self.points if point.delta > 0]
        if len(drawn) < 2:
            return ""
        from deniable.publish import svg

        return svg.decline(
            drawn,
            name="privacy-curve",
            title="delta against epsilon",
            description=f"delta falls from {drawn[0][1]:.3g} to {drawn[-1][1]:.3g} as epsilon rises.",
            across="epsilon",
        )

    def _repr_html_(self) -> str:
        return _LOOKS + self.svg()
