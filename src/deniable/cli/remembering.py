"""Protocols that remember, and those for keys with numbers, as lines of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deniable.cli.comparing import Comparison, Line
from deniable.cli.protocols import Setup
from deniable.errors import ParameterError
from deniable.exact import positive
from deniable.exact import text as exact_text

_MOST_BITS, _MOST_TEXTS = 64, 200


def numbers(epsilon: Fraction) -> list[Line]:
    """Return other protocols that tell the mean of numbers from -1 to 1: worst variance of a report.

    Not Square Wave (`dn.local.Distribution`): it takes a number for the middle of its bucket, so its mean is
    slightly biased, and what is biased may have less variance than the limit of those that are not.
    """
    from deniable.local.telemetry import OneBitMean

    one = OneBitMean(epsilon=epsilon, bounds=(-1, 1))
    return [Line("1-bit, remembered", float(one.error()), _bytes(one))]


def shares(epsilon: Fraction, items: Sequence[Any]) -> list[Line]:
    """Return dBitFlip with many bits, and RAPPOR's first report where its candidates are few enough.

    Errors are the variance of the share of an item that nobody has; of RAPPOR the largest among the items.
    """
    from deniable.local.telemetry import RAPPOR, DBitFlip

    lines = []
    bits = min(len(items), _MOST_BITS)
    try:
        made = DBitFlip(epsilon=epsilon, domain=items, bits=bits)
        lines.append(Line(f"{bits} bits, remembered", float(made.error()), _bytes(made)))
        if len(items) <= _MOST_TEXTS:
            open_ended = RAPPOR(epsilon=epsilon, coins=(0, 1))
            worst = open_ended.error([str(item) for item in items]).max()
            lines.append(Line("rappor, remembered", float(worst), _bytes(open_ended)))
    except ParameterError:
        return lines
    return lines


def key_values(setup: Setup) -> Comparison:
    """Return the protocols for keys with numbers, the best first.

    Raises:  ParameterError: epsilon or the keys are missing or out of range.
    """
    from deniable.local import KeyValue

    epsilon, keys = positive(setup.single(), "epsilon"), setup.items()
    ways: list[tuple[str, dict[str, Any]]] = [
        ("pckv-grr", {"mechanism": "pckv-grr"}),
        ("pckv-ue", {"mechanism": "pckv-ue"}),
        *((f"privkvm, {rounds} rounds", {"mechanism": "privkvm", "rounds": rounds}) for rounds in (1, 3)),
    ]
    lines = []
    for name, words in ways:
        try:
            made = KeyValue(epsilon=epsilon, keys=keys, **words)
        except ParameterError:
            continue
        lines.append(Line(name, made.error() / made.rounds, _bytes(made)))
    lines.sort(key=lambda line: line.error)
    if not lines:
        fix = "Give a larger one, or fewer keys."
        raise ParameterError("epsilon", exact_text(epsilon), "is too small for so many keys", fix)
    return Comparison(
        f"Shares of {len(keys):,} keys, epsilon {exact_text(epsilon)}",
        "variance of the share of a key that nobody holds, of one person; n people divide it by n",
        lines[0].error,
        "the best one's",
        tuple(lines),
    )


def _bytes(protocol: Any) -> int:
    return len(protocol.client().report(None))
