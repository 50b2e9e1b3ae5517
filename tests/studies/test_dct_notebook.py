"""Finished cells are kept and used again; the file is never half written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import ParameterError, SourceError
from deniable.studies.dct.files import put
from deniable.studies.dct.notebook import Cell, Notebook, complete

CALLS: list[int] = []


def doubled(number: int, seed: int) -> dict[str, Any]:
    CALLS.append(number)
    if number == 13:
        raise KeyboardInterrupt
    return {"number": 2 * number, "seed": seed}


class Bar:
    def __init__(self) -> None:
        self.done = 0

    def advance(self, runs: int) -> None:
        self.done += runs


def run(path: Path, numbers: list[int], *, seed: int = 1) -> tuple[list[dict[str, Any]], Bar]:
    bar = Bar()
    cells = [Cell(doubled, {"number": number}) for number in numbers]
    return complete(cells, Notebook(path), seed=seed, workers=1, bar=bar), bar


@pytest.fixture(autouse=True)
def forgotten() -> None:
    CALLS.clear()


def test_what_was_computed_is_not_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "cells.json"
    first, bar = run(path, [1, 2])
    assert ([row["number"] for row in first], bar.done, CALLS) == ([2, 4], 2, [1, 2])
    second, bar = run(path, [2, 3, 1])
    assert ([row["number"] for row in second], bar.done, CALLS) == ([4, 6, 2], 3, [1, 2, 3])
    assert second[0] == first[1]


def test_a_study_that_was_stopped_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "cells.json"
    with pytest.raises(KeyboardInterrupt):
        run(path, [1, 13, 2])
    assert len(json.loads(path.read_text())["cells"]) == 1
    CALLS.clear()
    run(path, [1, 2])
    assert CALLS == [2]
    assert [one.name for one in tmp_path.iterdir()] == ["cells.json"]


def test_seeds_differ_by_cell_and_study_and_not_by_order(tmp_path: Path) -> None:
    one = run(tmp_path / "a", [1, 2])[0]
    other = run(tmp_path / "b", [2, 1])[0]
    assert [row["seed"] for row in one] == [row["seed"] for row in reversed(other)]
    again = run(tmp_path / "c", [1, 2], seed=2)[0]
    assert len({row["seed"] for row in [*one, *again]}) == 4
    assert len(CALLS) == 6


def test_another_seed_is_another_cell(tmp_path: Path) -> None:
    run(tmp_path / "a", [1])
    run(tmp_path / "a", [1], seed=2)
    assert CALLS == [1, 1]


@pytest.mark.parametrize(
    "words", ["", "[]", "{}", '{"cells": ', '{"cells": []}', '{"cells": null}', "null", "[" * 100_000]
)
def test_another_file_is_not_overwritten(words: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.json"
    path.write_text(words)
    with pytest.raises(SourceError, match="no notebook of a study"):
        run(path, [1])
    assert path.read_text() == words


@pytest.mark.parametrize("odd", ["[]", "{}", "null", "3", '{"number": NaN, "seconds": 1}', '{"number": 2}'])
def test_a_damaged_cell_is_computed_anew_and_the_others_are_not(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "cells.json"
    first, _ = run(path, [1, 2, 3])
    record = json.loads(path.read_text())
    damaged = Cell(doubled, {"number": 2}).key(1)
    record["cells"][damaged] = json.loads(odd)
    path.write_text(json.dumps(record))
    CALLS.clear()
    assert Notebook(path).notes == (
        "1 cell was damaged in cells.json and dropped: what this study needs is computed anew.",
    )
    again, _ = run(path, [1, 2, 3])
    assert [row["number"] for row in again] == [row["number"] for row in first] == [2, 4, 6]
    assert CALLS == [2]
    assert Notebook(path).notes == ()


@pytest.mark.parametrize("sums", [None, [], {}, 3, "x"])
def test_cells_without_checksums_or_in_each_others_place_are_not_used(sums: object, tmp_path: Path) -> None:
    path = tmp_path / "cells.json"
    run(path, [1, 2])
    record = json.loads(path.read_text())
    first, second = record["cells"]
    cells = {first: record["cells"][second], second: record["cells"][first]}
    path.write_text(json.dumps({"cells": cells, "sums": record["sums"]}))
    assert Notebook(path).damaged == 2
    path.write_text(json.dumps({"cells": record["cells"], "sums": sums}))
    if isinstance(sums, dict):
        assert Notebook(path).damaged == 2
    else:
        with pytest.raises(SourceError, match="no notebook of a study"):
            Notebook(path)


def test_files_are_put_in_place_of_links_and_never_through_them(tmp_path: Path) -> None:
    other, place = tmp_path / "other", tmp_path / "page"
    other.write_text("kept")
    place.symlink_to(other)
    put(place, b"new")
    assert (other.read_text(), place.read_text(), place.is_symlink()) == ("kept", "new", False)
    (tmp_path / f".page.{os.getpid()}.part").symlink_to(other)
    put(place, b"newer")
    assert (other.read_text(), place.read_text()) == ("kept", "newer")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ParameterError, match="cannot be written to"):
        put(tmp_path / "folder", b"")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "other", "page"]


@pytest.mark.slow
def test_several_processes_give_the_same_numbers(tmp_path: Path) -> None:
    from deniable.studies.dct.measures import audit

    cells = [Cell(audit, {"mechanism": "Duchi", "epsilon": e, "trials": 200}) for e in ("1", "2")]
    found = [
        complete(cells, Notebook(tmp_path / str(many)), seed=1, workers=many, bar=Bar()) for many in (1, 2)
    ]
    for numbers in (row for rows in found for row in rows):
        numbers.pop("seconds")
    assert found[0] == found[1]
