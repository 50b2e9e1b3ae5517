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
| unreadable or cut              | it is removed, a new one begins; `gone` counts it  | as lost              |
| copied to another device       | its answers are left alone and new ones drawn, else| as lost              |
| (another owner)                | who has the original could read them; `gone` says 1|                      |
| used by other protocols too, or| answers of both live side by side                  | what each costs;     |
| with other parameters          |                                                    | both add up          |
| put back from a backup         | nothing shows it: answers since then are forgotten | as lost              |
| cannot be read or written now  | answers are remembered until the process ends      | as lost, afterwards  |

How many answers were drawn is how many are there: no counter can fall behind them.

A report is sent in every case, and of the same size: silence would tell something.
"""

from __future__ import annotations

import hashlib
from typing import Any, NoReturn, Protocol, SupportsIndex

import numpy as np
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
_OWNER, _GONE, _OTHER, _ANSWER, _RENEWED = b"o", b"g", b"k", b"a", b"r"
"""What a key begins with; then come the owner, the protocol and the name, hashed."""


class Memo:
    """The answers of one device, in a storage. It cannot be copied: two would draw answers apart.

    Args:    owner: names the device or the person, for example an installation's number. Answers of another
             owner are not used; without a name a copy cannot be noticed. earlier: how many permanent answers
             this person gave from memos that are gone, as far as is known.
    """

    def __init__(self, storage: Storage | None = None, *, owner: str = "", earlier: int = 0) -> None:
        self.storage: Storage = DictStorage() if storage is None else storage
        self.owner = owner
        self.earlier = whole(earlier, "earlier", at_least=0, at_most=10**9)
        self._unsaved = DictStorage()
        self._gone: set[bytes] = set()
        self._person = self._hash("person")[:8]
        self._protocol, self._key = bytes(8), self._hash("key")

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("A memo cannot be copied or pickled: the copies would draw answers apart.")

    def bound(self, parameters: Parameters) -> Memo:
        """Return the part of the memo that is this protocol's; note if all there is has another owner."""
        part = Memo(self.storage, owner=self.owner, earlier=self.earlier)
        part._unsaved, part._gone = self._unsaved, self._gone
        told = repr(parameters.to_json())
        part._protocol, part._key = part._hash("protocol", told)[:8], part._hash("key", told)
        owners, ours = part._many(_OWNER), part._many(_OWNER + self._person)
        if owners and not ours:
            part._settled(_GONE + self._person + b"another's", b"")
        part._settled(_OWNER + self._person, b"")
        self._gone.update(_unique() for _ in range(part.gone - len(self._gone)))
        return part

    @property
    def saved(self) -> bool:
        """Whether all that was to be remembered could be written."""
        return not self._unsaved

    @property
    def gone(self) -> int:
        """How many memos were given up before this one; what they held is unknown."""
        return self._many(_GONE + self._person)

    @property
    def damaged(self) -> bool:
        """Whether an entry was damaged: then the number of answers drawn is at least `count`."""
        return self._many(_RENEWED + self._person + self._protocol) > 0

    @property
    def beside(self) -> int:
        """How many answers of other protocols or parameters this owner's memo holds."""
        kinds = (_ANSWER + self._person, _RENEWED + self._person)
        return sum(self._many(kind) - self._many(kind + self._protocol) for kind in kinds)

    def settle(self, name: bytes, drawn: bytes) -> bytes:
        """Return what is remembered under the name, or else this, from now on."""
        return self._held(_OTHER, name, drawn)

    def remember(self, name: bytes, drawn: bytes) -> bytes:
        """Settle a permanent answer: the same, and it counts."""
        return self._held(_ANSWER, name, drawn)

    def count(self) -> int:
        """Return how many permanent answers were drawn, as far as this memo knows, `earlier` included.

        They are the answers that are there and those that were drawn again.
        """
        kinds = (_ANSWER, _RENEWED)
        return self.earlier + sum(self._many(kind + self._person + self._protocol) for kind in kinds)

    def _hash(self, *words: str) -> bytes:
        return hashlib.sha256(repr((self.owner, *words)).encode("utf-8", "surrogatepass")).digest()

    def _held(self, kind: bytes, name: bytes, drawn: bytes) -> bytes:
        place = self._person + self._protocol
        key = kind + place + hashlib.blake2b(name, key=self._key, digest_size=16).digest()
        sealed = self._sealed(key, drawn)
        kept = self._settled(key, sealed)
        if not self._opened(key, kept, len(drawn)):
            self._settled(_RENEWED + place + _unique(), b"")
            kept = self._replaced(key, kept, sealed)
        return kept[:-_SEAL] if self._opened(key, kept, len(drawn)) else drawn

    def _sealed(self, key: bytes, value: bytes) -> bytes:
        return value + hashlib.blake2b(key + value, key=self._key, digest_size=_SEAL).digest()

    def _opened(self, key: bytes, kept: bytes, size: int) -> bool:
        return len(kept) == size + _SEAL and kept == self._sealed(key, kept[:-_SEAL])

    def _settled(self, key: bytes, value: bytes) -> bytes:
        """Settle in the storage; in this process alone if that fails."""
        for again in range(3):
            try:
                return self.storage.settle(key, value)
            except ValueError:
                self._begin_anew(again)
            except OSError:
                break
        return self._unsaved.settle(key, value)

    def _replaced(self, key: bytes, old: bytes, new: bytes) -> bytes:
        try:
            return self.storage.replace(key, old, new)
        except (OSError, ValueError):
            return self._unsaved.settle(key, new)

    def _many(self, beginning: bytes) -> int:
        """Return how many keys begin so, those in this process alone included."""
        for again in range(3):
            try:
                return self.storage.many(beginning) + self._unsaved.many(beginning)
            except ValueError:
                self._begin_anew(again)
            except OSError:
                break
        return self._unsaved.many(beginning)

    def _begin_anew(self, again: int) -> None:
        """Give the memo up, the second time that it is unreadable: another process may have been faster."""
        if again != 1:
            return
        self._gone.add(_unique())
        keys = [_GONE + self._person + one for one in self._gone]
        try:
            self.storage.clear()
            for key in keys:
                self.storage.settle(key, b"")
        except (OSError, ValueError):
            self._unsaved.settle(keys[-1], b"")


def _unique() -> bytes:
    """Return a name that no other process takes."""
    return SystemBits().integer(128).to_bytes(16, "little")


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
        self.memo = (Memo() if memo is None else memo).bound(protocol.parameters)

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("A client cannot be copied or pickled: the copies would draw answers apart.")

    @property
    def parameters(self) -> Parameters:
        """The public parameters, for the full form of a report."""
        return self._protocol.parameters

    def report(self, value: object) -> bytes:
        """Return exactly one report, always of the same size, whatever the value is. Never raises."""
        with np.errstate(all="ignore"):  # as `local.Client`
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
            "Several add up, as far as your values would otherwise have changed at the same times. That a "
            "value changed, and when, is not hidden, whatever this sum is.",
        ]
        if self.memo.gone:
            said.append(
                "An earlier memo was unreadable or another's and was given up: what it held adds to that."
            )
        if beside := self.memo.beside:
            said.append(f"Answers to other questions, or with other parameters, add to that: {beside:,}.")
        if self.memo.damaged:
            said.append(
                "Part of the memo was damaged and drawn again: there may be more answers than it knows of."
            )
        if not self.memo.saved:
            said.append(
                "The memo could not always be read or written: answers are forgotten when this process ends."
            )
        return wrapped(" ".join(said)) + "\n"
