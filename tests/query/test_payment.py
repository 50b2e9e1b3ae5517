"""The ledger is charged before data are read, whatever happens then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deniable.errors import BudgetError, EngineError, LedgerError, ParameterError
from deniable.exact import exact
from deniable.ledger import Ledger
from deniable.query import aggregates as dn
from deniable.query.question import Query
from deniable.query.review import review
from deniable.query.survey import ROW, protect

TABLE = pa.table({"person": list(range(40)), "colour": ["red"] * 40})


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "survey.ledger", epsilon=1, delta="1e-8", unit="person")


def query(ledger: Ledger) -> Query:
    return protect(TABLE, unit="person", ledger=ledger).group_by("colour").aggregate(n=dn.units())


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries()]


def broken(query: Query, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail(*arguments: object) -> Any:
        assert kinds(query.survey.ledger)[-1] == "reserve"  # type: ignore[arg-type]
        raise error

    monkeypatch.setattr("deniable.query.survey.Survey.rows", fail)


def test_one_release_of_the_whole_budget_fits_exactly_and_the_next_does_not(ledger: Ledger) -> None:
    release = query(ledger).release(epsilon=1, delta="1e-8", purpose="once")
    assert ledger.remaining.epsilon == 0
    assert ledger.remaining.delta == 0
    assert ledger.events() == release.events
    assert kinds(ledger)[-2:] == ["reserve", "commit"]
    with pytest.raises(BudgetError):
        query(ledger).release(epsilon="1e-9", delta="1e-12")


def test_the_head_is_in_the_release_and_its_statement(ledger: Ledger, tmp_path: Path) -> None:
    release = query(ledger).release(epsilon="1/2", delta="1e-9")
    release.save(tmp_path / "out")
    record = json.loads((tmp_path / "out" / "release.json").read_text("utf-8"))
    assert ledger.verify(heads=[record["ledger"]["head"]])
    assert record["ledger"]["head"] in release.statement
    assert "epsilon 0.5, delta 9e-9" in release.statement.replace("\n  ", " ")


def test_published_words_name_the_ledger_without_the_folders_of_the_machine(
    ledger: Ledger, tmp_path: Path
) -> None:
    release = query(ledger).release(epsilon=1, delta="1e-8")
    assert release.facts.ledger is not None
    assert release.facts.ledger.label == "survey.ledger"
    assert str(tmp_path) not in json.dumps(release.to_json())


def test_data_are_not_opened_when_the_budget_is_short(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = query(ledger)
    broken(asked, monkeypatch, AssertionError("the data were opened"))
    for arguments in ({"epsilon": 2, "delta": "1e-8"}, {"epsilon": 1, "delta": "1e-7"}):
        with pytest.raises(BudgetError) as caught:
            asked.release(**arguments)  # type: ignore[arg-type]
        assert caught.value.short == ("epsilon" if arguments["epsilon"] == 2 else "delta")
    assert ledger.spent.epsilon == 0


@pytest.mark.parametrize("error", [EngineError("failed"), KeyboardInterrupt()])
def test_a_release_that_fails_stays_spent(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    asked = query(ledger)
    broken(asked, monkeypatch, error)
    with pytest.raises(type(error)):
        asked.release(epsilon="0.4", delta="1e-9")
    assert ledger.spent.epsilon == exact("0.4", "epsilon")
    assert kinds(ledger)[-2:] == ["reserve", "abandon"]


def test_mistakes_cost_nothing(ledger: Ledger) -> None:
    asked = query(ledger)
    for wrong in ({"purpose": 7}, {"threads": "many"}, {"bits": 7}, {"confidence": 2}, {"delta": 0}):
        with pytest.raises(ParameterError):
            asked.release(**{"epsilon": "0.1", "delta": "1e-9", **wrong})  # type: ignore[arg-type]
    assert ledger.spent.epsilon == 0


def test_a_question_that_is_refused_binds_a_ledger_to_nothing(ledger: Ledger) -> None:
    survey = protect(TABLE, unit="person", ledger=ledger, name="wrong")
    with pytest.raises(ParameterError, match="max_rows"):
        survey.aggregate(n=dn.count()).release(epsilon="0.1")
    with pytest.raises(BudgetError):
        survey.aggregate(n=dn.units()).release(epsilon=2)
    assert (ledger.data, kinds(ledger)) == (None, ["create"])
    protect(TABLE, unit="person", ledger=ledger, name="right").aggregate(n=dn.units()).release(epsilon="0.1")
    assert (ledger.data, kinds(ledger)) == ("right", ["create", "bind", "reserve", "commit"])
    with pytest.raises(LedgerError, match="belongs to the data 'right', not 'wrong'"):
        survey.aggregate(n=dn.units()).release(epsilon="0.1")
    with pytest.raises(LedgerError, match="name='right'"):
        protect(TABLE, unit="person", ledger=ledger)


def test_files_about_the_same_people_share_a_ledger_by_a_name(ledger: Ledger, tmp_path: Path) -> None:
    for month in ("jan", "feb"):
        path = tmp_path / f"visits-{month}.csv"
        path.write_text("person\n1\n2\n", "utf-8")
        survey = protect(path, unit="person", ledger=ledger, name="visits 2026")
        release = survey.aggregate(n=dn.units()).release(epsilon="0.1")
        assert "Every person in visits 2026:" in release.statement
        release.save(tmp_path / month)
        found = review(tmp_path / month, ledger=tmp_path / "survey.ledger")
        assert found.sound, str(found)
    assert ledger.data == "visits 2026"
    assert ledger.spent.epsilon == exact("0.2", "epsilon")
    with pytest.raises(LedgerError, match="not 'visits-jan.csv'"):
        protect(tmp_path / "visits-jan.csv", unit="person", ledger=ledger)


def test_without_a_purpose_the_ledger_says_what_was_asked(ledger: Ledger, tmp_path: Path) -> None:
    survey = protect(TABLE.append_column("age", pa.array([30.0] * 40)), unit="person", ledger=ledger)
    asked = {
        "n": dn.units(),
        "rows": dn.count(max_rows=1),
        "age": dn.mean("age", bounds=(0, 99), max_rows=1),
        "q": dn.quantile("age", ["0.25", "0.75"], bounds=(0, 99), max_rows=1),
    }
    survey.group_by("colour", keys=["red"]).aggregate(**asked).release(epsilon="0.1").save(tmp_path / "a")
    survey.aggregate(n=dn.units()).release(epsilon="0.1", purpose="the total").save(tmp_path / "b")
    purposes = [entry.purpose for entry in ledger.entries() if entry.kind == "reserve"]
    assert purposes == ["units, rows, mean of age, quantile of age by colour", "the total"]
    assert all(review(tmp_path / name, ledger=tmp_path / "survey.ledger").sound for name in "ab")


def test_a_ledger_that_was_told_no_purpose_is_still_the_one_that_paid(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("deniable.query.payment.wording.asked", lambda _: None)  # as it was done before
        query(ledger).release(epsilon="0.1", delta="1e-9").save(tmp_path / "a")
    found = review(tmp_path / "a", ledger=tmp_path / "survey.ledger")
    assert found.sound, str(found)


@pytest.mark.parametrize("name", ["", 7, "x" * 201, "two\nlines", "half \ud800"])
def test_a_name_of_the_data_is_a_line_of_text(name: object) -> None:
    with pytest.raises(ParameterError, match="name"):
        protect(TABLE, unit="person", name=name)  # type: ignore[arg-type]


def test_a_ledger_of_another_unit_or_no_ledger_at_all_is_refused(ledger: Ledger) -> None:
    with pytest.raises(LedgerError):
        protect(TABLE, unit="colour", ledger=ledger)
    with pytest.raises(LedgerError):
        protect(TABLE, unit=ROW, ledger=ledger)
    with pytest.raises(ParameterError, match="ledger"):
        protect(TABLE, unit="person", ledger="survey.ledger")  # type: ignore[arg-type]
