"""A saved release under review: sound as it was saved, and found out however it is edited."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from colours import bits

from deniable.errors import ParameterError
from deniable.events import PureDP
from deniable.ledger import Ledger
from deniable.query import aggregates as dn
from deniable.query.review import Review, review
from deniable.query.review.loading import load
from deniable.query.survey import ROW, protect

PEOPLE = 2000
TABLE = pa.table(
    {
        "person": [*range(PEOPLE), *range(PEOPLE)],
        "colour": ["red"] * PEOPLE + ['bl,"ü\ne'] * 1200 + ["=x"] * 800,
        "spend": [1.5 * (i % 50) for i in range(2 * PEOPLE)],
        "age": [i % 90 for i in range(2 * PEOPLE)],
    }
)
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with releases of every kind, and the ledger that paid for one of them."""
    folder = tmp_path_factory.mktemp("releases")
    ledger = Ledger.create(folder / "a.ledger", epsilon=3, delta="1e-7", unit="person")
    paid = protect(TABLE, unit="person", population=100_000, ledger=ledger)
    found = paid.where("age >= 3").derive(hue="lower(colour)").group_by("hue")
    asked = {
        "people": dn.units(),
        "rows": dn.count(max_rows=2),
        "spend": dn.sum("spend", bounds=(0, 100), max_rows=2),
        "age": dn.sum("age", bounds=(0, 90), max_rows=2),
        "average": dn.mean("spend", bounds=(0, "100/3"), max_rows=1),
    }
    release = found.aggregate(**asked).release(
        epsilon="ln 3", delta="1e-8", noise="laplace", purpose="wöchentlich"
    )
    release.save(folder / "laplace")
    several = protect(TABLE, unit="person").group_by("colour", max_groups=3, selection="threshold")
    several.aggregate(**asked).release(epsilon=1, delta="1e-8", noise="gaussian").save(folder / "gaussian")
    named = protect(TABLE, unit="person").group_by("colour", keys=["red", "nobody"], max_groups=2)
    named.aggregate(n=dn.units(), age=asked["age"]).release(epsilon="1/3").save(folder / "keys")
    totals = protect(TABLE, unit=ROW).aggregate(n=dn.count(), mean=dn.mean("age", bounds=(0, 99)))
    totals.release(epsilon="0.5").save(folder / "totals")
    spread = {
        "n": dn.units(),
        "v": dn.variance("spend", bounds=(0, 100), max_rows=2),
        "s": dn.std("spend", bounds=(0, 100), max_rows=2),
        "q": dn.quantile("age", [0.25, 0.5], bounds=(0, 90), max_rows=2),
        "low": dn.minimum("spend", bounds=(0, 100), max_rows=2),
        "high": dn.maximum("spend", bounds=(0, 100), max_rows=2),
        "h": dn.histogram("spend", edges=[0, "0.1", 50, 80], max_rows=2),
    }
    for noise in ("laplace", "gaussian"):
        groups = protect(TABLE, unit="person").group_by("colour", max_groups=2)
        groups.aggregate(**spread).release(epsilon=1, delta="1e-8", noise=noise).save(
            folder / f"spread {noise}"
        )
    many = {f"s{i}": dn.sum("spend", bounds=(0, i + 1), max_rows=1) for i in range(24)}
    protect(TABLE, unit="person").aggregate(**many).release(epsilon=1, delta="1e-6", noise="laplace").save(
        folder / "many"
    )
    return folder


def copied(saved: Path, name: str, tmp_path: Path) -> Path:
    shutil.copy(saved / "a.ledger", tmp_path)
    return Path(shutil.copytree(saved / name, tmp_path / name))


def edited(saved: Path, name: str, tmp_path: Path, change: Change) -> Path:
    """A copy whose release.json is changed."""
    folder = copied(saved, name, tmp_path)
    record = json.loads((folder / "release.json").read_text("utf-8"))
    change(record)
    (folder / "release.json").write_text(json.dumps(record), "utf-8")
    return folder


def republished(folder: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change table.parquet, and table.csv with it."""
    table = change(pyarrow.parquet.read_table(folder / "table.parquet"))
    pyarrow.parquet.write_table(table, folder / "table.parquet")
    pyarrow.csv.write_csv(table, folder / "table.csv")


def wrong(found: Review) -> set[str]:
    return {finding.check for finding in found.findings if finding.verdict == "wrong"}


@pytest.mark.parametrize(
    "name",
    ["laplace", "gaussian", "keys", "totals", "many", "spread laplace", "spread gaussian"],
)
def test_a_release_is_sound_as_it_was_saved(saved: Path, name: str) -> None:
    found = review(saved / name)
    assert found.sound, str(found)
    assert {finding.verdict for finding in found.findings} == {"right"}
    assert found.theorems is not None
    assert found.theorems["loss distribution"].epsilon is not None
    assert "everything is as it says" in str(found)


def test_what_is_proved_is_told_with_every_theorem(saved: Path) -> None:
    found = review(saved / "many")
    assert found.theorems is not None
    assert found.promise is not None
    basic, losses = (found.theorems[name].epsilon for name in ("basic", "loss distribution"))
    assert basic is not None
    assert losses is not None
    assert losses <= 1 < basic
    assert "epsilon 1, delta 1e-6 is proved" in found["promise"].words


EDITS: dict[str, tuple[Change, set[str]]] = {
    "less epsilon": (
        lambda r: r["guarantee"].update(epsilon="0.5"),
        {"record", "promise", "events", "statement"},
    ),
    "less epsilon everywhere": (
        lambda r: [
            r["guarantee"].update(epsilon="0.5"),
            r["plan"]["guarantee"].update(epsilon="0.5"),
            r["plan"].update(epsilon="0.5"),
        ],
        {"record", "promise", "statement"},
    ),
    "less delta": (
        lambda r: r["guarantee"].update(delta="1e-9"),
        {"record", "promise", "events", "statement"},
    ),
    "a larger scale in one event": (
        lambda r: r["plan"]["events"][0].update(scale="1000"),
        {"record", "events", "statement", "table"},
    ),
    "a larger scale in a column": (lambda r: r["plan"]["columns"][0].update(scale="1000"), {"record"}),
    "a smaller sensitivity": (
        lambda r: r["plan"]["events"][1].update(sensitivity="1"),
        {"events", "ledger"},
    ),
    "a lower threshold": (lambda r: r["plan"].update(threshold="2"), {"record", "events", "statement"}),
    "no mass of the threshold": (
        lambda r: r["plan"]["events"][-1].update(delta="1/" + "9" * 30),
        {"events", "ledger"},
    ),
    "the histogram forgotten": (lambda r: r["plan"]["events"].pop(-2), {"record"}),
    "wider bounds": (
        lambda r: r["plan"]["columns"][2].update(bounds=["0", "200"]),
        {"record", "statement", "table"},
    ),
    "narrower bounds": (
        lambda r: r["plan"]["columns"][3].update(bounds=["0", "9"]),
        {"record", "statement", "events"},
    ),
    "another confidence": (lambda r: r["plan"].update(confidence="0.99"), {"record", "statement", "table"}),
    "fewer people": (lambda r: r["plan"].update(population=10), {"record", "statement"}),
    "another unit": (lambda r: r["plan"].update(unit="household"), {"record", "statement", "ledger"}),
    "an edited statement": (lambda r: r.update(statement="Nobody can be found."), {"record"}),
    "another purpose": (lambda r: r.update(purpose="fun"), {"record", "statement", "ledger"}),
    "noise from a seed": (lambda r: r.update(secure=False), {"record", "noise", "statement"}),
    "a field too many": (lambda r: r["plan"].update(approved="yes"), {"record"}),
    "a field too few": (lambda r: r["plan"].pop("assumed"), {"record"}),
    "another head": (lambda r: r["ledger"].update(head="2:" + "0" * 64), {"record", "statement", "ledger"}),
    "an odd head": (lambda r: r["ledger"].update(head="the second"), {"record", "statement", "ledger"}),
    "no ledger": (lambda r: r.update(ledger=None), {"record", "statement"}),
    "more left": (lambda r: r["ledger"].update(remaining="epsilon 9"), {"record", "statement", "ledger"}),
    "one class less": (lambda r: r["groups_of_a_unit"].pop(), {"record"}),
    "an old version": (lambda r: r.update(version=1), {"versions", "record"}),
    "a version that is true": (lambda r: r["plan"].update(version=True), {"versions", "record"}),
    "an event of another version": (lambda r: r["plan"]["events"][0].update(version=9), {"record"}),
    "another deniable": (lambda r: r["plan"].update(deniable="9.9"), {"versions", "record"}),
    "a number that is none": (lambda r: r["guarantee"].update(epsilon="NaN"), {"record"}),
    "a number without quotes": (lambda r: r["guarantee"].update(epsilon=1.0), {"record"}),
    "a huge number": (lambda r: r["plan"]["columns"][2].update(bounds=["0", "1e9999"]), {"record"}),
    "a huge scale": (lambda r: r["plan"]["events"][0].update(scale="9" * 300), {"record", "events", "table"}),
    "a scale beyond all floats": (lambda r: r["plan"]["events"][0].update(scale="9" * 400), {"record"}),
    "a scale of nearly nothing": (
        lambda r: r["plan"]["events"][0].update(scale="1/" + "9" * 400),
        {"record", "promise", "events"},
    ),
    "half a character": (lambda r: r.update(purpose="\ud800"), {"record"}),
    "a sign that turns the line": (lambda r: r["plan"].update(source="\u202egnp.a"), {"record", "statement"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_release_json_is_found_out(saved: Path, tmp_path: Path, edit: str) -> None:
    change, must_find = EDITS[edit]
    found = review(edited(saved, "laplace", tmp_path, change))
    assert not found.sound
    assert must_find <= wrong(found), str(found)
    shown = str(found)
    assert max(map(len, shown.splitlines())) <= 80
    assert "\u202e" not in shown
    json.dumps(found.to_json())


def test_scales_that_are_edited_everywhere_no_longer_fit_the_intervals(saved: Path, tmp_path: Path) -> None:
    """Twice the noise, and half the epsilon, wherever numbers are written down: only the table tells."""

    def change(record: dict[str, Any]) -> None:
        plan = record["plan"]
        for event in plan["events"]:
            event["scale"] = str(2 * Fraction(event["scale"]))
        for guarantee in (record["guarantee"], plan["guarantee"], plan):
            guarantee["epsilon"] = "0.25"

    folder = edited(saved, "totals", tmp_path, change)
    found = review(folder)
    assert found["promise"].verdict == "right"
    assert found["events"].verdict == "right"
    assert "intervals are not those of its noise" in found["table"].words


def test_noise_for_half_of_what_a_unit_can_change_is_found(saved: Path, tmp_path: Path) -> None:
    """Every event says half the sensitivity and half the noise: the price stays what it was."""

    def change(record: dict[str, Any]) -> None:
        for event in record["plan"]["events"][:-1]:
            event["sigma"] = str(Fraction(event["sigma"]) / 2)
            event["sensitivity"] = str(int(event["sensitivity"]) // 2)

    found = review(edited(saved, "gaussian", tmp_path, change))
    assert found["promise"].verdict == "right"
    assert "people: the event's sensitivity is" in found["events"].words
    assert "proportion" not in found["events"].words


FILES: dict[str, tuple[str, bytes, set[str]]] = {
    "not JSON": ("release.json", b"{", {"record", "versions"}),
    "an empty file": ("release.json", b"", {"record", "versions"}),
    "a list": ("release.json", b"[]", {"record", "versions"}),
    "NaN": ("release.json", b'{"version": NaN}', {"record", "versions"}),
    "a name twice": ("release.json", b'{"version": 2, "version": 2}', {"record", "versions"}),
    "not UTF-8": ("release.json", b"\xff\xfe", {"record", "versions"}),
    "deep brackets": ("release.json", b"[" * 100_000, {"record", "versions"}),
    "a very long number": ("release.json", b"9" * 10_000, {"record", "versions"}),
    "another statement": ("statement.txt", b"All is well.\n", {"statement"}),
    "a statement that is not UTF-8": ("statement.txt", b"\xff", {"statement"}),
    "another page": ("page.html", b"<html>", {"page"}),
    "no Parquet": ("table.parquet", b"PAR1", {"table"}),
    "another CSV": ("table.csv", b"hue,people\nred,5\n", {"csv"}),
    "a CSV that is not UTF-8": ("table.csv", b"\xff\xff", {"csv"}),
}


@pytest.mark.parametrize("edit", FILES)
def test_a_file_that_is_replaced_is_found_out(saved: Path, tmp_path: Path, edit: str) -> None:
    name, content, must_find = FILES[edit]
    folder = copied(saved, "laplace", tmp_path)
    (folder / name).write_bytes(content)
    found = review(folder)
    assert must_find <= wrong(found), str(found)


@pytest.mark.parametrize("name", ["release.json", "statement.txt", "table.parquet", "table.csv", "page.html"])
def test_a_missing_file_is_named(saved: Path, tmp_path: Path, name: str) -> None:
    folder = copied(saved, "gaussian", tmp_path)
    (folder / name).unlink()
    found = review(folder)
    assert not found.sound
    assert found["files"].words == f"{name} is missing"


def test_a_changed_word_of_the_statement_is_shown_with_what_should_stand_there(
    saved: Path, tmp_path: Path
) -> None:
    folder = copied(saved, "laplace", tmp_path)
    words = (folder / "statement.txt").read_text("utf-8")
    (folder / "statement.txt").write_text(words.replace("epsilon 1.0987", "epsilon 0.1"), "utf-8")
    found = review(folder)
    assert wrong(found) == {"statement"}
    assert "should be" in found["statement"].words
    assert "1.0987 (ln 3)" in found["statement"].words


def one_more(table: pa.Table, name: str, by: float) -> pa.Table:
    place = table.column_names.index(name)
    values = table.column(name).to_pylist()
    column = pa.array([values[0] + by, *values[1:]], table.schema.field(name).type)
    return table.set_column(place, name, column)


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
@pytest.mark.parametrize("column", ["people", "rows_low", "spend_high", "age", "average_low"])
def test_a_changed_number_no_longer_fits_its_interval(
    saved: Path, tmp_path: Path, name: str, column: str
) -> None:
    folder = copied(saved, name, tmp_path)
    republished(folder, lambda table: one_more(table, column, 60 if column == "average_low" else 3))
    found = review(folder)
    assert "table" in wrong(found)
    assert column.partition("_")[0] in found["table"].words
    assert found["csv"].verdict == "unknown"


TABLES: dict[str, tuple[str, Callable[[pa.Table], pa.Table], str]] = {
    "a column more": ("keys", lambda t: t.append_column("more", t.column("n")), "its columns are"),
    "columns in another order": ("keys", lambda t: t.select(t.column_names[::-1]), "its columns are"),
    "a declared group less": ("keys", lambda t: t.slice(1), "2 groups were declared"),
    "a group twice": ("gaussian", lambda t: pa.concat_tables([t, t]), "twice"),
    "two totals": ("totals", lambda t: pa.concat_tables([t, t]), "totals have one"),
    "a number that is missing": (
        "totals",
        lambda t: t.set_column(0, "n", pa.array([None], pa.int64())),
        "something else than whole numbers",
    ),
    "a number that is none": (
        "totals",
        lambda t: t.set_column(3, "mean", pa.array([float("nan")])),
        "no number",
    ),
    "floats for integers": (
        "totals",
        lambda t: t.set_column(0, "n", pa.array([1.0])),
        "something else than whole numbers",
    ),
}


@pytest.mark.parametrize("edit", TABLES)
def test_a_table_that_no_plan_gives_is_described(saved: Path, tmp_path: Path, edit: str) -> None:
    name, change, words = TABLES[edit]
    folder = copied(saved, name, tmp_path)
    republished(folder, change)
    found = review(folder)
    assert "table" in wrong(found)
    assert words in found["table"].words


def test_a_group_below_the_threshold_is_found(saved: Path, tmp_path: Path) -> None:
    def add(table: pa.Table) -> pa.Table:
        row = {name: table.column(name).to_pylist()[0] for name in table.column_names}
        away = row["people"] - 5
        for name in ("people", "people_low", "people_high"):
            row[name] -= away
        row["hue"] = "rare"
        return pa.concat_tables([table, pa.Table.from_pylist([row], schema=table.schema)])

    folder = copied(saved, "laplace", tmp_path)
    republished(folder, add)
    assert review(folder)["table"].words == "people: a group below the threshold was published"


def test_a_csv_whose_numbers_are_spelt_otherwise_is_the_same_and_a_changed_key_is_not(
    saved: Path, tmp_path: Path
) -> None:
    folder = copied(saved, "keys", tmp_path)
    rows = (folder / "table.csv").read_text("utf-8")
    first = rows.splitlines()[1].split(",")
    (folder / "table.csv").write_text(rows.replace(f",{first[1]},", f",{first[1]}.0,", 1), "utf-8")
    assert review(folder).sound
    (folder / "table.csv").write_text(rows.replace("nobody", "somebody"), "utf-8")
    assert "line 3" in review(folder)["csv"].words


def test_release_json_may_be_laid_out_in_another_way(saved: Path, tmp_path: Path) -> None:
    assert review(edited(saved, "laplace", tmp_path, lambda record: None)).sound


def test_the_ledger_must_be_there_and_hold_the_release(saved: Path, tmp_path: Path) -> None:
    assert review(saved / "laplace", ledger=saved / "a.ledger").sound
    other = Ledger.create(tmp_path / "other.ledger", epsilon=3, delta="1e-7", unit="person")
    other.commit(other.reserve([PureDP(epsilon=1)]))
    assert wrong(review(saved / "laplace", ledger=tmp_path / "other.ledger")) == {"ledger"}
    assert "does not exist" in review(saved / "laplace", ledger=tmp_path / "none")["ledger"].words
    assert "without a ledger" in review(saved / "keys", ledger=saved / "a.ledger")["ledger"].words


def test_a_column_that_no_release_has_is_refused_in_words(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "laplace", tmp_path / "forged")
    table = load(saved / "laplace").table
    place = table.column_names.index("people")
    for odd in (pa.array([[1]] * len(table)), pa.array([b"\xff"] * len(table))):
        forged = table.set_column(place, "people", odd)
        pyarrow.parquet.write_table(forged, tmp_path / "forged" / "table.parquet")
        found = review(tmp_path / "forged", ledger=saved / "a.ledger")
        assert not found.sound
        assert not found.vouched


def test_falsified_numbers_are_seen_by_the_hash_that_the_ledger_keeps(saved: Path, tmp_path: Path) -> None:
    honest = load(saved / "laplace")
    people = [honest.table[f"people{ending}"].to_numpy() + 100 for ending in ("", "_low", "_high")]
    table = honest.table
    for ending, values in zip(("", "_low", "_high"), people, strict=True):
        place = table.column_names.index(f"people{ending}")
        table = table.set_column(place, f"people{ending}", pa.array(values))
    replace(honest, table=table).save(tmp_path / "forged")
    found = review(tmp_path / "forged", ledger=saved / "a.ledger")
    assert wrong(found) == {"ledger"}
    assert "the numbers are not those that were published" in found["ledger"].words
    assert not found.vouched
    honest.save(tmp_path / "again")
    again = review(tmp_path / "again", ledger=saved / "a.ledger")
    assert (again.sound, again.vouched) == (True, True)
    assert "vouches" not in str(again)


def test_where_no_ledger_vouches_for_the_numbers_the_report_says_so(saved: Path, tmp_path: Path) -> None:
    found = review(saved / "keys")
    assert (found.sound, found.vouched, found.to_json()["numbers_vouched_for"]) == (True, False, False)
    assert "Nothing here vouches for the numbers themselves" in str(found)
    old = Ledger.create(tmp_path / "old.ledger", epsilon=3, unit="person")
    query = protect(TABLE, unit="person", ledger=old).aggregate(n=dn.units())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deniable.query.run.fingerprint", lambda *_: None)  # as ledgers did it before
        query.release(epsilon=1).save(tmp_path / "old")
    found = review(tmp_path / "old", ledger=tmp_path / "old.ledger")
    assert (found.sound, found.vouched) == (True, False)
    assert "Nothing here vouches" in str(found)


def test_a_ledger_that_moved_is_asked_for(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved, "laplace", tmp_path)
    moved = (tmp_path / "a.ledger").rename(tmp_path / "b.ledger")
    assert "say where it is with --ledger" in review(folder)["ledger"].words
    assert review(folder, ledger=moved)["ledger"].verdict == "right"


@pytest.mark.parametrize(
    "name", ["../a.ledger", "postgresql://nobody@127.0.0.1:1/x", "/a.ledger", "", ".", "a\0b", "9" * 999]
)
def test_a_ledger_is_never_looked_for_where_an_edited_record_says(
    saved: Path, tmp_path: Path, name: str
) -> None:
    folder = edited(saved, "laplace", tmp_path, lambda r: r["ledger"].update(label=name))
    assert "is not here" in review(folder)["ledger"].words


def test_a_release_that_was_abandoned_or_paid_for_otherwise_is_found(tmp_path: Path) -> None:
    query = protect(TABLE, unit="person", ledger=Ledger.create(tmp_path / "l", epsilon=9, unit="person"))
    ledger = query.ledger
    assert ledger is not None
    query.aggregate(n=dn.units()).release(epsilon=1).save(tmp_path / "out")
    left = ledger.reserve([PureDP(epsilon=1)])
    other = ledger.reserve([PureDP(epsilon="1/2")])
    ledger.commit(other)

    def said(head: str) -> str:
        path = tmp_path / "out" / "release.json"
        record = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps({**record, "ledger": {**record["ledger"], "head": head}}), "utf-8")
        return review(tmp_path / "out")["ledger"].words

    assert "paid for other events" in said(left.head)
    ledger.abandon(left)
    assert "another epsilon" in said(other.head)
    assert "pays for nothing" in said(ledger.head)


def test_a_release_with_seeded_noise_is_never_sound(tmp_path: Path) -> None:
    query = protect(TABLE, unit="person").aggregate(n=dn.units())
    query.release(epsilon=1, bits=bits(1)).save(tmp_path / "out")
    found = review(tmp_path / "out")
    assert wrong(found) == {"noise"}
    assert "nobody is protected" in found["noise"].words


@pytest.mark.parametrize("place", ["nowhere", "release.json"])
def test_what_is_no_folder_is_refused(saved: Path, place: str) -> None:
    with pytest.raises(ParameterError, match="is no folder"):
        review(saved / "laplace" / place)


JUNK: tuple[object, ...] = (
    None, -1, [], {}, True, "1/0", 1e308, "1e-9999", "9" * 390, 10**20, "x\u202ey", "NaN", "1e1500",
)  # fmt: skip


def leaves(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of everything in the record that is not an object, and of every list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
        return
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))
    yield path


@pytest.mark.parametrize("start", range(2))
def test_junk_in_any_field_is_never_sound_and_never_an_error(saved: Path, tmp_path: Path, start: int) -> None:
    folder = copied(saved, "totals", tmp_path)
    record = json.loads((saved / "totals" / "release.json").read_text("utf-8"))
    for number, path in enumerate(leaves(record)):
        junk = JUNK[(7 * number + 5 * start) % len(JUNK)]
        spoilt = json.loads(json.dumps(record))
        inner = spoilt
        for step in path[:-1]:
            inner = inner[step]
        if inner[path[-1]] == junk:
            continue
        inner[path[-1]] = junk
        (folder / "release.json").write_text(json.dumps(spoilt), "utf-8")
        assert not review(folder).sound, (path, junk)
