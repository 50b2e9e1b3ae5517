"""Mechanisms for one question: noise on a number in hand, a choice of a candidate, an answer that may lie."""

from __future__ import annotations

from deniable.mechanisms.additive import Gaussian, Laplace, textbook_sigma
from deniable.mechanisms.choices import Exponential, NoisyMax
from deniable.mechanisms.responses import RandomizedResponse

__all__ = ["Exponential", "Gaussian", "Laplace", "NoisyMax", "RandomizedResponse", "textbook_sigma"]
