"""Reads the UCI "Adult" census extract (Becker, Kohavi 1996, doi 10.24432/C5XW20) from a file of the user.

Domains are declared below, from the documentation of the data set: they are public, as an encoder needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from deniable.errors import SourceError

NAMES = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
TARGET = "hours-per-week"
DOMAINS: dict[str, Any] = {
    "age": (17, 90),
    "workclass": (
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked"
    ).split(),
    "fnlwgt": (0, 1_500_000),
    "education": (
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
        "1st-4th 10th Doctorate 5th-6th Preschool"
    ).split(),
    "education-num": (1, 16),
    "marital-status": (
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"
    ).split(),
    "occupation": (
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
        "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
        "Armed-Forces"
    ).split(),
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried".split(),
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black".split(),
    "sex": "Female Male".split(),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_356),
    "hours-per-week": (1, 99),
    "native-country": (
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan "
        "Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal "
        "Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua "
        "Scotland Thailand Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"
    ).split(),
    "income": ["<=50K", ">50K"],
}
_NUMBERS = [name for name, domain in DOMAINS.items() if isinstance(domain, tuple)]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The columns as text (numbers as int), and where they are from."""

    columns: dict[str, list[Any]]
    source: str

    def __len__(self) -> int:
        return len(self.columns["age"])


def read(path: Path) -> Rows:
    """Return the rows of adult.data, or of adult.test.

    Raises:  SourceError: there is no such file, or it has no line of 15 fields whose numbers are numbers.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from None
    lines = [[field.strip() for field in line.split(",")] for line in data.decode("latin-1").splitlines()]
    kept = [fields for fields in lines if len(fields) == len(NAMES) and _numeric(fields)]
    if not kept:
        raise SourceError(f"{path} is not the UCI Adult extract: 15 fields a line, separated by commas.")
    columns: dict[str, list[Any]] = {
        name: [fields[place].rstrip(".") for fields in kept] for place, name in enumerate(NAMES)
    }
    columns |= {name: [int(value) for value in columns[name]] for name in _NUMBERS}
    return Rows(columns, f"{path.name}, SHA-256 {sha256(data).hexdigest()}")


def _numeric(fields: list[str]) -> bool:
    return all(fields[NAMES.index(name)].isdigit() for name in _NUMBERS)
