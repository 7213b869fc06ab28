"""The base class of kernel and features: reads sequences, freezes alphabets, checks options."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from mvdfq._utils.checks import check_choice, check_positive, check_whole
from mvdfq._utils.errors import Sentence, warn
from mvdfq._utils.short import counted, listed
from mvdfq.gram.plan import Plan
from mvdfq.kernels import Kernel, Spectrum
from mvdfq.sequences import Ragged, Sequences, check_sequences
from mvdfq.symbols.base import Symbols, check_symbols
from mvdfq.symbols.letters import Letters

# Frames of a row to look at before all of them.
GLANCE = 2**12

# Bytes of features in a data frame.
MOST_DENSE = 2**31


@dataclass(eq=False, repr=False)
class SequenceMap(TransformerMixin, BaseEstimator):
    """The base class of kernel and features: reads sequences and plans the computation."""

    kernel: Kernel | None = None
    _: KW_ONLY
    manifold: bool = False
    normalize: bool = True
    row_norm: str = "none"
    row_weights: Sequence[float] | None = None
    group_weights: Sequence[float] | None = None
    pyramid: int = 1
    n_symbols: int | Sequence[int] | None = None
    constant_rows: str = "drop"
    memory_limit: int | str | None = None
    n_jobs: int | None = None
    engine: str | None = None

    # What `fit` learns: a model file must hold these.
    kernel_: Kernel = field(init=False)
    letters_: Letters | None = field(init=False)
    n_rows_in_: int = field(init=False)
    n_symbols_: np.ndarray = field(init=False)
    row_names_: tuple[str, ...] = field(init=False)
    rows_: np.ndarray = field(init=False)
    plan_: Plan = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the alphabets, and the words that have a column.

        `X` is `Symbols`, a list of integer arrays or a list of str; lengths may differ. `Profile`
        takes sequences of probabilities. `y` is ignored.
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from the training sequences and transform them, in one pass where possible."""
        return self._framed(self.values(*self._fit(X)))

    def transform(self, X: Any) -> Any:
        """Compare sequences with the sequences of `fit`, or count their words.

        A kernel returns an array of kernel values, (n_sequences, n_train). Features are a sparse
        `csr_array` of counts (embedded, weighted, normalized), (n_sequences, n_features_out).
        """
        return self._framed(self.values(self.read_new(X)))

    def _framed(self, values: Any) -> Any:
        """Return dense values where `set_output` asks for a data frame, which is not sparse."""
        if not issparse(values) or _get_output_config("transform", self)["dense"] == "default":
            return values
        if 8 * values.shape[0] * values.shape[1] > MOST_DENSE:
            size = f"{values.shape[0]} x {values.shape[1]} features"
            hint = "pass n_features=1000, or set_output(transform='default') for a sparse matrix"
            raise ValueError(f"A data frame of {size} takes more than 2 GiB; {hint}.")
        return values.toarray()

    def _fit(self, X: Any) -> tuple[Any, ...]:
        """Learn from the training sequences; return them, and what else `values` can use."""
        raise NotImplementedError

    def values(self, collection: Any) -> Any:
        """Transform a collection that holds only the rows in use, as `read_new` returns it."""
        raise NotImplementedError

    def _fit_plan(self, X: Any, listed: bool) -> Ragged:
        """Read the training sequences, freeze alphabets and rows; return the rows in use."""
        kernel = Spectrum() if self.kernel is None else self.kernel
        _check_options(self, kernel)
        # a copy: the plan must not change when a user changes the parameter
        kernel = self.kernel_ = clone(kernel)
        self.letters_ = Letters().fit(X) if are_letters(X) else None
        collection = self._read(X, self.n_symbols)
        self.n_rows_in_ = collection.n_rows
        self.n_symbols_ = getattr(collection, "n_symbols", np.array([collection.n_rows]))
        names = collection.channel_names
        self.row_names_ = names or tuple(f"row {r}" for r in range(collection.n_rows))
        self.rows_ = self._rows_in_use(collection)
        weights = _check_weights(self.row_weights, len(self.n_symbols_), self.rows_, "row")
        group_weights: Any = self.group_weights
        if group_weights is not None:
            n_groups = len(kernel.groups(int(self.n_symbols_[0])))
            group_weights = _check_weights(group_weights, n_groups, slice(None), "group")
        collection = self._in_use(collection)
        vocabularies: dict[tuple[int, int], np.ndarray] = {}
        for r in range(len(weights)) if kernel.needs_vocabulary else ():
            vocabulary = kernel.vocabulary(kernel.row([collection], r))
            vocabularies |= {(r, dilation): words for dilation, words in vocabulary.items()}
        how: Any = {"root": self.manifold, "row_norm": self.row_norm, "n_levels": self.pyramid}
        how |= {"group_weights": group_weights, "listed": listed, "vocabularies": vocabularies}
        self.plan_ = Plan(kernel, self.n_symbols_[self.rows_], weights, **how)
        return collection

    def _read(self, X: Any, n_symbols: Any = None) -> Ragged:
        """Read sequences of the kind that the kernel compares."""
        if not self.kernel_.reads_symbols:
            sequences = check_sequences(X)
            self.kernel_.check_values(sequences)
            return sequences
        if n_symbols is not None and (isinstance(X, Symbols) or self.letters_ is not None):
            problem = "n_symbols must be None unless X holds plain integers"
            hint = "a quantizer sets the alphabet itself"
            strings = "mvdfq.Letters(alphabet=...) sets the alphabet of strings"
            raise ValueError(f"{problem}; {hint}, and {strings}.")
        if isinstance(X, Symbols):
            return X
        if are_letters(X) != (self.letters_ is not None):
            check_sequences(X)  # an empty list, or a word alone, holds neither
            fitted, given = ("numbers", "strings") if are_letters(X) else ("strings", "numbers")
            raise TypeError(f"fit was given {fitted}, but X holds {given}; pass {fitted}.")
        return check_symbols(X, n_symbols) if self.letters_ is None else self.letters_.transform(X)

    def read_new(self, X: Any) -> Ragged:
        """Read new sequences and return the rows in use."""
        check_is_fitted(self)
        collection = self._read(X)
        if isinstance(X, np.ndarray) and X.ndim == 2 and self.n_rows_in_ > 1:
            problem = "X is a 2-D array, which means sequences of one row"
            hint = f"but {self.n_rows_in_} rows are expected; if X is one sequence, pass [X]"
            raise ValueError(f"{problem}, {hint}.")
        if collection.n_rows != self.n_rows_in_:
            fitted = f"{type(self).__name__} was fitted on {self.n_rows_in_}"
            raise ValueError(f"X has {counted(collection.n_rows, 'row')}, but {fitted}.")
        if isinstance(X, Symbols) and not np.array_equal(X.n_symbols, self.n_symbols_):
            new, old = X.n_symbols.tolist(), self.n_symbols_.tolist()
            problem = f"X has alphabets of {new} symbols, but fit had alphabets of {old}"
            raise ValueError(f"{problem}; use the same fitted quantizer for both.")
        if isinstance(collection, Symbols):
            # with the alphabets of `fit`, codes beyond them are symbols that `fit` did not see
            collection = collection.with_fields(n_symbols=self.n_symbols_)
        return self._in_use(collection)

    def _rows_in_use(self, collection: Ragged) -> np.ndarray:
        """Leave out rows that hold one symbol only: such rows only compare lengths."""
        everything = np.arange(len(self.n_symbols_))
        if self.constant_rows == "keep" or not isinstance(collection, Symbols):
            return everything
        constant = np.ones(len(everything), bool)
        for r, codes in enumerate(collection.codes):
            # the first frames of most rows differ; to read all takes longer than a matrix on a card
            for part in (codes[:GLANCE], codes):
                present = part[part != collection.missing]
                constant[r] = not (present != present[:1]).any()
                if not constant[r]:
                    break
        if constant.all():
            return everything
        if constant.any() and self.constant_rows == "drop":
            problem = "hold at most one symbol in all training sequences and are left out"
            hint = "constant_rows='keep' keeps such rows, 'ignore' leaves such rows out in silence"
            rows = np.flatnonzero(constant).tolist()
            warn(f"Rows {rows} {problem}; {hint}.")
        return everything[~constant]

    def _in_use(self, collection: Ragged) -> Ragged:
        if isinstance(collection, Symbols) and len(self.rows_) < collection.n_rows:
            return collection.rows(self.rows_)
        return collection

    def row_mean(self) -> float:
        """Return the divisor that turns the sum over rows into a mean; 1 keeps the sum."""
        return float(self.plan_.row_weights.sum()) if self.plan_.normalises_rows else 1.0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        return tags


def warn_wordless(own: np.ndarray) -> None:
    """Warn about sequences without any word, since their kernel values are 0."""
    empty = np.flatnonzero(own <= 0)
    if empty.size:
        why = "(too short, or too many missing values); all kernel values of such a sequence are 0"
        where = listed(empty, "sequence")
        warn(f"The kernel finds no word in {where} {why}.")


def are_letters(X: Any) -> bool:
    """Tell whether X holds strings, which `Letters` must turn into symbols."""
    if isinstance(X, Sequences):
        return bool(X.symbolic_mask.all())
    if isinstance(X, Ragged | str) or not isinstance(X, Iterable):
        return False
    # the first sequence decides; reading refuses a list that mixes strings and numbers
    first = next(iter(X), None)
    rows = first if isinstance(first, list | tuple) else [first]
    return len(rows) > 0 and all(isinstance(row, str) for row in rows)


def _check_weights(weights: Any, n: int, used: Any, what: str) -> np.ndarray:
    """Return the weights of the rows or groups in use; None means 1 for all `n`."""
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights >= 0)).all():
        wanted = f"{counted(n, 'non-negative number')}, one per {what}"
        raise ValueError(f"{what}_weights must hold {wanted}, got {weights.tolist()}.")
    if not weights[used].any():
        raise ValueError(f"{what}_weights must be positive for a {what} in use, got only zeros.")
    return weights[used]


def _check_options(estimator: SequenceMap, kernel: Kernel) -> None:
    """Raise an error for options that do not exist or cannot be combined."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"kernel must be a kernel such as mvdfq.Spectrum(3), got {kernel!r}.")
    kernel.check()
    check_choice(estimator.row_norm, "row_norm", ("none", "cosine"))
    check_choice(estimator.constant_rows, "constant_rows", ("drop", "keep", "ignore"))
    pyramid, n_features = estimator.pyramid, getattr(estimator, "n_features", None)
    if not isinstance(pyramid, int | np.integer) or not 1 <= pyramid <= 16:
        raise ValueError(f"pyramid must be a number of levels, 1 to 16, got {pyramid!r}.")
    if (gamma := getattr(estimator, "gamma", None)) is not None:
        check_positive(gamma, "gamma")
    _check_together(estimator, kernel)
    if n_features is not None and check_whole(n_features, "n_features") >= 2**31:
        raise ValueError(f"n_features must be below 2**31, got {n_features}.")
    if not kernel.is_definite:
        problem = f"{type(kernel).__name__} is not positive semi-definite"
        hint = "so an SVM may not reach its optimum; mvdfq.Mismatch is positive semi-definite"
        warn(f"{problem}, {hint}.")


def _check_together(estimator: SequenceMap, kernel: Kernel) -> None:
    """Refuse options that do not go together."""
    lacks = f"{kernel!r} has no explicit features; pass "
    if getattr(estimator, "gamma", None) is not None and not estimator.normalize:
        raise ValueError("gamma needs normalize=True, got normalize=False.")
    if estimator.manifold and not kernel.has_features:
        raise ValueError(f"{lacks}manifold=False.")
    if estimator.pyramid > 1 and not kernel.has_features:
        raise ValueError(Sentence(lacks, {"pyramid": 1}, "."))
    if estimator.group_weights is not None and not kernel.has_groups:
        raise ValueError(f"{kernel!r} has no groups to weight; pass group_weights=None.")
