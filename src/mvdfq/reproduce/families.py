"""Remote homology: kernels of proteins, and one machine for every family of every method."""

import time
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline

from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq._utils.version import source_digest
from mvdfq.evaluation import roc50
from mvdfq.gram.plan import inverse_root
from mvdfq.io.letters.labels import HomologyTask
from mvdfq.io.letters.residues import AMINO_ACIDS, matrix_values, property_rows, substitution_rows
from mvdfq.reproduce.cells import MeanMethod, RbfMethod, StringMethod
from mvdfq.reproduce.scop import PROFILE_VIEWS, ProteinSet
from mvdfq.reproduce.store import Record
from mvdfq.terms.svm import Problems, fit_margins

# Values of C to choose from: a soft margin, and a margin so hard that larger values change nothing.
PENALTIES = (1.0, 100.0)
FOLDS = 3
# Inner validation uses this many negatives of a training part.
CHOICE = 1500
# How C is chosen: every record depends on this.
POLICY = (
    f"balanced classes, C out of {PENALTIES} by {FOLDS} inner folds of whole SCOP families and at "
    f"most {CHOICE} negatives"
)


def record_key(method: Any, family: str, data: ProteinSet) -> dict[str, Any]:
    """Return everything that the ranking of a family depends on."""
    return {
        "data": data.digest,
        "profiles": data.profiles_digest if method.view in PROFILE_VIEWS else "",
        "family": family,
        "method": str(method),
        "policy": POLICY,
        "source": source_digest("mvdfq.reproduce.families"),
    }


def rank_families(
    method: Any,
    tasks: Sequence[HomologyTask],
    data: ProteinSet,
    n_jobs: int | None = None,
    memory_limit: Any = None,
) -> Iterator[tuple[HomologyTask, Record]]:
    """Rank the test part of some families by one method; all families share one kernel matrix.

    A record holds ``roc50`` of the test part and ``inner``, the mean ROC50 in folds of the training
    part: one value for each of `PENALTIES`.
    """
    if not tasks:
        return
    start = time.perf_counter()
    K = protein_gram(method, data, n_jobs, memory_limit)
    seconds = {"gram": round(time.perf_counter() - start, 3)}

    def rank(task: HomologyTask) -> Record:
        return {**_rank(K, task, data.codes), "seconds": seconds}

    yield from run_in_order(rank, tasks, n_threads(n_jobs))


def _rank(K: np.ndarray, task: HomologyTask, codes: np.ndarray) -> dict[str, Any]:
    """Return the ROC50 of the test part and the mean ROC50 of the inner folds, for every C."""
    whole = task.train, task.y_train, task.test, task.y_test
    folds = [*inner_folds(task, codes)]
    inner = [[_area(K, *fold, C) for fold in folds] or [0.0] for C in PENALTIES]
    return {
        "roc50": [_area(K, *whole, C) for C in PENALTIES],
        "inner": [float(np.mean(areas)) for areas in inner],
    }


def _area(K: np.ndarray, learn, y, check, y_check, C: float) -> float:
    """Return the ROC50 of a machine; both classes have the same total weight."""
    y = y.astype(int)
    weight, within = len(y) / (2 * np.bincount(y))[y], K[np.ix_(learn, learn)]
    margins = fit_margins(within, y, Problems(2, "ovr"), C, sample_weight=weight)
    return roc50(y_check, margins.of(K[np.ix_(check, learn)])[:, 0])


def inner_folds(
    task: HomologyTask, codes: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Cut a training part as the task itself is cut: whole families of the positives are held out.

    If all positives are of one family, they are cut at random; a single positive is not cut. A fold
    is the indices to learn from and to check, each followed by whether these are positive.
    """
    random = np.random.default_rng(0)
    positive = task.train[task.y_train]
    negative = random.permutation(task.train[~task.y_train])[:CHOICE]
    groups = codes[positive] if len(set(codes[positive])) > 1 else np.arange(len(positive))
    kinds = random.permutation(np.unique(groups))
    n_folds = min(FOLDS, len(kinds), len(negative))
    for f in range(n_folds if n_folds > 1 else 0):
        out = np.isin(groups, kinds[f::n_folds])
        apart = np.arange(len(negative)) % n_folds == f
        yield (*_joined(positive[~out], negative[~apart]), *_joined(positive[out], negative[apart]))


def _joined(positive: np.ndarray, negative: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    members = np.concatenate([positive, negative])
    return members, np.arange(len(members)) < len(positive)


def protein_gram(
    method: Any, data: ProteinSet, n_jobs: int | None = None, memory_limit: Any = None
) -> np.ndarray:
    """Return the normalized kernel values of all pairs of proteins.

    Nothing is learned from the proteins: bins and bits are learned from the twenty amino acids,
    and every whole score of a profile is a symbol. Only the range of slopes is learned from
    all proteins, because a single amino acid does not have a slope.
    """
    if isinstance(method, MeanMethod):
        parts = [protein_gram(part, data, n_jobs, memory_limit) for part in method.methods]
        return np.mean(parts, axis=0)
    if isinstance(method, RbfMethod):
        points = descriptors(method.descriptors)
        return rbf_gram(data.strings, points, method.k, method.m, method.width, n_jobs)
    return method.sequence_kernel(n_jobs, memory_limit).fit_transform(_symbols(method, data))


def _symbols(method: StringMethod, data: ProteinSet) -> Any:
    X = data.view(method.view)
    if method.symbols is None:
        return X
    if method.view == "log-odds":
        X = X.with_data(np.round(X.data))
    elif not isinstance(method.symbols, Pipeline):  # a pipeline begins with slopes
        known = [AMINO_ACIDS]
        learned = known if method.view == "letters" else substitution_rows(known)
        return clone(method.symbols).fit(learned).transform(X)
    return clone(method.symbols).fit_transform(X)


def descriptors(name: str) -> np.ndarray:
    """Return a point for each amino acid: its BLOSUM62 row or its standardized properties."""
    if name == "BLOSUM62":
        return matrix_values(name)
    values = property_rows([AMINO_ACIDS])[0].T.astype(float)
    return (values - values.mean(axis=0)) / values.std(axis=0)


def rbf_gram(
    strings: list[str], points: np.ndarray, k: int, m: int = 0, width: float = 0.5, n_jobs=None
) -> np.ndarray:
    r"""Compare proteins by words whose residues are alike [1]_.

    .. math:: K(x, y) = \sum_{u, v} c_u(x) \, c_v(y) \prod_{i=1}^{k}
              \exp\left(-\frac{|p(u_i) - p(v_i)|^2}{2 \sigma^2}\right)

    where :math:`c_u` counts the words within `m` mismatches of :math:`u`, :math:`p` is the point of
    a residue, and :math:`\sigma` is `width` times the mean distance between two amino acids. The
    RBF is a product over positions. So counts are multiplied by the root of one 20 x 20 matrix
    along every position, and a matrix of size :math:`20^k \times 20^k` is not needed. Words with
    any other letter are not counted. Values are normalized; a protein without words has value 0.
    `k` is 3 at most: a protein has 20**k counts.

    .. [1] N. C. Toussaint, C. Widmer, O. Kohlbacher, G. Raetsch, "Exploiting physico-chemical
       properties in string kernels", BMC Bioinformatics 11(S8), 2010.
    """
    words = ["".join(letters) for letters in product(AMINO_ACIDS, repeat=k)]
    counter = CountVectorizer(
        analyzer="char", ngram_range=(k, k), vocabulary=words, lowercase=False, dtype=np.float32
    )
    counts = _near(counter.transform(strings).toarray().reshape(len(strings), *(20,) * k), m)
    sigma = width * pdist(points).mean()
    values, vectors = np.linalg.eigh(rbf_kernel(points, gamma=1 / (2 * sigma**2)))
    # a matrix whose product with its transpose is the RBF of the points
    root = vectors * np.sqrt(np.maximum(values, 0))

    def products(column: np.ndarray) -> np.ndarray:
        features = np.tensordot(counts, column, axes=(1, 0))
        for axis in range(1, k):
            features = np.moveaxis(np.tensordot(features, root, axes=(axis, 0)), -1, axis)
        features = features.reshape(len(strings), -1)
        return features @ features.T

    K = np.zeros((len(strings), len(strings)))
    for _, part in run_in_order(products, root.T, n_threads(n_jobs)):  # slices of the first place
        K += part
    scale = inverse_root(K.diagonal())
    return K * np.outer(scale, scale)


def _near(counts: np.ndarray, m: int) -> np.ndarray:
    """Return, for each word, the counts of all words within `m` mismatches."""
    k, total = counts.ndim - 1, np.zeros_like(counts)
    for n_changed in range(min(m, k) + 1):
        for axes in combinations(range(1, k + 1), n_changed):
            part = counts
            for axis in axes:  # any other residue at this position
                part = part.sum(axis=axis, keepdims=True) - part
            total += part
    return total
