"""Checks of the parts of a model that was read from a file.

Compiled loops do not check their arguments, so every array that the loops use as an index is
checked here. So is whether learned values belong together. Transformers check their own learned
values, see `SequenceTransformer.check_learned`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mvdfq._engines.filter_words import MOST_THRESHOLDS, N_WORDS
from mvdfq._utils.checks import check_positive, check_whole, parse_memory
from mvdfq._utils.threads import n_threads
from mvdfq.frames.base import steps_of
from mvdfq.frames.learned import (
    LearnedError,
    check_array,
    check_kinds,
    require,
    require_array,
    require_equal,
)
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.terms.fitted import width_of
from mvdfq.terms.standard import WIDTH
from mvdfq.terms.word_table import has_table

# Each thread plans its own working memory, and has a stack.
MOST_THREADS = 1024
# Most words of one row of a dense table; a model has at most 2**12.
MOST_SLOTS = 2**40


def check(value: Any) -> None:
    """Raise an error for an object that is inconsistent or not safe for compiled loops."""
    try:
        check_kinds(value)
        n = n_threads(getattr(value, "n_jobs", None))  # raises an error for another value
        require(n <= MOST_THREADS, f"n_jobs must be at most {MOST_THREADS} threads, got {n}")
        parse_memory(getattr(value, "memory_limit", None))
        for cls in reversed(type(value).__mro__):
            if cls.__name__ in CHECKS:
                CHECKS[cls.__name__](value)
    except (ValueError, TypeError) as error:  # also of the checks of parameters
        raise LearnedError(f"in {type(value).__name__}, {str(error).removesuffix('.')}") from None


def _check_classifier(clf: Any) -> None:
    fits = clf.classes_.ndim == 1 and clf.classes_.dtype.kind in "biufUO"
    require(fits, "classes_ must be a list of labels, got another array")
    n_classes, n_channels, terms = len(clf.classes_), clf.n_channels_in_, clf.sum_.terms
    usable = np.isfinite(clf.temperature_) and clf.temperature_ > 0
    require(usable, f"temperature_ must be a positive number, got {clf.temperature_}")
    _check_problems(clf)
    require_array(clf, "class_shares_", (n_classes,))
    usable = (clf.class_shares_ > 0).all() and np.isclose(clf.class_shares_.sum(), 1)
    require(usable, f"class_shares_ must be positive and sum to 1, got {clf.class_shares_}")
    require_array(clf, "lost_", (None, 2, 3))
    n, wanted = len(clf.lost_), n_channels + len(terms)
    require(n in (0, wanted), f"lost_ must hold {wanted} parts: channels and terms, got {n}")
    require_array(clf, "train_y_", (None,), np.int64, 0, n_classes - 1)
    n = len(clf.train_y_)
    kept = [term.train.shape[0] for term in terms if term.train is not None]
    require(all(n == size for size in kept), f"terms must keep {n} sequences, got {kept}")
    require_array(clf.sum_, "sketches", (n, width_of(terms)), np.int8)
    require_array(clf.sum_, "scales", (n,), np.float32, low=0)
    require_array(clf, "train_index_", (n,), np.int64)
    require_array(clf, "train_fingerprints_", (None,), np.uint64)
    for term in terms:
        _check_reading(term, n_channels)
    require_array(clf, "ranges_in_", (2, n_channels))
    if clf.calibration_ is not None:
        known = clf.sum_.knows_means(n_classes)
        require(known, "calibration_ needs terms that know the means of the classes")
        _check_calibration(clf.calibration_, n_classes)


def _check_problems(clf: Any) -> None:
    """Check that every term of the sum solves the problems of the classes."""
    n_classes, problems = len(clf.classes_), clf.problems_
    same = problems.n_classes == n_classes >= 2
    require(same, f"problems_ must have as many classes as classes_, {n_classes}, at least 2")
    require(clf.sum_.terms, "the sum must hold at least one term, got an empty list")
    wanted = len(problems.pairs)
    require_array(clf.sum_, "intercepts", (wanted,), low=-np.inf)
    for term in clf.sum_.terms:
        require_equal(term.intercepts.size, wanted, "a term must have {} columns, one per problem")
        for size in (means.shape[-1] for means in term.class_means):
            usable = size in (1, n_classes)  # 1: the mean of all classes
            require(usable, f"a term must have means of {n_classes} classes or one, got {size}")
    names = [term.name for term in clf.sum_.terms]
    require(len(set(names)) == len(names), f"every term must have another name, got {names}")


def _check_reading(term: Any, n: int) -> None:
    """Check that encoders and readers belong together: they read a collection of nothing."""
    steps = steps_of(*term.encoders)
    n_read = steps[0].n_channels_in_ if steps else term.n_channels_in
    require_equal(n_read, n, "a term must read n_channels_in_={} channels")
    try:
        if steps:
            term.read(steps[0]._nothing())
    except Exception as error:  # whatever a damaged part raises
        raise LearnedError(f"the parts do not belong together: {error}") from None


def _check_calibration(value: Any, n_classes: int) -> None:
    """Check the scores of held-out sequences, and the spreads of the classes."""
    require_array(value, "y", (None,), np.int64, 0, n_classes - 1)
    require_array(value, "scores", (len(value.y), 2), np.float32, low=-np.inf)
    for name in ("sizes", "strays"):
        require_array(value, name, (n_classes,), low=0)
    require((value.sizes > 0).all(), "sizes must be positive")


def _check_term(value: Any) -> None:
    """Check what all terms have: fitted encoders, finite intercepts and a share."""
    require_array(value, "intercepts", (None,), low=-np.inf)
    usable = np.isfinite(value.share) and value.share > 0
    require(usable, f"share must be a positive number, got {value.share!r}")
    if value.centre is not None:
        require_array(value, "centre", (WIDTH,), np.float32, low=-np.inf)
    for part in value.encoders:
        known = hasattr(part, "transform")
        require(known, f"encoders must be transformers, got {type(part).__name__}")
    for step in steps_of(*value.encoders):
        is_fitted = hasattr(step, "n_channels_in_")
        require(is_fitted, f"encoders must be fitted, but {type(step).__name__} is not")


def _check_fitted_kernel(value: Any) -> None:
    plan, n = value.reader.plan_, len(value.reader.train_)
    require_equal(len(value.coefficients), n, "coefficients must have {} lines, one per sequence")
    require_array(value, "norms", (n,), low=0)
    require_array(value, "scale", (len(plan.row_weights), n), low=0)
    if value.values is not None:
        _check_values(value, np.flatnonzero(plan.row_weights))


def _check_fitted_features(value: Any) -> None:
    require(hasattr(value.reader, "columns_"), "the features must be fitted, got no columns_")
    size, per_word = value.reader.columns_.size, "one per word"
    require_equal(len(value.coefficients), size, f"coefficients must have {{}} lines, {per_word}")
    if value.kept is not None:
        require_equal(value.kept.shape[1], size, f"kept must have {{}} columns, {per_word}")


def _check_fitted_words(value: Any) -> None:
    _check_values(value, np.arange(len(value.reader.plan_.n_symbols)))
    for name in ("means", "spreads"):
        same = len(getattr(value, name)) == len(value.values)
        require(same, f"{name} must be a list of arrays, as values")
    for values, means, spreads in zip(value.values, value.means, value.spreads, strict=True):
        check_shares(means, "means", (*values.shape[:2], None))
        check_shares(spreads, "spreads", (*values.shape[:2], 1))


def check_shares(array: Any, name: str, shape: tuple[int | None, ...]) -> None:
    """Check means or deviations of root shares."""
    check_array(array, name, shape, np.float16, 0, 1)


def _check_values(term: Any, rows: np.ndarray) -> None:
    """Check the weights of all possible words: one array per group of layouts."""
    plan, values = term.reader.plan_, term.values
    require(has_table(plan), "values must belong to a kernel with a word table")
    # Python's numbers: NumPy's numbers overflow, and loops would read outside the arrays
    largest = int(plan.n_symbols[rows].max(initial=1))
    longest = max(group.length for group in plan.groups(0))
    require(largest**longest < MOST_SLOTS, f"values must hold fewer than {MOST_SLOTS} words")
    firsts = plan.first_slots(rows)
    wanted = "values must be a list of {} arrays, one per group of layouts"
    require_equal(len(values), len(firsts), wanted)
    for first, weights in zip(firsts, values, strict=True):
        shape = int(first[-1]), len(plan.cells), term.intercepts.size
        check_array(weights, "values", shape, np.float32, low=-np.inf)


def _check_filter_bank(value: Any) -> None:
    steps = [step for _, step in value.encoder.steps]
    kinds = [type(step).__name__ for step in steps]
    wanted = ["Standardize", "Filters", "ThresholdQuantizer"]
    require(kinds == wanted, f"the encoder of filters must have the steps {wanted}, got {kinds}")
    fitted = all(hasattr(step, "n_channels_in_") for step in steps)
    require(fitted, "the encoder of filters must be fitted, got steps that are not")
    scale, filters, quantizer = steps
    same = scale.n_channels_in_ == filters.n_channels_in_ and len(filters.dilations_) == 1
    require(same, "filters must have one dilation and the channels of Standardize")
    shape = quantizer.thresholds_.shape
    require(shape[0] == len(filters.members_), "thresholds must belong to the filters")
    fits = shape[1] <= MOST_THRESHOLDS
    require(fits, f"filters must have at most {MOST_THRESHOLDS} thresholds, got {shape[1]}")
    words = shape[0] * shape[1], N_WORDS
    require_array(value, "weights", (*words, None), np.float32, low=-np.inf)
    check_shares(value.means, "means", (*words, None))
    check_shares(value.spreads, "spreads", words)


def _check_fitted_filters(value: Any) -> None:
    require(value.banks, "banks must hold at least one bank of filters, got an empty list")
    n_columns, n_channels = value.intercepts.size, value.banks[0].encoder[0].n_channels_in_
    for bank in value.banks:
        require_equal(bank.weights.shape[2], n_columns, "a bank must have {} columns")
        same = bank.encoder[0].n_channels_in_ == n_channels
        require(same, "all banks of filters must read the same channels")


def _check_symbols(value: Any) -> None:
    _check_alphabets(value, "n_symbols", len(value.data))
    known = (value.data < value.n_symbols[:, None]) | (value.data == value.missing)
    require(known.all(), "data must hold symbols below n_symbols, got a larger symbol")


def _check_alphabets(value: Any, name: str, n_rows: int) -> None:
    require_array(value, name, (n_rows,), np.int64, 0, 2**32 - 1)


def _check_plan(value: Any) -> None:
    value.kernel.check()
    _check_alphabets(value, "n_symbols", len(value.row_weights))
    _check_weights(value, "row_weights")
    if value.group_weights is not None:
        _check_weights(value, "group_weights")
        n = len(value.kernel.groups(int(value.n_symbols[0])))
        wanted = "group_weights must have {} entries, one per group"
        require_equal(value.group_weights.size, n, wanted)
    check_whole(value.n_levels, "n_levels", at_most=16)
    for (r, _), words in value.vocabularies.items():
        _check_words(words, "vocabularies")
        k = value.kernel.k
        fits = words.shape[1] == k and (words < value.n_symbols[r]).all()
        require(fits, f"vocabularies must hold words of {k} symbols of the alphabet of row {r}")


def _check_weights(value: Any, name: str) -> None:
    require_array(value, name, (None,))
    weights = getattr(value, name)
    usable = weights.any() and (np.isfinite(weights) & (weights >= 0)).all()
    require(usable, f"{name} must be finite, not negative and not all 0, got {weights}")


def _check_words(words: np.ndarray, name: str) -> None:
    fits = words.ndim == 2 and words.dtype in ("u1", "u2", "u4")
    require(fits, f"{name} must hold 2-D arrays of unsigned integers, one word per line")


def _check_vocabulary(value: Any) -> None:
    for words in value.words.values():
        _check_words(words, "words")
    ends = np.cumsum([0, *map(len, value.words.values())]).tolist()
    same = value.first == dict(zip(value.words, ends[:-1], strict=True)) and value.size == ends[-1]
    require(same, f"first and size must number the {ends[-1]} words one after another")


def _check_reader(value: Any) -> None:
    """Check that the plan of a kernel or features has the alphabets of the rows in use."""
    if not hasattr(value, "plan_"):
        return
    same = type(value.kernel_) is type(value.plan_.kernel)
    require(same, "kernel_ must be the kernel of the plan, got another kernel")
    is_known = value.letters_ is None or hasattr(value.letters_, "alphabets_")
    require(is_known, "letters_ must be None or fitted, got Letters that are not")
    n = len(value.n_symbols_)
    n_rows = n if value.kernel_.reads_symbols else value.n_symbols_.sum()
    same = value.n_rows_in_ == len(value.row_names_) == n_rows
    require(same, f"n_rows_in_ and row_names_ must have {n_rows} rows, got other numbers")
    _check_alphabets(value, "n_symbols_", n)
    require_array(value, "rows_", (None,), np.int64, 0, n - 1)
    same = np.array_equal(value.plan_.n_symbols, value.n_symbols_[value.rows_])
    require(same, "the plan must have the alphabets of the rows in use, got other alphabets")


def _check_features(value: Any) -> None:
    """Check that columns are words of the plan, an array per row and task: tables have slots."""
    if not isinstance(getattr(value, "columns_", None), Vocabulary):
        return
    words, plan = value.columns_.words, value.plan_
    rows = range(len(plan.n_symbols))
    lengths = {(r, t): task.length for r in rows for t, (_, task) in enumerate(plan.tasks(r))}
    same = words.keys() == lengths.keys()
    require(same, f"columns_ must hold words for each of {len(lengths)} tasks, got other tasks")
    for (r, t), listed in words.items():
        fits = listed.shape[1] == lengths[r, t] and (listed < max(plan.n_symbols[r], 1)).all()
        require(fits, f"columns_ must hold words of symbols of row {r}, got other words")


def _check_kernel(value: Any) -> None:
    if value.gamma is not None:
        check_positive(value.gamma, "gamma")
    if not hasattr(value, "train_"):
        return
    reads_symbols = value.kernel_.reads_symbols
    wanted = len(value.rows_) if reads_symbols else value.n_rows_in_
    require_equal(value.train_.n_rows, wanted, "train_ must have {} rows")
    same = not reads_symbols or np.array_equal(value.train_.n_symbols, value.plan_.n_symbols)
    require(same, "train_ must have the alphabets of the plan, got other alphabets")


# Checks by the name of a class or of one of its base classes.
CHECKS: dict[str, Callable[[Any], Any]] = {
    "SequenceClassifier": _check_classifier,
    "FittedTerm": _check_term,
    "FittedPlain": lambda value: require_array(
        value, "coefficients", (None, value.intercepts.size), low=-np.inf
    ),
    "FittedKernel": _check_fitted_kernel,
    "FittedFeatures": _check_fitted_features,
    "FittedWords": _check_fitted_words,
    "FilterBank": _check_filter_bank,
    "FittedFilters": _check_fitted_filters,
    "Ragged": lambda value: value.check(),
    "Symbols": _check_symbols,
    # without any learned value, a transformer is not fitted
    "SequenceTransformer": lambda value: hasattr(value, "n_channels_in_") and value.check_learned(),
    "Plan": _check_plan,
    "Vocabulary": _check_vocabulary,
    "Buckets": lambda value: check_whole(value.size, "size", at_most=2**31 - 1),
    "SequenceMap": _check_reader,
    "SequenceKernel": _check_kernel,
    "SequenceFeatures": _check_features,
}
