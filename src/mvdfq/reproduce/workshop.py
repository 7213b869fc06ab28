"""One fold of one cell: a method is chosen and trained on the training part, then tested."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from mvdfq._utils.checks import parse_memory
from mvdfq.gram.plan import inverse_root
from mvdfq.reproduce.cells import EstimatorMethod, StringMethod
from mvdfq.reproduce.sets import Cut, MusicSet
from mvdfq.reproduce.store import Shelf
from mvdfq.symbols.base import Symbols
from mvdfq.terms.svm import Problems
from mvdfq.terms.validation import CANDIDATES, Trained, Trainer, inner_folds

# One-vs-one and one-vs-rest. The paper does not name its multi-class scheme. Both schemes are
# trained on the same kernel matrix, because the matrix takes most of the time.
SCHEMES = ("ovo", "ovr")
# Methods are chosen on this many clips of the training part, in this many inner folds.
CHOICE = 300
CHOICE_FOLDS = 3
FOLDS = 5
# Collections of symbols that stay in memory: one for the choice, one for the fold.
KEPT = 2
# How C and methods are chosen: every record depends on this.
POLICY = (
    f"C of {CANDIDATES} by {FOLDS} inner folds; methods on {CHOICE} clips in {CHOICE_FOLDS} folds"
)


@dataclass
class Workshop:
    """Trains and tests methods, and keeps what other cells and folds can use again.

    Several kernels share the symbols of a fold. Folds share the kernel matrices of equal rows, see
    `RowGrams`. `Trainer` chooses C and trains, as it does for
    `SequenceClassifier`; docs/decisions.md says why the cells do not use the classifier itself.
    """

    n_jobs: int | None = None
    memory_limit: Any = None
    choice: int = CHOICE
    _symbols: Shelf = field(default_factory=lambda: Shelf(KEPT), repr=False)
    _rows: "RowGrams" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._rows = RowGrams(self.n_jobs, self.memory_limit)

    def run(
        self, methods: tuple[Any, ...], data: MusicSet, cut: Cut, protocol: str, seed: int
    ) -> dict[str, Any]:
        """Return the predictions for the test part by scheme, the method, and the seconds."""
        groups = data.inner_groups(protocol)
        seconds: dict[str, float] = {}
        with _timed(seconds, "choice"):
            method = self._choose(methods, data, cut, groups, seed)
        if isinstance(method, EstimatorMethod):
            with _timed(seconds, "machines"):
                X, y = data.view(method.view), data.y
                clf = clone(method.estimator)
                clf.fit(X[cut.train], y[cut.train], groups=_of(groups, cut.train))
                answers = {"": {"predicted": clf.predict(X[cut.test]).tolist()}}
        else:
            answers = self._string(method, data, cut, groups, seed, seconds)
        return {
            "test": cut.test.tolist(),
            "method": str(method),
            "said": answers,
            "seconds": {key: round(value, 3) for key, value in seconds.items()},
        }

    def _string(self, method, data, cut, groups, seed, seconds) -> dict[str, Any]:
        with _timed(seconds, "encode"):
            symbols = self._encoded(method, data.view(method.view), cut.train)
        with _timed(seconds, "gram"):
            K = self._gram(method, symbols, cut.train)
        with _timed(seconds, "machines"):
            # Where groups are held apart, a class may have no member in the training part.
            known, y = np.unique(data.y[cut.train], return_inverse=True)
            within, values = (K[np.ix_(part, cut.train)] for part in (cut.train, cut.test))
            trained = self._train(within, y, _of(groups, cut.train), seed, method)
            return {
                problems.scheme: {
                    "predicted": known[_predicted(problems, each, values)].tolist(),
                    "C": each.C,
                    "score": _validated(each),
                }
                for problems, each in trained
            }

    def _encoded(self, method: StringMethod, X: Any, train: np.ndarray) -> Any:
        """Return the symbols of all clips; the quantizer learns from the training part."""
        if method.symbols is None:
            return X
        key = method.encoder, len(X), train.tobytes()
        return self._symbols.once(key, lambda: clone(method.symbols).fit(X[train]).transform(X))

    def _gram(self, method: StringMethod, symbols: Any, train: np.ndarray) -> np.ndarray:
        """Return the kernel values of all pairs of clips."""
        # Words that are learned from a training part differ between folds: nothing can be shared.
        compute = self._compute_gram if method.learns_words else self._rows.gram
        return compute(method, symbols, train)

    def _compute_gram(self, method: StringMethod, symbols: Any, train: np.ndarray) -> np.ndarray:
        kernel = method.sequence_kernel(self.n_jobs, self.memory_limit).fit(symbols[train])
        return kernel.compare(kernel.read_new(symbols), None)[0]

    def _train(
        self, K: np.ndarray, y: np.ndarray, groups: Any, seed: int, method, folds: int = FOLDS
    ) -> list[tuple[Problems, Trained]]:
        """Train the schemes of a method on classes 0, 1, ...; every class has a member."""
        schemes = [method.scheme] if method.scheme else SCHEMES
        penalties = CANDIDATES if method.C is None else [method.C]
        problems = [Problems(len(np.unique(y)), scheme) for scheme in schemes]
        ones = np.ones(len(y))
        # `lambda _: K`: these kernel values do not depend on which clips an inner fold learns from.
        trainers = [Trainer(p, y, ones, groups, folds, seed, self.n_jobs) for p in problems]
        return [(trainer.problems, trainer(lambda _: K, penalties)) for trainer in trainers]

    def _choose(self, methods, data, cut, groups, seed) -> Any:
        """Return the method that does best in inner validation on some of the training part."""
        if len(methods) == 1:
            return methods[0]
        some = cut.train[_subset(data.y[cut.train], self.choice, seed)]
        scores = [self._score(method, data, some, _of(groups, some), seed) for method in methods]
        return methods[int(np.argmax(scores))]

    def _score(self, method: Any, data: MusicSet, some: np.ndarray, groups, seed) -> float:
        """Return the accuracy of a method in inner folds, with its best C and scheme."""
        X, y = data.view(method.view), np.unique(data.y[some], return_inverse=True)[1]
        if isinstance(method, EstimatorMethod):
            return _estimated_score(method, X[some], y, groups, seed)
        symbols = self._few_symbols(method, X, some)
        K = self._compute_gram(method, symbols, np.arange(len(some)))
        trained = self._train(K, y, groups, seed, method, CHOICE_FOLDS)
        return max(_validated(each) for _, each in trained)

    def _few_symbols(self, method: StringMethod, X: Any, some: np.ndarray) -> Any:
        if method.symbols is None:
            return X[some]
        key = method.encoder, "some", some.tobytes()
        return self._symbols.once(key, lambda: clone(method.symbols).fit_transform(X[some]))


def _of(groups: np.ndarray | None, members: np.ndarray) -> np.ndarray | None:
    return None if groups is None else groups[members]


def _predicted(problems: Problems, trained: Trained, values: np.ndarray) -> np.ndarray:
    return problems.predicted(problems.decision(trained.margins.of(values)))


def _validated(trained: Trained) -> float:
    """Return the accuracy in the inner folds; 0 without inner folds."""
    return float(np.nan_to_num(trained.score))


def _estimated_score(method: EstimatorMethod, X: Any, y: np.ndarray, groups, seed: int) -> float:
    """Return the mean accuracy in inner folds that keep groups together."""
    scores = []
    for learn, check in inner_folds(y, groups, CHOICE_FOLDS, seed):
        clf = clone(method.estimator).fit(X[learn], y[learn], groups=_of(groups, learn))
        scores.append(np.mean(clf.predict(X[check]) == y[check]))
    return float(np.mean(scores)) if scores else 0.0


def _subset(y: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Return the indices of at most `size` clips, classes in proportion.

    scikit-learn's splitter must leave out one clip of each class at least, and it refuses a class
    with a single member: such members are drawn together with the largest class.
    """
    if len(y) <= size:
        return np.arange(len(y))
    sizes = np.bincount(y)
    y = np.where(sizes[y] > 1, y, sizes.argmax())
    size = min(size, len(y) - len(np.unique(y)))
    cutter = StratifiedShuffleSplit(1, train_size=size, random_state=seed)
    return np.sort(next(cutter.split(y, y))[0])


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start


@dataclass
class RowGrams:
    """Compares all clips, and computes the matrix of equal rows of symbols once.

    The matrix of a method is the sum over its rows. Folds often have equal rows: uniform bins
    depend only on the smallest and the largest value of the training part, and four of five folds
    hold the clip with the largest value. The matrices of rows take `memory_limit` bytes at most;
    the upper half of each matrix is kept.
    """

    n_jobs: int | None = None
    memory_limit: Any = None
    _kept: dict[int, Shelf] = field(default_factory=dict, repr=False)

    def gram(self, method: StringMethod, symbols: Symbols, train: np.ndarray) -> np.ndarray:
        """Return the kernel values of all pairs of clips; rows constant in `train` are left out."""
        kernel = method.sequence_kernel(self.n_jobs, self.memory_limit).fit(symbols[train])
        n = len(symbols)
        upper = np.triu_indices(n)
        total = np.zeros(len(upper[0]))
        for r in kernel.rows_:
            total += self._row(method, symbols.rows(slice(r, r + 1)), upper)
        K = np.zeros((n, n))
        K[upper] = total
        K += np.triu(K, 1).T
        scale = inverse_root(K.diagonal().copy())
        K *= np.outer(scale, scale)
        np.fill_diagonal(K, scale > 0)  # exactly 1, without rounding errors
        return K

    def _row(self, method: StringMethod, row: Symbols, upper: tuple[np.ndarray, ...]) -> np.ndarray:
        """Return the upper half of the matrix of one row, not normalized."""
        n = len(row)
        if n not in self._kept:
            size = 8 * len(upper[0])
            self._kept[n] = Shelf(max(parse_memory(self.memory_limit) // size, 1))
        key = method.counted, int(row.n_symbols[0]), joblib.hash((row.codes, row.offsets))
        return self._kept[n].once(key, lambda: self._compute(method, row)[upper])

    def _compute(self, method: StringMethod, row: Symbols) -> np.ndarray:
        kernel = method.sequence_kernel(self.n_jobs, self.memory_limit)
        kernel.set_params(normalize=False, constant_rows="keep")
        return kernel.fit_transform(row)
