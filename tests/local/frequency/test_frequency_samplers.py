"""Reports follow the stated law, at the device and in arrays; a law that is a little off is noticed."""

from __future__ import annotations

import os
from collections.abc import Hashable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from frequency_oracles import ALPHA, EVERY, made, p_value
from numpy.typing import NDArray

from deniable.bits import SeededBits
from deniable.local import Reports
from deniable.local.frequency import Frequency
from deniable.local.frequency.odds import uniform
from deniable.local.frequency.projective import projective
from deniable.local.frequency.randomizer import variances
from deniable.local.frequency.subset import Affine, Listed, subset
from deniable.local.frequency.unary import biased

DRAWS = 100_000


@pytest.mark.parametrize("mechanism", EVERY)
@pytest.mark.parametrize("item", [0, 3, 6])
def test_arrays_follow_the_law_and_not_a_nearby_one(mechanism: str, item: int) -> None:
    one, other = made(mechanism, 7, 1), made(mechanism, 7, "1.2")
    payload = one.randomize(np.full(DRAWS, item), SeededBits(item + 7, insecure=True))
    assert p_value(payload, one.law(item)) > ALPHA
    assert p_value(payload, other.law(item)) < ALPHA
    assert p_value(payload, one.law((item + 1) % 7)) < ALPHA


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(4)])
@pytest.mark.parametrize("make", [subset, projective])
def test_large_families_follow_their_law(make: Any, epsilon: Fraction) -> None:
    one = make(20, epsilon)
    payload = one.randomize(np.full(4 * DRAWS, 19), SeededBits(5, insecure=True))
    assert p_value(payload, one.law(19)) > ALPHA
    assert p_value(payload, one.law(18)) < ALPHA


def test_both_families_of_sets_are_drawn_by_their_law() -> None:
    assert isinstance(subset(10, Fraction(1)), Listed)
    affine = subset(16, Fraction(1))
    assert isinstance(affine, Affine)
    payload = affine.randomize(np.full(DRAWS, 9), SeededBits(6, insecure=True))
    assert p_value(payload, affine.law(9)) > ALPHA


@pytest.mark.parametrize("mechanism", EVERY)
def test_a_device_follows_the_law_of_arrays(mechanism: Any) -> None:
    protocol = Frequency(epsilon=2, domain=range(4), mechanism=mechanism)
    client = protocol.client(SeededBits(3, insecure=True))
    sent = b"".join(client.report(2) for _ in range(3000))
    payload = Reports.from_bytes(sent, protocol.parameters, *protocol.form).payload
    assert p_value(payload, protocol.probabilities(2)) > ALPHA
    assert p_value(payload, protocol.probabilities(1)) < ALPHA


@pytest.mark.parametrize("mechanism", EVERY)
@pytest.mark.parametrize(("items", "epsilon"), [(100, 1), (1000, 4), (1000, 9)])
def test_shares_among_many_items_come_out_as_far_off_as_stated(
    mechanism: str, items: int, epsilon: int
) -> None:
    """z-scores of all items: their squares have mean 1, and as they are nearly independent a known spread."""
    one = made(mechanism, items, epsilon)
    n = 20_000
    own = np.minimum(np.arange(n) // 3 % (2 * items), items - 1)
    totals = one.tally(one.randomize(own, SeededBits(items, insecure=True)))
    shares = np.bincount(own, minlength=items) / n
    found = (one.supported(totals) / n - float(one.false)) / float(one.true - one.false)
    absent, present = map(float, variances(one))
    z = (found - shares) / np.sqrt(((1 - shares) * absent + shares * present) / n)
    assert abs(z.mean()) < 0.6
    assert 0.5 < (z**2).mean() < 1.6


class Counting:
    """Bits whose words are 0, 1, 2, ..."""

    def __init__(self) -> None:
        self.next = 0

    def uint32(self, n: int) -> NDArray[np.uint32]:
        words = self.next + np.arange(n, dtype=np.uint32)
        self.next += n
        return words


@pytest.mark.parametrize("bound", [2, 3, 7, 101, 211, 256])
def test_uniform_numbers_are_uniform(bound: int) -> None:
    drawn = uniform(200_000, bound, SeededBits(bound, insecure=True))
    even: dict[Hashable, Fraction] = dict.fromkeys(range(bound), Fraction(1, bound))
    assert p_value(drawn, even) > ALPHA
    skewed = {**even, 0: Fraction(3, 2 * bound), 1: Fraction(1, 2 * bound)}
    assert p_value(drawn, skewed) < ALPHA


def test_one_number_to_choose_from_is_always_chosen() -> None:
    assert set(uniform(1000, 1, SeededBits(1, insecure=True)).tolist()) == {0}


def test_words_that_would_favour_a_result_are_drawn_again() -> None:
    """With bound 3 * 2**30 words 0 and 1 both give 0, 4 and 5 both 3, ...: the first is drawn again."""
    drawn = uniform(65536, 3 << 30, Counting())  # type: ignore[arg-type]
    assert len(np.unique(drawn)) == 65536


@pytest.mark.parametrize("threshold", [1 << 63, 1, (1 << 64) - 1, 3 << 61, 0x4000_0000_0000_0001, 1 << 50])
def test_biased_bits_compare_random_numbers_with_the_threshold_digit_by_digit(threshold: int) -> None:
    """Rates, and for a rare bit (2**-14) the number of ones among 8 million, 512 on average."""
    drawn = biased(1_000_003, threshold, SeededBits(threshold & 0xFFFF, insecure=True))
    assert len(drawn) == 1_000_003
    rate = np.bitwise_count(drawn).sum() / (8 * len(drawn))
    p = threshold / 2**64
    assert rate == pytest.approx(p, abs=6.5 * (p * (1 - p) / 8e6) ** 0.5 + 1e-9)


class Script:
    """Bits in which every word is the next of a few."""

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def uint64(self, n: int) -> NDArray[np.uint64]:
        return np.full(n, self.words.pop(0), np.uint64)


@pytest.mark.parametrize("number", [0, 5, 0x1234_5678_9ABC_DEF0, (1 << 64) - 2])
@pytest.mark.parametrize("gap", [-1, 0, 1])
def test_all_sixty_four_digits_of_a_threshold_count(number: int, gap: int) -> None:
    """All 64 bits of a word draw the same number: exactly the bits below the threshold are 1."""
    threshold = number + gap
    if 0 < threshold < 1 << 64:
        digits = [(1 << 64) - 1 if number >> place & 1 else 0 for place in range(63, -1, -1)]
        drawn = biased(8, threshold, Script(*digits))  # type: ignore[arg-type]
        assert set(drawn.tolist()) == {255 if number < threshold else 0}


def test_two_devices_in_one_process_are_independent() -> None:
    protocol = Frequency(epsilon=0.1, domain=range(50))
    first, second = protocol.client(), protocol.client()
    assert [first.report(1) for _ in range(40)] != [second.report(1) for _ in range(40)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_device_is_independent_of_its_parent() -> None:
    client = Frequency(epsilon=0.1, domain=range(1000)).client()
    client.report(1)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"".join(client.report(1) for _ in range(40)))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    ours = b"".join(client.report(1) for _ in range(40))
    assert len(theirs) == len(ours)
    assert theirs != ours
