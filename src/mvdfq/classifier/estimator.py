"""SequenceClassifier: a sum of terms and support vector machines in one estimator."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mvdfq._engines.choice import engine_of
from mvdfq._utils.checks import check_whole, is_number
from mvdfq._utils.errors import quiet, warn
from mvdfq._utils.progress import Progress
from mvdfq._utils.short import bars, listed
from mvdfq.classifier.choices import by_name, set_nested
from mvdfq.classifier.learning import Learned, Training, check_training, learn, learn_from_blocks
from mvdfq.classifier.passes import cluster_decisions
from mvdfq.classifier.recordings import Scan, Stream, scanned
from mvdfq.classifier.saving.file import save_model
from mvdfq.classifier.saving.record import Source, TrainingRecord, fingerprints
from mvdfq.classifier.similarity import Neighbour, neighbours_of
from mvdfq.explain.explanation import Explanation
from mvdfq.explain.gathering import explanations
from mvdfq.explain.importance import Importance, measured
from mvdfq.explain.moments import in_range
from mvdfq.explain.mutations import Change, Mutations, Strand, mutate, substitutions
from mvdfq.frames.base import channel_names
from mvdfq.sequences import Ragged, Sequences, check_sequences
from mvdfq.sequences.containers import is_table
from mvdfq.sequences.statistics import warn_constant, warn_outside, warn_rate, without_constants
from mvdfq.symbols.base import Symbols, check_symbols, warn_unseen
from mvdfq.terms.fitted import FittedSum, FittedTerm
from mvdfq.terms.svm import Problems
from mvdfq.terms.typical import Calibration, in_set, of_classes

try:  # scikit-learn 1.9
    from sklearn.callback import (
        CallbackSupportMixin as CallbackSupportMixin,
        with_callbacks as with_callbacks,
    )
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the class of scikit-learn 1.9: older versions have no callbacks."""

    def with_callbacks(method: Callable) -> Callable:
        """Return the method unchanged: there are no callbacks to end."""
        return method


@dataclass(eq=False, repr=False)
class SequenceClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""Classify sequences of unequal length: numbers in one or many channels, or letters.

    Rows of numbers become rows of symbols, the words of every row are counted, and support
    vector machines on the counts tell the classes apart,

    .. math:: f_c(x) = \sum_v \sum_u w_{vcu} \, \phi_{vu}(x) + b_c,

    a sum over terms `v` and their words `u`. The default terms did best in inner validation on a
    dozen data sets of motion, speech, music and proteins. `fit` computes one kernel matrix, the
    sum of the kernel matrices of all terms; `predict` looks words up in word tables, so its time
    does not grow with the number of training sequences.

    All methods take sequences `X`, a list of arrays of shape (n_channels, n_timepoints) or any
    other input of `mvdfq.check_sequences`, with the channels seen in `fit`, or `Symbols`.

    Parameters
    ----------
    preset : str, default=None
        Name of a method, see `mvdfq.list_presets`. None means ``"letters"`` if X holds letters,
        else ``"numbers"``, the sum of words and filters; ``"fast"`` uses a quarter of both,
        ``"music"`` adds codewords and pairs; the methods of the paper [1]_ have one term.
    terms : list of Term, default=None
        The terms of the sum: `WordTerm`, `FilterTerm`, `PlainTerm`, instead of a preset.
        `mvdfq.preset_terms` returns the terms of a preset, to change. The parameters below, up to
        `gamma`, are a short way to say one `PlainTerm`: each replaces one part of the first
        term of the preset, whose other terms are left out; None keeps the part.
    frames : transformer or str, default=None
        Transformer of the numbers, applied first: `Delta`, `Rotate`, a pipeline, ... or a name
        such as ``"delta"``; ``"passthrough"`` leaves the numbers as they are.
    symbols : quantizer or str, default=None
        Quantizer that turns numbers into symbols: `DirectQuantizer`, `Rows`, ... or a name such
        as ``"direct"``; ``"passthrough"`` if X already holds symbols.
    kernel : Kernel or str, default=None
        Kernel on rows of symbols: `Spectrum`, ... or text: ``"sssk"``, ``"gapped(8, 6)"``. A
        kernel that counts no words (`Subsequence`) has no square roots and no pyramid.
    manifold : bool, default=None
        Whether to take square roots of the counts, see `SequenceKernel`.
    pyramid : int, default=None
        Number of levels of the temporal pyramid.
    gamma : float, default=None
        Parameter of a Hellinger RBF on top of the kernel; None uses no RBF.
    C : float, sequence of float or "auto", default=None
        Penalty of the machines. Given several values, `fit` takes the best in inner
        cross-validation; ``"auto"`` tries 1, 10, 100, 1000. The kernel is computed once.
    multi_class : {"ovr", "ovo"}, default=None
        One machine per class, or one machine per pair of classes and a vote.
    class_weight : dict or "balanced", default=None
        Weights of the classes, as in scikit-learn.
    solver : {"auto", "kernel", "linear"}, default="auto"
        ``"kernel"`` trains on the kernel matrix, ``"linear"`` on explicit features; ``"auto"``
        takes explicit features for more than 10 000 sequences, or if the kernel matrix does not
        fit into `memory_limit`. Many sequences are learned by passes over blocks of features.
    n_features : int, default=None
        Number of columns that the linear solver hashes words to. None keeps one column per word
        if there can be at most 2**20 words, and hashes to 2**20 columns otherwise.
    cv : int, default=5
        Number of inner folds, which choose `C` and the scale of the probabilities.
    memory_limit : int or str, default=None
        Bytes, or text such as ``"500 MB"``, for computing and the word table; None: 2 GiB.
    n_jobs : int, default=None
        Number of threads; -1 means all processors. Results stay the same.
    engine : {"cpu", "gpu", "auto", "dask"} or str, default=None
        Where to compute, as in `mvdfq.use_engine`; None means the engine of `use_engine`, else
        the processor.
    random_state : int, default=0
        Seed of the folds and of the linear solver.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_channels_in_ : int
        Number of channels seen in `fit`.
    n_features_in_ : int
        Number of columns, if `fit` was given a 2-D array; other input has no common length.
    ranges_in_ : ndarray of shape (2, n_channels)
        Smallest and largest value of each channel in training; NaN for a channel of symbols.
    terms_ : list of FittedTerm
        The fitted terms: `name`, fitted `encoders`, `share` in the sum, `reader` of words.
    C_ : float
        The penalty used.
    validation_scores_ : ndarray of shape (n_candidates, n_folds)
        Accuracy of each candidate for `C` in each inner fold, weighted as in training.
    validation_score_, validation_std_ : float
        Mean and standard deviation of the accuracy of `C_` over the folds, NaN without folds. With
        more than 10 000 sequences: the accuracy on the sequences that were held out.
    temperature_ : float
        Factor that `predict_proba` multiplies decision values by.
    calibration_ : Calibration or None
        Scores of held-out sequences, which p values are made of; None if none were held out.
    class_shares_ : ndarray of shape (n_classes,)
        Share of each class in the weight of all training sequences.
    feature_importance_ : ndarray of shape (n_channels,)
        How much the log loss of the inner folds rises without each channel, see `importance`.
    lost_ : ndarray of shape (n_channels + n_terms, 2, 3)
        What `importance` returns for the channels and then for the terms; empty if not measured.
    training_ : dict
        What `mvdfq inspect` shows: lengths, classes, digest of the training sequences, versions.
    train_fingerprints_ : ndarray of shape (n_sequences,)
        64 bits of each training sequence, for `training_places`; 0 for a sequence of weight 0.
    train_index_, train_y_ : ndarray
        Indices of the training sequences in which `neighbours` searches, and the codes of their
        classes: all, or a sample if `fit` was given more than 10 000 sequences.

    References
    ----------
    .. [1] P. P. Kuksa, "Efficient multivariate kernels for sequence classification",
       arXiv:1409.8211, 2014.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> X_test, y_test = mvdfq.load_japanese_vowels(split="test")
    >>> clf = mvdfq.SequenceClassifier().fit(X, y)
    >>> clf.score(X_test, y_test) > 0.97
    True
    """

    preset: str | None = None
    _: KW_ONLY
    terms: Sequence[Any] | None = None
    frames: Any = None
    symbols: Any = None
    kernel: Any = None
    manifold: bool | None = None
    pyramid: int | None = None
    gamma: float | None = None
    C: float | Sequence[float] | str | None = None
    multi_class: str | None = None
    class_weight: Any = None
    solver: str = "auto"
    n_features: int | None = None
    cv: int = 5
    memory_limit: int | str | None = None
    n_jobs: int | None = None
    engine: str | None = None
    random_state: int | None = 0
    verbose: bool = False

    classes_: np.ndarray = field(init=False)
    class_shares_: np.ndarray = field(init=False)
    lost_: np.ndarray = field(init=False)
    n_channels_in_: int = field(init=False)
    channel_names_in_: tuple[str, ...] | None = field(init=False)
    problems_: Problems = field(init=False)
    sum_: FittedSum = field(init=False)
    C_: float = field(init=False)
    temperature_: float = field(init=False)
    validation_scores_: np.ndarray = field(init=False)
    validation_score_: float = field(init=False)
    validation_std_: float = field(init=False)
    ranges_in_: np.ndarray = field(init=False)
    train_index_: np.ndarray = field(init=False)
    train_y_: np.ndarray = field(init=False)
    train_fingerprints_: np.ndarray = field(init=False)
    training_: TrainingRecord = field(init=False)
    calibration_: Calibration | None = field(init=False)
    source_: Source = field(init=False)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Learn to tell the classes apart.

        `X` are the training sequences, `y` their labels: text or whole numbers. `sample_weight`
        holds the weight of each sequence; sequences of weight 0 are left out. `groups` holds the
        group of each sequence (a speaker, an album): the inner cross-validation keeps each group in
        one fold.
        """
        with self._fitting() as progress:
            sequences = self._collection(X)
            if not sequences.lengths.any():  # the words that scikit-learn's checks expect
                got = f"0 feature(s) (shape=({len(sequences)}, 0))"
                wanted = "a minimum of 1 is required"
                raise ValueError(f"X holds only empty sequences: {got} while {wanted}.")
            training = check_training(self, sequences, y, sample_weight, groups)
            warn_constant(training.ranges, channel_names(training.X))
            self._forget()
            self._remember(training, learn(self, training, progress))
        if getattr(X, "ndim", None) == 2:
            self.n_features_in_ = X.shape[1]
        return self

    @with_callbacks
    def fit_blocks(self, blocks: Sequence[Any]) -> Any:
        """Learn from sequences in blocks, which need not fit into memory together.

        The blocks are read once to draw a sample, once to measure the words, and once for every
        pass that does not fit into `memory_limit`. Frames and quantizers learn from the sample. On
        a cluster (`mvdfq.use_engine`) every block is read by the worker that needs the block.
        `blocks` are pairs of sequences and labels, data sets of `mvdfq.io.read`, or functions
        without arguments that return either, as `mvdfq.io.list_parts` lists them. A block of 1000
        to 10 000 sequences is a good size.

        Examples
        --------
        >>> import mvdfq
        >>> X, y = mvdfq.load_japanese_vowels(split="train")
        >>> blocks = [(X[i::3], y[i::3]) for i in range(3)]
        >>> clf = mvdfq.SequenceClassifier("fast").fit_blocks(blocks)
        >>> clf.score(*mvdfq.load_japanese_vowels(split="test")) > 0.9
        True
        """
        with self._fitting() as progress:
            self._forget()
            self._remember(*learn_from_blocks(self, blocks, progress))
        return self

    @contextmanager
    def _fitting(self) -> Iterator[Progress]:
        """Check what every fit needs, and show its progress."""
        check_whole(self.cv, "cv", at_least=2)
        # The machines need arrays: scikit-learn's set_output must not make a data frame of them.
        plain = config_context(transform_output="default")
        with plain, engine_of(self), Progress.of(self, 2, self.verbose) as progress:
            yield progress

    def _collection(self, X: Any) -> Any:
        """Return X as sequences of numbers or letters, or as symbols if `symbols` says so."""
        if isinstance(X, Symbols):
            return X
        as_symbols = isinstance(self.symbols, str) and self.symbols == "passthrough"
        return check_symbols(X) if as_symbols and not isinstance(X, Ragged) else check_sequences(X)

    def _forget(self) -> None:
        """Drop the last fit: if the new fit breaks off, old machines must not give new labels."""
        for name in ("sum_", "n_features_in_"):
            self.__dict__.pop(name, None)

    def _remember(self, training: Training, learned: Learned) -> None:
        """Keep what was learned."""
        trainer, trained = training.trainer, learned.trained
        self.classes_, self.problems_ = training.classes, trainer.problems
        self.n_channels_in_ = training.X.n_rows
        self.channel_names_in_ = training.X.channel_names
        self.ranges_in_, self.training_ = training.ranges, training.record()
        self.train_fingerprints_ = training.fingerprints()
        self.class_shares_ = training.shares
        self.train_index_, self.train_y_ = training.used[learned.kept], trainer.y[learned.kept]
        self.C_, self.temperature_ = trained.C, trained.temperature
        self.validation_scores_, validated = trained.scores, trained.scores[trained.best]
        self.validation_score_ = trained.score
        self.validation_std_ = float(validated.std()) if validated.size else np.nan
        self.calibration_ = trained.calibration
        self.lost_, self.sum_ = learned.lost, learned.sum
        if np.isnan(self.validation_score_):
            problem = "No sequence could be held out: too few sequences or groups of each class"
            warn(f"{problem}. Probabilities are not calibrated, and C is not validated.")

    @property
    def terms_(self) -> list[FittedTerm]:
        """The fitted terms of the sum."""
        check_is_fitted(self)
        return self.sum_.terms

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values, (n_sequences, n_classes), or (n_sequences,) for two classes.

        One-vs-rest: the margins. One-vs-one: the votes, plus less than half a vote from the
        margins. For two classes: the margin of the second class.
        """
        check_is_fitted(self)
        with engine_of(self) as engine:
            if engine.name == "dask":
                return cluster_decisions(engine, self, X)
            return self._decide(self._read(X))[0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest decision value, for each sequence."""
        decision = self.decision_function(X)  # first: an estimator that is not fitted says so
        return self.classes_[self.problems_.predicted(decision)]

    def predict_proba(self, X: Any) -> np.ndarray:
        r"""Return the probability of each class, (n_sequences, n_classes); every row sums to 1.

        The probabilities are :math:`p_c \propto \exp(\tau f_c)`. The factor :math:`\tau` fits the
        labels of the inner folds best, and is made smaller if few labels may fit by chance. The
        most probable class is the predicted class. If no known word is found in a sequence, the
        probabilities are `class_shares_`, and a warning says so.
        """
        return self.probabilities(self.decision_function(X))

    def probabilities(self, decision: np.ndarray) -> np.ndarray:
        """Turn decision values into probabilities, (n_sequences, n_classes); rows sum to 1."""
        if decision.ndim > 1:
            return softmax(self.temperature_ * decision, axis=1)
        second = expit(self.temperature_ * decision)
        return np.stack([1 - second, second], axis=1)

    def _read(self, X: Any) -> list[Any]:
        """Return sequences as each term reads them, with remarks on what is strange."""
        X = self.varying(X)
        read = self.sum_.read(X)
        warn_unseen(X, read)
        if isinstance(X, Sequences):
            warn_outside(X, self.ranges_in_, self.channel_names)
            warn_rate(X, (getattr(self, "training_", None) or {}).get("sampling_rate"))
        return read

    def varying(self, X: Any) -> Any:
        """Return sequences as terms read them: 0 in channels that were constant in training."""
        check_is_fitted(self)
        if isinstance(X, Symbols) or np.isnan(self.ranges_in_).all():
            return X
        X = check_sequences(X, n_channels=self.n_channels_in_)
        if X.channel_names and self.channel_names_in_ is None:
            problem = f"X names its channels {', '.join(map(repr, X.channel_names[:5]))}"
            warn(f"{problem}, fit had no names; their order counts.")
            X = X.with_fields(channel_names=None)
        return without_constants(X, self.ranges_in_)

    def _decide(self, read: list[Any], sums: Any = None) -> tuple[Any, Any, Any, np.ndarray]:
        """Return decision values, margins, the sums of the terms, and who holds no known word."""
        sums = sums or self.sum_.sums(read)
        margins = sum(sums.values(), start=self.sum_.constant)
        decision = self.problems_.decision(margins)
        lost = ~np.any([term_sums.any(axis=1) for term_sums in sums.values()], axis=0)
        if lost.any():
            places = listed(np.flatnonzero(lost), "sequence")
            warn(
                f"No known word is found in {places} (too short, too many missing values, or "
                f"nothing that occurred in training): there is nothing to go by. The label is the "
                f"most frequent class, {self.classes_[self.class_shares_.argmax()]}, and the "
                f"probabilities are the shares of the classes in training."
            )
            # decision values whose probabilities are the shares of the classes
            guess = np.log(self.class_shares_) / self.temperature_
            decision[lost] = guess if decision.ndim > 1 else guess[1] - guess[0]
            pairs = np.array(self.problems_.pairs)
            margins[lost] = guess[pairs[:, 0]] - np.where(pairs[:, 1] < 0, 0, guess[pairs[:, 1]])
        return decision, margins, sums, lost

    def typicality(self, X: Any) -> np.ndarray:
        r"""Return how typical each sequence is of its predicted class: a p value, (n_sequences,).

        A sequence is strange for a class if its decision value is small, or if the sequence is far
        from the mean of the class in the space of all words. The typicality is the share of
        sequences of the class, held out of the inner folds, that are at least as strange,

        .. math:: p_c(x) = \frac{1 + \#\{i : s_i \ge s_c(x)\}}{1 + n} ,

        where `i` runs over the `n` held-out sequences of the class. A class with fewer than 50
        held-out sequences is compared with the sequences of all such classes. A sequence of a class
        that was in training has a p value of at most 5 % in about 5 % of cases. A sequence of
        another kind often has a smaller p value, but not always: the words of such a sequence may
        be like the words of a known class. A sequence without any known word has 0. Cost: about
        twice the time of `predict`.

        Examples
        --------
        >>> import mvdfq, numpy as np
        >>> X, y = mvdfq.load_japanese_vowels(split="train")
        >>> clf = mvdfq.SequenceClassifier("fast").fit(X, y)
        >>> noise = np.random.default_rng(0).normal(size=(12, 20))
        >>> clf.typicality([noise])[0] < 0.05 < clf.typicality(X[:1])[0]
        np.True_
        """
        p, decision = self._p_values(X)
        return p[np.arange(len(p)), self.problems_.predicted(decision)]

    def predict_set(self, X: Any, coverage: float = 0.9) -> list[list[Any]]:
        """Return for each sequence the classes that it may be of, the most typical first.

        The set of a sequence holds the classes whose p value is above ``1 - coverage``, see
        `typicality`. So the set holds the true class in a share `coverage` of cases, between 0 and
        1, if new sequences are drawn as the training sequences were. An empty set says "none of
        these", a set of several classes says "not sure".

        Examples
        --------
        >>> import mvdfq
        >>> X, y = mvdfq.load_japanese_vowels(split="train")
        >>> clf = mvdfq.SequenceClassifier("fast").fit(X, y)
        >>> clf.predict_set(X[:1], coverage=0.95)
        [['1']]
        """
        if not is_number(coverage) or not 0 < coverage < 1:
            raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}.")
        p, labels = self.p_values(X), self.classes_.tolist()
        orders = np.argsort(-p, axis=1, kind="stable").tolist()
        return [
            [labels[c] for c in order if inside[c]]
            for order, inside in zip(orders, in_set(p, coverage), strict=True)
        ]

    def p_values(self, X: Any) -> np.ndarray:
        """Return the p value of each class, (n_sequences, n_classes): see `typicality`."""
        return self._p_values(X)[0]

    def _p_values(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the p values, (n_sequences, n_classes), and the decision values."""
        check_is_fitted(self)
        with engine_of(self):
            read = self._read(X)
            decision, _, _, lost = self._decide(read)
            return self._doubt(read, decision, lost), decision

    def _doubt(self, read: list[Any], decision: Any, lost: Any, near: Any = None) -> np.ndarray:
        """Return the p values of the classes, given what `_decide` returns, and the nearness."""
        if self.calibration_ is None:
            raise ValueError(
                "p values need sequences that were held out and the means of the classes, but fit "
                "could not hold out any sequence, or the terms do not keep the means (more than a "
                "thousand classes, or several terms of plain words); train with at least two "
                "sequences per class, of two groups if groups are given."
            )
        p = self.calibration_.p_values(decision, near or self.sum_.nearness(read, self.train_y_))
        p[lost] = 0
        return p

    @property
    def feature_importance_(self) -> np.ndarray:
        """Rise of the log loss without each channel, (n_channels,): see `importance`."""
        return self.importance().log_loss[:, 0]

    def importance(
        self, X: Any = None, y: Any = None, groups: Any = None, by: Any = "channels"
    ) -> Importance:
        r"""Return what would be lost without each channel, group of channels, or term.

        .. math:: f_c(x) = b_c + \sum_k e_{ck}(x), \qquad
                  L_k = -\frac 1 n \sum_x \log p_y(x; f + \bar e_k - e_k(x)) + \log p_y(x; f)

        The log loss rises by :math:`L_k` if all sequences get the mean :math:`\bar e_k` of what
        channel `k` adds to the decision values. The loss is exact, and nothing is fitted again. A
        channel of noise has about 0, a constant channel exactly 0; of two channels that say the
        same, each alone has little. Cost: as `explain_all`; without `X` next to nothing.

        `X` and `y` are sequences that the classifier did not learn from, and their labels;
        intervals are over `groups`, if given. Without `X`, standardized words (the presets
        ``"numbers"``, ``"fast"``, ``"music"``) judge the training sequences that the inner folds
        held out; plain terms judge the sequences that they learned from, which flatters all
        channels, noise too: `Importance.source` says so. `by` is ``"channels"``, ``"terms"``, or a
        dictionary of groups: lists of names or numbers of channels, which needs `X` and `y`.

        Examples
        --------
        >>> import mvdfq
        >>> X, y = mvdfq.load_japanese_vowels(split="train")
        >>> clf = mvdfq.SequenceClassifier("fast").fit(X, y)
        >>> clf.importance().log_loss.shape
        (12, 3)
        >>> held_out = mvdfq.load_japanese_vowels(split="test")
        >>> found = clf.importance(*held_out, by={"low": ["x0", "x1"], "high": [10, 11]})
        """
        check_is_fitted(self)
        return measured(self, X, y, groups, by)

    def explain(self, x: Any) -> Explanation:
        """Return why the classifier puts one sequence into its class, as exact evidence.

        `x` is an array of shape (n_channels, n_timepoints), a string, or `Sequences` of length 1.
        """
        return self._explained(self._read_one(x, "explain"), self._as_several(x))[0]

    def explain_all(self, X: Any) -> list[Explanation]:
        """Return the explanations of several sequences, faster than one by one with `explain`."""
        check_is_fitted(self)
        return self._explained(self._read(X), X)

    def _explained(self, read: list[Any], X: Any, decided: Any = None) -> list[Explanation]:
        """Return the explanations of sequences, and of the same as the terms read them."""
        decision, margins, sums = decided or self._decide(read)[:3]
        predicted = self.problems_.predicted(decision)
        curves, knows_ranges = None, not np.isnan(self.ranges_in_).all()
        if knows_ranges and not any(term.says_curves for term in self.terms_):
            curves = [in_range(x, self.ranges_in_) for x in self.varying(X)]
        return explanations(self, read, predicted, margins, sums, curves)

    def _read_one(self, x: Any, method: str) -> list[Any]:
        """Return a single sequence as the terms read it."""
        check_is_fitted(self)
        read = self._read(self._as_several(x))
        if len(read[0]) != 1:
            hint = "; explain_all takes several sequences" if method == "explain" else ""
            raise ValueError(f"{method} takes one sequence, got {len(read[0])} sequences{hint}.")
        return read

    def _as_several(self, x: Any) -> Any:
        """Return one sequence as a collection of one."""
        if is_table(x):
            # time runs down the columns of fit; a single line may hold a series in every cell
            known = sorted(self.channel_names_in_ or ())
            has_time = known and hasattr(x, "columns") and hasattr(x, "__len__") and len(x) > 1
            return [x] if has_time and sorted(map(str, x.columns)) == known else x
        is_read = isinstance(x, Ragged)
        first: Any = None if is_read or not np.iterable(x) else next(iter(x), None)
        is_text = isinstance(first, str) and len(x) == 1 and not isinstance(x, str)
        return x if is_read or is_text or np.ndim(first) == 2 else [x]

    @property
    def channel_names(self) -> list[str]:
        """Names of the channels, as in training; x0, x1, ... if the channels had no names."""
        return list(self.channel_names_in_ or [f"x{c}" for c in range(self.n_channels_in_)])

    def mutate(
        self, x: Any, changes: Sequence[Any] | None = None, *, label: Any = None, region: Any = None
    ) -> Mutations:
        """Return what changes of a string add to the decision value of a class, exactly.

        `x` is the string, or `Sequences` of length 1; of DNA also both strands, as
        `mvdfq.io.both_strands` joins them. `changes` are tuples (position from 0, letters before,
        letters after): substitutions, insertions (nothing before) and deletions (nothing after).
        None means every single substitution of a base, a residue or, in other strings, a letter
        that occurs in `x`, from the first position of `region` to the position before its second.
        `label` is the class; None means the predicted class. Every changed string is decided again.
        Cost: O(n) letters for each change, so all single substitutions of `n` letters take O(n**2).

        Examples
        --------
        >>> import mvdfq
        >>> X = ["ACGTTGCAACGT", "ACGTTTTAACGT", "TTGCAACGGATT", "TTTTAACGGATT"] * 2
        >>> clf = mvdfq.SequenceClassifier().fit(X, ["a", "b"] * 4)
        >>> found = clf.mutate("ACGTTGCAACGT")
        >>> found.label, len(found.changes), found.top(1)[0][1] < 0
        ('a', 36, True)
        """
        check_is_fitted(self)
        strand = Strand.of(x)
        known = self.classes_.tolist()
        predicted = self.predict(strand.collection([strand.text]))[0]
        label = predicted if label is None else label
        if label not in known:
            raise ValueError(f"label must be one of {known}, got {label!r}.")
        place = known.index(label)

        def decide(X: Any) -> np.ndarray:
            return of_classes(self.decision_function(X))[:, place]

        if changes is not None and region is not None:
            raise ValueError("mutate takes changes or a region, not both.")
        wanted = substitutions(strand.text, region) if changes is None else changes
        asked = [Change(*change) for change in wanted]
        # substitutions put no new letters into the string
        with quiet() if changes is None else nullcontext():
            value, effects = mutate(decide, strand, asked)
        return Mutations(strand.text, known[place], value, asked, effects)

    def training_places(self, X: Any) -> list[list[int]]:
        """Return for each sequence the indices of the training sequences with the same values."""
        check_is_fitted(self)
        prints = fingerprints(self._collection(X))
        if not np.isin(prints, self.train_fingerprints_).any():  # as for most new sequences
            return [[] for _ in prints]
        return [np.flatnonzero(self.train_fingerprints_ == bits).tolist() for bits in prints]

    def neighbours(self, x: Any, n: int = 5) -> list[Neighbour]:
        """Return the `n` training sequences that are most like one sequence, the nearest first.

        The similarity is the scaled kernel of the whole sum: exact for plain terms; standardized
        words and filters are compared by sketches, with an error of 0.02. Training sequences that
        are equal to `x` are left out, see `training_places`.
        """
        read, same = self._read_one(x, "neighbours"), self.training_places(self._as_several(x))
        self._decide(read)  # for its warning: a sequence without known words is like no other
        return neighbours_of(self, self.sum_.points(read), same, check_whole(n, "n"))[0]

    def stream(self, window: int | str | None = None) -> Stream:
        """Return an empty stream: ``stream.update(frames).predict()`` classifies the frames so far.

        `window` is the number of frames that the stream keeps, or a duration such as ``"5s"``: the
        stream forgets older frames. None keeps all frames.
        """
        check_is_fitted(self)
        return Stream(self, window)

    def scan(
        self,
        x: Any,
        window: int | str | None = None,
        step: int | str | None = None,
        *,
        unknown: float | None = None,
    ) -> Scan:
        """Classify the windows of a long recording, and join neighbours of one class to events.

        Train on sequences that are about as long as a window, see `mvdfq.windows`. `window` is its
        length in frames, or a duration such as ``"5s"``; None means the median length of the
        training sequences. `step` leads from the start of a window to the next; None means half a
        window. Windows whose `typicality` is at most the p value `unknown`, such as 0.05, are
        ``"unknown"``. Cost: one `predict` for each window, however long the recording is;
        memory for about one million values at a time.
        """
        check_is_fitted(self)
        return scanned(self, self._as_several(x), window, step, unknown)

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file that `mvdfq.load` reads; replace an old file.

        The file holds only numbers and text: loading the file does not run code.
        """
        check_is_fitted(self)
        for term in self.sum_.terms:
            term.prepare_saving()
        save_model(self, path)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; if `deep`, of parts and terms, too.

        ``symbols__n_bins`` is the parameter ``n_bins`` of ``symbols``, ``terms__words__pyramid``
        the parameter ``pyramid`` of the term ``words``.
        """
        params = super().get_params(deep)
        for name, term in by_name(self.terms).items() if deep else ():
            params[f"terms__{name}"] = term
            params |= {f"terms__{name}__{key}": value for key, value in term.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters, also of parts and terms that are objects; names as in `get_params`."""
        return super().set_params(**set_nested(self, params))

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram and the channels that matter, for notebooks."""
        diagram: str = super()._repr_html_inner()
        if not hasattr(self, "sum_") or not len(self.lost_):
            return diagram
        rises = self.feature_importance_
        order = np.argsort(-rises, kind="stable")[:10]
        names = [self.channel_names[c] for c in order]
        return diagram + bars(names, rises[order].clip(0).tolist(), "channels that matter")

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if hasattr(self, name)]  # as scikit-learn

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "sum_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


# How the command line read the training data; empty if a user passed arrays.
SequenceClassifier.source_ = {}
