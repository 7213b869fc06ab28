"""What takes minutes: kills at random moments, and a soak. Run by `make test-all`."""

import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import mvdfq
from mvdfq.io import write_ts

pytestmark = pytest.mark.long


def test_gram_killed_at_random_moments_ends_with_the_same_matrix(tmp_path):
    X, y = mvdfq.make_autoregressive(420, 4, 300, n_classes=3, random_state=0)
    data = tmp_path / "made.ts"
    write_ts(data, X, y)
    options = ["--preset", "mvdfqm-spectrum", "-q"]
    command = [sys.executable, "-m", "mvdfq", "gram", str(data), *options, "-o"]
    begin = time.perf_counter()
    subprocess.run([*command, str(tmp_path / "whole.npy")], check=True)
    whole = time.perf_counter() - begin
    rng = np.random.default_rng(0)
    for _ in range(10):
        process = subprocess.Popen([*command, str(tmp_path / "killed.npy")])
        time.sleep(rng.uniform(0.3, 1) * whole)
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*command, str(tmp_path / "killed.npy")], check=True)
    whole, killed = (np.load(tmp_path / f"{name}.npy") for name in ("whole", "killed"))
    assert np.array_equal(killed, whole)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_classifier_that_predicts_all_day_takes_no_more_memory():
    X, y = mvdfq.load_japanese_vowels(split="train")
    clf = mvdfq.SequenceClassifier().fit(X, y)
    clf.predict(X)
    tracemalloc.start()
    clf.predict(X)
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(40):
        clf.predict(X[:20])
        clf.explain(X[0])
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 2**20
