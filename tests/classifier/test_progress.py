"""How far a fit has come is told on the error stream and to callbacks; Ctrl-C ends it."""

import signal
import subprocess
import sys
import threading
import time

import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mvdfq import (
    Delta,
    DirectQuantizer,
    SequenceClassifier,
    SequenceClassifierCV,
    Spectrum,
    make_autoregressive,
)

X, Y = make_autoregressive(24, 2, (20, 40), n_classes=3, random_state=0)
STAGES = ["kernel", "machines"]


def quick(**options):
    """A classifier that takes a hundredth of a second."""
    parts = {"preset": "mvdfqm-spectrum", "symbols": DirectQuantizer(4), "kernel": Spectrum(2)}
    return SequenceClassifier(**{**parts, "C": 10, "cv": 2, **options})


@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_verbose_draws_a_bar_on_the_error_stream(capfd, solver):
    quick(verbose=True, solver=solver).fit(X, Y)
    out, err = capfd.readouterr()
    assert out == ""
    assert [word for word in err.split() if word in STAGES] == STAGES


class Talker(Delta):
    """Frames of a user who prints."""

    def fit(self, X, y=None):
        print("a result")
        return super().fit(X, y)


def test_the_bar_leaves_what_others_print_where_it_belongs(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the error stream for a terminal
    quick(frames=Talker(), verbose=True).fit(X, Y)
    assert capfd.readouterr().out == "a result\n"


def test_nothing_is_written_unless_asked_for(capfd):
    quick().fit(X, Y).predict(X)
    assert capfd.readouterr() == ("", "")


def test_the_bar_ends_with_an_error(capfd, monkeypatch):
    monkeypatch.setattr("mvdfq.gram.kernel.gram", None)
    before = set(threading.enumerate())
    with pytest.raises(TypeError):
        quick(verbose=True).fit(X, Y)
    deadline = time.perf_counter() + 5  # its thread is told to end, and takes a moment
    while set(threading.enumerate()) - before and time.perf_counter() < deadline:
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


class Recorder:
    """A callback of scikit-learn that writes down what it hears."""

    max_propagation_depth = None

    def __init__(self, interrupt_at=None):
        self.heard, self.interrupt_at = [], interrupt_at

    def setup(self, estimator, context):
        self.heard.append("setup")

    def teardown(self, estimator, context):
        self.heard.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.heard.append(f"end {context.task_name}")
        if self.interrupt_at == (context.parent and context.parent.task_name, context.task_name):
            raise KeyboardInterrupt

    @property
    def stages(self):
        """What was heard, without the steps in percent."""
        return [line for line in self.heard if not line.endswith("%")]


FIT = [f"{what} {name}" for name in STAGES for what in ("begin", "end")]
FIT = ["begin fit", *FIT, "end fit"]


@pytest.fixture
def recorder():
    pytest.importorskip("sklearn.callback")
    return Recorder()


@pytest.mark.parametrize("options", [{}, {"solver": "linear"}, {"n_jobs": 2}])
def test_callbacks_hear_of_every_stage(recorder, options):
    quick(**options).set_callbacks(recorder).fit(X, Y)
    assert recorder.stages == ["setup", *FIT, "teardown"]
    steps = [f"{what} {n} %" for n in range(1, 101) for what in ("begin", "end")]
    assert [line for line in recorder.heard if line.endswith("%")] == steps * 2


def test_callbacks_are_told_of_the_end_after_an_error(recorder, monkeypatch):
    monkeypatch.setattr("mvdfq.gram.kernel.gram", None)
    with pytest.raises(TypeError):
        quick().set_callbacks(recorder).fit(X, Y)
    assert recorder.stages == ["setup", *FIT[:2], "teardown"]


def test_callbacks_are_told_of_the_end_where_training_data_are_refused(recorder):
    with pytest.raises(ValueError, match="entries"):
        quick().set_callbacks(recorder).fit(X, Y[1:])
    assert recorder.stages == ["setup", "begin fit", "teardown"]


def test_callbacks_reach_through_grid_search(recorder):
    search = GridSearchCV(quick(), {"C": [1, 10]}, cv=2).set_callbacks(recorder)
    search.fit(X, Y)
    heard = recorder.stages
    assert [line for line in heard if line in FIT[1:-1]] == FIT[1:-1] * 5
    assert [heard[0], heard[-1]] == ["setup", "teardown"]
    assert heard.count("teardown") == 1


@pytest.mark.filterwarnings("ignore:The estimator Delta does not support callbacks")
def test_callbacks_reach_through_pipelines_and_our_own_search(recorder):
    search = SequenceClassifierCV(quick(), {"kernel": [Spectrum(1), Spectrum(2)]})
    make_pipeline(Delta(), search).set_callbacks(recorder).fit(X, Y)
    assert [line for line in recorder.stages if line in FIT[1:-1]] == FIT[1:-1] * 2
    assert recorder.stages.count("teardown") == 1


def test_callbacks_change_nothing(recorder):
    told = quick().set_callbacks(recorder).fit(X, Y)
    plain = quick().fit(X, Y)
    assert set(vars(told)) - set(vars(plain)) == {"_skl_callbacks"}
    assert told.decision_function(X).tobytes() == plain.decision_function(X).tobytes()


@pytest.mark.parametrize("searched", [False, True])
def test_the_progress_bar_of_scikit_learn(capfd, searched):
    callback = pytest.importorskip("sklearn.callback")
    classifier = SequenceClassifierCV(quick()) if searched else quick()
    classifier.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, Y)
    out, err = capfd.readouterr()
    assert "SequenceClassifier - machines" in out
    assert "100%" in out
    assert err == ""


WITHOUT_CALLBACKS = """
import sys
import mvdfq.classifier.search
sys.modules["sklearn.callback"] = None  # as it is before scikit-learn 1.9
rooms = "_utils.progress", "classifier.learning", "classifier.estimator", "classifier.search"
for room in rooms:
    del sys.modules[f"mvdfq.{room}"]
from mvdfq.classifier.estimator import SequenceClassifier
from mvdfq.classifier.search import SequenceClassifierCV
classifier = SequenceClassifier(kernel="spectrum", verbose=True)
assert not hasattr(classifier, "set_callbacks")
for one in (classifier, SequenceClassifierCV(classifier, {"C": [1, 10]})):
    one.fit(["ABAB", "BABA", "CCCC", "CCC"], [0, 0, 1, 1])
    print(*one.predict(["BABAB", "CCCCC"]))
"""


@pytest.mark.slow
def test_scikit_learn_without_callbacks():
    command = [sys.executable, "-c", WITHOUT_CALLBACKS]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0 1\n0 1\n"
    assert "machines" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("stage", STAGES)
def test_interrupt_at_every_stage_leaves_no_threads(n_jobs, stage):
    pytest.importorskip("sklearn.callback")
    before = set(threading.enumerate())
    classifier = quick(n_jobs=n_jobs).set_callbacks(Recorder(interrupt_at=(stage, "50 %")))
    with pytest.raises(KeyboardInterrupt) as caught:
        classifier.fit(X, Y)
    assert not set(threading.enumerate()) - before
    del caught  # only now: who holds the traceback, as notebooks do, must not hold threads
    assert classifier.set_callbacks().fit(X, Y).score(X, Y) > 0.5


LONG_FIT = """
import signal, threading, time
import mvdfq
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell ignores Ctrl-C
X, y = mvdfq.make_autoregressive(1500, 2, 200, random_state=0)
classifier = mvdfq.SequenceClassifier(
    "mvdfq-spectrum", symbols="direct", kernel="subsequence", n_jobs=2, cv=2, verbose=True
)
classifier.fit(X[:8], y[:8])  # compiles
print("ready", flush=True)
try:
    classifier.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
time.sleep(0.5)  # the bar's own thread takes a moment to end
print(*[thread.name for thread in threading.enumerate()], flush=True)
print(len(classifier.fit(X[:8], y[:8]).predict(X)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.slow
def test_control_c():
    with subprocess.Popen(
        [sys.executable, "-c", LONG_FIT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "interrupted\n"
        assert time.perf_counter() - start < 5  # the whole of it takes a minute
        assert process.stdout.readline() == "MainThread\n"
        assert process.stdout.readline() == "1500\n"  # the next fit works
