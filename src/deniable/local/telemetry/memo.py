"""The memo: what a device has answered about each value, so that it answers the same again.

Why it matters. A permanent answer is drawn once; all later reports are made from it alone. So everything that
is ever reported about one value costs what one answer costs. If the answer were drawn anew each day, the days
would add up; the average of many would be the truth.

What holds, and what does not. A history is the value of each day; values with one permanent answer are one
class. Two histories *change at the same times* if any two days are of one class in the one just when they are
in the other.
1. Answers of different classes are drawn apart. Let two histories change at the same times, with k classes
   each. Then the reports of both are made alike from k answers, of which each costs `permanent`: the laws of
   all reports together differ by at most k `permanent`. Where classes hang on something else that is drawn
   once (a shift, the items that are asked), this must be so whatever is drawn.
2. Between other histories nothing of the kind holds. (0, 0) never gives two different answers and (0, 1) does
   about half the time: a report that shows both rules out the first history, whatever epsilon is. Coins that
   are tossed afresh for each report (RAPPOR's) make that likelier or less likely instead of certain; then a
   change shows after a few reports.
So the times of changes are not protected, and `spent` is no bound over all histories (Ding, Kulkarni,
Yekhanin 2017, section 4, say so too).

| what happens to the memo       | what is done                                       | what it costs        |
|--------------------------------|----------------------------------------------------|-----------------------|
| the value is another one       | a new answer is drawn and remembered               | `permanent` again,   |
|                                |                                                    | and the change shows |
| lost (no file)                 | a new memo begins; only `earlier` can say what the | `permanent` again for|
|                                | old one held                                       | each value           |
| an entry is damaged (its check | that answer is drawn again, and counted            | `permanent` again    |
| sum differs)                   |                                                    |                      |
| unreadable as a whole          | it is removed, a new one begins; `gone` counts it  | as lost              |
| copied to another device       | the same: else who has the original could read the | as lost              |
| (another owner or parameters)  | answers of the copy                                |                      |
| put back from a backup         | nothing shows it: answers since then are forgotten | as lost              |
| cannot be written now          | answers are remembered until the process ends      | as lost, afterwards  |

A report is sent in every case, and of the same size: silence would tell something.
"""

from __future__ import annotations

import hashlib
from typing import Any, Protocol

from numpy.typing import NDArray

from deniable import events
from deniable.bits import Bits, SystemBits
from deniable.exact import whole
from deniable.guarantees import PureDP
from deniable.local.parameters import Parameters
from deniable.local.reports import Reports
from deniable.local.telemetry.storage import DictStorage, Storage
from deniable.mechanisms.words import promise
from deniable.publish.statement import wrapped

_SEAL = 8


class Memo:
    """The answers of one device, in a storage.

    Args:    owner: names the device or the person, for example an installation's number. A memo of another
             owner is not used; without a name a copy cannot be noticed. earlier: how many permanent answers
             this person gave from memos that are gone, as far as is known.
    """

    def __init__(self, storage: Storage | None = None, *, owner: str = "", earlier: int = 0) -> None:
        self.storage: Storage = DictStorage() if storage is None else storage
        self.owner = owner
        self.earlier = whole(earlier, "earlier", at_least=0, at_most=10**9)
        self.saved = True
        self._gone = 0
        self._apart: set[bytes] = set()
        self._reached = True
        self._unsaved = DictStorage()
        self._key = b""

    def bind(self, parameters: Parameters) -> None:
        """Use the memo for this owner and protocol; give up one of another, or an unreadable one."""
        text = repr((self.owner, parameters.to_json())).encode("utf-8", "surrogatepass")
        self._key = hashlib.sha256(text).digest()
        ours = hashlib.sha256(b"owner" + self._key).digest()
        if self._settled(b"owner", ours) != ours:
            self._begin_anew()
            self._settled(b"owner", ours)

    @property
    def gone(self) -> int:
        """How many memos were given up before this one; what they held is unknown."""
        return max(self._gone, self._number(b"gone"))

    @property
    def damaged(self) -> bool:
        """Whether an entry was damaged: then the number of answers drawn is at least `count`."""
        return self._number(b"renewed") > 0

    def settle(self, name: bytes, drawn: bytes) -> bytes:
        """Return what is remembered under the name, or else this, from now on."""
        key = hashlib.blake2b(name, key=self._key, digest_size=16).digest()
        kept = self._settled(key, self._sealed(key, drawn))
        if self._opened(key, kept, len(drawn)):
            return kept[:-_SEAL]
        sealed = self._sealed(key, drawn)
        self._replaced(key, sealed)
        self._count(b"renewed")
        return drawn

    def count(self) -> int:
        """Return how many permanent answers were drawn, as far as this memo knows, `earlier` included."""
        known = self._number(b"answers") + self._number(b"renewed")
        return self.earlier + known + len(self._apart)

    def remember(self, name: bytes, drawn: bytes) -> bytes:
        """Settle a permanent answer; count it if it is new."""
        kept = self.settle(name, drawn)
        if not self._reached:
            self._apart.add(name)
        elif self.settle(b"counted " + name, b"\x00") == b"\x00":
            self._count(b"answers")
            self._replace(b"counted " + name, b"\x01")
        return kept

    def _number(self, name: bytes) -> int:
        return int.from_bytes(self.settle(name, bytes(8)), "little")

    def _count(self, name: bytes) -> None:
        self._replace(name, min(self._number(name) + 1, 1 << 62).to_bytes(8, "little"))

    def _replace(self, name: bytes, value: bytes) -> None:
        key = hashlib.blake2b(name, key=self._key, digest_size=16).digest()
        self._replaced(key, self._sealed(key, value))

    def _sealed(self, key: bytes, value: bytes) -> bytes:
        return value + hashlib.blake2b(value, key=self._key, salt=key, digest_size=_SEAL).digest()

    def _opened(self, key: bytes, kept: bytes, size: int) -> bool:
        return len(kept) == size + _SEAL and kept == self._sealed(key, kept[:-_SEAL])

    def _settled(self, key: bytes, value: bytes) -> bytes:
        """Settle in the storage; in this process alone if that fails."""
        for _ in range(2):
            try:
                kept = self.storage.settle(key, value)
            except ValueError:
                self._begin_anew()
            except OSError:
                break
            else:
                self._reached = True
                return kept
        self.saved = self._reached = False
        return self._unsaved.settle(key, value)

    def _replaced(self, key: bytes, value: bytes) -> None:
        try:
            self.storage.replace(key, value)
        except (OSError, ValueError):
            self.saved = False
            self._unsaved.replace(key, value)

    def _begin_anew(self) -> None:
        self._gone += 1
        try:
            self.storage.clear()
        except OSError:
            self.saved = False
        self._replace(b"gone", self._gone.to_bytes(8, "little"))


class Remembering(Protocol):
    """What a protocol with a memo gives to its clients."""

    @property
    def parameters(self) -> Parameters:
        """The parameters that travel with the report."""
        ...

    @property
    def event(self) -> PureDP:
        """What one report costs, looked at alone."""
        ...

    @property
    def permanent(self) -> PureDP:
        """What everything costs that is ever reported about one value that does not change."""
        ...

    def remembered(self, value: object, memo: Memo, bits: Bits) -> NDArray[Any]:
        """Return the payload of one report, for any object: this never raises."""
        ...


class MemoClient:
    """Makes the reports of one person, from the permanent answers in its memo.

    Args:    memo: until the process ends when omitted. bits: fresh ones of the operating system when omitted.
    """

    def __init__(self, protocol: Remembering, memo: Memo | None = None, bits: Bits | None = None) -> None:
        self._protocol = protocol
        self._bits = SystemBits() if bits is None else bits
        self.memo = Memo() if memo is None else memo
        self.memo.bind(protocol.parameters)

    @property
    def parameters(self) -> Parameters:
        """The public parameters, for the full form of a report."""
        return self._protocol.parameters

    def report(self, value: object) -> bytes:
        """Return exactly one report, always of the same size, whatever the value is. Never raises."""
        payload = self._protocol.remembered(value, self.memo, self._bits)
        return Reports(self.parameters, payload).to_bytes()

    @property
    def spent(self) -> events.Repeated:
        """`permanent`, once for each answer drawn that the memo knows of.

        It bounds how well this history is told from one that changes at the same times (step 1 above); from
        others it may be told with certainty.
        """
        return events.Repeated(self._protocol.permanent, self.memo.count())

    @property
    def statement(self) -> str:
        """What was spent and what is not known, in words, for the person alone: it counts the values."""
        many = self.memo.count()
        said = [
            f"This device has drawn {many:,} permanent answer{'s' * (many != 1)}. All reports about one "
            "value are made from one of them. For each:",
            *promise(self._protocol.permanent, local=True),
            "Several add up, as far as your values would otherwise have changed at the same times. That and "
            "when a value changed is not hidden, whatever this sum is.",
        ]
        if self.memo.gone:
            said.append(
                "An earlier memo was unreadable or another's and was given up: what it held adds to that."
            )
        if self.memo.damaged:
            said.append(
                "Part of the memo was damaged and drawn again: there may be more answers than it knows of."
            )
        if not self.memo.saved:
            said.append("The memo cannot be written: answers are forgotten when this process ends.")
        return wrapped(" ".join(said)) + "\n"
