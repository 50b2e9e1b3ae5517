"""Small things that several protocols say alike: payloads, intervals, statements."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deniable.errors import ReportError
from deniable.guarantees import PureDP
from deniable.local.parameters import Parameters
from deniable.local.reports import Reports
from deniable.mechanisms.words import promise
from deniable.publish.statement import wrapped


class Formed(Protocol):
    """A protocol whose payloads have one type and width."""

    @property
    def parameters(self) -> Parameters:
        """What both ends must share."""
        ...

    @property
    def form(self) -> tuple[DTypeLike, int | None]:
        """Type and width of a payload."""
        ...


class Readable:
    """How such a protocol reads what its clients made."""

    __slots__ = ()

    def read(self: Formed, data: bytes) -> Reports:
        """Return the reports that clients made, one after the other.

        Raises:  ReportError: the size, the version or the parameters are not those of this protocol.
        """
        return Reports.from_bytes(data, self.parameters, *self.form)


def one(numbers: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of one entry (or one row): the payload of one report, or its input."""
    return np.asarray([numbers], dtype)


def fit(reports: object, parameters: Parameters) -> None:
    """Refuse what is no `Reports`, and reports that were made with other parameters.

    Raises:  ReportError: as said.
    """
    if not isinstance(reports, Reports):
        how = "protocol.read(data) makes them of bytes, protocol.read(b''.join(parts)) of a list of them."
        raise ReportError(f"These are no reports that were read. {how}", differs="kind")
    parameters.check(reports.parameters)


def checked(reports: Reports, dtype: DTypeLike, width: int | None, below: int) -> NDArray[Any]:
    """Return the payload; refuse one of another type or width, or with an entry that no device sends.

    Raises:  ReportError: as said; the entry is not shown.
    """
    payload = reports.payload
    shape = (len(reports),) if width is None else (len(reports), width)
    if payload.dtype != np.dtype(dtype) or payload.shape != shape:
        raise ReportError("These reports have another size than the protocol's.", differs="size")
    if payload.size and int(payload.max()) >= below:
        raise ReportError("Some report is none that a device of this protocol sends.", differs="report")
    return payload


def normal(confidence: Fraction) -> float:
    """Return how many standard errors an interval reaches to either side."""
    return NormalDist().inv_cdf((1 + float(min(confidence, 1 - Fraction(1, 10**15)))) / 2)


def statement(guarantee: PureDP, *sentences: str, again: bool = True) -> str:
    """Return the words of one report: what it is, what it promises, that each costs again (if it does)."""
    said = (*sentences, *promise(guarantee, local=True), *["Each report costs this again."] * again)
    return wrapped(" ".join(said)) + "\n"
