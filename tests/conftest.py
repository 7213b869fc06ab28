"""Settings of the whole suite: random examples, and the tests that need data from elsewhere."""

import importlib
import os
import sys
import tempfile
from pathlib import Path

# Two processes share two cores: more threads of the linear algebra library would only wait for
# each other. NumPy reads this when it is first imported; commands that tests start inherit it.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from made_results import made_artist, made_genre

# Less data where the compiler is off.
SMALL = bool(os.environ.get("MVDFQ_SMALL")) or os.environ.get("NUMBA_DISABLE_JIT") == "1"
DATA = os.environ.get("MVDFQ_DATA")
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

# Tests leave the cache of whoever runs them alone; commands that tests start inherit this.
os.environ["MVDFQ_CACHE"] = tempfile.mkdtemp(prefix="mvdfq-cache-")

# No deadline, since the first call of a compiled function is slow; the same examples in every
# run, so that a red suite stays red until something is changed.
settings.register_profile(
    "suite", deadline=None, derandomize=True, max_examples=10 if SMALL else 50
)
settings.load_profile("suite")


def size(usual, small):
    """How much data a test takes: `usual`, or `small` where the compiler is off."""
    return small if SMALL else usual


# Test files that `make quick` leaves out: they train many classifiers, start many processes or
# repeat on more options what a quick file tests.
# In other files the marker `slow` stands at the tests themselves.
SLOW_FILES = {
    "test_adding",
    "test_audio",
    "test_baselines",
    "test_cli",
    "test_conformance",
    "test_demo",
    "test_evidence",
    "test_examples",
    "test_features",
    "test_homology",
    "test_model_file",
    "test_readme",
    "test_reproduce",
    "test_reproduce_tables",
}


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run tests marked `long` as well")


def pytest_configure(config):
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        # compiled loops let whole numbers overflow
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered")
    if config.getoption("--all") and not SMALL:
        # Fuzzing: many more examples, other ones in every run.
        settings.register_profile("fuzz", deadline=None, max_examples=300)
        settings.load_profile("fuzz")


@pytest.hookimpl(tryfirst=True)  # before -m selects tests by their markers
def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    for item in items:
        if item.path.stem in SLOW_FILES:
            item.add_marker(pytest.mark.slow)
    on_card = [item for item in items if item.get_closest_marker("gpu")]
    if on_card and not _has_card():
        for item in on_card:
            item.add_marker(pytest.mark.skip(reason="torch finds no graphics card"))
    if DATA is None:
        for item in items:
            if item.get_closest_marker("data"):
                item.add_marker(pytest.mark.skip(reason="MVDFQ_DATA does not name a folder"))


def _has_card():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


@pytest.fixture
def two_blas_threads():
    """The linear algebra library with two threads, for tests of what must not depend on them."""
    with threadpool_limits(2):
        yield


@pytest.fixture(scope="session")
def data_folder():
    """Where the data sets of tests marked `data` lie."""
    return Path(DATA)


@pytest.fixture(scope="session")
def genre():
    """A table of genres as it may come out."""
    return made_genre()


@pytest.fixture(scope="session")
def artist():
    """A table of artists as it may come out."""
    return made_artist()


@pytest.fixture
def load(monkeypatch):
    """Return a function that imports a script of benchmarks/ and forgets it after the test."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == BENCHMARKS:
            del sys.modules[name]
