"""Random bits: the one place where this package draws entropy.

Everything random takes `bits` as an argument. Two kinds exist:

| kind                          | for            | where the bits come from                              |
|-------------------------------|----------------|-------------------------------------------------------|
| SystemBits()                  | every release  | AES-256 in counter mode, keyed by the operating system|
| SeededBits(7, insecure=True)  | tests, examples| the same cipher, keyed by the seed: anybody can repeat|

What `SystemBits` promises, and why.

1. The key and the nonce are 48 bytes of `os.urandom`, drawn anew after every `_REKEY` = 2**26 bytes
   (`_Source.fill`). Blocks of a block cipher never repeat, and uniform blocks would: over 2**22 blocks that
   tells the two apart with advantage at most 2**-85 (birthday bound 2**44 / 2**129).
2. A forked child never continues its parent's stream. `_process` is the pair (process id, forks counted by
   the interpreter's own hook); every call compares it with the one at which the source was made
   (`SystemBits._current`) and makes a new source, with a new lock, key and empty pools, if it changed. The
   id alone could come round again, the hook alone misses a fork made by C code.
3. Values drawn ahead (`SystemBits.ahead`) live in the source: they go with it at a fork. A block is taken
   out of the pool before it is read, so no other thread or signal handler can hand out the same value.
4. Nothing here can be pickled or copied (`__reduce__`): two holders would draw the same noise.
5. `fill` holds the source's lock; two threads never share a stretch of the stream.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from threading import RLock
from typing import Any, Literal, NoReturn, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable.exact import whole

_REKEY = 1 << 26
_PIECE = 1 << 16
_AHEAD = 1 << 16


class Bits(Protocol):
    """Uniform, independent random bits. Lengths are counts of words, at least 0."""

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite every byte of a contiguous array."""
        ...

    def uint16(self, n: int) -> NDArray[np.uint16]:
        """Return n words of 16 bits."""
        ...

    def uint32(self, n: int) -> NDArray[np.uint32]:
        """Return n words of 32 bits."""
        ...

    def uint64(self, n: int) -> NDArray[np.uint64]:
        """Return n words of 64 bits."""
        ...

    def integer(self, bits: int) -> int:
        """Return an integer, uniform from 0 to 2**bits - 1."""
        ...


class _Words:
    """The words of `Bits`, read from `fill` as little-endian numbers (so that a seed means one stream)."""

    def fill(self, buffer: NDArray[Any]) -> None:
        raise NotImplementedError

    def uint16(self, n: int) -> NDArray[np.uint16]:
        words = np.empty(n, "<u2")
        self.fill(words)
        return words.astype(np.uint16, copy=False)

    def uint32(self, n: int) -> NDArray[np.uint32]:
        words = np.empty(n, "<u4")
        self.fill(words)
        return words.astype(np.uint32, copy=False)

    def uint64(self, n: int) -> NDArray[np.uint64]:
        words = np.empty(n, "<u8")
        self.fill(words)
        return words.astype(np.uint64, copy=False)

    def integer(self, bits: int) -> int:
        size = (whole(bits, "bits", at_least=0, at_most=1 << 20) + 7) // 8
        octets = np.empty(size, np.uint8)
        self.fill(octets)
        return int.from_bytes(octets.tobytes(), "little") >> (8 * size - bits)

    def __reduce__(self) -> NoReturn:
        name = type(self).__name__
        raise TypeError(
            f"{name} cannot be pickled or copied: two holders would draw the same noise. "
            f"Make one {name} in each process."
        )


class SystemBits(_Words):
    """Bits for real releases: unpredictable, safe across threads and forks, never pickled.

    Guarantee: steps 1 to 5 at the top of this module.
    """

    def __init__(self) -> None:
        self._source = _Source(_process())

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite every byte of a contiguous array with fresh bits."""
        self._current().fill(_octets(buffer))

    def ahead(self, sampler: object, n: int, draw: Callable[[int], NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return n values of `draw`, from a block of 2**16 that was drawn ahead for `sampler`.

        So the time of one small request says nothing about its value, and small requests are fast. Each
        value is handed out once (step 3). n is at most 2**16; `draw` must take its bits from here.
        """
        pools = self._current().pools
        block = pools.pop(sampler, None)
        if block is None or len(block) < n:
            block = draw(_AHEAD)
        pools[sampler] = block[n:]
        return block[:n].copy()

    def _current(self) -> _Source:
        process = _process()
        if self._source.process != process:
            self._source = _Source(process)
        return self._source


class SeededBits(_Words):
    """Bits that anybody who knows the seed can repeat: for tests and examples, never for a release.

    Args:    seed: whole number from 0 to 2**128 - 1. insecure: must be True, as a reminder.
    Raises:  ParameterError: another seed, or insecure is not True.
    """

    def __init__(self, seed: int, *, insecure: Literal[True]) -> None:
        _admit(insecure)
        number = whole(seed, "seed", at_least=0, at_most=(1 << 128) - 1)
        self._lock = RLock()
        self._stream = _keystream(hashlib.sha256(b"deniable %d" % number).digest(), bytes(16))
        self._zeros = bytes(_PIECE)

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite every byte of a contiguous array with the next bits of the seed's stream."""
        octets = _octets(buffer)
        with self._lock:
            for start in range(0, len(octets), _PIECE):
                piece = octets[start : start + _PIECE]
                self._stream.update_into(self._zeros[: len(piece)], piece)


class _Source:
    """One process's stream: cipher, lock and what was drawn ahead from it."""

    def __init__(self, process: tuple[int, int]) -> None:
        self.process = process
        self.pools: WeakKeyDictionary[object, NDArray[np.int64]] = WeakKeyDictionary()
        self._lock = RLock()
        self._zeros = bytes(_PIECE)
        self._left = _REKEY
        self._stream = _keystream(os.urandom(32), os.urandom(16))

    def fill(self, octets: memoryview) -> None:
        with self._lock:
            for start in range(0, len(octets), _PIECE):
                piece = octets[start : start + _PIECE]
                if self._left < len(piece):
                    self._stream = _keystream(os.urandom(32), os.urandom(16))
                    self._left = _REKEY
                self._left -= len(piece)
                self._stream.update_into(self._zeros[: len(piece)], piece)


def _admit(insecure: object) -> None:
    if insecure is not True:
        fix = "Write insecure=True for a test, or use SystemBits() for a release."
        raise ParameterError("insecure", insecure, "must be True: seeded bits hide nothing", fix)


def _keystream(key: bytes, nonce: bytes) -> CipherContext:
    return Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()


def _octets(buffer: NDArray[Any]) -> memoryview:
    """View an array as its bytes; refuse one whose bytes are scattered (a copy would be filled instead)."""
    if not (buffer.flags.c_contiguous and buffer.flags.writeable):
        raise ValueError("bits fill only contiguous, writeable arrays")
    return buffer.reshape(-1).view(np.uint8).data


def _process() -> tuple[int, int]:
    return os.getpid(), _forks()[0]


@cache
def _forks() -> list[int]:
    """Return the running count of forks between the first call and this process (kept by the hook)."""
    count = [0]

    def forked() -> None:
        count[0] += 1

    os.register_at_fork(after_in_child=forked)
    return count
