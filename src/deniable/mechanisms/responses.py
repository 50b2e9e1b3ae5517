"""An answer that may be a lie: `dn.RandomizedResponse`, for one question to one person.

With k options and Z = e**epsilon + k - 1, P(report = answer) = e**epsilon / Z and P(report = any other
option) = 1 / Z. Drawn exactly: a coin for the truth (`chance.coin`), else one of the
others, each equally likely.

The guarantee, for two answers a and b of one person and any report r:
1. Both among the options: P(r | a) / P(r | b) is e**epsilon, 1 or e**-epsilon.
2. An answer that is no option is reported as any option, each with probability 1/k: that lies between the two
   probabilities above, so the ratio stays within [e**-epsilon, e**epsilon]. A refusal would tell who had it.
Source: Warner 1965; Kairouz, Bonawitz, Ramage 2016 (k options).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

import numpy as np

from deniable import events
from deniable.accounting import UpperBound
from deniable.bits import Bits, SystemBits
from deniable.brackets import exponential, logarithm, negative_exponential, square_root
from deniable.exact import Number, probability, text
from deniable.exact import whole as whole_number
from deniable.guarantees import PureDP
from deniable.mechanisms import words
from deniable.mechanisms.additive import spendable
from deniable.mechanisms.chance import Enclosure, coin, uniform
from deniable.mechanisms.choices import options_from
from deniable.publish.statement import wrapped

_SPARE = 8
_LARGE = 100


@dataclass(frozen=True, slots=True, init=False, repr=False)
class RandomizedResponse:
    """Randomised response: the true answer, or with some probability any other option.

    Args:    options: the possible answers; a number k stands for 0, ..., k - 1.
    Raises:  ParameterError: an argument is out of range.

    | value               | report                                                      |
    |---------------------|-------------------------------------------------------------|
    | one of the options  | it, or a lie                                                |
    | anything else       | any option, each equally likely; True is not 1, 2.0 is not 2|
    """

    epsilon: Fraction
    options: tuple[Hashable, ...]

    def __init__(self, *, epsilon: Number, options: int | Iterable[Hashable] = (False, True)) -> None:
        known = options_from(options, "options", at_least=2)
        object.__setattr__(self, "epsilon", spendable(epsilon))
        object.__setattr__(self, "options", known)

    def __repr__(self) -> str:
        return f"RandomizedResponse(epsilon={text(self.epsilon)}, options={len(self.options)})"

    @property
    def event(self) -> events.RandomizedResponse:
        """What one report costs."""
        return events.RandomizedResponse(epsilon=self.epsilon, options=len(self.options))

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy, between any two answers of one person."""
        return PureDP(epsilon=self.epsilon)

    @property
    def truth(self) -> tuple[Fraction, Fraction]:
        """Rationals around the probability that a report is the true answer."""
        low, high = _truth(self.epsilon, len(self.options))(64)
        return Fraction(low, 1 << 64), Fraction(high, 1 << 64)

    def release(self, value: object, *, bits: Bits | None = None) -> Hashable:
        """Return one report about one answer."""
        source, count = bits or SystemBits(), len(self.options)
        places = [place for place, option in enumerate(self.options) if _same(option, value)]
        if not places:
            return self.options[uniform(count, source)]
        if coin(_truth(self.epsilon, count), source):
            return self.options[places[0]]
        other = uniform(count - 1, source)
        return self.options[other + (other >= places[0])]

    def error(self, *, confidence: Number = Fraction(95, 100), answers: int = 1) -> UpperBound:
        """Return the w such that a share of people is estimated within w of the truth among those asked.

        The estimate of the share of one option is (reported share - q) / (p - q), with p for the truth and q
        for any other option. It averages `answers` independent terms, each within a range of length
        1/(p - q) = 1 + k/(e**epsilon - 1), so by Hoeffding w = that length times
        sqrt(ln(2 / (1 - confidence)) / (2 answers)).
        """
        sure = probability(confidence, "confidence")
        many = whole_number(answers, "answers", at_least=1, at_most=1 << 62)
        epsilon = min(self.epsilon, Fraction(_LARGE))
        reach = 1 + len(self.options) / max(exponential(epsilon)[0] - 1, epsilon)
        return UpperBound(reach * square_root(logarithm(2 / (1 - sure))[1] / (2 * many))[1])

    @property
    def statement(self) -> str:
        """What a report promises, and how often it is true, in words."""
        truth = f"{float(self.truth[0]):.1%}".replace("%", " %")
        return wrapped(
            f"Randomised response with {len(self.options):,} options: a report is the true answer with "
            f"probability {truth}. {' '.join(words.promise(self.guarantee, local=True))} "
            f"An answer that is no option is reported as any of them. Each report costs this again.\n"
        )


def _truth(epsilon: Fraction, options: int) -> Enclosure:
    """Return the enclosure of 1 / (1 + (options - 1) e**-epsilon)."""

    def enclosed(precision: int) -> tuple[int, int]:
        working = precision + options.bit_length() + _SPARE
        low, high = negative_exponential(epsilon.numerator, epsilon.denominator, working)
        one, others = 1 << working, options - 1
        return (one << precision) // (one + others * high), -(-(one << precision) // (one + others * low))

    return enclosed


def _same(option: object, value: object) -> bool:
    """Whether a value is an option: equal, and a truth value, a whole number or else of one type."""
    return _kind(option) is _kind(value) and bool(option == value)


def _kind(thing: object) -> type:
    if isinstance(thing, bool | np.bool_):
        return bool
    if isinstance(thing, Integral):
        return int
    return str if isinstance(thing, str) else type(thing)
