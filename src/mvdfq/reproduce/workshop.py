"""One fold of one cell: a method is chosen and trained on the training part, then tested.

The table of running times has the seconds of the kernel matrix of all clips on one thread.
"""

import platform
import re
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from mvdfq._utils.checks import parse_memory
from mvdfq._utils.version import source_digest
from mvdfq.gram.plan import inverse_root
from mvdfq.reproduce.cells import EstimatorMethod, StringMethod
from mvdfq.reproduce.sets import Cut, MusicSet
from mvdfq.reproduce.store import Record, Shelf, Store
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
# The least of three times: other programs can only add to it.
REPEATS = 3
# Clips of the first small matrix, which compiles the loops.
WARM_UP = 20
# How C and methods are chosen: every record depends on this.
POLICY = (
    f"C of {CANDIDATES} by {FOLDS} inner folds; methods on {CHOICE} clips in {CHOICE_FOLDS} folds"
)


@dataclass
class Workshop:
    """Trains and tests methods, and keeps what other cells and folds can use again.

    Several kernels share the symbols of a fold, and folds share the kernel matrices of equal rows.
    `Trainer` chooses C and trains, as it does for `SequenceClassifier`; docs/decisions.md says why
    the cells do not use the classifier itself.
    """

    n_jobs: int | None = None
    memory_limit: Any = None
    choice: int = CHOICE
    # Two collections of symbols: one for the choice, one for the fold.
    _symbols: Shelf = field(default_factory=lambda: Shelf(2), repr=False)
    _rows: Shelf = field(default_factory=lambda: Shelf(1), repr=False)

    def run(
        self, methods: tuple[Any, ...], data: MusicSet, cut: Cut, protocol: str, seed: int
    ) -> dict[str, Any]:
        """Return the predictions for the test part by scheme, the method, and the seconds."""
        groups, method = data.inner_groups(protocol), methods[0]
        seconds: dict[str, float] = {}
        with _timed(seconds, "choice"):
            if len(methods) > 1:  # what does best in inner validation on some of the training part
                subset = cut.train[_subset(data.y[cut.train], self.choice, seed)]
                about = data, subset, _of(groups, subset), seed
                method = methods[int(np.argmax([self._score(each, *about) for each in methods]))]
        groups = _of(groups, cut.train)
        if isinstance(method, EstimatorMethod):
            with _timed(seconds, "machines"):
                X, clf = data.view(method.view), clone(method.estimator)
                clf.fit(X[cut.train], data.y[cut.train], groups=groups)
                answers = {"": {"predicted": clf.predict(X[cut.test]).tolist()}}
        else:
            answers = self._string(method, data, cut, groups, seed, seconds)
        spent = {key: round(value, 3) for key, value in seconds.items()}
        return {"test": cut.test.tolist(), "method": str(method), "said": answers, "seconds": spent}

    def _string(self, method, data, cut, groups, seed, seconds) -> dict[str, Any]:
        with _timed(seconds, "encode"):
            symbols = self._encoded(method, data.view(method.view), cut.train)
        with _timed(seconds, "gram"):
            K = self._gram(method, symbols, cut.train)
        with _timed(seconds, "machines"):
            # Where groups are held apart, a class may have no member in the training part.
            known, y = np.unique(data.y[cut.train], return_inverse=True)
            within, values = (K[np.ix_(part, cut.train)] for part in (cut.train, cut.test))
            answers = {}
            for problems, trained in self._train(within, y, groups, seed, method):
                predicted = problems.predicted(problems.decision(trained.margins.of(values)))
                score = float(np.nan_to_num(trained.score))  # 0 without inner folds
                said = {"predicted": known[predicted].tolist(), "C": trained.C, "score": score}
                answers[problems.scheme] = said
            return answers

    def _encoded(
        self, method: StringMethod, X: Any, train: np.ndarray, whole: bool = True
    ) -> Symbols:
        """Return the symbols of all clips or of the training part, which the quantizer learns."""
        part = X if whole else X[train]
        if method.symbols is None:
            return part
        key = method.view, str(method.symbols), len(X), whole, train.tobytes()
        return self._symbols.once(key, lambda: clone(method.symbols).fit(X[train]).transform(part))

    def _gram(self, method: StringMethod, symbols: Symbols, train: np.ndarray) -> np.ndarray:
        """Return the kernel values of all pairs of clips; rows constant in `train` are left out.

        The matrix is the sum over the rows of symbols, and equal rows are compared once. Folds
        often have equal rows: uniform bins depend only on the smallest and the largest value of the
        training part, and four of five folds hold the clip with the largest value. The matrices of
        rows take `memory_limit` bytes at most.
        """
        kernel = method.sequence_kernel(self.n_jobs, self.memory_limit).fit(symbols[train])
        # Words that are learned from a training part differ between folds: nothing can be shared.
        if getattr(method.kernel, "neighbourhood", "full") == "observed":
            return kernel.compare(kernel.read_new(symbols), None)[0]
        K = np.zeros((len(symbols), len(symbols)))
        self._rows.most = max(parse_memory(self.memory_limit) // K.nbytes, 1)
        # one row alone, not normalized
        alone = clone(kernel).set_params(normalize=False, constant_rows="keep")
        for r in kernel.rows_:
            row = symbols.rows(slice(r, r + 1))
            content = joblib.hash((row.codes, row.offsets, row.n_symbols))
            key = str(method.kernel), method.manifold, content
            K += self._rows.once(key, partial(clone(alone).fit_transform, row))
        scale = inverse_root(K.diagonal().copy())
        K *= np.outer(scale, scale)
        np.fill_diagonal(K, scale > 0)  # exactly 1, without rounding errors
        return K

    def _train(
        self, K: np.ndarray, y: np.ndarray, groups: Any, seed: int, method, folds: int = FOLDS
    ) -> list[tuple[Problems, Trained]]:
        """Train the schemes of a method on classes 0, 1, ...; every class has a member."""
        penalties, machines = CANDIDATES if method.C is None else [method.C], []
        for scheme in [method.scheme] if method.scheme else SCHEMES:
            problems = Problems(len(np.unique(y)), scheme)
            trainer = Trainer(problems, y, np.ones(len(y)), groups, folds, seed, self.n_jobs)
            # these kernel values do not depend on which clips an inner fold learns from
            machines.append((problems, trainer(lambda _: K, penalties)))
        return machines

    def _score(self, method: Any, data: MusicSet, subset: np.ndarray, groups, seed) -> float:
        """Return the accuracy of a method in inner folds, with its best C and scheme."""
        X, y = data.view(method.view), np.unique(data.y[subset], return_inverse=True)[1]
        if isinstance(method, EstimatorMethod):
            X, scores = X[subset], []
            for learn, check in inner_folds(y, groups, CHOICE_FOLDS, seed):
                clf = clone(method.estimator).fit(X[learn], y[learn], groups=_of(groups, learn))
                scores.append(np.mean(clf.predict(X[check]) == y[check]))
            return float(np.mean(scores)) if scores else 0.0
        symbols = self._encoded(method, X, subset, whole=False)
        K = method.sequence_kernel(self.n_jobs, self.memory_limit).fit_transform(symbols)
        trained = self._train(K, y, groups, seed, method, CHOICE_FOLDS)
        return max(float(np.nan_to_num(each.score)) for _, each in trained)


def _of(groups: np.ndarray | None, members: np.ndarray) -> np.ndarray | None:
    return None if groups is None else groups[members]


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
    seconds[name] = time.perf_counter() - start


def timed(
    method: StringMethod, data: MusicSet, store: Store, worker: Workshop | None
) -> Record | None:
    """Return the seconds of a method on all clips with one thread: learn, encode, count and Gram.

    Counting words is the time of the diagonal; the Gram is the time of the rest of the matrix.
    Without a worker nothing is measured, and a method without a kept record has None.
    """
    key = {"data": data.digest(method.view), "timing": str(method), "repeats": REPEATS}
    key |= {"processor": processor(), "source": source_digest("mvdfq.reproduce.workshop")}
    record = store.get(key)
    if record is None and worker is not None:
        with threadpool_limits(1):
            record = _seconds(method, data, worker.memory_limit)
        store.put(key, record)
    return record


def processor() -> str:
    """Return the name of the processor, if the system tells it."""
    with suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if name := re.search(r"^model name\s*: (.*)$", text, flags=re.MULTILINE):
            return name[1].strip()
    return platform.processor() or platform.machine()


def _seconds(method: StringMethod, data: MusicSet, memory_limit: Any) -> Record:
    X, quantizer = data.view(method.view), clone(method.symbols)
    learn, encode = _best(lambda: quantizer.fit(X), 1), _best(lambda: quantizer.transform(X))
    symbols, kernel = quantizer.transform(X), method.sequence_kernel(1, memory_limit)
    clone(kernel).fit_transform(symbols[np.arange(min(WARM_UP, len(data)))])  # compiles
    kernel.fit(symbols)
    whole = _best(lambda: kernel.compare(kernel.train_, None))
    # If counting is nearly all of the work, the diagonal alone may take a little longer.
    count = min(_best(lambda: kernel.diagonal(symbols)), whole)
    return {"learn": learn, "encode": encode, "count": count, "gram": round(whole - count, 3)}


def _best(function: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the least time of several runs."""
    return round(min(timeit.repeat(function, number=1, repeat=repeats)), 3)
