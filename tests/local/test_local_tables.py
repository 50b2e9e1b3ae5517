"""Integer tables: what is proved of them, and that they are drawn as they are written."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

from deniable.bits import SeededBits
from deniable.errors import ParameterError
from deniable.local import Table

ALPHA = 1e-9
ONE = 1 << 32
ROWS = ((ONE // 2, ONE // 4, ONE // 4), (ONE // 4, ONE // 4, ONE // 2), (ONE // 3, ONE - ONE // 3 - 5, 5))


def p_value(draws: NDArray[Any], row: tuple[int, ...], one: int) -> float:
    """Pearson's chi-square against the entries of a row."""
    counts = np.bincount(draws, minlength=len(row))
    assert counts[np.array(row) == 0].sum() == 0
    kept = [place for place, entry in enumerate(row) if entry]
    expected = np.array([len(draws) * row[place] / one for place in kept])
    return float(chi2.sf(((counts[kept] - expected) ** 2 / expected).sum(), len(kept) - 1))


def test_the_ratio_is_that_of_the_worst_column() -> None:
    assert Table(ROWS[:2]).ratio() == 2
    assert Table(ROWS).ratio() == Fraction(ONE // 2, 5)
    Table(ROWS[:2]).check(Fraction("0.6931471805599453095"))
    with pytest.raises(ParameterError, match="do not keep epsilon"):
        Table(ROWS[:2]).check(Fraction("0.6931471805599453094"))


def test_an_output_that_only_some_rows_have_is_refused_and_one_that_none_has_is_not() -> None:
    half = ONE // 2
    with pytest.raises(ParameterError, match="for certain"):
        Table([[half, half, 0], [half, half - 1, 1]]).ratio()
    assert Table([[half, half, 0], [half, half, 0]]).ratio() == 1


@pytest.mark.parametrize(
    "entries", [[], [[]], [[ONE], [ONE - 1, 1]], [[ONE - 1]], [[ONE + 1, -1]], [[ONE // 2] * 3]]
)
def test_what_is_no_law_is_refused(entries: list[list[int]]) -> None:
    with pytest.raises(ParameterError):
        Table(entries)


def test_a_table_has_one_digest_and_others_another() -> None:
    changed = [list(row) for row in ROWS]
    changed[1][0], changed[1][1] = changed[1][0] + 1, changed[1][1] - 1
    digests = {Table(ROWS).digest, Table(ROWS[:2]).digest, Table(changed).digest}
    assert len(digests) == 3
    assert Table(np.array(ROWS)).digest == Table(ROWS).digest


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40).filter(any), st.sampled_from([32, 64]))
@settings(deadline=None, max_examples=50)
def test_all_words_of_the_alias_tables_add_up_to_the_entries(weights: list[int], bits: Any) -> None:
    one, total = 1 << bits, sum(weights)
    row = [one * weight // total for weight in weights]
    row[int(np.argmax(weights))] += one - sum(row)
    kept, alias, shift = Table([row], bits=bits)._drawn
    words = [0] * len(kept)
    for place in range(len(kept)):
        words[place] += int(kept[place])
        words[int(alias[place])] += (1 << shift) - int(kept[place])
    assert words[: len(row)] == row
    assert not any(words[len(row) :])


@pytest.mark.parametrize("bits", [32, 64])
def test_each_row_is_drawn_as_it_is_written_and_not_otherwise(bits: Any) -> None:
    rows = [tuple(entry << (bits - 32) for entry in row) for row in ROWS]
    table, n = Table(rows, bits=bits), 200_000
    asked = np.arange(n) % 3
    draws = table.sample(asked, SeededBits(3, insecure=True))
    for place, row in enumerate(rows):
        assert p_value(draws[asked == place], row, 1 << bits) > ALPHA
    wrong = (rows[0][0] - rows[0][0] // 20, rows[0][1] + rows[0][0] // 20, rows[0][2])
    assert p_value(draws[asked == 0], wrong, 1 << bits) < ALPHA


def test_a_table_with_one_output_and_no_draws_work() -> None:
    table = Table([[ONE]])
    assert table.sample(np.zeros(5, np.int64), SeededBits(3, insecure=True)).tolist() == [0] * 5
    assert len(Table(ROWS).sample(np.zeros(0, np.int64), SeededBits(3, insecure=True))) == 0


def test_a_table_that_would_be_drawn_wrongly_is_refused_even_without_asserts() -> None:
    """`python -O` drops asserts: there too, aliases that give a column one word too many draw nothing."""
    program = """
import deniable.local.tables as tables
from deniable.bits import SystemBits
from deniable.errors import NoiseError
right = tables._aliases
def wrong(row, k, bucket):
    kept, alias = right(row, k, bucket)
    place = next(at for at, other in enumerate(alias) if other != at)
    return [*kept[:place], kept[place] + 1, *kept[place + 1 :]], alias
tables._aliases = wrong
table = tables.Table([[1 << 31, 1 << 30, 1 << 30], [1 << 30, 1 << 30, 1 << 31]])
try:
    table.sample([0, 1], SystemBits())
except NoiseError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-O", "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "refused\n", done.stderr
