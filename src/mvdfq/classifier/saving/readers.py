"""Checks of collections, plans, vocabularies and readers that come from a model file."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_positive, check_whole
from mvdfq.frames.learned import check_array, require
from mvdfq.gram.vocabulary import Vocabulary


def _check_symbols(value: Any) -> None:
    _check_alphabets(value.n_symbols, len(value.data))
    known = (value.data < value.n_symbols[:, None]) | (value.data == value.missing)
    require(known.all(), "data must hold symbols below n_symbols, got a larger symbol")


def _check_alphabets(n_symbols: np.ndarray, n_rows: int) -> None:
    check_array(n_symbols, "n_symbols", (n_rows,), np.int64)
    known = (n_symbols >= 0).all() and (n_symbols < 2**32).all()
    require(known, f"n_symbols must be from 0 to 2**32 - 1, got {n_symbols}")


def _check_plan(value: Any) -> None:
    value.kernel.check()
    _check_alphabets(value.n_symbols, len(value.row_weights))
    _check_weights(value.row_weights, "row_weights")
    if value.group_weights is not None:
        _check_weights(value.group_weights, "group_weights")
        n, found = len(value.kernel.groups(int(value.n_symbols[0]))), value.group_weights.size
        require(n == found, f"group_weights must have {n} entries, one per group, got {found}")
    check_whole(value.n_levels, "n_levels", at_most=16)
    for (r, _), words in value.vocabularies.items():
        _check_words(words, "vocabularies")
        k = value.kernel.k
        fits = words.shape[1] == k and (words < value.n_symbols[r]).all()
        require(fits, f"vocabularies must hold words of {k} symbols of the alphabet of row {r}")
    if value.word_factors is not None:
        words = {place: factors.words for place, factors in value.word_factors.items()}
        _check_task_words(words, value, "word_factors")


def _check_word_factors(value: Any) -> None:
    _check_words(value.words, "words")
    check_array(value.values, "values", (len(value.words),))
    usable = (np.isfinite(value.values) & (value.values > 0)).all()
    require(usable, f"values must be finite and positive, got {value.values}")


def _check_weights(weights: np.ndarray, name: str) -> None:
    check_array(weights, name, (None,))
    usable = weights.any() and (np.isfinite(weights) & (weights >= 0)).all()
    require(usable, f"{name} must be finite, not negative and not all 0, got {weights}")


def _check_words(words: np.ndarray, name: str) -> None:
    fits = words.ndim == 2 and words.dtype in ("u1", "u2", "u4")
    require(fits, f"{name} must hold 2-D arrays of unsigned integers, one word per line")


def _check_vocabulary(value: Any) -> None:
    for words in value.words.values():
        _check_words(words, "words")
    ends = np.cumsum([0, *map(len, value.words.values())]).tolist()
    first = dict(zip(value.words, ends[:-1], strict=True))
    same = value.first == first and value.size == ends[-1]
    require(same, f"first and size must number the {ends[-1]} words one after another")


def _check_reader(value: Any) -> None:
    """Check that the plan of a kernel or features has the alphabets of the rows in use."""
    if hasattr(value, "plan_"):
        same = type(value.kernel_) is type(value.plan_.kernel)
        require(same, "kernel_ must be the kernel of the plan, got another kernel")
        is_known = value.letters_ is None or hasattr(value.letters_, "alphabets_")
        require(is_known, "letters_ must be None or fitted, got Letters that are not")
        n_rows = len(value.n_symbols_) if value.kernel_.reads_symbols else value.n_symbols_.sum()
        same = value.n_rows_in_ == len(value.row_names_) == n_rows
        require(same, f"n_rows_in_ and row_names_ must have {n_rows} rows, got other numbers")
        _check_alphabets(value.n_symbols_, len(value.n_symbols_))
        n, rows = len(value.n_symbols_), value.rows_
        check_array(rows, "rows_", (None,), np.int64)
        inside = ((rows >= 0) & (rows < n)).all()
        require(inside, f"rows_ must hold rows from 0 to {n - 1}, got {rows}")
        same = np.array_equal(value.plan_.n_symbols, value.n_symbols_[rows])
        require(same, "the plan must have the alphabets of the rows in use, got other alphabets")


def _check_features(value: Any) -> None:
    """Check that the columns are words of the plan: tables have one slot per possible word."""
    if isinstance(getattr(value, "columns_", None), Vocabulary):
        _check_task_words(value.columns_.words, value.plan_, "columns_")


def _check_task_words(words: dict[Any, np.ndarray], plan: Any, name: str) -> None:
    """Check that there is one array of words per row and task, of symbols of the row."""
    rows = range(len(plan.n_symbols))
    lengths = {(r, t): task.length for r in rows for t, (_, task) in enumerate(plan.tasks(r))}
    same = words.keys() == lengths.keys()
    require(same, f"{name} must hold words for each of {len(lengths)} tasks, got other tasks")
    for (r, t), found in words.items():
        fits = found.shape[1] == lengths[r, t] and (found < max(plan.n_symbols[r], 1)).all()
        require(fits, f"{name} must hold words of symbols of row {r}, got other words")


def _check_kernel(value: Any) -> None:
    if value.gamma is not None:
        check_positive(value.gamma, "gamma")
    if not hasattr(value, "train_"):
        return
    found, wanted = value.train_.n_rows, len(value.rows_)
    if not value.kernel_.reads_symbols:
        wanted = value.n_rows_in_
    require(found == wanted, f"train_ must have {wanted} rows, got {found}")
    if value.kernel_.reads_symbols:
        same = np.array_equal(value.train_.n_symbols, value.plan_.n_symbols)
        require(same, "train_ must have the alphabets of the plan, got other alphabets")


# Checks by the name of a class or of one of its base classes.
READERS: dict[str, Callable[[Any], Any]] = {
    "Ragged": lambda value: value.check(),
    "Symbols": _check_symbols,
    # without any learned value, a transformer is not fitted
    "SequenceTransformer": lambda value: hasattr(value, "n_channels_in_") and value.check_learned(),
    "Plan": _check_plan,
    "WordFactors": _check_word_factors,
    "Vocabulary": _check_vocabulary,
    "Buckets": lambda value: check_whole(value.size, "size", at_most=2**31 - 1),
    "SequenceMap": _check_reader,
    "SequenceKernel": _check_kernel,
    "SequenceFeatures": _check_features,
}
