"""Checks of machines and views that come from a model file."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mvdfq._engines.filter_words import MOST_THRESHOLDS, N_WORDS
from mvdfq.classifier.saving.demands import check_finite, check_norms, class_name, require
from mvdfq.frames.learned import check_array
from mvdfq.frames.steps import steps_of
from mvdfq.machines.table_sums import first_slots
from mvdfq.machines.word_table import has_table

__all__ = ["MACHINES"]

# Most words of one row of a dense table; a model has at most 2**12.
MOST_SLOTS = 2**40


def _check_margins(value: Any) -> None:
    n_columns = value.intercepts.size
    check_finite(value.intercepts, "intercepts", (n_columns,))
    check_finite(value.coefficients, "coefficients", (None, n_columns))


def _check_kernel_machine(value: Any) -> None:
    n, n_rows = len(value.reader.train_), len(value.reader.plan_.row_weights)
    found = len(value.margins.coefficients)
    require(found == n, f"coefficients must have {n} lines, one per sequence, got {found}")
    check_norms(value.norms, "norms", (n,))
    check_norms(value.scale, "scale", (n_rows, n))
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
    check_norms(value.norms, "norms", (len(rows),))
    require(0 <= value.min_share < 1, f"min_share must be from 0 to 1, got {value.min_share!r}")
    if value.train is not None:
        same = np.array_equal(value.train.n_symbols, value.reader.plan_.n_symbols)
        require(same, "train must have the alphabets of the reader, got others")


def _check_values(machine: Any, values: Any, rows: np.ndarray) -> None:
    """Check the weights of all possible words: one array per group of layouts."""
    plan, n_columns = machine.reader.plan_, machine.margins.intercepts.size
    # Python's numbers: NumPy's numbers overflow, and loops would read outside the arrays
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
    check_finite(value.intercepts, "intercepts", (n_columns,))
    check_array(value.weights, "weights", (n_rows, N_WORDS, n_columns), np.float32)
    check_norms(value.norms, "norms", (n_rows,))


def _check_words_view(value: Any) -> None:
    n_rows = len(value.machine.reader.n_symbols_)
    check_array(value.rows, "rows", (n_rows,), np.int64)
    require((value.rows >= 0).all(), f"rows must not be negative, got {value.rows}")
    for step in steps_of(value.encoder):
        is_fitted = hasattr(step, "n_channels_in_")
        require(is_fitted, f"the encoder of a view must be fitted, but {class_name(step)} is not")


# Checks by the name of a class or of one of its base classes.
MACHINES: dict[str, Callable[[Any], None]] = {
    "Margins": _check_margins,
    "KernelMachine": _check_kernel_machine,
    "LinearMachine": _check_linear_machine,
    "WordMachine": _check_word_machine,
    "FilterMachine": _check_filter_machine,
    "FittedWords": _check_words_view,
}
