"""JSON that commands print has letters as they are: one function writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

import deniable.cli

FOLDER = Path(deniable.cli.__file__).parent


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_commands_print_json_by_one_function(path: Path) -> None:
    if path.stem != "screens":
        assert ".dumps(" not in path.read_text("utf-8")
