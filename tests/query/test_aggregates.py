"""Arguments of aggregates, and the grids on which columns are summed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import ParameterError
from deniable.query import aggregates
from deniable.query.grids import UNSTATED_POPULATION, total
from deniable.query.measures import Count, Total, Units

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    "bounds",
    [
        None,
        (0, NAN),
        (INF, INF),
        (-INF, 3),
        (3, 3),
        (5, 1),
        (0,),
        (0, 1, 2),
        "01",
        7,
        (0, None),
        (True, 2),
        (0, "x"),
    ],
)
def test_bounds_that_are_not_two_rising_numbers_are_refused(bounds: object) -> None:
    for make in (aggregates.sum, aggregates.mean):
        with pytest.raises(ParameterError, match="bounds"):
            make("spend", bounds=bounds, max_rows=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", [0, -1, True, 2.0, "2", 1 << 31])
def test_max_rows_must_be_a_whole_number_above_zero(rows: object) -> None:
    with pytest.raises(ParameterError, match="max_rows"):
        aggregates.count(max_rows=rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("column", [None, "", 7, ("a",)])
def test_a_sum_needs_the_name_of_a_column(column: object) -> None:
    with pytest.raises(ParameterError, match="column"):
        aggregates.sum(column, bounds=(0, 1))  # type: ignore[arg-type]


def test_each_aggregate_is_answered_from_its_own_integers() -> None:
    def measured(aggregate: aggregates.Aggregate) -> tuple[object, ...]:
        return aggregate.measures(whole_numbers=True, one=1, population=1000)

    assert measured(aggregates.units()) == (Units(),)
    assert measured(aggregates.count(max_rows=2)) == (Count(None, 2),)
    added = measured(aggregates.sum("x", bounds=(-3, 7), max_rows=2))
    assert added == (Total("x", 2, Fraction(1), 0, -3, 7),)
    middle, number = measured(aggregates.mean("x", bounds=(0, 3), max_rows=2))
    assert number == Count("x", 2)
    assert isinstance(middle, Total)
    assert middle.grid * middle.centre == Fraction(3, 2)
    assert (middle.low * middle.grid, middle.high * middle.grid) == (Fraction(-3, 2), Fraction(3, 2))


exact_numbers = st.fractions(min_value=-(10**6), max_value=10**6).flatmap(
    lambda number: st.integers(-60, 60).map(lambda power: number * Fraction(2) ** power)
)


@given(
    ends=st.tuples(exact_numbers, exact_numbers).filter(lambda ends: ends[0] < ends[1]),
    rows=st.sampled_from([None, 1, 2, 3]),
    one=st.sampled_from([1, 1 << 20]),
    population=st.sampled_from([None, 1, 20_000, 10**6]),
    whole_numbers=st.booleans(),
    centred=st.booleans(),
)
def test_the_grid_fits_and_is_the_finest_that_does(
    ends: tuple[Fraction, Fraction],
    rows: int | None,
    one: int,
    population: int | None,
    whole_numbers: bool,
    centred: bool,
) -> None:
    try:
        made = total(
            "x",
            ends,
            centred=centred,
            whole_numbers=whole_numbers,
            max_rows=rows,
            one=one,
            population=population,
        )
    except ParameterError:
        assert centred
        assert ends[1] - ends[0] < max(abs(end) for end in ends) / 2**49
        return
    steps = max(abs(made.low), abs(made.high))
    r, people = rows or 1, population or UNSTATED_POPULATION
    assert 1 <= steps <= 2**24
    assert one * r * steps * people <= 2**61
    reach = (ends[1] - ends[0]) / 2 if centred else max(abs(end) for end in ends)
    assert steps * made.grid <= reach + made.grid, "never more noise than the reals need, and one step"
    if made.grid == 1 and whole_numbers and not centred:
        return
    fits = min(2**24, 2**61 // (one * r * people))
    finer = made.grid / 2
    too_many = math.ceil(reach / finer) + 1 > fits
    assert too_many or finer * 2**51 < max(abs(end) for end in ends)


@pytest.mark.parametrize("ends", [(0, 1), (0, 3), (-7, 5), (0, 2**20)])
def test_integers_are_summed_as_they_are(ends: tuple[int, int]) -> None:
    low, high = (Fraction(end) for end in ends)
    made = total("x", (low, high), centred=False, whole_numbers=True, max_rows=1, one=1, population=None)
    assert made.grid == 1
    assert made.centre == 0
    assert (made.low, made.high) == ends


def test_bounds_are_rounded_inward_so_that_no_value_counts_more() -> None:
    made = total(
        "x",
        (Fraction(-1, 10), Fraction(1, 10)),
        centred=False,
        whole_numbers=False,
        max_rows=1,
        one=1,
        population=1,
    )
    assert made.grid == Fraction(1, 2**27)
    assert made.high == 13_421_772  # 0.1 * 2**27 = 13421772.8
    assert made.low == -13_421_772


def test_two_sums_of_two_to_the_62_stay_below_saturation() -> None:
    made = total(
        "x",
        (Fraction(0), Fraction(2**62)),
        centred=False,
        whole_numbers=True,
        max_rows=2,
        one=1 << 20,
        population=None,
    )
    assert made.high * made.grid == 2**62
    assert 2 * made.high * (1 << 20) < 2**62


def test_too_many_rows_for_an_unstated_population_are_refused_with_the_way_out() -> None:
    def made(population: int | None) -> Total:
        ends = Fraction(0), Fraction(1)
        return total(
            "x",
            ends,
            centred=False,
            whole_numbers=False,
            max_rows=1000,
            one=1 << 20,
            population=population,
        )

    with pytest.raises(ParameterError, match="State the population"):
        made(None)
    assert made(1_000_000).high >= 2**8
