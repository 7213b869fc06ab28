"""One fold of one cell: everything is learned on its training part, the rest is told apart."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from mvdfq.machines.svm import Problems
from mvdfq.machines.validation import CANDIDATES, Trained, Trainer, inner_folds
from mvdfq.reproduce.cells import EstimatorMethod, Method, StringMethod
from mvdfq.reproduce.sets import Cut, MusicSet

__all__ = ["Workshop"]

# Clips of the training part that methods are chosen on, and the folds they are cut into.
CHOICE = 300
CHOICE_FOLDS = 3
# Symbols of the choice and of the fold.
KEPT = 2


@dataclass
class Workshop:
    """Learns and tests; keeps what other cells and folds can use.

    The symbols of a fold serve several kernels; the matrix of a kernel on symbols that are not
    learned serves all folds.
    """

    n_jobs: int | None = None
    memory_limit: Any = None
    choice: int = CHOICE
    _symbols: dict[Any, Any] = field(default_factory=dict, repr=False)
    _grams: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def run(
        self, methods: tuple[Method, ...], data: MusicSet, cut: Cut, protocol: str, seed: int
    ) -> dict[str, Any]:
        """Return what was said of the test part, and how long it took."""
        groups = data.inner_groups(protocol)
        seconds: dict[str, float] = {}
        with _timed(seconds, "choice"):
            method = self._choose(methods, data, cut, groups, seed)
        said: dict[str, Any] = {"test": cut.test.tolist(), "method": str(method)}
        if isinstance(method, EstimatorMethod):
            with _timed(seconds, "machines"):
                said["predicted"] = _estimated(method, data, cut, groups)
        else:
            said |= self._string(method, data, cut, groups, seed, seconds)
        return {**said, "seconds": {key: round(value, 3) for key, value in seconds.items()}}

    def _string(self, method, data, cut, groups, seed, seconds) -> dict[str, Any]:
        with _timed(seconds, "encode"):
            symbols = self.symbols(method, data.view(method.view), cut.train)
        with _timed(seconds, "gram"):
            K = self.gram(method, symbols, cut.train)
        with _timed(seconds, "machines"):
            inner = None if groups is None else groups[cut.train]
            # where groups are held apart a class may have no member in the training part
            known, y = np.unique(data.y[cut.train], return_inverse=True)
            problems, trained = self._train(method, K[np.ix_(cut.train, cut.train)], y, inner, seed)
            decision = problems.decision(trained.margins.of(K[np.ix_(cut.test, cut.train)]))
        predicted = known[problems.predicted(decision)].tolist()
        return {"predicted": predicted, "C": trained.C, "scheme": problems.scheme}

    def symbols(self, method: StringMethod, X: Any, train: np.ndarray) -> Any:
        """Return the symbols of all clips, by what the training part says."""
        if method.symbols is None:
            return X
        key = method.encoder, len(X), train.tobytes()
        return self._once(key, lambda: clone(method.symbols).fit(X[train]).transform(X))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return the symbols kept under a key, else those that are made now; two are kept."""
        if key not in self._symbols:
            while len(self._symbols) >= KEPT:
                del self._symbols[next(iter(self._symbols))]
            self._symbols[key] = make()
        self._symbols[key] = self._symbols.pop(key)  # the last one used is the last to go
        return self._symbols[key]

    def gram(self, method: StringMethod, symbols: Any, train: np.ndarray) -> np.ndarray:
        """Return the kernel values of all pairs of clips."""
        if method.symbols is not None or method.learns_words:
            return self._compute_gram(method, symbols, train)
        key = str(method)  # nothing is learned: it is the same in every fold
        if key not in self._grams:
            self._grams[key] = self._compute_gram(method, symbols, train)
        return self._grams[key]

    def _compute_gram(self, method: StringMethod, symbols: Any, train: np.ndarray) -> np.ndarray:
        kernel = method.reader(self.n_jobs, self.memory_limit).fit(symbols[train])
        return kernel.compare(kernel.read_new(symbols), None)[0]

    def _train(
        self, method: StringMethod, K: np.ndarray, y: np.ndarray, groups: Any, seed: int, folds=5
    ) -> tuple[Problems, Trained]:
        """Train on classes 0, 1, ..., none missing, by the scheme that validates best."""
        results = []
        for scheme in method.schemes:
            problems = Problems(len(np.unique(y)), scheme)
            trainer = Trainer(problems, y, np.ones(len(y)), groups, folds, seed, self.n_jobs)
            results.append((problems, trainer(lambda _: K, CANDIDATES, lambda *_: None)))
        return max(results, key=lambda result: _validated(result[1]))

    def _choose(self, methods, data, cut, groups, seed) -> Method:
        """Return the method that does best in inner validation on some of the training part."""
        if len(methods) == 1:
            return methods[0]
        some = cut.train[_subset(data.y[cut.train], self.choice, seed)]
        inner = None if groups is None else groups[some]
        scores = [self._score(method, data, some, inner, seed) for method in methods]
        return methods[int(np.argmax(scores))]

    def _score(self, method: Method, data: MusicSet, some: np.ndarray, groups, seed) -> float:
        """Return the accuracy of a method in inner folds of some clips, with its best C."""
        X, y = data.view(method.view), np.unique(data.y[some], return_inverse=True)[1]
        if isinstance(method, EstimatorMethod):
            return _estimated_score(method, X[some], y, groups, seed)
        symbols = self._few_symbols(method, X, some)
        K = self._compute_gram(method, symbols, np.arange(len(some)))
        _, trained = self._train(method, K, y, groups, seed, CHOICE_FOLDS)
        return _validated(trained)

    def _few_symbols(self, method: StringMethod, X: Any, some: np.ndarray) -> Any:
        if method.symbols is None:
            return X[some]
        key = method.encoder, "some", some.tobytes()
        return self._once(key, lambda: clone(method.symbols).fit_transform(X[some]))


def _validated(trained: Trained) -> float:
    """Return the accuracy in the inner folds with the best C; 0 where there were none."""
    return float(trained.scores.mean(axis=1).max()) if trained.scores.size else 0.0


def _estimated_score(method: EstimatorMethod, X: Any, y: np.ndarray, groups, seed: int) -> float:
    """Return the mean accuracy in inner folds that keep groups together."""
    scores = []
    for learn, check in inner_folds(y, groups, CHOICE_FOLDS, seed):
        inner = None if groups is None else groups[learn]
        clf = clone(method.estimator).fit(X[learn], y[learn], groups=inner)
        scores.append(np.mean(clf.predict(X[check]) == y[check]))
    return float(np.mean(scores)) if scores else 0.0


def _estimated(method: EstimatorMethod, data: MusicSet, cut: Cut, groups: Any) -> list[int]:
    X, y, clf = data.view(method.view), data.y, clone(method.estimator)
    inner = None if groups is None else groups[cut.train]
    return clf.fit(X[cut.train], y[cut.train], groups=inner).predict(X[cut.test]).tolist()


def _subset(y: np.ndarray, size: int, seed: int) -> np.ndarray:
    """Indices of at most `size` clips, classes in proportion.

    At least one of each class is left out, as the cutter asks; single members of their classes
    are drawn with the largest.
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
