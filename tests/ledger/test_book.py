"""The budget: what fits, what does not, and what is said; on SQLite and on Postgres."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from deniable.errors import BudgetError, LedgerError, ParameterError
from deniable.events import (
    ApproxDP,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    PureDP,
    Repeated,
    Selection,
    Subsampled,
    ZeroConcentratedDP,
)
from deniable.ledger import Ledger, Reservation

Place = Callable[[str], str]


def pure(epsilon: str | float | Fraction) -> list[PureDP]:
    return [PureDP(epsilon=epsilon)]


def test_ten_spends_of_a_tenth_fit_and_the_smallest_number_after_them_does_not(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    for _ in range(10):
        ledger.reserve(pure(0.1))
    assert ledger.remaining.epsilon == 0
    with pytest.raises(BudgetError, match="epsilon 0 is left"):
        ledger.reserve(pure("5e-324"))
    assert ledger.spent.epsilon == 1


@pytest.mark.parametrize("shares", [["0.7", "0.2", "0.1"], ["1/3"] * 3, ["ln 2", "0.3"]], ids=str)
def test_shares_that_add_up_to_the_budget_fit(tmp_path: Path, shares: list[str]) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, unit="person")
    for share in shares:
        ledger.reserve(pure(share))
    left = 1 - sum((PureDP(epsilon=share).epsilon for share in shares), Fraction(0))
    assert ledger.remaining.epsilon == left
    with pytest.raises(BudgetError):
        ledger.reserve(pure(left + Fraction(1, 10**400)))


def test_a_release_that_asks_for_the_whole_budget_fits(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, delta="1e-8", unit="person")
    events: list[Event] = [Laplace(scale=1), Selection(delta="1e-8")]
    reservation = ledger.reserve(events, epsilon=1, delta="1e-8", purpose="weekly report", source="a.csv")
    assert ledger.remaining.epsilon == ledger.remaining.delta == 0
    assert (reservation.charge.epsilon, reservation.charge.delta) == (Fraction(1), Fraction(1, 10**8))
    assert str(reservation.remaining) == "epsilon 0"


def test_what_delta_is_short_of_is_said(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, delta="1e-6", unit="person")
    with pytest.raises(BudgetError, match="At most epsilon 1 with delta 1e-6 fits. Lower delta") as raised:
        ledger.reserve([ApproxDP(epsilon=0.5, delta="1e-3")])
    assert (raised.value.short, raised.value.asked, raised.value.left) == ("delta", "0.001", "1e-6")
    with pytest.raises(BudgetError, match=r"costs epsilon 2 and delta 0.1; epsilon 1 and delta 1e-6 is left"):
        ledger.reserve([ApproxDP(epsilon=2, delta="0.1")])
    assert len(ledger.entries()) == 1


def test_what_is_left_is_never_rounded_up(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, unit="person")
    ledger.reserve(pure(Fraction(10**30, 3 * 10**30 + 1)))
    with pytest.raises(BudgetError) as raised:
        ledger.reserve(pure(1))
    assert Fraction(raised.value.left) <= ledger.remaining.epsilon
    ledger.reserve(pure(raised.value.left))


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), True, None, "abc"], ids=str)
def test_a_budget_that_is_no_budget_is_refused(tmp_path: Path, epsilon: float) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        Ledger.create(tmp_path / "a", epsilon=epsilon, unit="person")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("delta", 1),
        ("delta", -0.1),
        ("unit", ""),
        ("unit", 3),
        ("rule", "renyi"),
        ("neighbours", "replace"),
        ("data", ""),
    ],
)
def test_wrong_terms_are_refused_by_name(tmp_path: Path, argument: str, value: object) -> None:
    terms: dict[str, object] = {"epsilon": 1, "unit": "person", argument: value}
    with pytest.raises(ParameterError, match=argument):
        Ledger.create(tmp_path / "a", **terms)  # type: ignore[arg-type]
    assert not (tmp_path / "a").exists()


def test_a_price_below_what_the_events_cost_is_refused(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=10, delta="1e-6", unit="person")
    with pytest.raises(ParameterError, match="not proved"):
        ledger.reserve([Laplace(scale=1)], epsilon="0.999")
    with pytest.raises(ParameterError, match="not proved"):
        ledger.reserve([Gaussian(sigma=1)], epsilon=1)
    with pytest.raises(ParameterError, match="epsilon must be given"):
        ledger.reserve([Laplace(scale=1)], delta="1e-7")
    assert ledger.spent.epsilon == 0


def test_a_price_may_be_left_out_where_the_events_name_it(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=10, delta="1e-5", unit="person")
    ledger.reserve([PureDP(epsilon=1), Repeated(ApproxDP(epsilon="0.5", delta="1e-6"), 2)])
    assert (ledger.spent.epsilon, ledger.spent.delta) == (Fraction(2), Fraction(2, 10**6))
    with pytest.raises(ParameterError, match="Say what it costs"):
        ledger.reserve([Gaussian(sigma=100)])


def test_replace_one_doubles_what_add_or_remove_costs(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=10, delta="1e-5", unit="person", neighbours="replace one")
    ledger.reserve([PureDP(epsilon=1)])
    assert ledger.spent.epsilon == 2
    with pytest.raises(ParameterError, match="not proved"):
        ledger.reserve([Laplace(scale=1)], epsilon="1.9")
    ledger.reserve([Laplace(scale=1)], epsilon=2)
    ledger.reserve([Selection(delta="1e-6")], epsilon=0, delta="2e-6")
    with pytest.raises(ParameterError, match="not proved"):
        ledger.reserve([Selection(delta="1e-6")], epsilon=0, delta="1.9e-6")


@pytest.mark.parametrize(
    "event",
    [
        PureDP(epsilon=0),
        Repeated(PureDP(epsilon=1), 0),
        Subsampled(PureDP(epsilon=1), 0),
        Gaussian(sigma=1, sensitivity=0),
    ],
    ids=lambda event: type(event).__name__,
)
@pytest.mark.parametrize("rule", ["basic", "concentrated", "gaussian"])
def test_what_costs_nothing_is_charged_nothing(tmp_path: Path, event: PureDP, rule: str) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, delta="1e-6", unit="person", rule=rule)
    reservation = ledger.reserve([event])
    assert reservation.charge.amount == reservation.charge.delta == ledger.spent.amount == 0


def test_no_event_is_admitted_by_another_rules_sum(tmp_path: Path) -> None:
    """A release of (1, 1e-8) fits a basic ledger of (1, 1e-8), and no other."""
    for rule in ("concentrated", "gaussian"):
        ledger = Ledger.create(tmp_path / rule, epsilon=1, delta="1e-8", unit="person", rule=rule)
        with pytest.raises(BudgetError if rule == "concentrated" else ParameterError):
            ledger.reserve([ApproxDP(epsilon=1, delta="1e-8")], epsilon=1, delta="1e-8")
        assert ledger.spent.amount == 0


def test_seven_equal_shares_of_rho_fit_exactly(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, delta="1e-6", unit="person", rule="concentrated")
    share = ledger.remaining.rho / 7
    for _ in range(7):
        ledger.reserve([ZeroConcentratedDP(rho=share)])
    assert ledger.remaining.rho == 0
    with pytest.raises(BudgetError) as raised:
        ledger.reserve([ZeroConcentratedDP(rho="1e-30")])
    assert raised.value.short == "rho"


def test_gaussian_noise_and_its_threshold_share_a_gaussian_ledger(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, delta="1e-6", unit="person", rule="gaussian")
    ledger.reserve([Gaussian(sigma=10), Selection(delta="1e-7", rule="sips")])
    assert ledger.spent.mu_squared == Fraction(1, 100)
    assert ledger.spent.delta == Fraction(1, 10**7)
    ledger.reserve([DiscreteGaussian(sigma=2**16, sensitivity=2**12, coordinates=1000)])
    assert (
        Fraction(1, 100) + Fraction(1, 256)
        < ledger.spent.mu_squared
        < Fraction(1, 100) + Fraction(101, 25600)
    )
    assert 0 < ledger.spent.delta - Fraction(1, 10**7) < Fraction(1, 10**18)
    for event in (Laplace(scale=100), ZeroConcentratedDP(rho="1e-4"), DiscreteGaussian(sigma=1)):
        with pytest.raises(ParameterError, match="gaussian rule"):
            ledger.reserve([event])


def test_amounts_are_named_by_their_rule(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, delta="1e-6", unit="person", rule="concentrated")
    with pytest.raises(AttributeError, match="counts rho, not epsilon"):
        _ = ledger.remaining.epsilon


def test_an_abandoned_reservation_stays_spent_and_is_settled_once(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    first, second = ledger.reserve(pure(0.25)), ledger.reserve(pure(0.25))
    ledger.abandon(first)
    ledger.commit(second)
    assert ledger.spent.epsilon == Fraction(1, 2)
    for settle in (ledger.commit, ledger.abandon):
        with pytest.raises(LedgerError, match="has its abandon already"):
            settle(first)
    assert [entry.kind for entry in ledger.entries()] == ["create", "reserve", "reserve", "abandon", "commit"]
    assert ledger.verify(heads=[first.head, second.head]) == 5


def test_a_reservation_of_another_ledger_is_refused(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    other = Ledger.create(place("b"), epsilon=1, unit="person")
    ledger.reserve(pure("0.1"))
    with pytest.raises(LedgerError, match="another ledger"):
        ledger.commit(other.reserve(pure("0.2")))


def test_another_unit_data_set_or_neighbour_relation_is_refused(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    ledger.bind(data=None, unit="Person", neighbours="add or remove")
    assert ledger.entries()[0].data is None
    ledger.bind(data="colours.csv", unit="person", neighbours="add or remove")
    ledger.bind(data="colours.csv", unit="person", neighbours="add or remove")
    assert (ledger.data, len(ledger.entries())) == ("colours.csv", 2)
    for data, unit, neighbours in [
        ("visits.csv", "person", "add or remove"),
        ("colours.csv", "household", "add or remove"),
        ("colours.csv", "person", "replace one"),
    ]:
        with pytest.raises(LedgerError, match="belongs to the data|counts for"):
            ledger.bind(data=data, unit=unit, neighbours=neighbours)
    assert Ledger.open(place("a")).data == "colours.csv"
    assert ledger.verify() == 2


def test_a_check_binds_nothing_and_a_reservation_binds_once(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    ledger.check(data="wrong.csv", unit="person", neighbours="add or remove")
    with pytest.raises(BudgetError):
        ledger.reserve(pure(2), data="wrong.csv")
    assert (ledger.data, ledger.verify()) == (None, 1)
    first = ledger.reserve(pure("0.1"), data="right.csv")
    assert ledger.data == "right.csv"
    ledger.commit(first)
    ledger.reserve(pure("0.1"), data="right.csv")
    assert [entry.kind for entry in ledger.entries()] == ["create", "bind", "reserve", "commit", "reserve"]
    assert ledger.verify(heads=[first.head]) == 5
    for refused in (
        lambda: ledger.reserve(pure("0.1"), data="wrong.csv"),
        lambda: ledger.check(data="wrong.csv", unit="person", neighbours="add or remove"),
    ):
        with pytest.raises(LedgerError, match=r"belongs to the data 'right.csv', not 'wrong.csv'.*name="):
            refused()
    assert ledger.verify() == 5


def test_a_commit_keeps_the_hash_of_what_was_published(place: Place) -> None:
    ledger = Ledger.create(place("a"), epsilon=1, unit="person")
    ledger.commit(ledger.reserve(pure("0.1")), published="ab" * 32)
    ledger.commit(ledger.reserve(pure("0.1")))
    assert [entry.published for entry in Ledger.open(place("a")).entries()] == [
        None,
        None,
        "ab" * 32,
        None,
        None,
    ]
    assert json.loads(ledger.entries()[4].body).keys() & {"published"} == set()
    assert ledger.verify() == 5
    reservation = ledger.reserve(pure("0.1"))
    for wrong in ("", "ab", "AB" * 32, 7):
        with pytest.raises(ParameterError, match="published"):
            ledger.commit(reservation, published=wrong)  # type: ignore[arg-type]
    ledger.commit(reservation)


def test_a_row_can_be_the_unit(tmp_path: Path) -> None:
    import deniable as dn

    ledger = dn.Ledger.create(tmp_path / "a", epsilon=1, unit=dn.ROW)
    ledger.bind(data="a.csv", unit=dn.ROW, neighbours="add or remove")
    with pytest.raises(LedgerError, match="the unit 'row', not for 'person'"):
        ledger.bind(data="a.csv", unit="person", neighbours="add or remove")


def test_the_data_set_can_be_named_at_creation(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, unit="person", data="colours.csv")
    with pytest.raises(LedgerError, match="belongs to the data 'colours.csv'"):
        ledger.bind(data="visits.csv", unit="person", neighbours="add or remove")


def test_an_opened_ledger_is_the_one_that_was_made(place: Place) -> None:
    made = Ledger.create(
        place("a"), epsilon="1/3", delta="1e-9", unit="person", rule="gaussian", neighbours="replace one"
    )
    made.reserve([Gaussian(sigma=50, sensitivity="0.5")], purpose="a \N{GREEK SMALL LETTER EPSILON} report\n")
    opened = Ledger.open(place("a"))
    assert (opened.epsilon, opened.delta, opened.unit) == (Fraction(1, 3), Fraction(1, 10**9), "person")
    assert (opened.rule, opened.neighbours, opened.limit) == (made.rule, made.neighbours, made.limit)
    assert (opened.head, opened.spent, opened.entries()) == (made.head, made.spent, made.entries())
    assert opened.events() == (Gaussian(sigma=50, sensitivity="0.5"),)
    assert opened.entries()[1].purpose == "a \N{GREEK SMALL LETTER EPSILON} report\n"


def test_a_ledger_is_never_overwritten(place: Place) -> None:
    Ledger.create(place("a"), epsilon=1, unit="person").reserve(pure(1))
    with pytest.raises(LedgerError, match="already"):
        Ledger.create(place("a"), epsilon=1, unit="person")
    assert Ledger.open(place("a")).remaining.epsilon == 0


def test_reserving_needs_a_list_of_events(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, unit="person")
    for wrong in ([], "abc", None, [1], ["PureDP"], PureDP(epsilon=1)):
        with pytest.raises(ParameterError, match="event"):
            ledger.reserve(wrong)  # type: ignore[arg-type]
    for purpose in ("", "x" * 1001, 3):
        with pytest.raises(ParameterError, match="purpose"):
            ledger.reserve(pure(0.1), purpose=purpose)  # type: ignore[arg-type]
    assert len(ledger.entries()) == 1


def test_the_head_of_a_reservation_is_the_ledgers(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, unit="person")
    reservation = ledger.reserve(pure(0.5), purpose="report")
    assert isinstance(reservation, Reservation)
    assert reservation.head == ledger.head
    assert re.fullmatch("1:[0-9a-f]{64}", reservation.head)
    assert "epsilon 0.5 of epsilon 1" in repr(ledger)


def test_the_export_holds_every_entry_and_its_hash(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, unit="person")
    ledger.commit(ledger.reserve(pure("1/3"), purpose="report", source="colours.csv"))
    ledger.export(tmp_path / "a.json")
    written = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert written == ledger.to_json()
    assert [entry["kind"] for entry in written["entries"]] == ["create", "reserve", "commit"]
    assert written["entries"][1]["charge"] == {"amount": "1/3", "delta": "0"}
    assert written["head"] == f"2:{written['entries'][2]['hash']}"
    with pytest.raises(LedgerError, match="cannot be written"):
        ledger.export(tmp_path / "nowhere" / "a.json")


def test_a_clock_that_goes_backwards_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger.create(tmp_path / "a", epsilon=1, unit="person")
    ledger.reserve(pure(0.4))
    monkeypatch.setattr("deniable.ledger.book._now", lambda: "1970-01-01T00:00:00+00:00")
    ledger.reserve(pure(0.4))
    with pytest.raises(BudgetError):
        ledger.reserve(pure(0.4))
    assert ledger.verify() == 3
    assert [entry.number for entry in ledger.entries()] == [0, 1, 2]
    assert ledger.entries()[2].time < ledger.entries()[1].time
