"""Protocols that remember, and those for keys with numbers, as lines of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deniable.cli.comparing import Comparison, Line
from deniable.cli.protocols import Setup
from deniable.errors import ParameterError
from deniable.exact import positive, whole
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


def key_values(setup: Setup, padding: int) -> Comparison:
    """Return the protocols for keys with numbers, the best first.

    Args:    padding: of PCKV; PrivKVM has none.
    Raises:  ParameterError: epsilon, the keys or padding are missing or out of range.
    """
    from deniable.local import KeyValue
    from deniable.local.keyvalue.protocol import MOST_PADDING

    epsilon, keys = positive(setup.single(), "epsilon"), setup.items()
    pads = whole(padding, "--padding", at_least=1, at_most=MOST_PADDING)
    ways: list[tuple[str, dict[str, Any]]] = [
        ("pckv-grr", {"mechanism": "pckv-grr", "padding": pads}),
        ("pckv-ue", {"mechanism": "pckv-ue", "padding": pads}),
        ("privkvm, 1 round", {"mechanism": "privkvm"}),
        ("privkvm, 3 rounds", {"mechanism": "privkvm", "rounds": 3}),
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
        f"Shares of {len(keys):,} keys, epsilon {exact_text(epsilon)}, padding {pads}",
        "variance of the share of a key that nobody holds, of one person; n people divide it by n. Padding "
        "is how many keys a person is thought to hold at most: PCKV counts who holds more short; PrivKVM "
        "has none",
        lines[0].error,
        "the error of the best protocol here",
        tuple(lines),
    )


def _bytes(protocol: Any) -> int:
    return len(protocol.client().report(None))
