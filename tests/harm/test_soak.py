"""What takes minutes: a soak. Run by `make test-all`."""

import tracemalloc

import pytest

import mvdfq

pytestmark = pytest.mark.long


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
