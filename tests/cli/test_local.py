"""`deniable local`: both ends as filters, on odd input, in pipes, with and without a terminal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from deniable.bits import SeededBits
from deniable.cli import app
from deniable.cli.lines import LONGEST, batches
from deniable.cli.protocols import Setup, payload, read_number, read_vector
from deniable.errors import ParameterError
from deniable.local import Reports, Vector

DENIABLE = [sys.executable, "-c", "from deniable.cli import main; main()"]
PROTOCOL = ["--vector", "--dimension", "3", "--epsilon", "2"]


@dataclass
class Done:
    stdout: bytes
    stderr: bytes


def run(*words: str | Path, given: bytes = b"", code: int = 0) -> Done:
    """Run the command in this process; return what it wrote."""
    done = CliRunner().invoke(app(), ["local", *map(str, words)], input=given)
    assert done.exit_code == code, f"{done.stderr}\n{done.exception!r}"
    return Done(done.stdout_bytes, done.stderr_bytes)


class Pieces(io.RawIOBase):
    """A pipe that hands out small pieces of a long text."""

    def __init__(self, piece: bytes, times: int) -> None:
        self.piece, self.left = piece, times

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.left:
            return 0
        self.left -= 1
        buffer[: len(self.piece)] = self.piece
        return len(self.piece)


def lines_of(data: bytes) -> list[str]:
    file = io.BufferedReader(io.BytesIO(data))
    return [line for batch in batches(file, lambda _octets, _lines: None) for line in batch]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"1\n2", ["1", "2"]),
        (b"1\n2\n", ["1", "2"]),
        (b"1\r\n\r\n2", ["1", "", "2"]),
        (b"\xef\xbb\xbf1\n", ["1"]),
        (b"\xff\n", ["�"]),
        (b"a\0b\n", ["a\0b"]),
        (b"x" * (LONGEST + 1) + b"\n7", ["", "7"]),
        (b"x" * (3 * LONGEST), [""]),
    ],
)
def test_lines_are_read_as_the_table_says(data: bytes, expected: list[str]) -> None:
    assert lines_of(data) == expected


def test_lines_come_whole_however_a_pipe_cuts_them() -> None:
    file = io.BufferedReader(Pieces(b"12\n3", 1000))
    found = [line for batch in batches(file, lambda _octets, _lines: None) for line in batch]
    assert found == ["12", *["312"] * 999, "3"]


@pytest.mark.parametrize("piece", [(b"1234567 " * 63 + b"1234567\n") * 128, b"1" * 65_536])
def test_memory_does_not_grow_with_the_input(piece: bytes) -> None:
    """64 MiB of short lines, and one line of 64 MiB."""
    file = io.BufferedReader(Pieces(piece, 1024), 1 << 16)
    counted = [0, 0]

    def advance(octets: int, lines: int) -> None:
        counted[0] += octets
        counted[1] += lines

    tracemalloc.start()
    for _ in batches(file, advance):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20
    assert counted == [64 << 20, max(1, 1024 * piece.count(b"\n"))]


@pytest.mark.parametrize(
    ("line", "number"),
    [("1", 1.0), (" 2.5e1 ", 25.0), ("-0", 0.0), ("", None), ("x", None), ("1_000", None), ("1,5", None)],
)
def test_a_line_is_read_as_a_number(line: str, number: float | None) -> None:
    assert read_number(line) == number


@pytest.mark.parametrize(
    ("line", "entries"),
    [
        ("1 2 3", [1, 2, 3]),
        ("1,2, 3", [1, 2, 3]),
        ("[1, 2, 3]", [1, 2, 3]),
        ("1\t2", [1, 2]),
        ("1,,3", [1, None, 3]),
        ("", []),
        ("[", [None]),
        ("a b", [None, None]),
    ],
)
def test_a_line_is_read_as_a_vector(line: str, entries: list[float | None]) -> None:
    assert read_vector(line) == entries


@pytest.mark.parametrize("options", [[], ["--bytes"]])
@pytest.mark.parametrize(
    ("given", "many"),
    [
        (b"", 0),
        (b"\n\n", 2),
        (b"0.1 0.2 0.3", 1),
        (b"0.1 0.2 0.3\n\xff\xfe\n[nan, inf, 1e999]\n9 9 9\n1 2\nNone\n\0\n0,0,0", 8),
    ],
)
def test_there_is_one_report_a_line_whatever_it_holds(options: list[str], given: bytes, many: int) -> None:
    reports = run("randomize", *PROTOCOL, *options, given=given).stdout
    found = reports.split(b"\n")
    assert found.pop() == b""
    assert len(found) == many
    assert len({len(report) for report in found}) <= 1


@pytest.mark.parametrize("options", [[], ["--bytes"]])
def test_what_goes_in_comes_out(tmp_path: Path, options: list[str]) -> None:
    values = np.random.default_rng(1).uniform(-0.5, 0.5, size=(20_000, 3))
    (tmp_path / "values").write_text("\n".join(" ".join(map(str, row)) for row in values.tolist()))
    (tmp_path / "reports").write_bytes(run("randomize", tmp_path / "values", *PROTOCOL, *options).stdout)
    found = json.loads(run("estimate", tmp_path / "reports", *PROTOCOL, "--json").stdout)
    z = (np.array(found["value"]) - values.mean(axis=0)) / np.array(found["standard_error"])
    assert found["reports"] == 20_000
    assert found["confidence"] == "0.95"
    assert np.abs(z).max() < 6.5
    assert max(found["standard_error"]) < 0.05
    shown = run("estimate", tmp_path / "reports", *PROTOCOL).stdout.decode()
    assert f"{found['value'][2]:.5f}" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_odd_values_are_reported_as_a_device_would() -> None:
    """At a huge epsilon a report is nearly the vector's own direction: odd ones must look like zeros."""
    vector = Vector(epsilon=800, dimension=3, norm="linf", mechanism="duchi")
    setup = Setup(protocol="vector", epsilon=("800",), dimension=3, norm="linf", mechanism="duchi")
    lines = ["1 1 1", "2 2 2", "x 1 1", "1 1"] * 500
    values = [setup.reader()(line) for line in lines]
    found = payload(vector, "vector", values, SeededBits(1, insecure=True))
    decoded = vector.decode(Reports(vector.parameters, found)).reshape(500, 4, 3)
    mean, error = decoded.mean(axis=0), np.sqrt(decoded.var(axis=0) / 500)
    expected = np.array([[1, 1, 1], [1, 1, 1], [0, 1, 1], [0, 0, 0]])
    assert (np.abs(mean - expected) < 6.5 * error).all()


def test_reports_of_several_epsilons_are_joined() -> None:
    bold = run("randomize", *PROTOCOL, given=b"0.5 0 0\n" * 500).stdout
    shy = run("randomize", *PROTOCOL[:-1], "1/2", "--bytes", given=b"-0.5 0 0\n" * 500).stdout
    asked = [*PROTOCOL, "--epsilon", "1/2", "--json"]
    found = json.loads(run("estimate", *asked, given=bold + shy).stdout)
    assert found["reports"] == 1000
    assert any("independently" in note for note in found["notes"])
    assert found["value"][0] > 0.1
    fair = json.loads(run("estimate", *asked, "--weights", "population", given=bold + shy).stdout)
    assert not any("independently" in note for note in fair["notes"])


@pytest.mark.parametrize("options", [[], ["--bytes"]])
def test_reports_made_otherwise_are_refused_with_the_line(options: list[str]) -> None:
    reports = run("randomize", *PROTOCOL, *options, given=b"0 0 0\n" * 3).stdout
    other = run("randomize", *PROTOCOL[:-1], "3", *options, given=b"0 0 0\n").stdout
    done = run("estimate", *PROTOCOL, given=reports + b"\n" + other, code=2)
    words = " ".join(done.stderr.decode().split())
    assert words.startswith("Line 5: ")
    assert ("epsilon 3; here it is 2" if not options else "not made by vector/privunit") in words
    assert done.stdout == b""


@pytest.mark.parametrize("line", [b"x", b"{}", b'{"deniable": 9}', b"\xff", b"01", b"[1", b"{" * 5000])
def test_a_line_that_is_no_report_is_refused_without_showing_it(line: bytes) -> None:
    reports = run("randomize", *PROTOCOL, given=b"0 0 0\n").stdout
    error = json.loads(run("estimate", *PROTOCOL, "--json", given=reports + line, code=2).stderr)["error"]
    assert error["kind"] == "ReportError"
    assert error["message"].startswith("Line 2: ")


def test_no_reports_are_said_to_be_none() -> None:
    assert b"holds no reports" in run("estimate", *PROTOCOL, code=2).stderr
    assert b"cannot be read" in run("estimate", "nowhere.txt", *PROTOCOL, code=2).stderr


def test_parameters_may_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "survey.toml"
    file.write_text('protocol = "vector"\nepsilon = 0.5\ndimension = 4\nnorm = "linf"\nmechanism = "duchi"\n')
    reports = run("randomize", "--parameters", file, given=b"1 1 0 0\n").stdout
    assert json.loads(reports)["epsilon"] == "1/2"
    assert json.loads(reports)["protocol"] == "vector/duchi"
    options = ["--vector", "--epsilon", "1/2", "--dimension", "4", "--norm", "linf", "--mechanism", "duchi"]
    assert json.loads(run("estimate", *options, "--json", given=reports).stdout)["reports"] == 1
    assert (
        json.loads(run("randomize", "--parameters", file, "--epsilon", "3", given=b"\n").stdout)["epsilon"]
        == "3"
    )


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("epsilon =", "survey.toml"),
        ("colour = 1", "colour"),
        ('protocol = "vector"\ndimension = "3"\nepsilon = 1', "wrong kind"),
        ('protocol = "vector"\ndimension = 3', "--epsilon"),
        ('protocol = "other"\nepsilon = 1', "protocol"),
    ],
)
def test_a_file_of_parameters_with_a_mistake_is_refused(tmp_path: Path, written: str, named: str) -> None:
    file = tmp_path / "survey.toml"
    file.write_text(written)
    assert named in run("randomize", "--parameters", file, code=2).stderr.decode()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([], "protocol"),
        (["--mean", "--vector", "--epsilon", "1"], "--vector"),
        (["--vector", "--dimension", "3"], "--epsilon"),
        (["--vector", "--epsilon", "1"], "--dimension"),
        (["--vector", "--dimension", "3", "--epsilon", "1", "--bounds", "0:1"], "--bounds"),
        (["--vector", "--dimension", "3", "--epsilon", "x"], "--epsilon"),
        ([*PROTOCOL, "--epsilon", "1"], "--epsilon"),
        ([*PROTOCOL, "--mechanism", "magic"], "--mechanism"),
    ],
)
def test_options_that_make_no_protocol_are_refused_before_a_line_is_read(
    words: list[str], named: str
) -> None:
    done = run("randomize", *words, given=b"0 0 0\n", code=2)
    assert done.stderr.decode().startswith(named)
    assert done.stdout == b""


def test_a_closed_pipe_ends_it_quietly(tmp_path: Path) -> None:
    (tmp_path / "values").write_text("0 0 0\n" * 100_000)
    shell = 'exec 2>errors; "$@" values | head -n 1 | wc -l'
    done = subprocess.run(
        ["sh", "-c", shell, "sh", *DENIABLE, "local", "randomize", *PROTOCOL],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.stdout.strip() == b"1"
    assert (tmp_path / "errors").read_text() == ""


def test_a_report_leaves_before_the_next_value_comes() -> None:
    with subprocess.Popen(
        [*DENIABLE, "local", "randomize", *PROTOCOL, "--bytes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(2):
            child.stdin.write(b"0 0 0\n")
            child.stdin.flush()
            assert len(child.stdout.readline()) == 2 * (9 + 6) + 1
        child.stdin.close()
    assert child.returncode == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo terminal")
def test_a_terminal_sees_how_far_it_is(tmp_path: Path) -> None:
    (tmp_path / "values").write_text("0 0 0\n" * 5000)
    main, side = os.openpty()
    command = [*DENIABLE, "local", "randomize", "values", *PROTOCOL, "--bytes"]
    shown = {**os.environ, "TERM": "xterm"}
    with open(tmp_path / "reports", "wb") as reports:
        child = subprocess.Popen(command, cwd=tmp_path, stdout=reports, stderr=side, env=shown)
    os.close(side)
    seen = b""
    try:
        while piece := os.read(main, 1 << 12):
            seen += piece
    except OSError:  # how Linux says that the other side has closed
        pass
    os.close(main)
    assert child.wait() == 0
    assert (tmp_path / "reports").read_bytes().count(b"\n") == 5000
    assert b"5,000 lines" in seen


@pytest.mark.parametrize("words", [[], ["randomize"], ["estimate"], ["compare"]])
def test_help_is_one_screen(words: list[str]) -> None:
    shown = run(*words, "--help").stdout.decode().splitlines()
    assert len(shown) <= 33
    assert max(map(len, shown)) <= 80


def test_frequency_domains_are_read() -> None:
    assert Setup(protocol="frequency", domain="3").items() == [0, 1, 2]
    assert Setup(protocol="frequency", domain="red,green").items() == ["red", "green"]
    assert Setup(protocol="frequency", domain=("a", "b")).items() == ["a", "b"]
    for wrong in ("1", "-4", "99999999999", None, "@nowhere"):
        with pytest.raises(ParameterError, match="domain"):
            Setup(protocol="frequency", domain=wrong).items()


def test_means_are_compared_with_the_limit_of_all_mechanisms() -> None:
    """The limit and the worst-case variances over it at epsilon 1, as published or computed elsewhere."""
    found = json.loads(run("compare", "--epsilon", "1", "--mean", "--json").stdout)
    over = {line["name"]: line["over"] for line in found["protocols"]}
    assert found["reference"]["error"] == pytest.approx(3.9906, rel=2e-3)
    expected = {"optimal": 1.0013, "hybrid": 1.075, "duchi": 1.173, "classified": 1.27, "piecewise": 1.309}
    expected["1-bit, remembered"] = expected["duchi"]
    for name, times in {**expected, "laplace": 2.0}.items():
        assert over[name] == pytest.approx(times, rel=5e-3)
    assert [line["error"] for line in found["protocols"]] == sorted(
        line["error"] for line in found["protocols"]
    )


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "3"])
def test_no_mean_is_below_the_limit_of_all_that_are_unbiased(epsilon: str) -> None:
    found = json.loads(run("compare", "--epsilon", epsilon, "--mean", "--json").stdout)
    assert min(line["over"] for line in found["protocols"]) >= 1


def test_frequencies_are_compared_at_the_published_variances() -> None:
    found = json.loads(run("compare", "--epsilon", "1", "--frequency", "--domain", "10", "--json").stdout)
    errors = {line["name"]: line["error"] for line in found["protocols"]}
    assert errors["response"] == pytest.approx(3.63025, rel=1e-5)
    assert errors["oue"] == pytest.approx(3.68269, rel=1e-5)
    assert errors["10 bits, remembered"] == pytest.approx(errors["sue"], rel=1e-6)
    assert {line["bytes"] for line in found["protocols"]} <= {*range(10, 14), 27, 29}


def test_protocols_for_keys_are_compared_at_the_published_variances() -> None:
    """At f = 0: b (1 - b) / (a - b)**2, with the a and b of PCKV; PrivKVM asks about one of 50 keys."""
    found = json.loads(run("compare", "--epsilon", "1", "--key-value", "--domain", "50", "--json").stdout)
    errors = {line["name"]: line["error"] for line in found["protocols"]}
    b = 2 / (np.e + 3)
    assert errors["pckv-ue"] == pytest.approx(b * (1 - b) / (0.5 - b) ** 2, rel=1e-6)
    lie = 1 / (1 + np.exp(0.5))
    assert errors["privkvm, 1 round"] == pytest.approx(50 * lie * (1 - lie) / (1 - 2 * lie) ** 2, rel=1e-6)
    assert found["protocols"][0]["name"] == "pckv-ue"


def test_padding_changes_which_protocol_for_keys_is_best_and_is_named(tmp_path: Path) -> None:
    """At f = 0, of 20 keys at epsilon 2: the published odds of PCKV-GRR and PCKV-UE, twice sampled."""
    asked = ("compare", "--epsilon", "2", "--key-value", "--domain", "20")
    best = [
        json.loads(run(*asked, "--padding", padding, "--json").stdout)["protocols"][0]["name"]
        for padding in ("1", "2")
    ]
    assert best == ["pckv-ue", "pckv-grr"]
    assert "Shares of 20 keys, epsilon 2, padding 1\n" in run(*asked).stdout.decode()
    assert "padding 2\n" in run(*asked, "--padding", "2", "--out", tmp_path / "a.svg").stdout.decode()
    assert "padding 2" in (tmp_path / "a.svg").read_text("utf-8")
    for wrong in ("0", "65"):
        assert run(*asked, "--padding", wrong, code=2).stderr.startswith(b"--padding")
    other = run("compare", "--epsilon", "2", "--mean", "--padding", "2", code=2)
    assert b"--padding is for --key-value alone" in other.stderr


def test_vectors_are_compared_at_the_published_errors() -> None:
    asked = ("compare", "--epsilon", "2", "--vector", "--dimension", "90", "--json")
    found = json.loads(run(*asked).stdout)
    assert found["reference"]["error"] / 90 == pytest.approx(1.60, rel=3e-3)
    assert found["protocols"][0]["name"] == "privunit"
    cube = json.loads(run(*asked, "--norm", "linf").stdout)
    scale = (np.exp(2) + 1) / (np.exp(2) - 1)
    errors = {line["name"]: line["error"] for line in cube["protocols"]}
    assert errors["harmony"] == pytest.approx(90 * 90 * scale**2, rel=1e-6)


def test_a_comparison_fits_the_terminal_and_makes_a_picture_and_a_page(tmp_path: Path) -> None:
    asked = ("compare", "--epsilon", "1", "--frequency", "--domain", "20")
    shown = run(*asked, "--out", tmp_path / "a.svg").stdout.decode()
    assert max(map(len, shown.splitlines())) <= 80
    assert "█" in shown
    drawing = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert "subset" in "".join(drawing.itertext())
    run(*asked, "--out", tmp_path / "b.html")
    page = (tmp_path / "b.html").read_text("utf-8")
    assert page.count("<tr>") == 1 + 9
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("http-equiv", "")
    for wrong in ("c.png", "no/folder/c.svg", "no/folder/c.html"):
        assert b"--out" in run(*asked, "--out", tmp_path / wrong, code=2).stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--mean"], "--epsilon"),
        (["--epsilon", "1"], "protocol"),
        (["--epsilon", "0", "--mean"], "--epsilon"),
        (["--epsilon", "1", "--frequency"], "--domain"),
        (["--epsilon", "1", "--vector"], "--dimension"),
        (["--epsilon", "1", "--vector", "--dimension", "9", "--norm", "l7"], "--norm"),
        (["--epsilon", "1", "--mean", "--domain", "9"], "--domain"),
        (["--epsilon", "700", "--mean"], "'700'"),
        (["--epsilon", "1e-9", "--frequency", "--domain", "9"], "'1e-9'"),
        (["--epsilon", "1e-9", "--vector", "--dimension", "9"], "'1e-9'"),
    ],
)
def test_what_cannot_be_compared_is_refused(words: list[str], named: str) -> None:
    assert named in run("compare", *words, code=2).stderr.decode()


@pytest.mark.parametrize(
    ("options", "lines", "truth"),
    [
        (["--mean", "--bounds", "0:100"], ["20", "30", "x", "1e9", "-5"], (20 + 30 + 50 + 100 + 0) / 5),
        (["--mean", "--bounds", "-1:1", "--mechanism", "duchi"], ["-1", "1", "1"], 1 / 3),
        (["--mean", "--bounds", "0:1", "--mechanism", "laplace"], ["", "1"], 0.75),
    ],
)
def test_a_mean_goes_through_both_ends(options: list[str], lines: list[str], truth: float) -> None:
    reports = run("randomize", *options, "--epsilon", "4", given="\n".join(lines * 2000).encode()).stdout
    assert reports.count(b"\n") == 2000 * len(lines)
    found = json.loads(run("estimate", *options, "--epsilon", "4", "--json", given=reports).stdout)
    assert abs(found["value"] - truth) < 6.5 * found["standard_error"]
    assert b" reports" in run("estimate", *options, "--epsilon", "4", given=reports).stdout


@pytest.mark.parametrize("options", [["--domain", "red,green,dark blue"], ["--domain", "@items"]])
def test_items_go_through_both_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items").write_text("red\ngreen\ndark blue\n")
    given = "\n".join(["red", "red", "dark blue", "ultraviolet"] * 1500).encode()
    asked = ["--frequency", *options, "--epsilon", "3"]
    reports = run("randomize", *asked, "--bytes", given=given).stdout
    found = json.loads(run("estimate", *asked, "--json", given=reports).stdout)
    assert found["items"] == ["red", "green", "dark blue"]
    expected = np.array([1 / 2, 0, 1 / 4]) + 1 / 12  # an outsider is a random item
    assert (np.abs(np.array(found["value"]) - expected) < 6.5 * np.array(found["standard_error"])).all()
    assert "dark blue" in run("estimate", *asked, given=reports).stdout.decode()


def test_whole_numbers_are_items_of_a_numbered_domain() -> None:
    setup = Setup(protocol="frequency", domain="10")
    assert [setup.reader()(line) for line in ("3", " 3 ", "10", "-1", "3.0", "", "x")] == [
        3,
        3,
        10,
        -1,
        "3.0",
        "",
        "x",
    ]
