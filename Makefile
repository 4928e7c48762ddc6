# make setup  the environment in .venv          make demo  from tables to predictions, on a built-in graph
# make test   set-up, then the tests            make lint  ruff and mypy
# make docs   the documentation, in build/docs/index.html; a warning is an error
# Tests of pages need Chromium (Debian: apt-get install chromium); without it they are skipped.
# make wheel     the wheel in an empty environment, every dependency downloaded: some minutes
# make bench     each mark of speed and memory, met or not: an hour; make bench BENCH=--quick: two minutes
# make campaign  10,000 spoilt inputs, 100 kills, every failing call: half an hour
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: setup demo test lint docs wheel bench campaign

setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: setup
	$(BIN)/python examples/demo.py

test: setup
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4 --dist loadgroup

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: setup
	rm -rf docs/tutorials
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --fail-on-warning --quiet docs build/docs
	@echo "Open build/docs/index.html"

wheel: setup
	OTHERHALF_EMPTY_ENVIRONMENT=1 $(BIN)/python -m pytest tests/test_wheel.py

bench: setup
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks $(BENCH)

campaign: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.campaign
