"""Checks of fitted terms that come from a model file."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mvdfq._engines.filter_words import MOST_THRESHOLDS, N_WORDS
from mvdfq.classifier.saving.kinds import check_finite, check_norms, class_name
from mvdfq.frames.base import steps_of
from mvdfq.frames.learned import check_array, require
from mvdfq.terms.sketch import WIDTH
from mvdfq.terms.word_table import has_table

# Most words of one row of a dense table; a model has at most 2**12.
MOST_SLOTS = 2**40


def _check_term(value: Any) -> None:
    """Check what all terms have: fitted encoders, finite intercepts and a share."""
    check_finite(value.intercepts, "intercepts", (None,))
    usable = np.isfinite(value.share) and value.share > 0
    require(usable, f"share must be a positive number, got {value.share!r}")
    if value.centre is not None:
        check_array(value.centre, "centre", (WIDTH,), np.float32)
        require(np.isfinite(value.centre).all(), "centre must hold finite numbers")
    for part in value.encoders:
        known = hasattr(part, "transform")
        require(known, f"encoders must be transformers, got {class_name(part)}")
    for step in steps_of(*value.encoders):
        is_fitted = hasattr(step, "n_channels_in_")
        require(is_fitted, f"encoders must be fitted, but {class_name(step)} is not")


def _check_fitted_kernel(value: Any) -> None:
    n, n_rows = len(value.reader.train_), len(value.reader.plan_.row_weights)
    found = len(value.coefficients)
    require(found == n, f"coefficients must have {n} lines, one per sequence, got {found}")
    check_norms(value.norms, "norms", (n,))
    check_norms(value.scale, "scale", (n_rows, n))
    if value.values is not None:
        plan = value.reader.plan_
        require(has_table(plan), "values must belong to a kernel with a word table")
        rows = np.flatnonzero(value.reader.plan_.row_weights)
        _check_values(value, value.values, rows)


def _check_fitted_features(value: Any) -> None:
    require(hasattr(value.reader, "columns_"), "the features must be fitted, got no columns_")
    size, found = value.reader.columns_.size, len(value.coefficients)
    require(found == size, f"coefficients must have {size} lines, one per word, got {found}")
    if value.kept is not None:
        found = value.kept.shape[1]
        require(found == size, f"kept must have {size} columns, one per word, got {found}")


def _check_fitted_words(value: Any) -> None:
    rows = np.arange(len(value.reader.plan_.n_symbols))
    require(has_table(value.reader.plan_), "values must belong to a kernel with a word table")
    _check_values(value, value.values, rows)
    for name in ("means", "spreads"):
        same = len(getattr(value, name)) == len(value.values)
        require(same, f"{name} must be a list of arrays, as values")
    for values, means, spreads in zip(value.values, value.means, value.spreads, strict=True):
        _check_means(means, values.shape[:2])
        _check_spreads(spreads, (*values.shape[:2], 1))


def _check_values(term: Any, values: Any, rows: np.ndarray) -> None:
    """Check the weights of all possible words: one array per group of layouts."""
    plan, n_columns = term.reader.plan_, term.intercepts.size
    # Python's numbers: NumPy's numbers overflow, and loops would read outside the arrays
    largest = int(plan.n_symbols[rows].max(initial=1))
    longest = max(group.length for group in plan.groups(0))
    require(largest**longest < MOST_SLOTS, f"values must hold fewer than {MOST_SLOTS} words")
    firsts = plan.first_slots(rows)
    require(
        len(values) == len(firsts),
        f"values must be a list of {len(firsts)} arrays, one per group of layouts",
    )
    for first, one in zip(firsts, values, strict=True):
        check_array(one, "values", (int(first[-1]), len(plan.cells), n_columns), np.float32)


def _check_means(means: Any, shape: tuple[int, ...]) -> None:
    """Check the means of root shares over classes."""
    check_array(means, "means", (*shape, None), np.float16)
    require(((means >= 0) & (means <= 1)).all(), "means must hold numbers from 0 to 1")


def _check_spreads(spreads: Any, shape: tuple[int, ...]) -> None:
    """Check the deviations of root shares."""
    check_array(spreads, "spreads", shape, np.float16)
    require(((spreads >= 0) & (spreads <= 1)).all(), "spreads must hold numbers from 0 to 1")


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
    n_rows = shape[0] * shape[1]
    check_array(value.weights, "weights", (n_rows, N_WORDS, None), np.float32)
    _check_means(value.means, (n_rows, N_WORDS))
    _check_spreads(value.spreads, (n_rows, N_WORDS))


def _check_fitted_filters(value: Any) -> None:
    require(value.banks, "banks must hold at least one bank of filters, got an empty list")
    n_columns, n_channels = value.intercepts.size, value.banks[0].encoder[0].n_channels_in_
    for bank in value.banks:
        found = bank.weights.shape[2]
        require(found == n_columns, f"a bank must have {n_columns} columns, got {found}")
        same = bank.encoder[0].n_channels_in_ == n_channels
        require(same, "all banks of filters must read the same channels")


# Checks by the name of a class or of one of its base classes.
TERMS: dict[str, Callable[[Any], None]] = {
    "FittedTerm": _check_term,
    "FittedPlain": lambda value: check_finite(
        value.coefficients, "coefficients", (None, value.intercepts.size)
    ),
    "FittedKernel": _check_fitted_kernel,
    "FittedFeatures": _check_fitted_features,
    "FittedWords": _check_fitted_words,
    "FilterBank": _check_filter_bank,
    "FittedFilters": _check_fitted_filters,
}
