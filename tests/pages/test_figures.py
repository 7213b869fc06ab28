"""Figures and notebook pictures: they hold the numbers they are made of, and escape names."""

from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

import mvdfq
from mvdfq import figures


@pytest.fixture(scope="module")
def data():
    X, y = mvdfq.load_japanese_vowels(split="train")
    return mvdfq.check_sequences(list(X[:90]), channel_names=["<b>", *"abcdefghijk"]), y[:90]


@pytest.fixture(scope="module")
def clf(data):
    return mvdfq.SequenceClassifier("mvdfqm-sssk", C=10).fit(*data)


@pytest.fixture(scope="module")
def evaluation(data):
    return mvdfq.evaluate(mvdfq.SequenceClassifier("mvdfqm-sssk", C=10), *data, protocol="2-fold")


def test_confusions_and_map_show_their_numbers(evaluation):
    drawn = figures.confusion(evaluation)
    texts = [int(text.get_text()) for text in drawn.axes[0].texts]
    matrix = evaluation.confusion
    assert texts == matrix.ravel().tolist()
    columns = {"x": [0.0, 1.0], "y": [2.0, 3.0], "truth": [0, 1], "predicted": [0, 0]}
    data = {"sequences": columns, "classes": ["_a$", "b"], "map": {"told_apart": [0.5, 0.2]}}
    *classes, wrong = figures.map_of(data).axes[0].collections
    assert_allclose(wrong.get_offsets(), [[1, 3]])
    assert len(classes) == 2


def test_labels_of_confusions_are_no_formulas():
    labels = ["$x_$", "_b"]
    evaluation = SimpleNamespace(labels=labels, confusion=np.eye(2, dtype=int))
    drawn = figures.confusion(evaluation)
    drawn.savefig(BytesIO())  # raised an error of a parser
    shown = [text.get_text().replace("\\$", "$") for text in drawn.axes[0].get_xticklabels()]
    assert [text.removeprefix("\u200b") for text in shown] == labels


def test_evidence_below_is_the_sum_of_the_channels(clf, data):
    why = clf.explain(data[0][[0]])
    drawn = figures.evidence(why, data[0][[0]])
    column, sign = why.column()
    above, below = (patch.get_data().values for patch in drawn.axes[-1].patches)
    assert_allclose(above + below, sign * why.by_time[column], atol=1e-12)
    assert len(drawn.axes) == 13


@pytest.mark.filterwarnings("ignore:No known word is found")
def test_evidence_of_nothing_is_drawn(clf):
    nothing = np.zeros((12, 0))
    figures.evidence(clf.explain(nothing), nothing).savefig(BytesIO())


def test_importance_is_drawn(clf):
    bars = figures.importance(clf, most=3).axes[0].patches
    largest = np.sort(clf.feature_importance_)[-3:]
    assert_allclose([bar.get_width() for bar in bars], largest)


def test_the_figures_of_the_paper(data):
    X = data[0]
    book = mvdfq.CodebookQuantizer(6).fit(X)
    drawn = figures.codebook(book, X[[0]])
    codes = drawn.axes[1].patches[0].get_data().values
    assert_allclose(codes, book.transform(X[[0]])[0][0])
    bins = mvdfq.DirectQuantizer(5).fit(X)
    mesh = figures.direct(bins, X[[0]]).axes[1].collections[0]
    assert_allclose(np.asarray(mesh.get_array()).ravel(), bins.transform(X[[0]])[0].ravel())


def test_explanations_are_drawn_by_the_room(clf, data):
    assert isinstance(clf.explain(data[0][[0]]).plot(), Figure)


def test_notebooks_show_tables_with_escaped_names(clf, data, evaluation):
    why = clf.explain(data[0][[0]])
    clf = mvdfq.SequenceClassifier("fast").fit(*data)
    channels = clf._repr_html_().partition("channels that matter")[2]  # before: scikit-learn's
    for shown in (channels, why._repr_html_(), evaluation._repr_html_()):
        assert "<b>" not in shown
        assert "<td>" in shown
    assert "channels that matter" in clf._repr_html_()
    assert "&lt;b&gt;" in why._repr_html_() + clf._repr_html_()
    assert f"{evaluation.accuracy:.2%}" in evaluation._repr_html_()


def test_a_notebook_shows_an_unfitted_classifier():
    assert "channels that matter" not in mvdfq.SequenceClassifier()._repr_html_()
