# Everything runs in .venv, made on first use; PYTHON is the interpreter it is made with.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

# Tests of compiled loops run a second time as plain Python, on less data.
NOJIT := worked_numbers kernels features laws frames symbols tables

.PHONY: demo test lint types bench clean

demo: $(VENV)/.run
	@$(VENV)/bin/mvdfq demo

test: lint types
	@$(PY) -m pytest -q -n 2
	@echo "Once more without the compiler: $(NOJIT)"
	@NUMBA_DISABLE_JIT=1 MVDFQ_SMALL=1 $(PY) -m pytest -q -n 2 $(NOJIT:%=tests/test_%.py)

lint: $(VENV)/.dev
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --quiet --check .

types: $(VENV)/.dev
	@$(PY) -m mypy --no-error-summary

bench: $(VENV)/.run
	@set -e; for script in benchmarks/bench_*.py; do $(PY) $$script; done

clean:
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find src tests examples benchmarks tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "mvdfq needs Python 3.11 or newer: make PYTHON=python3.11 names another one."; exit 1; }
	@echo "Installing into $(VENV), once."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

# aeon, whose loaders the tests use, wants an older numba than ours for its own compiled code.
# The loaders have none: it is installed as it is, after the few packages that they import.
$(VENV)/.dev: $(VENV)/.run
	@$(PIP) --editable '.[dev]' deprecated packaging pandas typing-extensions
	@$(PIP) --no-deps 'aeon>=1.0'
	@touch $@
