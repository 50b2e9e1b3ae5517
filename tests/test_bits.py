"""The only source of randomness: fresh after a fork, safe across threads, never pickled."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from typing import Any, Literal

import numpy as np
import pytest

from deniable import bits as bits_module
from deniable.bits import SeededBits, SystemBits
from deniable.errors import ParameterError


def test_a_seed_means_one_stream_on_every_machine() -> None:
    """The first words for seed 7 are AES-256 of the counter 0 under SHA-256("deniable 7"), little-endian."""
    import hashlib

    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key = hashlib.sha256(b"deniable 7").digest()
    block = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(bytes(16))
    expected = [int.from_bytes(block[i : i + 8], "little") for i in (0, 8)]
    assert SeededBits(7, insecure=True).uint64(2).tolist() == expected
    assert SeededBits(7, insecure=True).integer(64) == expected[0]
    assert SeededBits(7, insecure=True).uint16(2).tolist() == [
        expected[0] & 65535,
        expected[0] >> 16 & 65535,
    ]
    assert SeededBits(8, insecure=True).uint64(2).tolist() != expected


@pytest.mark.parametrize("insecure", [False, 1, None, "True"])
def test_seeded_bits_want_the_word_insecure(insecure: Any) -> None:
    with pytest.raises(ParameterError, match="insecure must be True"):
        SeededBits(7, insecure=insecure)
    with pytest.raises(TypeError):
        SeededBits(7)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        SeededBits(7, True)  # type: ignore[call-arg]


@pytest.mark.parametrize("seed", [-1, 1 << 128, 1.0, "7", True, None])
def test_a_seed_is_a_whole_number(seed: Any) -> None:
    with pytest.raises(ParameterError, match="seed"):
        SeededBits(seed, insecure=True)


@pytest.mark.parametrize("size", [0, 1, 7, 65535, 65536, 65537, 200_001])
def test_every_byte_is_filled(size: int) -> None:
    """A byte that is never written stays 0 in 24 fills with probability 2**-192."""
    seen = np.zeros(size, np.uint8)
    system = SystemBits()
    for _ in range(24):
        buffer = np.zeros(size, np.uint8)
        system.fill(buffer)
        seen |= buffer
    assert seen.all()


def test_words_have_their_width_and_uniform_bits() -> None:
    system = SystemBits()
    n = 1 << 16
    for words, width in ((system.uint16(n), 16), (system.uint32(n), 32), (system.uint64(n), 64)):
        assert words.dtype.itemsize * 8 == width
        for bit in range(width):
            ones = int((words >> words.dtype.type(bit) & words.dtype.type(1)).sum())
            assert abs(ones - n / 2) < 7 * np.sqrt(n) / 2


def test_integers_reach_both_ends_and_never_beyond() -> None:
    system = SystemBits()
    assert system.integer(0) == 0
    assert {system.integer(3) for _ in range(500)} == set(range(8))
    assert max(system.integer(130) for _ in range(200)) >> 123
    for wrong in (-1, True, 2.0):
        with pytest.raises(ParameterError, match="bits"):
            system.integer(wrong)  # type: ignore[arg-type]


def test_scattered_or_locked_arrays_are_refused() -> None:
    locked = np.zeros(8, np.uint8)
    locked.flags.writeable = False
    for source in (SystemBits(), SeededBits(1, insecure=True)):
        for buffer in (np.zeros((8, 8), np.uint8)[:, ::2], locked):
            with pytest.raises(ValueError, match="contiguous"):
                source.fill(buffer)


def test_two_sources_differ() -> None:
    assert SystemBits().integer(128) != SystemBits().integer(128)


def test_the_key_changes_after_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits_module, "_REKEY", 1 << 16)
    drawn: list[int] = []
    entropy = os.urandom

    def counted(n: int) -> bytes:
        drawn.append(n)
        return entropy(n)

    monkeypatch.setattr(os, "urandom", counted)
    source = SystemBits()
    assert drawn == [32, 16]
    source.fill(np.empty(1 << 16, np.uint8))
    assert drawn == [32, 16]
    source.fill(np.empty(1, np.uint8))
    assert drawn == [32, 16, 32, 16]


@pytest.mark.parametrize("source", [SystemBits(), SeededBits(7, insecure=True)])
def test_bits_are_never_pickled_or_copied(source: SystemBits | SeededBits) -> None:
    source.integer(8)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied: two holders"):
            attempt(source)


def _from_child(source: SystemBits, kind: Literal["bits", "ahead"]) -> bytes:
    """Return what a forked child draws from the source that it inherited."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, _draw(source, kind))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        drawn = pipe.read()
    os.waitpid(child, 0)
    return drawn


class Sampler:
    """Something to draw ahead for."""


SAMPLER = Sampler()


def _draw(source: SystemBits, kind: Literal["bits", "ahead"]) -> bytes:
    if kind == "bits":
        return source.integer(128).to_bytes(16, "little")
    return source.ahead(SAMPLER, 4, lambda n: source.uint64(n).view(np.int64)).tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("kind", ["bits", "ahead"])
def test_a_forked_child_draws_other_bits(kind: Literal["bits", "ahead"]) -> None:
    source = SystemBits()
    _draw(source, kind)
    drawn = [_from_child(source, kind), _from_child(source, kind), _draw(source, kind)]
    assert [len(x) for x in drawn] == [len(drawn[0])] * 3
    assert len(set(drawn)) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_is_noticed_even_if_the_process_number_comes_round_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 4242)
    source = SystemBits()
    source.integer(8)
    assert _from_child(source, "bits") != _draw(source, "bits")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_forked_while_the_lock_is_held_does_not_hang() -> None:
    source = SystemBits()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with source._source._lock:
            held.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        source.integer(8)
        os._exit(7)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_threads_never_share_bits() -> None:
    source = SystemBits()
    drawn: list[int] = []

    def work() -> None:
        mine: list[int] = []
        for _ in range(300):
            mine += source.uint64(3).tolist()
            mine += source.ahead(SAMPLER, 5, lambda n: source.uint64(n).view(np.int64)).tolist()
        drawn.extend(x & ((1 << 64) - 1) for x in mine)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == len(set(drawn)) == 6 * 300 * 8


def test_values_drawn_ahead_are_handed_out_once_even_to_a_caller_that_comes_in_between() -> None:
    """A signal handler may run inside `draw`; it must not get the block that the outer call gets."""
    source = SystemBits()
    inner: list[int] = []

    def draw(n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        if not inner:
            inner.extend(source.ahead(SAMPLER, 8, lambda m: source.uint64(m).view(np.int64)).tolist())
        return source.uint64(n).view(np.int64)

    outer = [x for _ in range(9000) for x in source.ahead(SAMPLER, 8, draw).tolist()]
    assert len(set(outer + inner)) == len(outer) + len(inner) == 72008


class Interrupted:
    """A sampler whose look-up is interrupted: at each of its hashes another draw for it comes in between."""

    def __init__(self, source: SystemBits) -> None:
        self.source = source
        self.between: list[int] = []
        self.inside = True

    def __hash__(self) -> int:
        if not self.inside:
            self.inside = True
            self.between += self.source.ahead(self, 1, self.draw).tolist()
            self.inside = False
        return 1

    def draw(self, n: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.source.uint64(n).view(np.int64)


def test_values_drawn_ahead_are_handed_out_once_even_if_the_look_up_is_interrupted() -> None:
    source = SystemBits()
    sampler = Interrupted(source)
    drawn = source.ahead(sampler, 1, sampler.draw).tolist()
    sampler.inside = False
    for _ in range(300):
        drawn += source.ahead(sampler, 1, sampler.draw).tolist()
    drawn += sampler.between
    assert len(sampler.between) >= 300
    assert len(set(drawn)) == len(drawn)


def test_what_was_drawn_ahead_cannot_be_reached_from_a_result() -> None:
    source = SystemBits()
    drawn = source.ahead(SAMPLER, 4, lambda n: np.arange(n, dtype=np.int64))
    assert drawn.base is None
    assert drawn.tolist() == [0, 1, 2, 3]
    drawn[:] = 99
    assert source.ahead(SAMPLER, 2, lambda n: np.zeros(n, np.int64)).tolist() == [4, 5]
