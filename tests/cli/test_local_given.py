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
