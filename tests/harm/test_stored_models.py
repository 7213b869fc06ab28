"""Model files that earlier versions wrote still load and still answer the same."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mvdfq

MODELS = sorted((Path(__file__).parents[1] / "models").glob("*.mvdfq"))

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*lie outside the range"),
    pytest.mark.filterwarnings("ignore:.*The kernel finds no word"),
    pytest.mark.filterwarnings("ignore:.*No known word"),
]


def sequences(stored):
    if "letters" in stored:
        return stored["letters"].tolist()
    return np.split(stored["data"], np.cumsum(stored["lengths"])[:-1], axis=1)


def test_every_family_and_quantizer_has_a_stored_model():
    assert len(MODELS) >= 22


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_stored_model_answers_as_it_did(path):
    model = mvdfq.load(path)
    with np.load(path.with_suffix(".npz")) as stored:
        X = sequences(stored)
        # Two builds of a linear algebra library round differently, so not to the last bit.
        assert_allclose(model.decision_function(X), stored["decision"], rtol=1e-5, atol=1e-6)
        assert_array_equal(np.asarray(model.predict(X)).astype(str), stored["labels"])
