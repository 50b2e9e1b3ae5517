"""Reviews of releases whose groups were found in rounds or by chance: sound as saved, edits are found out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deniable.query import aggregates as dn
from deniable.query.review import review
from deniable.query.survey import protect

PEOPLE = 2000
COLOURS = ["red", "green", "blue", "Red", "ultramarine"]
TABLE = pa.table(
    {
        "person": [i % PEOPLE for i in range(2 * PEOPLE)],
        "colour": [COLOURS[i * i % 5] for i in range(2 * PEOPLE)],
        "spend": [1.5 * (i % 50) for i in range(2 * PEOPLE)],
    }
)
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("staged")
    asked = {"people": dn.units(), "average": dn.mean("spend", bounds=(0, "100/3"), max_rows=1)}
    survey = protect(TABLE, unit="person")
    rounds = survey.group_by("colour", max_groups=3, share="0.5").aggregate(**asked)
    rounds.release(epsilon=1, delta="1e-8").save(folder / "rounds")
    chance = survey.group_by("colour", selection="truncated-geometric").aggregate(**asked)
    chance.release(epsilon=2, delta="1e-8").save(folder / "chance")
    return folder


@pytest.mark.parametrize("name", ["rounds", "chance"])
def test_a_staged_release_is_sound_as_it_was_saved(saved: Path, name: str) -> None:
    found = review(saved / name)
    assert found.sound, str(found)
    assert {finding.verdict for finding in found.findings} == {"right"}


def _lower_round(record: dict[str, Any]) -> None:
    record["plan"]["rounds"][2] = "2"


EDITS: dict[str, tuple[str, Change, set[str]]] = {
    "a lower threshold of a round": ("rounds", _lower_round, {"events", "statement"}),
    "another share": ("rounds", lambda r: r["plan"].update(share="0.6"), {"events"}),
    "a round that costs less": (
        "rounds",
        lambda r: r["plan"]["events"][0].update(sensitivity="1"),
        {"events"},
    ),
    "a round without its mass": ("rounds", lambda r: r["plan"]["events"].pop(1), {"record"}),
    "another rule": ("rounds", lambda r: r["plan"].update(selection="threshold"), {"record"}),
    "a choice that costs less": (
        "chance",
        lambda r: r["plan"]["events"][0].update(epsilon="1/1000"),
        {"record", "statement"},
    ),
    "a choice that costs nothing": ("chance", lambda r: r["plan"]["events"].pop(0), {"record"}),
    "groups that were not chosen": ("chance", lambda r: r["plan"].update(selection=None), {"record"}),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_how_groups_were_found_is_found_out(saved: Path, tmp_path: Path, edit: str) -> None:
    name, change, must_find = EDITS[edit]
    folder = Path(shutil.copytree(saved / name, tmp_path / name))
    record = json.loads((folder / "release.json").read_text("utf-8"))
    change(record)
    (folder / "release.json").write_text(json.dumps(record), "utf-8")
    found = review(folder)
    assert not found.sound
    wrong = {finding.check for finding in found.findings if finding.verdict == "wrong"}
    assert must_find <= wrong, str(found)
    json.dumps(found.to_json())
