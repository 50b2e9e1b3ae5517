"""`deniable demo`: one screen, one page, or one JSON object."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from deniable.cli.demo import PAGE, demo
from deniable.errors import ParameterError


def test_the_demo_prints_one_screen_and_writes_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo(out=tmp_path / "new" / "folder")
    text = capsys.readouterr().out
    page = tmp_path / "new" / "folder" / PAGE
    assert str(page) in text
    assert len(text.splitlines()) <= 40
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert [path.name for path in page.parent.iterdir()] == [PAGE]


def test_the_demo_can_be_run_again(tmp_path: Path) -> None:
    (tmp_path / PAGE).write_text("an older page", "utf-8")
    demo(out=tmp_path)
    assert "an older page" not in (tmp_path / PAGE).read_text("utf-8")


def test_the_demo_as_json_has_the_release_and_the_attacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo(out=tmp_path, json=True)
    found = json.loads(capsys.readouterr().out)
    assert {"hue", "people", "people_low", "people_high"} == set(found["rows"][0])
    assert found["guarantee"]["delta"] == "1e-7"
    assert found["attacks"]["different colours"]["rate"] == 1
    assert found["page"] == str(tmp_path / PAGE)
    assert "Who is protected" in found["statement"]


def test_a_terminal_without_the_signs_gets_ascii(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = BytesIO()
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", TextIOWrapper(written, encoding="ascii"))
        demo(out=tmp_path)
        sys.stdout.flush()
        assert b"####" in written.getvalue()


def test_a_folder_that_cannot_be_is_refused_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setattr("deniable.query.plan.Plan.release", None)  # whatever reads data now fails otherwise
    with pytest.raises(ParameterError, match="--out must be a folder that can be written to"):
        demo(out=tmp_path / "file" / "demo")
    with pytest.raises(ParameterError, match="--out"):
        demo(out=tmp_path / "file")
