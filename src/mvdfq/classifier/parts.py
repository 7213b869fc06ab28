"""The parts of a classifier: choose the parts, fit the parts, compute the matrix."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

from mvdfq._utils.memory import parse_memory
from mvdfq._utils.threads import Report
from mvdfq.classifier.choices import settings_for
from mvdfq.classifier.presets import Settings
from mvdfq.classifier.views import NoViews, ViewSum
from mvdfq.gram.base import warn_wordless
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.gram.vocabulary import Buckets, all_words
from mvdfq.machines.alignment import align, group_units, row_units, unit_grams
from mvdfq.machines.machine import KernelMachine, LinearMachine, Machine
from mvdfq.machines.standard import countable, fit_words, reader_of_words
from mvdfq.machines.svm import Margins
from mvdfq.machines.word_machine import WordMachine
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.sequences.ranges import ranges_of, without_constants
from mvdfq.symbols.base import Symbols

__all__ = [
    "encode",
    "fit_encoders",
    "fit_matrix",
    "fit_views",
    "fitted_kernel",
    "goes_by_passes",
    "kernel_for",
    "pass_reader",
    "ranges_for",
]

# With more sequences than this, explicit features are cheaper than a matrix of all pairs.
MANY = 10_000
# If there can be more words than this, words are hashed to this many columns.
MANY_WORDS = 2**20
# A kernel matrix of this many bytes is small, whatever the memory limit.
SMALL_MATRIX = 2**26
Matrix = Callable[[np.ndarray], Any]


def ranges_for(settings: Settings, X: Any) -> np.ndarray:
    """Return the ranges of the channels; NaN for symbols, and if the kernel reads values."""
    reads_symbols = settings.symbols is None or not isinstance(X, Sequences)
    return np.full((2, X.n_rows), np.nan) if reads_symbols else ranges_of(X)


def fit_encoders(settings: Settings, X: Any, y: np.ndarray) -> tuple[Any, Any, Any]:
    """Fit frames and symbols; return both, and the symbols of the training sequences."""
    fitted: list[Any] = []
    for step in (settings.frames, settings.symbols):
        if step is None or (isinstance(step, str) and step == "passthrough"):
            fitted.append(None)
            continue
        if not hasattr(step, "fit") or not hasattr(step, "transform"):
            raise TypeError(
                f"{step!r} is not a transformer; pass a name or an object such as mvdfq.Delta() or "
                f"mvdfq.DirectQuantizer()."
            )
        fitted.append(clone(step))
        X = fitted[-1].fit_transform(X, y)
    return (*fitted, X)


def encode(encoders: list[Any], X: Any) -> Any:
    """Return the symbols of new sequences."""
    for step in encoders:
        X = step.transform(X)
    return X


def fit_matrix(
    classifier: Any, settings: Settings, symbols: Any, y: np.ndarray, report: Report
) -> tuple[Matrix, Callable[[Margins], Machine]]:
    """Compute the matrix that the machines learn from.

    Returns the matrix as a function of the sequences to learn from, because learned weights depend
    on the labels of these sequences; and a function that makes a machine of margins.
    """
    reader = _reader(classifier, settings, symbols)
    machine: Any
    learned = None
    if classifier.weights is not None:
        learned = _learn_weights(classifier, settings, symbols, y, report)
        reader.set_params(**learned(np.arange(len(y))))
    if _is_standard(reader, settings, symbols):
        values, machine = _fit_standard(classifier, settings, symbols)
    elif isinstance(reader, SequenceFeatures):
        values = reader.fit_transform(symbols)
        machine = partial(
            LinearMachine,
            reader,
            memory_limit=classifier.memory_limit,
            n_jobs=classifier.n_jobs,
            train=values,
        )
    else:
        values, result = reader.fit(symbols).compare(reader.train_, None, report)
        machine = partial(KernelMachine.from_gram, reader, result)

    def matrix(learn: np.ndarray) -> Any:
        if learned is None or len(learn) == len(y):
            return values
        return clone(reader).set_params(**learned(learn)).fit_transform(symbols)

    return matrix, lambda margins: machine(margins=margins)


def _is_standard(reader: Any, settings: Settings, symbols: Any) -> bool:
    """Tell whether the words are standardized: a preset wants it, and all rows have few words."""
    if settings.min_share is None or not isinstance(reader, SequenceKernel):
        return False
    return isinstance(symbols, Symbols) and bool(countable(settings.kernel, symbols).all())


def _fit_standard(
    classifier: Any, settings: Settings, symbols: Symbols
) -> tuple[np.ndarray, Callable[[Margins], WordMachine]]:
    """Return the kernel matrix of standardized words, and a function that makes a machine.

    All words count alike, so the weights of the layouts are left out.
    """
    kernel = clone(settings.kernel).set_params(weights=None)
    memory, n_jobs = parse_memory(classifier.memory_limit), classifier.n_jobs
    min_share = settings.min_share or 0.0
    warn_wordless(symbols.n_present)
    reader, gram = fit_words(symbols, kernel, settings.pyramid, min_share, memory, n_jobs)
    n_words = max(gram.n_words, 1)

    def machine(margins: Margins) -> WordMachine:
        made = WordMachine.from_gram(gram, reader, margins.coefficients / n_words)
        intercepts = made.margins.intercepts + margins.intercepts
        return replace(
            made,
            margins=replace(made.margins, intercepts=intercepts),
            norms=made.norms * n_words,  # as by the matrix, which is divided by n_words
            train=symbols,
            min_share=min_share,
        )

    return gram.values / n_words, machine


def fit_views(classifier: Any, settings: Settings, matrix: Matrix, X: Any) -> NoViews | ViewSum:
    """Fit the views beside the first kernel, if the preset has views for these sequences."""
    values = matrix(np.arange(len(X)))
    if settings.views is None or sp.issparse(values) or not isinstance(X, Sequences):
        return NoViews(matrix)
    return ViewSum(values, settings.views(X), X, classifier)


def _options(classifier: Any, settings: Settings, symbols: Any) -> dict[str, Any]:
    weights = settings.row_weights
    return {
        "row_weights": None if weights is None else weights(symbols.n_rows),
        "manifold": settings.manifold,
        "pyramid": settings.pyramid,
        "constant_rows": "ignore",
        "n_jobs": classifier.n_jobs,
    }


def kernel_for(classifier: Any, settings: Settings, symbols: Any) -> SequenceKernel:
    """Return the kernel of a classifier, not fitted, without the RBF on top of it."""
    options = _options(classifier, settings, symbols)
    limit = classifier.memory_limit
    return SequenceKernel(clone(settings.kernel), memory_limit=limit, **options)


def _reader(classifier: Any, settings: Settings, symbols: Any) -> SequenceKernel | SequenceFeatures:
    """Return the unfitted transformer of symbols: the kernel or explicit features."""
    if classifier.solver == "linear" or _is_large(classifier, settings, symbols):
        n_features = _n_columns(classifier, settings, symbols)
        options = _options(classifier, settings, symbols) | {
            "memory_limit": classifier.memory_limit
        }
        return SequenceFeatures(clone(settings.kernel), n_features=n_features, **options)
    return kernel_for(classifier, settings, symbols).set_params(gamma=classifier.gamma)


def _n_columns(classifier: Any, settings: Settings, symbols: Any) -> int | None:
    """Return the number of columns that words are hashed to; None gives every word a column."""
    if classifier.n_features is None and _most_words(settings, symbols) > MANY_WORDS:
        return MANY_WORDS
    return classifier.n_features


def _is_large(classifier: Any, settings: Settings, symbols: Any) -> bool:
    """Tell whether there are too many sequences for a matrix of all pairs, if features will do."""
    if classifier.solver == "kernel" or classifier.gamma is not None:
        return False
    n, limit = len(symbols), max(parse_memory(classifier.memory_limit), SMALL_MATRIX)
    return settings.kernel.has_features and (n > MANY or 8 * n**2 > limit)


def goes_by_passes(classifier: Any, settings: Settings, symbols: Any) -> bool:
    """Tell whether machines are fitted by passes over blocks: not if weights are learned before."""
    return classifier.weights is None and _is_large(classifier, settings, symbols)


def pass_reader(classifier: Any, settings: Settings, symbols: Any) -> SequenceFeatures:
    """Return fitted features whose columns are known before any sequence is read.

    `normalize` is False if the features are standardized words, as presets want.
    """
    standard = settings.min_share is not None and isinstance(symbols, Symbols)
    if standard and classifier.n_features is None:
        if countable(settings.kernel, symbols).all():
            kernel = clone(settings.kernel).set_params(weights=None)
            return _with_columns(reader_of_words(symbols, kernel, settings.pyramid), None)
    n_features = _n_columns(classifier, settings, symbols)
    options = _options(classifier, settings, symbols) | {"memory_limit": classifier.memory_limit}
    reader = SequenceFeatures(clone(settings.kernel), n_features=n_features, **options)
    reader.fit_reader(symbols)
    if n_features is None and not reader.plan_.counts_groups:
        return reader.fit(symbols)
    return _with_columns(reader, n_features)


def _with_columns(reader: SequenceFeatures, n_features: int | None) -> SequenceFeatures:
    """Give all possible words a column, or hash words."""
    reader.columns_ = all_words(reader.plan_) if n_features is None else Buckets(n_features)
    reader.n_features_out_ = reader.columns_.size
    return reader


def _most_words(settings: Settings, symbols: Any) -> int:
    """Return a bound on the number of words in all groups and cells."""
    if not isinstance(symbols, Symbols):
        return MANY_WORDS + 1
    cells = 2**settings.pyramid - 1
    return sum(
        cells * int(n) ** group.length
        for n in symbols.n_symbols
        for group in settings.kernel.groups(int(n))
    )


def _learn_weights(
    classifier: Any, settings: Settings, symbols: Any, y: np.ndarray, report: Report
) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """Return a function that learns the weights of rows or groups from some sequences.

    The function returns the weights as a parameter of the kernel. Where the Gram matrices of all
    units do not fit the memory limit, the function uses a random part of the sequences.
    """
    kernel = kernel_for(classifier, settings, symbols).fit(symbols)
    plan, by_rows = kernel.plan_, classifier.weights == "rows"
    n_units = len(plan.row_weights) if by_rows else len(plan.groups(0))
    most = int(np.sqrt(parse_memory(kernel.memory_limit) / (4 * n_units)))
    random = check_random_state(classifier.random_state)
    chosen = np.sort(random.permutation(len(y))[: max(most, 2)])
    units = (row_units if by_rows else group_units)(kernel.train_[chosen], plan)
    stack = np.empty((n_units, len(chosen), len(chosen)), np.float32)
    for u, K in enumerate(unit_grams(units, kernel.n_jobs, kernel.memory_limit)):
        stack[u] = K
        report(u + 1, 2 * n_units)

    def learned(learn: np.ndarray) -> dict[str, np.ndarray]:
        known = np.flatnonzero(np.isin(chosen, learn))
        weights = align(stack[:, known][:, :, known], y[chosen[known]])
        if not by_rows:
            return {"group_weights": weights}
        of_all = np.zeros(kernel.n_rows_in_)  # rows that are left out have weight 0
        of_all[kernel.rows_] = weights
        return {"row_weights": of_all}

    return learned


def fitted_kernel(clf: Any, X: Any) -> SequenceKernel:
    """Return the fitted kernel of a classifier without machines: no labels are needed."""
    X = check_sequences(X)
    settings = settings_for(clf, X)
    X = without_constants(X, ranges_for(settings, X))
    *_, symbols = fit_encoders(settings, X, np.zeros(len(X)))
    return kernel_for(clf, settings, symbols).fit(symbols)
