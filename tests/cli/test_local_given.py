"""What comes into `deniable local` from others: forged reports, files of items, rules that are none."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from deniable.cli import app
from deniable.cli.lines import batches
from deniable.cli.protocols import Setup
from deniable.errors import ParameterError

PROTOCOL = ["--vector", "--dimension", "3", "--epsilon", "2"]


def run(*words: str, given: bytes = b"", code: int = 0) -> Any:
    done = CliRunner().invoke(app(), ["local", *words], input=given)
    assert done.exit_code == code, f"{done.stderr}\n{done.exception!r}"
    return done


def test_a_forged_report_does_not_act_on_the_terminal() -> None:
    line = run("randomize", *PROTOCOL, given=b"1,0,0\n").stdout_bytes
    record = {**json.loads(line), "protocol": "v\x1b]0;owned\x07\nError: none\x9b"}
    done = run("estimate", *PROTOCOL, given=json.dumps(record).encode() + b"\n", code=2)
    assert not {0x1B, 0x07, 0x9B} & set(done.stderr_bytes.decode().replace("\n", "").encode("utf-32-le"))
    assert b"\\x1b]0;owned\\x07" in done.stderr_bytes.replace(b"\n", b"")


def test_a_rule_of_weights_that_is_none_is_refused_before_a_line_is_read() -> None:
    for epsilons in ((), ("--epsilon", "1")):
        done = run("estimate", *PROTOCOL, *epsilons, "--weights", "foo", given=b"x", code=2)
        assert b"--weights is unknown" in done.stderr_bytes


def test_items_of_a_file_are_parted_as_values_are(tmp_path: Path) -> None:
    items = ["a\x0bb", "c\u2028d", "e\x85", "f\x1cg\x0c", "h\ri", ""]
    data = "\n".join(items[:-1]).encode() + b"\r\n\n"
    (tmp_path / "items").write_bytes(b"\xef\xbb\xbf" + data)
    lines = [line for batch in batches(io.BytesIO(data), lambda _octets, _lines: None) for line in batch]
    assert Setup(domain=f"@{tmp_path / 'items'}").items() == lines == items
    options = ["--frequency", "--domain", f"@{tmp_path / 'items'}", "--epsilon", "20"]
    sent = run("randomize", *options, given=data).stdout_bytes
    found = json.loads(run("estimate", *options, "--json", given=sent).stdout_bytes)
    assert found["items"] == items
    assert np.array(found["value"]) == pytest.approx(np.full(6, 1 / 6), abs=0.01)
    (tmp_path / "items").write_bytes(b"a\n\xff\n")
    with pytest.raises(ParameterError, match="cannot be read"):
        Setup(domain=f"@{tmp_path / 'items'}").items()


COLOURS = ["--frequency", "--epsilon", "9", "--domain", "red,green,blue,odd"]


def test_lines_that_hold_no_item_count_as_the_item_that_is_named_for_them(tmp_path: Path) -> None:
    """At epsilon 9 nearly every report is the item itself."""
    given = b"red\nmauve\n\ngreen\n" * 2_000
    (tmp_path / "colours.toml").write_text(
        'protocol = "frequency"\nepsilon = 9\ndomain = ["red", "green", "blue", "odd"]\nother = "odd"\n'
    )
    for options in ([*COLOURS, "--other", "odd"], ["--parameters", str(tmp_path / "colours.toml")]):
        sent = run("randomize", *options, given=given).stdout_bytes
        found = json.loads(run("estimate", *options, "--json", given=sent).stdout_bytes)
        assert found["value"] == pytest.approx([0.25, 0.25, 0, 0.5], abs=0.01)
        assert "counts as 'odd'; nobody can tell how many" in found["unreadable"]
        assert b"counts as 'odd'" in run("estimate", *options, given=sent).stdout_bytes


def test_without_such_an_item_they_count_as_random_ones_and_the_estimate_says_so() -> None:
    sent = run("randomize", *COLOURS, given=b"red\nmauve\n" * 4_000).stdout_bytes
    found = json.loads(run("estimate", *COLOURS, "--json", given=sent).stdout_bytes)
    assert found["value"] == pytest.approx([0.625, 0.125, 0.125, 0.125], abs=0.04)
    assert "counts as a random item" in found["unreadable"]


def test_the_item_for_other_numbers_may_be_a_number_and_must_be_in_the_domain() -> None:
    numbers = ["--frequency", "--epsilon", "9", "--domain", "3", "--other"]
    sent = run("randomize", *numbers, "0", given=b"7\nx\n2\n2\n" * 1_000).stdout_bytes
    found = json.loads(run("estimate", *numbers, "0", "--json", given=sent).stdout_bytes)
    assert found["value"] == pytest.approx([0.5, 0, 0.5], abs=0.02)
    assert b"--other is no item of the domain" in run("randomize", *numbers, "3", code=2).stderr_bytes
    assert (
        b"--other is no item of the domain" in run("randomize", *COLOURS, "--other", "", code=2).stderr_bytes
    )
    mean = ["--mean", "--bounds", "0:1", "--epsilon", "1", "--other", "x"]
    assert b"--other is not for --mean" in run("randomize", *mean, code=2).stderr_bytes


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--mean", "--bounds", "0:3"], "no number counts as the middle of the bounds, 1.5,"),
        (["--vector", "--dimension", "2"], "no vector of 2 entries counts as zeros"),
        (["--vector", "--dimension", "2", "--norm", "linf"], "an entry beyond -1 to 1 is cut"),
    ],
)
def test_an_estimate_ends_with_what_unreadable_values_count_as(options: list[str], said: str) -> None:
    sent = run("randomize", *options, "--epsilon", "1", given=b"n/a\n").stdout_bytes
    shown = run("estimate", *options, "--epsilon", "1", given=sent).stdout_bytes.decode()
    assert said in " ".join(shown.split())
    assert " ".join(shown.split()).endswith("nobody can tell how many there were.")
    assert max(map(len, shown.splitlines())) <= 80
