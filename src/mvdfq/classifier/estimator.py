"""SequenceClassifier: frames, symbols, kernel and machine in one estimator."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, compute_sample_weight

from mvdfq._engines.choice import engine_of
from mvdfq._utils.checks import check_whole
from mvdfq._utils.progress import CallbackSupportMixin, Progress, with_callbacks
from mvdfq.classifier.choices import candidates, check_nested, settings_for
from mvdfq.classifier.learning import Learning
from mvdfq.classifier.parts import fit_encoders, fit_matrix, fit_views, goes_by_passes
from mvdfq.classifier.presets import Settings
from mvdfq.classifier.saving.record import fingerprints, training_record
from mvdfq.machines.svm import Problems
from mvdfq.machines.validation import Trainer, check_targets

__all__ = ["SequenceClassifier"]


class SequenceClassifier(Learning, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    r"""Classify sequences of unequal length: numbers in one or many channels, or letters.

    Rows of numbers become rows of symbols, the words of every row are counted, and support
    vector machines on the counts tell the classes apart,

    .. math:: f_c(x) = \sum_i a_{ic} K(x, x_i) + b_c,

    with the kernel of `SequenceKernel`. The default parts did best in inner validation on a dozen
    data sets of motion, speech, music and proteins. `fit` computes one kernel matrix; `predict`
    looks words up in a word table, so its time does not grow with the number of training
    sequences.

    Parameters
    ----------
    preset : str, default=None
        Name of a method: ``"mvdfqm-sssk"``, ``"vq-spectrum"``, ... (`mvdfq.list_presets`
        lists all) are methods of the paper [1]_. None means ``"letters"`` if X holds letters,
        else ``"numbers"``, the mean of two kernels; ``"fast"`` is a smaller sum, ``"music"`` adds
        codewords. Each argument below replaces one part; None keeps the preset's part. If
        frames, symbols, kernel, manifold, pyramid, gamma or weights are given, the first kernel
        is used alone.

    frames : transformer or str, default=None
        Transformer of the numbers, applied first: `Delta`, `Rotate`, a pipeline, ... or a name
        such as ``"delta"``; ``"passthrough"`` leaves the numbers as they are.

    symbols : quantizer or str, default=None
        Quantizer that turns numbers into symbols: `DirectQuantizer`, `Rows`, ... or a name such
        as ``"direct"``; ``"passthrough"`` if X already holds symbols.

    kernel : Kernel or str, default=None
        Kernel on rows of symbols: `Spectrum`, `Spatial`, ... or a name such as ``"sssk"``.

    manifold : bool, default=None
        Whether to take square roots of the counts, see `SequenceKernel`.

    pyramid : int, default=None
        Number of levels of the temporal pyramid.

    gamma : float, default=None
        Parameter of a Hellinger RBF on top of the kernel; None uses no RBF.

    weights : {None, "rows", "groups"}, default=None
        Learn one weight per row of symbols, or per group of layouts, by centred alignment of its
        kernel matrix with the classes; None gives all the same weight.

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
        Number of folds of the inner cross-validation, which chooses `C` and the scale of the
        probabilities; fewer folds if a class has fewer members.

    memory_limit : int or str, default=None
        Limit for computations and the word table: bytes, or text such as ``"500 MB"``. The
        default is 2 GiB.

    n_jobs : int, default=None
        Number of threads; -1 means all processors. Results do not depend on it.

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
        Number of columns, if `fit` was given a 2-D array. Other input has no common length, so
        sequences to predict may have any length.

    ranges_in_ : ndarray of shape (2, n_channels)
        Smallest and largest value of each channel in training; NaN for a channel of symbols. A
        channel whose values differ by no more than rounding is constant: answers do not depend on
        the channel.

    frames_, symbols_ : object
        The fitted parts; None for a part that is left out.

    kernel_ : SequenceKernel or SequenceFeatures
        The fitted kernel, or explicit features, that the machines are trained on.

    views_ : list
        The fitted parts of the sum beside `kernel_`: standardized words, and one part per
        dilation of the filters. Empty for letters and for the methods of the paper.

    view_shares_ : ndarray of shape (1 + n_views,)
        Factors of the kernel matrices of `kernel_` and of the views in their sum.

    C_ : float
        The penalty used.

    validation_scores_ : ndarray of shape (n_candidates, n_folds)
        Accuracy of each candidate for `C` in each inner fold, weighted as in training.

    validation_score_, validation_std_ : float
        Mean and standard deviation of the accuracy of `C_` over the folds; NaN if the training
        sequences cannot be split into folds. For more than 10 000 sequences, the accuracy on
        sequences that were held out.

    temperature_ : float
        Factor that `predict_proba` multiplies decision values by.

    row_weights_, group_weights_ : ndarray
        Weights of the rows of symbols and of the groups of layouts.

    feature_importance_, row_importance_ : ndarray
        Share of each channel, and of each row of symbols, in what was learned. The first access
        computes the shares and takes as long as a kernel matrix.

    training_ : dict
        Number, lengths, sampling rate, classes and digest of the training sequences, and the
        versions of the packages; `mvdfq inspect` shows them.

    part_importance_ : dict
        Share of each part of the sum of kernels in what was learned.

    train_fingerprints_ : ndarray of shape (n_sequences,)
        64 bits of the content of each training sequence, by which `training_places` finds it; 0
        for a sequence of weight 0.

    train_index_, train_y_ : ndarray
        Indices of the training sequences that the classifier keeps, and the codes of their
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
    >>> print(clf.explain(X_test[0]).top(1)[0])  # doctest: +SKIP
    """

    def __init__(
        self,
        preset: str | None = None,
        *,
        frames: Any = None,
        symbols: Any = None,
        kernel: Any = None,
        manifold: bool | None = None,
        pyramid: int | None = None,
        gamma: float | None = None,
        weights: str | None = None,
        C: float | Sequence[float] | str | None = None,
        multi_class: str | None = None,
        class_weight: Any = None,
        solver: str = "auto",
        n_features: int | None = None,
        cv: int = 5,
        memory_limit: int | str | None = None,
        n_jobs: int | None = None,
        engine: str | None = None,
        random_state: int | None = 0,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.frames = frames
        self.symbols = symbols
        self.kernel = kernel
        self.manifold = manifold
        self.pyramid = pyramid
        self.gamma = gamma
        self.weights = weights
        self.C = C
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.solver = solver
        self.n_features = n_features
        self.cv = cv
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Learn to tell the classes apart.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Training sequences, or any other input of `mvdfq.check_sequences`, or `Symbols`.

        y : array-like of shape (n_sequences,)
            Labels of the sequences: text or whole numbers.

        sample_weight : array-like of shape (n_sequences,), default=None
            Weight of each sequence; sequences of weight 0 are left out.

        groups : array-like of shape (n_sequences,), default=None
            Group of each sequence (a speaker, an album); the inner cross-validation keeps each
            group in one fold.

        Returns
        -------
        self : SequenceClassifier
            The fitted classifier.
        """
        # The machines need arrays: scikit-learn's set_output must not make a data frame of them.
        plain = config_context(transform_output="default")
        with plain, engine_of(self), Progress(self, 3, self.verbose) as progress:
            X, y, trainer, settings = self._check_training(X, y, sample_weight, groups)
            with progress.stage("symbols"):
                self.frames_, self.symbols_, symbols = fit_encoders(settings, X, y)
            if goes_by_passes(self, settings, symbols):
                self._fit_passes(X, symbols, trainer, settings, progress)
                return self
            with progress.stage("kernel") as report:
                matrix, machine = fit_matrix(self, settings, symbols, trainer.y, report)
                views = fit_views(self, settings, matrix, X)
            with progress.stage("machines") as report:
                trained = trainer(views.matrix, candidates(settings.C), report)
            margins, self.views_, self.view_shares_ = views.divided(trained.margins)
            self.machine_ = machine(margins)
            self._remember(trained)
        return self

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, np.ndarray, Trainer, Settings]:
        """Check the arguments of `fit`; return the sequences to learn from and how to train."""
        check_whole(self.cv, "cv", at_least=2)
        given, X = X, self._read(X)
        settings = settings_for(self, X)
        candidates(settings.C)  # raises an error now, before the long computation
        y, weight, groups = check_targets(len(X), y, sample_weight, groups)
        used, n_given = np.flatnonzero(weight > 0), len(y)
        if len(used) < len(y):
            X, y, weight = X[used], y[used], weight[used]
            groups = None if groups is None else groups[used]
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must hold at least two classes, got {len(classes)} class.")
        weight = weight * compute_sample_weight(self.class_weight, y)
        seed = check_random_state(self.random_state).randint(2**31)
        problems = Problems(len(classes), settings.multi_class)
        trainer = Trainer(problems, codes, weight, groups, self.cv, seed, self.n_jobs)
        self._forget()
        if getattr(given, "ndim", None) == 2:
            self.n_features_in_ = given.shape[1]
        self.classes_, self.train_index_, self.train_y_ = classes, used, codes
        self.n_channels_in_, self.problems_ = X.n_rows, problems
        self.channel_names_in_ = X.channel_names
        self.training_ = training_record(X, y)
        self.train_fingerprints_ = np.zeros(n_given, dtype=np.uint64)
        self.train_fingerprints_[used] = fingerprints(X)
        return self._varying(X, settings), y, trainer, settings

    def _read(self, X: Any) -> Any:
        """Read sequences of numbers or letters; symbols stay as they are."""
        X = self._collection(X)
        if not X.lengths.any():  # the words that scikit-learn's checks expect
            raise ValueError(
                f"X holds only empty sequences: 0 feature(s) (shape=({len(X)}, 0)) while "
                f"a minimum of 1 is required."
            )
        return X

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the classifier, or of parts that are objects.

        Parameters
        ----------
        **params : dict
            Parameters by name; ``symbols__n_bins`` is the parameter ``n_bins`` of ``symbols``.

        Returns
        -------
        self : SequenceClassifier
            The same classifier.
        """
        check_nested(self, params)
        return super().set_params(**params)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "machine_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
