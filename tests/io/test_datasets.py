"""The bundled set is whole; synthetic sequences are what their docstring promises."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mvdfq.datasets import load_japanese_vowels, make_autoregressive

# Published with the set: utterances of each speaker in the test part.
TEST_COUNTS = {"1": 31, "2": 35, "3": 88, "4": 44, "5": 29, "6": 24, "7": 40, "8": 50, "9": 29}


@pytest.mark.parametrize(
    ("split", "counts", "lengths"),
    [("train", dict.fromkeys(TEST_COUNTS, 30), (7, 26)), ("test", TEST_COUNTS, (7, 29))],
)
def test_japanese_vowels_are_whole(split, counts, lengths):
    X, y = load_japanese_vowels(split)
    assert Counter(y.tolist()) == counts
    assert {x.shape[0] for x in X} == {12}
    assert (min(x.shape[1] for x in X), max(x.shape[1] for x in X)) == lengths
    assert len(X) == len(y)


def test_japanese_vowels_hold_the_published_numbers():
    X, _ = load_japanese_vowels()
    # The first and the last line of the published text.
    assert_array_equal(X[0][0, :4], [1.860936, 1.891651, 1.939205, 1.717517])
    assert_array_equal(X[-1][0, :4], [1.421622, 1.601568, 1.372168, 1.114734])
    assert_array_equal(X[-1][1, :4], [-0.386758, -0.401418, -0.601565, -0.643728])


@pytest.mark.data
@pytest.mark.parametrize("split", ["train", "test"])
def test_japanese_vowels_equal_the_archive(data_folder, split):
    X, y = load_japanese_vowels(split)
    with np.load(data_folder / "uea/JapaneseVowels.npz") as archive:
        assert_array_equal(np.hstack(X).T.astype(np.float32), archive[f"{split}_x"])
        assert_array_equal([x.shape[1] for x in X], archive[f"{split}_len"])
        assert_array_equal(y, archive[f"{split}_y"])


def test_both_parts_together_are_train_then_test():
    X, y = load_japanese_vowels()
    X_train, y_train = load_japanese_vowels("train")
    X_test, y_test = load_japanese_vowels("test")
    assert_array_equal(y, [*y_train, *y_test])
    for one, other in zip(X, X_train + X_test, strict=True):
        assert_array_equal(one, other)


def test_loaded_data_belong_to_the_caller():
    X, _ = load_japanese_vowels("train")
    expected = X[1].copy()
    X[0][:] = 0  # neither its neighbour nor the next caller may notice
    assert_array_equal(X[1], expected)
    assert load_japanese_vowels("train")[0][0].any()


def test_unknown_split_is_refused():
    with pytest.raises(ValueError, match=r'split must be "train", "test" or None, got \'valid\''):
        load_japanese_vowels("valid")


def test_autoregressive_repeats_with_its_seed():
    first, again = (make_autoregressive(5, 2, (10, 20), 3, random_state=7) for _ in range(2))
    assert_array_equal(first[1], again[1])
    for one, other in zip(first[0], again[0], strict=True):
        assert_array_equal(one, other)
    other_seed, _ = make_autoregressive(5, 2, (10, 20), 3, random_state=8)
    assert not np.array_equal(first[0][0], other_seed[0])


def test_autoregressive_has_the_sizes_asked_for():
    X, y = make_autoregressive(50, 4, (5, 9), n_classes=3, random_state=0)
    assert {x.shape for x in X} == {(4, n) for n in range(5, 10)}
    assert sorted(Counter(y.tolist()).values()) == [16, 17, 17]
    assert {x.shape for x in make_autoregressive(3, 4, 6)[0]} == {(4, 6)}


def test_autoregressive_classes_differ_only_in_their_dynamics():
    X, y = make_autoregressive(60, 3, 2000, n_classes=2, random_state=0)
    for label in (0, 1):
        block = np.stack([x for x, of in zip(X, y, strict=True) if of == label])
        assert_allclose(block.mean(axis=(0, 2)), 0, atol=0.1)
        assert_allclose(block.var(axis=(0, 2)), 1, rtol=0.1)  # stationary: all along the time
        assert_allclose(block[:, :, :50].var(axis=(0, 2)), 1, rtol=0.5)
    steps = np.array([np.diff(x).var(axis=1) for x in X])
    between = np.abs(steps[y == 0].mean(axis=0) - steps[y == 1].mean(axis=0))
    assert (between / steps.std(axis=0)).max() > 1


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_sequences": 0}, "must be at least 1, got 0, 13 and 2"),
        ({"n_timepoints": (9, 5)}, "got shortest=9 and longest=5"),
        ({"n_timepoints": 0}, "got shortest=0 and longest=0"),
    ],
)
def test_impossible_sizes_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        make_autoregressive(**sizes)
