# make demo   sets up and runs the main job      make check    lint, format, types, layers
# make test   sets up and passes the tests       make faults   plants one-line faults; all must be caught
# make bench  measures, prints tables            make docs     rewrites the generated pages
# make audit  audits every claim that ships

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check faults audit bench docs clean
.DEFAULT_GOAL := demo

demo: $(READY)-run
	@$(BIN)/deniable demo

test: $(READY)-test
	$(BIN)/python -m pytest -n auto --dist worksteal

check: $(READY)-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py

faults: $(READY)-test
	$(BIN)/python tests/faults/run.py

audit: $(READY)-run
	$(BIN)/deniable audit --all --trials 300

bench: $(READY)-test
	$(BIN)/python -m benchmarks.run

docs: $(READY)-test
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis demo

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("deniable needs Python 3.11 or newer; name one with: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(READY)-run: pyproject.toml | $(BIN)/python
	@echo "Setting up in $(VENV) (once, about a minute) ..."
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(READY)-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $(READY)-run $@

$(READY)-check: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[test,check]"
	@touch $(READY)-run $(READY)-test $@
