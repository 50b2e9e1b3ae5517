"""Reports: what leaves a device, as arrays, as bytes and as lines of JSON.

One report as bytes: the version (1 byte), the fingerprint of the parameters (8 bytes), the payload
(little-endian, always of the same size for one protocol). Many reports: one after the other.
One report as JSON, on a line of its own; the payload is the same bytes in hexadecimal:

    {"deniable": 1, "protocol": "mean/optimal", "epsilon": "1", "parameters": {...}, "table": "...",
     "report": "0b"}

Whatever does not fit the parameters of the reader is refused, naming what differs and never a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deniable.errors import ReportError
from deniable.local.parameters import VERSION, Parameters

_HEAD = 9


@dataclass(frozen=True, slots=True, eq=False)
class Reports:
    """Reports of one protocol. payload: unsigned integers, `(n,)` or `(n, width)`, as the protocol says."""

    parameters: Parameters
    payload: NDArray[Any]

    def __post_init__(self) -> None:
        if self.payload.dtype.kind != "u" or self.payload.ndim not in (1, 2):
            raise ReportError("Reports are unsigned integers, one row each.", differs="size")

    def __len__(self) -> int:
        return len(self.payload)

    def __getitem__(self, places: slice) -> Reports:
        return Reports(self.parameters, self.payload[places])

    def __repr__(self) -> str:
        return f"<{len(self):,} reports of {self.parameters.protocol}>"

    @staticmethod
    def joined(parts: Iterable[Reports]) -> Reports:
        """Return all reports of the parts, in their order; refuse parts of different parameters."""
        first, *rest = parts
        for other in rest:
            first.parameters.check(other.parameters)
        return Reports(first.parameters, np.concatenate([first.payload, *(one.payload for one in rest)]))

    def to_bytes(self) -> bytes:
        """Return the reports one after the other, each of the same size."""
        payload = _octets(self.payload)
        whole = np.empty((len(self), _HEAD + payload.shape[1]), np.uint8)
        whole[:, 0] = VERSION
        whole[:, 1:_HEAD] = np.frombuffer(self.parameters.fingerprint, np.uint8)
        whole[:, _HEAD:] = payload
        return whole.tobytes()

    @classmethod
    def from_bytes(
        cls, data: bytes, parameters: Parameters, dtype: DTypeLike, width: int | None = None
    ) -> Reports:
        """Return the reports that `to_bytes` wrote.

        Args:    parameters, dtype, width: of the reader's protocol; without width a payload is one number.
        Raises:  ReportError: the size, the version or the parameters are not those of the reader.
        """
        size = np.dtype(dtype).itemsize * (width or 1)
        if len(data) % (_HEAD + size):
            raise ReportError(f"A report of {parameters.protocol} has {_HEAD + size} bytes.", differs="size")
        whole = np.frombuffer(data, np.uint8).reshape(-1, _HEAD + size)
        if (whole[:, 0] != VERSION).any():
            raise ReportError(f"This is no report of version {VERSION}.", differs="version")
        if (whole[:, 1:_HEAD] != np.frombuffer(parameters.fingerprint, np.uint8)).any():
            raise ReportError(
                f"Some reports were not made by {parameters.protocol} with the parameters used here.",
                differs="parameters",
            )
        return cls(parameters, _words(whole[:, _HEAD:], dtype, width))

    def to_json_lines(self) -> Iterator[str]:
        """Yield each report as one line of JSON, without the line end."""
        start = json.dumps(self.parameters.to_json())[:-1] + ', "report": "'
        octets = _octets(self.payload)
        size, digits = 2 * octets.shape[1], octets.tobytes().hex()
        for place in range(0, len(digits), size):
            yield f'{start}{digits[place : place + size]}"}}'

    @classmethod
    def from_json_lines(
        cls, lines: Iterable[str], parameters: Parameters, dtype: DTypeLike, width: int | None = None
    ) -> Reports:
        """Return the reports that `to_json_lines` wrote; empty lines are skipped.

        Raises:  ReportError: a line is no report, or one with other parameters or of another size.
        """
        start = json.dumps(parameters.to_json())[:-1] + ', "report": "'
        size = 2 * np.dtype(dtype).itemsize * (width or 1)
        texts = filter(None, map(_stripped, lines))
        digits = [_digits(line, start, parameters, size) for line in texts]
        try:
            octets = bytes.fromhex("".join(digits))
        except ValueError:
            raise _unreadable() from None
        return cls(parameters, _words(np.frombuffer(octets, np.uint8), dtype, width))


def _stripped(line: object) -> str:
    """Return a line without its end; refuse what is no text, such as the numbers that bytes hold."""
    if not isinstance(line, str):
        raise _unreadable()
    return line.strip()


def _digits(line: str, start: str, parameters: Parameters, size: int) -> str:
    """Return the payload of one line in hexadecimal; the fast way if the line is as we write it."""
    if line.startswith(start) and len(line) == len(start) + size + 2 and line.endswith('"}'):
        found = line[len(start) : -2]
    else:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise _unreadable() from None
        parameters.check(Parameters.from_json(record))
        found = record.get("report")
    if not (isinstance(found, str) and len(found) == size and found.isalnum() and found.isascii()):
        raise ReportError(f"A report of {parameters.protocol} has {size} hexadecimal digits.", differs="size")
    return found


def _unreadable() -> ReportError:
    return ReportError("A line is no report. Reports are lines of JSON, one each.", differs="version")


def _octets(payload: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the payload as little-endian bytes, `(n, size)`."""
    little = np.ascontiguousarray(payload, payload.dtype.newbyteorder("<"))
    width = payload.shape[1] if payload.ndim == 2 else 1
    return little.view(np.uint8).reshape(len(payload), width * payload.dtype.itemsize)


def _words(octets: NDArray[np.uint8], dtype: DTypeLike, width: int | None) -> NDArray[Any]:
    little = np.dtype(dtype).newbyteorder("<")
    flat = np.ascontiguousarray(octets).reshape(-1).view(little).astype(dtype, copy=False)
    return flat if width is None else flat.reshape(-1, width)
