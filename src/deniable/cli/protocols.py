"""A local protocol from options or from a small file, and what a line of text means as its value.

The file is TOML with the same words as the options, for example

    protocol = "mean"        # or "frequency", "vector"
    epsilon = 1
    bounds = [0, 100]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits
from deniable.cli.lines import batches
from deniable.errors import ParameterError
from deniable.exact import exact
from deniable.exact import text as exact_text
from deniable.local import Client, Reports
from deniable.local.estimates import Aggregate
from deniable.local.parameters import Parameters
from deniable.publish import cells

Kind = Literal["mean", "frequency", "vector"]
KINDS: tuple[Kind, ...] = ("mean", "frequency", "vector")
_WHOLE = re.compile(r"\s*-?[0-9]{1,18}\s*")
_MOST_ITEMS = 1 << 20
_BELONG = {
    "bounds": ("mean",),
    "domain": ("frequency",),
    "other": ("frequency",),
    "dimension": ("vector",),
    "norm": ("vector",),
}


class Collecting(Protocol):
    """What the command line needs of a protocol."""

    @property
    def parameters(self) -> Parameters: ...
    def answer(self, value: object, bits: Bits) -> NDArray[Any]: ...
    def randomize(self, values: Any, *, bits: Bits | None = None) -> Reports: ...
    def client(self, bits: Bits | None = None) -> Client: ...
    def aggregate(self, reports: Reports) -> Aggregate: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The words that name a protocol; what was not said is None."""

    protocol: str | None = None
    epsilon: tuple[str, ...] = ()
    bounds: str | None = None
    domain: str | tuple[Any, ...] | None = None
    other: str | int | None = None
    dimension: int | None = None
    norm: str | None = None
    mechanism: str | None = None

    def over(self, path: str | None) -> Setup:
        """Return these words, those of a file where nothing was said.

        Raises:  ParameterError: the file cannot be read, or has other words in it.
        """
        if path is None:
            return self
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        said = {word: value for word, value in given.items() if value not in (None, ())}
        return replace(_from_file(path), **said)

    @property
    def kind(self) -> Kind:
        """The protocol.

        Raises:  ParameterError: none or an unknown one was named, or a word belongs to another.
        """
        for kind in KINDS:
            if kind == self.protocol:
                for word, kinds in _BELONG.items():
                    if getattr(self, word) is not None and kind not in kinds:
                        fix = f"It belongs to --{kinds[0]}."
                        raise ParameterError(f"--{word}", getattr(self, word), f"is not for --{kind}", fix)
                return kind
        fix = "Say --mean, --frequency or --vector, or name a file with --parameters."
        raise ParameterError("protocol", self.protocol, "is not said", fix)

    def made(self, epsilon: str) -> Collecting:
        """Return the protocol at this epsilon."""
        from deniable import local

        how: Any = {"epsilon": epsilon} | ({"mechanism": self.mechanism} if self.mechanism else {})
        match self.kind:
            case "mean":
                return local.Mean(bounds=self.ends(), **how)
            case "frequency":
                items = self.items()
                return local.Frequency(domain=items, other=self.fallback(items), **how)
            case "vector":
                norm: Any = self.norm or "l2"
                return local.Vector(dimension=self.size(), norm=norm, **how)

    def epsilons(self) -> tuple[str, ...]:
        """Return every epsilon that was given.

        Raises:  ParameterError: there is none.
        """
        if not self.epsilon:
            raise ParameterError("--epsilon", None, "is missing", "Write for example --epsilon 1.")
        return self.epsilon

    def single(self) -> str:
        """Return the only epsilon.

        Raises:  ParameterError: there is none, or several.
        """
        first, *others = self.epsilons()
        if others:
            raise ParameterError("--epsilon", others[0], "is given twice", "A device has one epsilon.")
        return first

    def ends(self) -> tuple[Any, Any]:
        """Return the bounds of a mean, exactly.

        Raises:  ParameterError: they are missing, or not two numbers.
        """
        low, _, high = (self.bounds or "").rpartition(":")
        if not low:
            raise ParameterError("--bounds", self.bounds, "must be two numbers", "Write --bounds 0:100.")
        return exact(low, "--bounds"), exact(high, "--bounds")

    def items(self) -> list[Any]:
        """Return the domain of a frequency: 0 to K - 1 for a number K, else the items.

        Raises:  ParameterError: it is missing, too large, or its file cannot be read.
        """
        given = self.domain
        if isinstance(given, tuple):
            return list(given)
        if given is None:
            fix = "Write --domain red,green,blue or --domain @FILE, or a number K for 0 to K - 1."
            raise ParameterError("--domain", given, "is missing", fix)
        if given.startswith("@"):
            return _listed(given[1:])
        if _WHOLE.fullmatch(given):
            if not 2 <= int(given) <= _MOST_ITEMS:
                raise ParameterError("--domain", given, "is out of range", f"From 2 to {_MOST_ITEMS:,}.")
            return list(range(int(given)))
        return given.split(",")

    def fallback(self, items: Sequence[Any]) -> Any:
        """Return the item that stands for values which are none; None where a random one does."""
        return _read_item(self.other, items) if isinstance(self.other, str) else self.other

    def rule(self) -> str:
        """Return what values that could not be read count as: a public rule, as nobody can count them."""
        match self.kind:
            case "mean":
                low, high = self.ends()
                middle = exact_text((low + high) / 2)
                said = (
                    f"no number counts as the middle of the bounds, {middle}, one beyond as the nearer bound"
                )
            case "frequency" if self.other is not None:
                said = f"no item of the domain counts as {cells.visible(str(self.other))!r}"
            case "frequency":
                said = "no item of the domain counts as a random item, which draws all shares towards each "
                said += "other (--other NAME counts it as an item of its own)"
            case "vector":
                said = f"no vector of {self.size():,} entries counts as zeros, an entry that is none as 0, "
                cube = self.norm == "linf"
                said += "an entry beyond -1 to 1 is cut" if cube else "one longer than 1 is shortened to 1"
        return f"A value that was {said}; nobody can tell how many there were."

    def reader(self) -> Callable[[str], object]:
        """Return what turns a line into a value; it never raises. What is nothing of the kind stays text."""
        match self.kind:
            case "mean":
                return read_number
            case "vector":
                return read_vector
            case "frequency":
                items = self.items()
                return lambda line: _read_item(line, items)

    def size(self) -> int:
        """Return the dimension of a vector.

        Raises:  ParameterError: it is missing.
        """
        if self.dimension is None:
            raise ParameterError("--dimension", None, "is missing", "Write for example --dimension 90.")
        return self.dimension


def _read_item(line: str, items: Sequence[Any]) -> int | str:
    whole = isinstance(items[0], int) and _WHOLE.fullmatch(line) and line.isascii()
    return int(line) if whole else line


def read_number(line: str) -> float | None:
    """Return the number on a line; None if there is none."""
    if "_" in line:
        return None
    try:
        return float(line)
    except ValueError:
        return None


def read_vector(line: str) -> list[float | None]:
    """Return the entries on a line, parted by commas or spaces, in brackets or not; None for no number."""
    inner = line.strip()
    if inner[:1] == "[" and inner[-1:] == "]":
        inner = inner[1:-1]
    parts = inner.split(",") if "," in inner else inner.split()
    if "_" not in inner:
        try:
            return list(map(float, parts))
        except ValueError:
            pass
    return [read_number(part) for part in parts]


def payload(protocol: Collecting, kind: Kind, values: Sequence[Any], bits: Bits) -> NDArray[Any]:
    """Return one payload for each value: all that are in order at once, the odd ones as a device would."""
    usual = _usual(protocol, kind, values)
    odd = [place for place, fine in enumerate(usual) if not fine]
    some = protocol.answer(values[odd[0]] if odd else values[0], bits)
    out = np.empty((len(values), *some.shape[1:]), some.dtype)
    places = np.flatnonzero(np.asarray(usual, np.bool_))
    if len(places):
        fit: Any = [values[place] for place in places.tolist()]
        out[places] = protocol.randomize(fit if kind == "frequency" else np.array(fit), bits=bits).payload
    for place in odd:
        out[place] = protocol.answer(values[place], bits)[0]
    return out


def _usual(protocol: Any, kind: Kind, values: Sequence[Any]) -> Any:
    """Return which values `randomize` takes."""
    match kind:
        case "mean":
            numbers = np.array([np.nan if value is None else value for value in values], np.float64)
            low, high = protocol.bounds
            return (numbers >= float(low)) & (numbers <= float(high))
        case "frequency":
            known = {(type(item), item) for item in protocol.items}
            return [(type(value), value) in known for value in values]
        case "vector":
            right = np.array([len(value) == protocol.dimension for value in values])
            rows = np.array([value for value, fits in zip(values, right, strict=True) if fits], np.float64)
            right[right] = _within(rows.reshape(-1, protocol.dimension), protocol.norm)
            return right


def _within(rows: NDArray[np.float64], norm: str) -> NDArray[np.bool_]:
    """Return which rows lie in the unit ball; one with a missing entry (NaN) does not."""
    with np.errstate(over="ignore"):
        size = np.abs(rows).max(axis=1) if norm == "linf" else np.sqrt((rows**2).sum(axis=1))
    inside: NDArray[np.bool_] = size <= 1
    return inside


def _listed(path: str) -> list[str]:
    """Return the lines of a file of UTF-8, parted as those of values are (`lines`)."""
    try:
        data = Path(path).read_bytes()
        data.decode("utf-8")
    except (OSError, UnicodeError):
        raise ParameterError("--domain", path, "cannot be read", "Give a file of one item a line.") from None
    return [line for batch in batches(BytesIO(data), lambda _octets, _lines: None) for line in batch]


def _from_file(path: str) -> Setup:
    fix = 'Give a TOML file such as: protocol = "mean", epsilon = 1, bounds = [0, 100], one a line.'
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
    except (OSError, UnicodeError, tomllib.TOMLDecodeError):
        raise ParameterError("--parameters", path, "cannot be read", fix) from None
    known = {field.name for field in fields(Setup)}
    for word in found:
        if word not in known:
            fix = f"Known words: {', '.join(sorted(known))}."
            raise ParameterError("--parameters", word, "is no word of such a file", fix)
    return _worded(found, path, fix)


def _worded(found: dict[str, Any], path: str, fix: str) -> Setup:
    """Return the words of a file as options have them."""
    epsilon, bounds, domain = (found.get(word) for word in ("epsilon", "bounds", "domain"))
    several = epsilon if isinstance(epsilon, list) else [] if epsilon is None else [epsilon]
    said: dict[str, Any] = {**found, "epsilon": tuple(str(one) for one in several)}
    if isinstance(bounds, list):
        said["bounds"] = ":".join(str(end) for end in bounds)
    if domain is not None:
        said["domain"] = tuple(domain) if isinstance(domain, list) else str(domain)
    texts = all(said.get(word) is None or isinstance(said[word], str) for word in _TEXTS)
    if not (
        texts and isinstance(said.get("dimension", 1), int) and isinstance(said.get("other", 1), int | str)
    ):
        raise ParameterError("--parameters", path, "has a word of the wrong kind", fix)
    return Setup(**said)


_TEXTS = ("protocol", "bounds", "norm", "mechanism")
