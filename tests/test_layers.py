"""The tree is the system: a module imports only what stands above it in this list."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "deniable"
LAYERS = (
    "errors brackets exact bits guarantees publish events noise accounting mechanisms selection advice "
    "ledger engines query local learn audit studies examples cli"
).split()
ONLY = {
    "publish": {"errors", "brackets", "exact", "guarantees"},
    "engines": {"errors", "exact"},
}
ENGINES = {"duckdb", "pyspark"}
ENTROPY = {"os.urandom", "secrets", "random", "numpy.random"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def layer(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The dotted names that a file imports anywhere, typing-only imports included."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports in full"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_what_stands_above_it(path: Path) -> None:
    here = layer(path)
    assert here in LAYERS, f"{here} has no place in the list of layers"
    for name in imported(path):
        if name.startswith("deniable."):
            other = name.split(".")[1]
            if other in LAYERS and other != here:
                assert LAYERS.index(other) < LAYERS.index(here), f"{path} imports {name}"
                assert other in ONLY.get(here, set(LAYERS)), f"{path} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_engines_imports_an_engine(path: Path) -> None:
    if layer(path) != "engines":
        assert not {name.split(".")[0] for name in imported(path)} & ENGINES


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_bits_draws_entropy(path: Path) -> None:
    if path.name == "bits.py":
        return
    assert not any(
        name == source or name.startswith(f"{source}.") for name in imported(path) for source in ENTROPY
    )
    words = path.read_text("utf-8")
    assert "urandom" not in words
    assert "np.random" not in words


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = "duckdb scipy sqlalchemy pandas polars pyspark pyarrow numpy rich typer jinja2 sqlglot"
    program = f"import sys, deniable; print([name for name in '{heavy}'.split() if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_resolves() -> None:
    program = "import deniable as dn; [getattr(dn, name) for name in dn.__all__]"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
