"""Server and clients of one training. What passes between them: weights one way, reports the other.

    server = dn.learn.Server(plan)
    while not server.finished:
        current = server.round()                       # a number and weights: public, the same for all
        server.collect(b"".join(device.report(current, x, y) for device in next_group))

1. A `Client` sends one report in its life: a second request is refused whatever it knows, so the refusal
   says nothing about its data. Two threads that ask at once get one report (`_once`), and a device cannot be
   copied (`__reduce__`). That is the whole of the privacy argument: the report keeps epsilon for any
   weights the server may send, honest or not, because every gradient is brought within the norm (`clipped`).
2. What a device does not know (a missing target, features that are no vector) counts as a gradient of zeros:
   a report of the same size is always sent.
3. The server divides by the size of a round in the plan, never by a count that depends on anybody.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Lock
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from deniable.bits import Bits, SystemBits
from deniable.errors import ParameterError, ReportError
from deniable.learn.descent import Descent
from deniable.learn.losses import clipped, gradients
from deniable.learn.plan import Plan
from deniable.local.client import number
from deniable.local.vector.reading import one

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Round:
    """What the server tells everybody in the group of a round."""

    number: int
    weights: tuple[float, ...]

    def to_json(self) -> str:
        """Return the round as JSON."""
        return json.dumps({"round": self.number, "weights": self.weights})

    @classmethod
    def from_json(cls, text: str) -> Round:
        """Return the round that `to_json` wrote.

        Raises:  ReportError: it is none.
        """
        try:
            record = json.loads(text)
            return cls(int(record["round"]), tuple(float(weight) for weight in record["weights"]))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise ReportError("This is no round: a number and weights.", differs="round") from None


class Server:
    """Moves weights by what groups of people report. It never sees anything but reports."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._state = Descent(plan)

    @property
    def finished(self) -> bool:
        """Whether all rounds are done."""
        return self._state.finished

    @property
    def weights(self) -> Floats:
        """The weights of the model so far, averaged as planned; then the intercept, if there is one."""
        return self._state.weights

    def round(self) -> Round:
        """Return what the next group needs."""
        return Round(self._state.round, tuple(float(weight) for weight in self._state.current))

    def collect(self, data: bytes) -> None:
        """Take the reports of the current round, one after the other, and move the weights.

        Raises:  ReportError: they were made with other parameters, or there are more than a round has.
                 ParameterError: all rounds are done.
        """
        reports = self.plan.vector.read(data)
        if len(reports) > self.plan.batch:
            raise ReportError(f"A round has {self.plan.batch:,} reports at most.", differs="size")
        mean: Floats = self.plan.vector.decode(reports).sum(axis=0) / self.plan.batch
        self._state.advance(mean)


class Client:
    """One person's device, for one training. bits: fresh ones of the operating system when omitted."""

    def __init__(self, plan: Plan, bits: Bits | None = None) -> None:
        self.plan = plan
        self._bits = SystemBits() if bits is None else bits
        self._asked = False
        self._once = Lock()

    def __reduce__(self) -> NoReturn:
        raise TypeError("A device cannot be pickled or copied: each copy would send a report of its own.")

    def report(self, current: Round, features: object, target: object) -> bytes:
        """Return the one report of this person: always of the same size, whatever they have.

        Args:    features: the `attributes` coordinates, as `Encoder.encode` gives them.
                 target: a number; for classes its sign counts.
        Raises:  ParameterError: this device has reported before, or the round has other weights than the
                 plan. Neither depends on what the device knows.
        """
        weights = np.array(current.weights, np.float64)
        with self._once:
            if self._asked:
                raise ParameterError(
                    "round", current.number, "asks a device that has reported", "Ask others."
                )
            if weights.shape != (self.plan.dimension,) or not np.isfinite(weights).all():
                fix = f"Send {self.plan.dimension} finite weights."
                raise ParameterError("round", current.number, "has no weights of this plan", fix)
            self._asked = True
        with np.errstate(all="ignore"):  # as `local.Client`
            gradient = self._gradient(weights, features, target)
            row = clipped(gradient, norm=self.plan.vector.norm, clip=self.plan.clip)
        return self.plan.vector.client(self._bits).report(row[0])

    def _gradient(self, weights: Floats, features: object, target: object) -> Floats:
        """Return the gradient at what this device has, `(1, d)`; zeros without a target. Never raises."""
        known = number(target)
        if known is None:
            return np.zeros((1, self.plan.dimension))
        wanted = (
            float(np.clip(known, -1e150, 1e150))
            if self.plan.loss == "squared"
            else (1.0 if known > 0 else -1.0)
        )
        rows = self.plan.completed(one(features, self.plan.attributes, "linf"))
        return gradients(self.plan.loss, weights, rows, np.array([wanted]))
