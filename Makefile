# Everything runs in .venv, made on first use; PYTHON is the interpreter that .venv is made with.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
# Two processes share the tests; a process that runs out of tests takes some of the other's.
PYTEST := $(PY) -m pytest -q -n 2 --dist worksteal

# Tests of compiled loops run a second time as plain Python, which sees an index beyond an array,
# on less data.
NOJIT := kernels/test_worked_numbers.py kernels/test_kernels.py kernels/test_features.py
NOJIT += kernels/test_products.py kernels/test_laws.py frames/test_frames.py symbols/test_symbols.py
NOJIT += terms/test_word_tables.py
NOJIT += terms/test_evidence.py::test_evidence_stands_where_the_words_start
NOJIT += terms/test_reasons.py::test_evidence_of_words_follows_the_formulas
NOJIT += terms/test_reasons.py::test_evidence_of_filters_follows_the_formulas

.PHONY: demo quick test test-all coverage lint types bench docs build clean
.PHONY: quick-tests main-tests all-tests plain-tests beside
.PHONY: check test-oldest fuzz audit

# Tests start many processes, which then read compiled modules instead of compiling them again.
unexport PYTHONDONTWRITEBYTECODE

demo: $(VENV)/.run
	@$(VENV)/bin/mvdfq demo

# $(call timed,SECONDS,TARGETS) makes the targets and says how long they took. SECONDS is the
# limit on two quiet cores, after installation: whoever adds tests keeps within the limit.
timed = @start=$$(date +%s); $(MAKE) --no-print-directory $(2) && \
    echo "make $@ took $$(($$(date +%s) - start)) s; the limit on two quiet cores is $(1) s."

quick: $(VENV)/.dev
	$(call timed,60,lint quick-tests)

test: $(VENV)/.dev
	$(call timed,360,lint beside main-tests)

test-all: $(VENV)/.dev
	$(call timed,2400,lint beside all-tests)

# A test that --durations lists here deserves the marker `slow`.
quick-tests:
	@$(PYTEST) -m "not slow" --durations=5 --durations-min=2

main-tests:
	@$(PYTEST) --durations=10 --durations-min=5

all-tests:
	@$(PYTEST) --all --durations=10 --durations-min=5

# mypy works on one core alone, so the plain tests run at the same time.
beside:
	@$(MAKE) --no-print-directory --jobs 2 types plain-tests

plain-tests:
	@echo "Tests of compiled loops, without the compiler:"
	@NUMBA_DISABLE_JIT=1 MVDFQ_SMALL=1 $(PYTEST) $(NOJIT:%=tests/%)

# Lines of compiled functions are seen only where the compiler is off, so the tests of compiled
# loops run a second time and add their lines to the lines of the first run.
coverage: $(VENV)/.dev
	@$(PYTEST) --cov --cov-report=
	@NUMBA_DISABLE_JIT=1 MVDFQ_SMALL=1 $(PYTEST) --cov --cov-append $(NOJIT:%=tests/%)

# The lower bounds of pyproject.toml, and no newer version of these packages, pass the quick tests
# and the tests of sound, of the methods of others and of the cluster.
# Newer packages of others (click below an old typer) warn of what old ones call.
OLD := .venv-oldest/bin/python
test-oldest:
	@$(PYTHON) -m venv .venv-oldest
	@$(OLD) -m pip install --quiet --disable-pip-version-check \
	    $$($(PYTHON) tools/lower_bounds.py) pytest pytest-xdist hypothesis
	@$(OLD) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@$(OLD) -m pytest -q -n 2 -m "not slow" -W ignore::DeprecationWarning \
	    $$($(PYTHON) tools/lower_bounds.py --tests)
	@$(OLD) -m pytest -q -n 2 -m slow -W ignore::DeprecationWarning \
	    $$($(PYTHON) tools/lower_bounds.py --extras)

# An hour of fuzzing; failures are written to fuzz-failures.
fuzz: $(VENV)/.dev
	@$(PY) tools/fuzz.py --seconds 3600

# Before a release. A machine without the network cannot audit, and says so.
check: test
	@$(MAKE) --no-print-directory audit AUDIT=--if-reachable

# Known vulnerabilities of the installed packages; the list comes from the network.
audit: $(VENV)/.dev
	@$(PY) tools/audit.py $(AUDIT)

lint: $(VENV)/.dev
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --quiet --check .

types: $(VENV)/.dev
	@$(PY) -m mypy --no-error-summary

bench: $(VENV)/.run
	@set -e; for script in benchmarks/bench_*.py; do $(PY) $$script; done

# Sphinx makes the site; a warning, such as a link that leads nowhere, is an error.
docs: $(VENV)/.docs
	@$(PY) -m sphinx -W --keep-going -q -b html docs build/docs
	@$(PY) tools/check_site.py build/docs
	@echo "The site is in build/docs/index.html."

# An sdist, and a wheel made from the sdist: what the sdist lacks, the wheel lacks too. The time of the
# last commit stands in both files, so that anyone can build the same bytes.
build: $(VENV)/.dev
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(PY) -m build --outdir dist .
	@$(PY) -m twine check --strict dist/*

clean:
	@rm -rf $(VENV) .venv-oldest fuzz-failures build dist docs/api docs/gallery .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find src tests examples benchmarks tools -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(VENV)/.run: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "mvdfq needs Python 3.11 or newer: make PYTHON=python3.11 names another one."; exit 1; }
	@echo "Installing into $(VENV), once."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

$(VENV)/.docs: $(VENV)/.run
	@$(PIP) --editable '.[docs]'
	@touch $@

# The tests use the loaders of aeon. The compiled code of aeon wants an older numba than ours,
# but the loaders are not compiled: aeon is installed without its dependencies, after the few
# packages that the loaders import.
# The tests of the GPU engine run with torch on the processor. One exact version: where the packages
# come from, a range may be resolved to a build with gigabytes of CUDA libraries.
TORCH := 2.13.0
$(VENV)/.dev: $(VENV)/.run
	@$(PIP) --editable '.[dev]' deprecated packaging pandas typing-extensions
	@$(PIP) --no-deps 'aeon>=1.0'
	@$(PIP) torch==$(TORCH)
	@touch $@
