"""Advice from public facts: which model, delta, noise and threshold."""

from __future__ import annotations

from deniable.advice.facts import Advice, Choice, Example
from deniable.advice.rules import advise

__all__ = ["Advice", "Choice", "Example", "advise"]
