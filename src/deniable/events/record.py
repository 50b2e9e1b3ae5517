"""Events as plain JSON values, for ledgers and release files: exact, versioned, strict when read back.

    {"version": 1, "event": "repeated", "times": 2, "of": {"event": "gaussian", "sigma": "1/3", ...}}

Numbers are exact fraction text. A record that this version does not fully understand is refused, never
guessed. The meaning of a name never changes: a new meaning gets a new name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, assert_never

from deniable.errors import ParameterError
from deniable.events.additive import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from deniable.events.choices import Exponential, RandomizedResponse, Selection
from deniable.events.combined import Composed, Event, Repeated, Subsampled, checked
from deniable.guarantees import ApproxDP, PureDP, ZeroConcentratedDP

VERSION = 1
DEEPEST = 64

Record = dict[str, Any]


def to_json(event: Event) -> Record:
    """Return the event as a dict of text, ints, dicts and lists, with a version."""
    return {"version": VERSION, **_written(checked(event), DEEPEST)}


def from_json(record: object) -> Event:
    """Return the event that `to_json` wrote.

    Raises:  ParameterError: another version, an unknown name, a field too many or too few, a bad number.
    """
    version = record.get("version") if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or isinstance(version, bool) or version != VERSION:
        fix = f"Records of version {VERSION} are written by events.to_json."
        raise ParameterError("record", record, f"is not an event of version {VERSION}", fix)
    return _read({key: value for key, value in record.items() if key != "version"}, DEEPEST)


def _written(event: Event, depth: int) -> Record:
    if depth == 0:
        raise ParameterError("event", event, f"is nested more than {DEEPEST} deep", "Flatten it.")
    match event:
        case Subsampled(event=inner, rate=rate):
            return {"event": "subsampled", "rate": str(rate), "of": _written(inner, depth - 1)}
        case Repeated(event=inner, times=times):
            return {"event": "repeated", "times": times, "of": _written(inner, depth - 1)}
        case Composed(events=inner_events):
            return {"event": "composed", "of": [_written(inner, depth - 1) for inner in inner_events]}
        case _:
            return _leaf(event)


def _leaf(
    event: Laplace
    | DiscreteLaplace
    | Gaussian
    | DiscreteGaussian
    | RandomizedResponse
    | Exponential
    | Selection
    | PureDP
    | ApproxDP
    | ZeroConcentratedDP,
) -> Record:
    match event:
        case Laplace(scale=scale, sensitivity=sensitivity):
            return _record("laplace", scale=scale, sensitivity=sensitivity)
        case DiscreteLaplace(scale=scale, sensitivity=sensitivity):
            return _record("discrete-laplace", scale=scale, sensitivity=sensitivity)
        case Gaussian(sigma=sigma, sensitivity=sensitivity):
            return _record("gaussian", sigma=sigma, sensitivity=sensitivity)
        case DiscreteGaussian(sigma=sigma, sensitivity=sensitivity, coordinates=coordinates):
            return _record("discrete-gaussian", sigma=sigma, sensitivity=sensitivity, coordinates=coordinates)
        case RandomizedResponse(epsilon=epsilon, options=options):
            return _record("randomized-response", epsilon=epsilon, options=options)
        case Exponential(epsilon=epsilon):
            return _record("exponential", epsilon=epsilon)
        case Selection(delta=delta, epsilon=epsilon, rule=rule):
            return _record("selection", delta=delta, epsilon=epsilon, rule=rule)
        case PureDP(epsilon=epsilon):
            return _record("pure-dp", epsilon=epsilon)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return _record("approx-dp", epsilon=epsilon, delta=delta)
        case ZeroConcentratedDP(rho=rho):
            return _record("zero-concentrated-dp", rho=rho)
        case _:
            assert_never(event)


def _record(name: str, **fields: Fraction | int | str) -> Record:
    shown = {key: str(value) if isinstance(value, Fraction) else value for key, value in fields.items()}
    return {"event": name, **shown}


_LEAVES: Mapping[str, tuple[Callable[..., Event], frozenset[str]]] = {
    "laplace": (Laplace, frozenset({"scale", "sensitivity"})),
    "discrete-laplace": (DiscreteLaplace, frozenset({"scale", "sensitivity"})),
    "gaussian": (Gaussian, frozenset({"sigma", "sensitivity"})),
    "discrete-gaussian": (DiscreteGaussian, frozenset({"sigma", "sensitivity", "coordinates"})),
    "randomized-response": (RandomizedResponse, frozenset({"epsilon", "options"})),
    "exponential": (Exponential, frozenset({"epsilon"})),
    "selection": (Selection, frozenset({"delta", "epsilon", "rule"})),
    "pure-dp": (PureDP, frozenset({"epsilon"})),
    "approx-dp": (ApproxDP, frozenset({"epsilon", "delta"})),
    "zero-concentrated-dp": (ZeroConcentratedDP, frozenset({"rho"})),
}


def _read(record: object, depth: int) -> Event:
    if not isinstance(record, Mapping) or depth == 0:
        raise _unreadable(record)
    fields = {str(key): value for key, value in record.items() if key != "event"}
    match record.get("event"), sorted(fields):
        case "subsampled", ["of", "rate"]:
            return Subsampled(_read(fields["of"], depth - 1), _number(fields["rate"]))
        case "repeated", ["of", "times"]:
            return Repeated(_read(fields["of"], depth - 1), fields["times"])
        case "composed", ["of"] if isinstance(fields["of"], list):
            return Composed(_read(inner, depth - 1) for inner in fields["of"])
        case str() as name, names if name in _LEAVES and _LEAVES[name][1] == set(names):
            return _LEAVES[name][0](**{key: _field(key, value) for key, value in fields.items()})
        case _:
            raise _unreadable(record)


def _field(name: str, value: object) -> object:
    return value if name in ("coordinates", "options", "rule") else _number(value)


def _number(value: object) -> Fraction:
    """Read exact text of any length, which the door for people's numbers (400 characters) would not."""
    try:
        if isinstance(value, str) and len(value) <= 100_000 and value.isascii():
            top, _, bottom = value.partition("/")
            return Fraction(int(top), int(bottom or "1"))
    except (ValueError, ZeroDivisionError):
        pass
    raise _unreadable(value)


def _unreadable(value: object) -> ParameterError:
    fix = "Records are written by events.to_json; nothing is guessed."
    return ParameterError("record", value, "is not an event that this version knows", fix)
