"""Tables that come with the package, for common epsilon and the objectives "worst" and "uniform".

One file each, zlib-compressed JSON under `tables/`: the table (`carried`) and the certificate of the limit.
They only save time: what is read is checked in exact numbers like what is built. `write` makes them again:
`python -m deniable.local.mean.shipped FOLDER`.
"""

from __future__ import annotations

import json
import sys
import zlib
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from deniable.errors import ParameterError
from deniable.local.mean.carried import restored, written
from deniable.local.mean.laws import Law
from deniable.local.mean.priors import Prior
from deniable.local.mean.program import Certificate

_VERSION = 1
_EPSILONS = ("0.1 0.2 0.25 0.5 0.75 1 1.5 2 2.5 3 4 5 6 7 8").split()
_PARTS = ("inputs", "weights", "slopes", "levels")


def law(epsilon: Fraction, assumed: Prior | None) -> Law | None:
    """Return the table that ships for this epsilon and objective, checked; None if none does.

    Raises:  ParameterError: the file is damaged, or its table does not keep epsilon.
    """
    found = _read(epsilon, assumed)
    return None if found is None else restored(found, epsilon)


def certificate(epsilon: Fraction, assumed: Prior | None) -> Certificate | None:
    """Return the certificate that ships for this epsilon and objective; None if none does."""
    found = _read(epsilon, assumed)
    return None if found is None else Certificate(*(np.array(found["certificate"][part]) for part in _PARTS))


@lru_cache(maxsize=4)
def _read(epsilon: Fraction, assumed: Prior | None) -> dict[str, Any] | None:
    name = _name(epsilon, assumed)
    if name is None:
        return None
    place = files("deniable.local.mean") / "tables" / name
    if not place.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(zlib.decompress(place.read_bytes()))
    except (ValueError, zlib.error):
        found = {}
    if found.get("version") != _VERSION or found.get("epsilon") != str(epsilon):
        raise ParameterError("epsilon", str(epsilon), "has a damaged table", "Install deniable again.")
    return found


def _name(epsilon: Fraction, assumed: Prior | None) -> str | None:
    if assumed is not None and assumed.sd is not None:
        return None
    if epsilon.denominator > 1000 or epsilon.numerator > 10**6:
        return None
    kind = "worst" if assumed is None else "uniform"
    return f"{kind}-{epsilon.numerator}-{epsilon.denominator}.json.z"


def write(folder: Path) -> None:
    """Build all tables and certificates anew and write them into a folder."""
    for name in _EPSILONS:
        for assumed in (None, Prior(None)):
            sys.stdout.write(f"{name} {assumed or 'worst'}\n")
            _write(folder, Fraction(name), assumed)


def _write(folder: Path, epsilon: Fraction, assumed: Prior | None) -> None:
    from deniable.local.mean.limits import certificate as proved
    from deniable.local.mean.optimal import build

    table = written(build(epsilon, assumed))
    assert table is not None
    proof = proved(epsilon, assumed, finer=3 if epsilon <= 6 else 2)
    record = {
        "version": _VERSION,
        "epsilon": str(epsilon),
        **table,
        "certificate": {part: getattr(proof, part).tolist() for part in _PARTS},
    }
    name = _name(epsilon, assumed)
    assert name is not None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(zlib.compress(json.dumps(record).encode(), 9))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
