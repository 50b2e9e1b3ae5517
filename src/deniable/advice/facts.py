"""Advice as a value: what to do, the choices side by side, the worked example, and why."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from deniable.accounting import UpperBound
from deniable.advice import words
from deniable.exact import text

Keys = Literal["unknown", "public"]
Noise = Literal["laplace", "gaussian", "randomized response"]

COUNT = 1000
"""The true count of the worked example, or all people where they are fewer."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One kind of noise for what is planned.

    scale: of Laplace noise, or the standard deviation of Gaussian noise, in people.
    expected: the mean of |error|. error: it stays below this in 95 % of cases.
    threshold: a group is published if its noisy number of people is at least this; None with public keys.
    """

    noise: Noise
    delta: Fraction
    scale: Fraction
    expected: UpperBound
    error: UpperBound
    threshold: int | None


@dataclass(frozen=True, slots=True)
class Example:
    """A true count at epsilon 1: where it comes out in 95 % of cases; the textbook's sigma."""

    noise: Noise
    delta: Fraction
    scale: Fraction
    low: int
    high: int
    textbook: UpperBound | None

    @property
    def true(self) -> int:
        """The true count, in the middle."""
        return (self.low + self.high) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What to do, and why. `print` it; its fields are for programs.

    delta: 0 if pure differential privacy will do. threshold: in people; None if no groups have to be found.
    choices: Laplace and Gaussian noise of a curator. local_error: of a count of all people if nobody is
    trusted, about.
    """

    population: int
    risk: Fraction
    queries: int
    max_groups: int
    epsilon: Fraction
    keys: Keys
    model: Literal["curator", "local"]
    noise: Noise
    delta: Fraction
    threshold: int | None
    choices: tuple[Choice, ...]
    local_error: Fraction
    examples: tuple[Example, ...]

    @property
    def columns(self) -> int:
        """In how many numbers one person counts."""
        return self.queries * self.max_groups

    @property
    def curator(self) -> Choice:
        """The more precise choice for a trusted curator."""
        return min(self.choices, key=lambda choice: choice.error)

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons, a paragraph each."""
        return words.reasons(self)

    def to_json(self) -> dict[str, Any]:
        """Return the advice as plain values; epsilon and delta are exact text."""
        return {
            "population": self.population,
            "risk": text(self.risk),
            "queries": self.queries,
            "max_groups": self.max_groups,
            "epsilon": text(self.epsilon, up=False),
            "keys": self.keys,
            "model": self.model,
            "noise": self.noise,
            "delta": text(self.delta, up=False),
            "threshold": self.threshold,
            "choices": [_choice_record(choice) for choice in self.choices],
            "local_error": float(self.local_error),
            "examples": [_example_record(example) for example in self.examples],
            "why": list(self.why),
        }

    def __str__(self) -> str:
        return words.written(self)

    __repr__ = __str__


def _choice_record(choice: Choice) -> dict[str, Any]:
    return {
        "noise": choice.noise,
        "delta": text(choice.delta, up=False),
        "scale": float(choice.scale),
        "expected": float(choice.expected),
        "error": float(choice.error),
        "threshold": choice.threshold,
    }


def _example_record(example: Example) -> dict[str, Any]:
    return {
        "noise": example.noise,
        "delta": text(example.delta, up=False),
        "scale": float(example.scale),
        "count": example.true,
        "low": example.low,
        "high": example.high,
        "textbook": None if example.textbook is None else float(example.textbook),
    }
