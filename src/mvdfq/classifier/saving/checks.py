"""What must hold of the parts of a model that was read from a file.

Compiled code checks nothing, so all that it will index with is checked here, by the fewest rules
that make it safe; and that what was learned belongs together.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mvdfq.kernels import Kernel
from mvdfq.symbols.base import Symbols

__all__ = ["TreeError", "check", "require"]


class TreeError(ValueError):
    """A model that cannot be described, or a description that is none of a model."""


def require(condition: Any, problem: str) -> None:
    """Say what the problem is unless the condition holds."""
    if not condition:
        raise TreeError(problem)


def check(value: Any) -> None:
    """Refuse what compiled code could not read safely, or what does not belong together."""
    for cls in reversed(type(value).__mro__):
        if cls.__name__ in CHECKS:
            CHECKS[cls.__name__](value)


def _check_ragged(value: Any) -> None:
    offsets = value.offsets
    whole = offsets.dtype == np.int64 and offsets.ndim == 1 and value.data.ndim == 2
    covers = whole and offsets[0] == 0 and offsets[-1] == value.data.shape[1]
    require(covers, "its sequences do not cover its frames")
    require((np.diff(offsets) >= 0).all(), "its sequences overlap")
    wanted = ("u1", "u2", "u4") if isinstance(value, Symbols) else ("f4", "f8")
    require(value.data.dtype in wanted, "its frames are of another type")


def _check_symbols(value: Any) -> None:
    _check_alphabets(value.n_symbols, len(value.data))
    known = (value.data < value.n_symbols[:, None]) | (value.data == value.missing)
    require(known.all(), "its symbols are outside their alphabets")


def _check_alphabets(n_symbols: np.ndarray, n_rows: int) -> None:
    fits = n_symbols.dtype == np.int64 and n_symbols.shape == (n_rows,)
    known = fits and (n_symbols >= 0).all() and (n_symbols < 2**32).all()
    require(known, "its alphabets are not those of its rows")


def _check_channels(value: Any) -> None:
    """Of transformers: `n_channels_in_` guards all that is indexed by channel."""
    if hasattr(value, "n_channels_in_"):
        n = value.n_channels_in_
        require(type(n) is int and n > 0, "its number of channels is none")
        flags = value.symbolic_in_
        fits = len(flags) in (0, n) and all(type(flag) is bool for flag in flags)
        require(fits, "its symbolic channels are not those of its channels")


def _check_rotation(value: Any) -> None:
    if hasattr(value, "components_"):
        numeric = value.n_channels_in_ - sum(value.symbolic_in_)
        _check_axes(value, 2 * numeric if value.deltas else numeric)


def _check_hashing(value: Any) -> None:
    if hasattr(value, "components_"):
        _check_axes(value, value.n_channels_in_)


def _check_axes(value: Any, n: int) -> None:
    fits = value.mean_.shape == (n,) and value.components_.shape[1:] == (n,)
    fits = fits and value.mean_.dtype == value.components_.dtype == float
    require(fits, "its principal axes are not those of its channels")


def _check_bins(value: Any) -> None:
    if not hasattr(value, "bin_edges_"):
        return
    special = 2 * (value.strategy == "uniform" and value.out_of_range == "special")
    known = [len(one) for one in value.categories_]
    bins = [len(one) - 1 + special for one in value.bin_edges_]
    sizes = np.where(value.symbolic_in_ or np.zeros(len(bins), bool), known, bins)
    _check_alphabets(value.n_symbols_, value.n_channels_in_)
    require(np.array_equal(sizes, value.n_symbols_), "its bins are not those of its alphabets")


def _check_plan(value: Any) -> None:
    require(isinstance(value.kernel, Kernel), "its kernel is none")
    value.kernel.check()
    _check_alphabets(value.n_symbols, len(value.row_weights))
    _check_weights(value.row_weights)
    if value.group_weights is not None:
        _check_weights(value.group_weights)
    require(type(value.n_levels) is int and 1 <= value.n_levels <= 16, "it has no such pyramid")
    for (r, _), words in value.vocabularies.items():
        _check_words(words)
        fits = words.shape[1] == value.kernel.k and (words < value.n_symbols[r]).all()
        require(fits, "its words are not those of its kernel")


def _check_weights(weights: np.ndarray) -> None:
    fits = weights.dtype == float and weights.ndim == 1 and weights.any()
    require(fits and (np.isfinite(weights) & (weights >= 0)).all(), "its weights are none")


def _check_words(words: np.ndarray) -> None:
    require(words.ndim == 2 and words.dtype in ("u1", "u2", "u4"), "its words are none")


def _check_vocabulary(value: Any) -> None:
    for words in value.words.values():
        _check_words(words)
    ends = np.cumsum([0, *map(len, value.words.values())]).tolist()
    first = dict(zip(value.words, ends[:-1], strict=True))
    require(value.first == first and value.size == ends[-1], "its columns are not its words")


def _check_buckets(value: Any) -> None:
    require(type(value.size) is int and 0 < value.size < 2**31, "it has no such columns")


def _check_reader(value: Any) -> None:
    """Of kernel and features: the plan reads the rows in use, with their alphabets."""
    if hasattr(value, "plan_"):
        _check_alphabets(value.n_symbols_, len(value.n_symbols_))
        same = np.array_equal(value.plan_.n_symbols, value.n_symbols_[value.rows_])
        require(same, "its plan is not for its rows")


def _check_kernel(value: Any) -> None:
    if hasattr(value, "train_") and value.plan_.kernel.reads_symbols:
        same = np.array_equal(value.train_.n_symbols, value.plan_.n_symbols)
        require(same, "its sequences are not those of its plan")


def _check_margins(value: Any) -> None:
    n_columns = value.intercepts.size
    require(value.intercepts.shape == (n_columns,), "its intercepts are none")
    require(value.coefficients.shape[1:] == (n_columns,), "its coefficients are none")


def _check_kernel_machine(value: Any) -> None:
    n, n_rows = len(value.reader.train_), len(value.reader.plan_.row_weights)
    fits = len(value.margins.coefficients) == n and value.norms.shape == (n,)
    require(fits, "its coefficients are not those of its sequences")
    require(value.scale.shape == (n_rows, n), "its rows are not those of its sequences")


def _check_linear_machine(value: Any) -> None:
    size = value.reader.columns_.size
    fits = len(value.margins.coefficients) == size and value.train.shape[1] == size
    require(fits, "its coefficients are not those of its words")


def _check_classifier(value: Any) -> None:
    n_classes, machine = len(value.classes_), value.machine_
    require(value.problems_.n_classes == n_classes >= 2, "its problems are not its classes")
    fits = len(machine.margins.intercepts) == len(value.problems_.pairs)
    require(fits, "its machines are not those of its problems")
    require(value.kernel_ is machine.reader, "its kernel is not that of its machine")
    n = len(machine.train.indptr) - 1 if hasattr(machine, "train") else len(machine.reader.train_)
    fits = value.train_index_.shape == value.train_y_.shape == (n,)
    require(fits and (value.train_y_ < n_classes).all(), "its labels are not its sequences'")


# By the name of a class or of one that it inherits from.
CHECKS: dict[str, Callable[[Any], None]] = {
    "Ragged": _check_ragged,
    "Symbols": _check_symbols,
    "SequenceTransformer": _check_channels,
    "Rotate": _check_rotation,
    "HashingQuantizer": _check_hashing,
    "DirectQuantizer": _check_bins,
    "Plan": _check_plan,
    "Vocabulary": _check_vocabulary,
    "Buckets": _check_buckets,
    "SequenceMap": _check_reader,
    "SequenceKernel": _check_kernel,
    "Margins": _check_margins,
    "KernelMachine": _check_kernel_machine,
    "LinearMachine": _check_linear_machine,
    "SequenceClassifier": _check_classifier,
}
