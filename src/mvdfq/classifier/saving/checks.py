"""Checks of the parts of a model that was read from a file.

Compiled loops do not check their arguments, so this module checks every array that the loops use as
an index. It also checks that learned values belong together. Transformers check their own learned
values, see `SequenceTransformer.check_learned`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mvdfq._engines.filter_words import MOST_THRESHOLDS, N_WORDS
from mvdfq._utils.checks import check_positive, check_whole
from mvdfq._utils.memory import parse_memory
from mvdfq._utils.threads import n_threads
from mvdfq.classifier.parts import encode
from mvdfq.classifier.saving.kinds import check_kinds
from mvdfq.frames.learned import check_array
from mvdfq.frames.steps import steps_of
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.machines.word_table import first_slots, has_table

__all__ = ["TreeError", "check", "require"]


# Most words of one row of a dense table; a model has at most 2**12.
MOST_SLOTS = 2**40
# Each thread plans its own working memory, and has a stack.
MOST_THREADS = 1024


class TreeError(ValueError):
    """A model cannot be written as a tree, or a tree is not a valid model."""


def require(condition: Any, problem: str) -> None:
    """Raise an error with the text `problem` unless the condition holds."""
    if not condition:
        raise TreeError(problem)


def check(value: Any) -> None:
    """Raise an error for an object that is inconsistent or not safe for compiled loops."""
    try:
        check_kinds(value)
        _check_resources(value)
        for cls in reversed(type(value).__mro__):
            if cls.__name__ in CHECKS:
                CHECKS[cls.__name__](value)
    except (ValueError, TypeError) as error:  # also of the checks of parameters
        problem = str(error).removesuffix(".")
        raise TreeError(f"in {type(value).__name__}, {problem}") from None


def _check_resources(value: Any) -> None:
    """Check what many classes have; both functions raise an error for another value."""
    n = n_threads(getattr(value, "n_jobs", None))
    require(n <= MOST_THREADS, f"n_jobs must be at most {MOST_THREADS} threads, got {n}")
    parse_memory(getattr(value, "memory_limit", None))


def _check_transformer(value: Any) -> None:
    """Check what `fit` learned; a transformer without any learned value is not fitted."""
    if hasattr(value, "n_channels_in_"):
        value.check_learned()


def _check_names(value: Any) -> None:
    names, n = value.channel_names, len(value.data)
    require(
        names is None or len(names) == n, f"channel_names must hold {n} names, got another number"
    )


def _check_symbols(value: Any) -> None:
    _check_alphabets(value.n_symbols, len(value.data))
    known = (value.data < value.n_symbols[:, None]) | (value.data == value.missing)
    require(known.all(), "data must hold symbols below n_symbols, got a larger symbol")
    _check_names(value)


def _check_sequences(value: Any) -> None:
    _check_names(value)
    n = len(value.data)
    require(len(value.symbolic) in (0, n), f"symbolic must hold {n} flags, got another number")


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


def _check_buckets(value: Any) -> None:
    check_whole(value.size, "size", at_most=2**31 - 1)


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


def _check_margins(value: Any) -> None:
    n_columns = value.intercepts.size
    _check_finite(value.intercepts, "intercepts", (n_columns,))
    _check_finite(value.coefficients, "coefficients", (None, n_columns))


def _check_finite(array: np.ndarray, name: str, shape: tuple[int | None, ...]) -> None:
    check_array(array, name, shape)
    require(np.isfinite(array).all(), f"{name} must hold finite numbers")


def _check_norms(array: np.ndarray, name: str, shape: tuple[int | None, ...]) -> None:
    _check_finite(array, name, shape)
    require((array >= 0).all(), f"{name} must not be negative")


def _check_kernel_machine(value: Any) -> None:
    n, n_rows = len(value.reader.train_), len(value.reader.plan_.row_weights)
    found = len(value.margins.coefficients)
    require(found == n, f"coefficients must have {n} lines, one per sequence, got {found}")
    _check_norms(value.norms, "norms", (n,))
    _check_norms(value.scale, "scale", (n_rows, n))
    if value.values is not None:
        plan = value.reader.plan_
        require(has_table(plan), "values must belong to a kernel with a word table")
        rows = np.flatnonzero(value.reader.plan_.row_weights)
        _check_values(value, value.values, rows)


def _check_linear_machine(value: Any) -> None:
    require(hasattr(value.reader, "columns_"), "the features must be fitted, got no columns_")
    size, found = value.reader.columns_.size, len(value.margins.coefficients)
    require(found == size, f"coefficients must have {size} lines, one per word, got {found}")
    found = value.train.shape[1]
    require(found == size, f"train must have {size} columns, one per word, got {found}")


def _check_word_machine(value: Any) -> None:
    rows = np.arange(len(value.reader.plan_.n_symbols))
    require(has_table(value.reader.plan_), "values must belong to a kernel with a word table")
    _check_values(value, value.values, rows)
    _check_norms(value.norms, "norms", (len(rows),))
    require(0 <= value.min_share < 1, f"min_share must be from 0 to 1, got {value.min_share!r}")
    if value.train is not None:
        same = np.array_equal(value.train.n_symbols, value.reader.plan_.n_symbols)
        require(same, "train must have the alphabets of the reader, got others")


def _check_values(machine: Any, values: Any, rows: np.ndarray) -> None:
    """Check the weights of all possible words: one array per group of layouts."""
    plan, n_columns = machine.reader.plan_, machine.margins.intercepts.size
    # in Python's numbers: those of NumPy overflow, and loops would read outside the arrays
    largest = int(plan.n_symbols[rows].max(initial=1))
    longest = max(group.length for group in plan.groups(0))
    require(largest**longest < MOST_SLOTS, f"values must hold fewer than {MOST_SLOTS} words")
    firsts = first_slots(plan, rows)
    require(
        len(values) == len(firsts),
        f"values must be a list of {len(firsts)} arrays, one per group of layouts",
    )
    for first, one in zip(firsts, values, strict=True):
        check_array(one, "values", (int(first[-1]), len(plan.cells), n_columns), np.float32)


def _check_filter_machine(value: Any) -> None:
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
    n_columns, n_rows = value.intercepts.size, shape[0] * shape[1]
    _check_finite(value.intercepts, "intercepts", (n_columns,))
    check_array(value.weights, "weights", (n_rows, N_WORDS, n_columns), np.float32)
    _check_norms(value.norms, "norms", (n_rows,))


def _check_words_view(value: Any) -> None:
    n_rows = len(value.machine.reader.n_symbols_)
    check_array(value.rows, "rows", (n_rows,), np.int64)
    require((value.rows >= 0).all(), f"rows must not be negative, got {value.rows}")
    for step in steps_of(value.encoder):
        is_fitted = hasattr(step, "n_channels_in_")
        require(is_fitted, f"the encoder of a view must be fitted, but {_name(step)} is not")


def _name(part: Any) -> str:
    """Return the class of a part: its parameters may make a very long text."""
    return type(part).__name__


def _check_classifier(value: Any) -> None:
    n_classes, machine, problems = len(value.classes_), value.machine_, value.problems_
    require(
        problems.n_classes == n_classes >= 2,
        f"problems_ must have as many classes as classes_, at least two, got "
        f"{problems.n_classes} and {n_classes}",
    )
    found, wanted = len(machine.margins.intercepts), len(problems.pairs)
    require(found == wanted, f"machine_ must have {wanted} columns, one per problem, got {found}")
    require(value.kernel_ is machine.reader, "kernel_ must be the kernel of machine_, got another")
    for part in value.encoders:
        is_part = hasattr(part, "transform")
        require(is_part, f"frames_ and symbols_ must be transformers or None, got {_name(part)}")
    for step in steps_of(value.frames_, value.symbols_):
        is_fitted = hasattr(step, "n_channels_in_")
        require(is_fitted, f"frames_ and symbols_ must be fitted, but {_name(step)} is not")
    fits = value.classes_.ndim == 1 and value.classes_.dtype.kind in "biufUO"
    require(fits, "classes_ must be a list of labels, got another array")
    usable = np.isfinite(value.temperature_) and value.temperature_ > 0
    require(usable, f"temperature_ must be a positive number, got {value.temperature_}")
    for view in value.views_:
        found = view.n_columns
        require(found == wanted, f"a view must have {wanted} columns, got {found}")
    n_shares = 1 + len(value.views_)
    _check_norms(value.view_shares_, "view_shares_", (n_shares,))
    n = machine.n_train
    check_array(value.train_index_, "train_index_", (n,), np.int64)
    check_array(value.train_y_, "train_y_", (n,), np.int64)
    inside = (value.train_y_ < n_classes).all() and (value.train_y_ >= 0).all()
    require(inside, f"train_y_ must hold numbers from 0 to {n_classes - 1}")
    _check_encoders(value)


def _check_encoders(clf: Any) -> None:
    """Check that encoders, kernel and views belong together: they read a collection of nothing."""
    steps = steps_of(clf.frames_, clf.symbols_)
    found = steps[0].n_channels_in_ if steps else clf.kernel_.n_rows_in_
    n = clf.n_channels_in_
    require(found == n, f"the first part must read n_channels_in_={n} channels, got {found}")
    if not steps:
        return
    nothing = steps[0]._nothing()
    try:
        symbols = encode(clf.encoders, nothing)
        clf.kernel_.read_new(symbols)
        for view in clf.views_:
            view.read(nothing)
    except Exception as error:  # whatever a damaged part raises
        raise TreeError(f"the parts do not belong together: {error}") from None


# Checks by the name of a class or of one of its base classes.
CHECKS: dict[str, Callable[[Any], None]] = {
    "Ragged": lambda value: value.__post_init__(),
    "Symbols": _check_symbols,
    "Sequences": _check_sequences,
    "SequenceTransformer": _check_transformer,
    "Plan": _check_plan,
    "WordFactors": _check_word_factors,
    "Vocabulary": _check_vocabulary,
    "Buckets": _check_buckets,
    "SequenceMap": _check_reader,
    "SequenceKernel": _check_kernel,
    "SequenceFeatures": _check_features,
    "Margins": _check_margins,
    "KernelMachine": _check_kernel_machine,
    "LinearMachine": _check_linear_machine,
    "WordMachine": _check_word_machine,
    "FilterMachine": _check_filter_machine,
    "FittedWords": _check_words_view,
    "SequenceClassifier": _check_classifier,
}
