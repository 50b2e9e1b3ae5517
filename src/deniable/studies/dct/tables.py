"""Data for regression: ADULT, WISDM, BR and MX where the user has them, and made-up stand-ins of their shape.

| name  | attributes            | coordinates (target included) | target              |
|-------|-----------------------|-------------------------------|---------------------|
| BR    | 6 numeric, 10 of few  | 90                            | totalincome         |
| MX    | 5 numeric, 14 of few  | 94                            | totalincome         |
| WISDM | 3 numeric, 2 of few   | 43                            | the last numeric    |
| ADULT | 6 numeric, 9 of few   | 98                            | hours-per-week      |

BR and MX are extracts of IPUMS that may not be passed on. A real one is a CSV file with a header and a column
`totalincome`. Its domains, and those of WISDM, are read off the file: good enough for a study of data that is
public, wrong for a collection (`learn.Encoder` wants them declared).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.bits import SeededBits
from deniable.errors import SourceError
from deniable.learn.encoder import Encoder
from deniable.studies.dct import adult
from deniable.studies.dct.uniform import normal, uniform

Floats = NDArray[np.float64]
TARGET = "totalincome"
SHAPES = {
    "BR": (5, (2, 2, 3, 3, 4, 6, 8, 12, 23, 31)),
    "MX": (4, (2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8, 12, 17, 32)),
    "WISDM": (2, (6, 36)),
}
"""Numeric attributes beside the target, and how many values each of the others has."""

_LINE = re.compile(r"(\d+),([A-Za-z]+),(\d+),(-?[\d.]+),(-?[\d.]+),(-?[\d.]+)(?:,?;|$)")
_FEW = 64


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """features: `(n, d)` in [-1, 1]. target: `(n,)` in [-1, 1]. source: where it is from, for the record."""

    name: str
    features: Floats
    target: Floats
    synthetic: bool
    source: str

    def some(self, n: int, seed: int) -> Regression:
        """Return n of the rows, drawn by the seed; all of them if there are no more."""
        if len(self.target) <= n:
            return self
        kept = np.sort(np.argsort(uniform(len(self.target), SeededBits(seed, insecure=True)))[:n])
        return replace(self, features=self.features[kept], target=self.target[kept])


def hours(rows: adult.Rows) -> Regression:
    """Return ADULT: hours worked a week, from all else."""
    known = {name: domain for name, domain in adult.DOMAINS.items() if name != adult.TARGET}
    target = Encoder({adult.TARGET: adult.DOMAINS[adult.TARGET]}).transform(rows.columns)[:, 0]
    return Regression("ADULT", Encoder(known).transform(rows.columns), target, False, rows.source)


def stand_in(name: str, n: int, seed: int) -> Regression:
    """Return made-up data of the shape of BR, MX or WISDM: skewed values, a target with a linear part."""
    numeric, sizes = SHAPES[name]
    bits = SeededBits(seed, insecure=True)
    hidden = normal(n, bits)
    numbers = [np.tanh(0.5 * hidden * (-1) ** i + 0.7 * normal(n, bits)) for i in range(numeric)]
    coded = [_values(n, size, hidden, bits) for size in sizes]
    features = np.hstack([*(column[:, None] for column in numbers), *coded])
    weights = 0.5 * normal(features.shape[1], bits) / np.sqrt(len(sizes) + numeric)
    target = np.tanh(features @ weights - 0.4 + 0.15 * normal(n, bits))
    return Regression(f"{name} stand-in", features, target, True, f"made up, seed {seed}")


def _values(n: int, size: int, hidden: Floats, bits: SeededBits) -> Floats:
    """Return a column of few values, coded: the first are common, and lean with the hidden number."""
    place = np.floor(size * np.minimum(uniform(n, bits) * (1 + 0.3 * np.tanh(hidden)), 0.999999) ** 2)
    eye = np.vstack([np.eye(size - 1), np.zeros(size - 1)])
    coded: Floats = eye[place.astype(np.int64)]
    return coded


def census(name: str, path: Path) -> Regression:
    """Return a real BR or MX: a column is numeric if it has more than 64 values and all are numbers.

    Raises:  SourceError: the file cannot be read, or has no column totalincome of numbers.
    """
    data = _bytes(path)
    lines = list(csv.reader(data.decode("utf-8", "replace").splitlines()))
    names = [field.strip().casefold() for field in lines[0]] if lines else []
    rows = [line for line in lines[1:] if len(line) == len(names)]
    columns = {column: [row[i].strip() for row in rows] for i, column in enumerate(names)}
    if not rows or TARGET not in names or not _numbers(columns[TARGET]):
        raise SourceError(f"{path} has no header with {TARGET}, or no numbers under it.")
    return _coded(name, columns, TARGET, data, path)


def accelerometer(path: Path) -> Regression:
    """Return WISDM (WISDM_ar_v1.1_raw.txt): user, activity, x, y and, as the target, z; torn lines left out.

    Raises:  SourceError: the file cannot be read, or no line is like user,activity,timestamp,x,y,z;
    """
    data = _bytes(path)
    found = _LINE.findall(data.decode("latin-1"))
    if not found:
        raise SourceError(f"{path} is not the raw WISDM file: user,activity,timestamp,x,y,z; on each line.")
    names = ("user", "activity", "timestamp", "x", "y", "z")
    columns = {name: [line[i] for line in found] for i, name in enumerate(names) if name != "timestamp"}
    return _coded("WISDM", columns, "z", data, path, texts=("user", "activity"))


def _coded(
    name: str,
    columns: dict[str, list[str]],
    target: str,
    data: bytes,
    path: Path,
    texts: Sequence[str] = (),
) -> Regression:
    domains: dict[str, Any] = {}
    values: dict[str, list[Any]] = {}
    for column, words in columns.items():
        read = [] if column in texts else _numbers(words)
        if read and (column == target or len(set(read)) > _FEW):
            domains[column], values[column] = (min(read), max(read)), read
        else:
            domains[column], values[column] = sorted(set(words)), words
    domains = {column: domain for column, domain in domains.items() if len(set(domain)) > 1}
    wanted = Encoder({target: domains.pop(target)}).transform(values)[:, 0]
    source = f"{path.name}, SHA-256 {sha256(data).hexdigest()}"
    return Regression(name, Encoder(domains).transform(values), wanted, False, source)


def _numbers(words: Sequence[str]) -> list[float]:
    """Return the column as numbers; empty if one of them is none."""
    try:
        return [float(word) for word in words]
    except ValueError:
        return []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from None
