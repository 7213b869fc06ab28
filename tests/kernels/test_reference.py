"""The matrices shipped by the author of the kernels come out equal in all 10**6 entries."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.io import loadmat

from conftest import size
from mvdfq import SequenceKernel, Spatial

CASES = [
    ("double", Spatial(t=2, k=1, d=5), [26278, 2488, 2721]),
    ("triple", Spatial(t=3, k=1, d=3), [30037, 906, 528]),
]
N = size(1000, 5)
pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def sequences(data_folder):
    cells = loadmat(data_folder / "sssk_reference/example_seq.mat")["seq"].ravel()
    return [np.asarray(cell).ravel().astype(np.int64) for cell in cells[:N]]


@pytest.mark.parametrize(("name", "kernel", "beginning"), CASES, ids=["double", "triple"])
@pytest.mark.slow
def test_the_authors_own_matrix(data_folder, sequences, name, kernel, beginning):
    path = data_folder / f"sssk_reference/example_kernel_{name}.mat"
    expected = loadmat(path)["K"][:N, :N]
    K = SequenceKernel(kernel, normalize=False).fit_transform(sequences)
    assert_array_equal(K[0, :3], beginning)
    assert_array_equal(K, expected)
