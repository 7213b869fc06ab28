"""The part of `SequenceClassifier` that learns by passes over blocks of features.

The sequences are too many for a kernel matrix, or do not fit into memory.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.utils import check_random_state

from mvdfq._engines.choice import engine_of
from mvdfq._utils.checks import check_whole
from mvdfq._utils.memory import parse_memory
from mvdfq._utils.progress import Progress, with_callbacks
from mvdfq.classifier.answers import Answers
from mvdfq.classifier.blocks import (
    Drawn,
    Reading,
    block_makers,
    class_weights,
    draw,
)
from mvdfq.classifier.choices import candidates, settings_for
from mvdfq.classifier.linear import LinearSum
from mvdfq.classifier.parts import fit_encoders, pass_reader, ranges_for
from mvdfq.classifier.passes import (
    SAMPLE,
    Collection,
    Samples,
    fit_by_passes,
    held_out,
    spread_blocks,
    stratified,
)
from mvdfq.classifier.presets import Settings
from mvdfq.machines.passes import PassSolver
from mvdfq.machines.svm import Problems
from mvdfq.machines.validation import Trained, Trainer
from mvdfq.sequences.ranges import warn_constant, without_constants

__all__ = ["Learning"]


class Learning(Answers):
    """The part of `SequenceClassifier` that learns by passes, and keeps what was learned."""

    def _fit_passes(
        self: Any,
        X: Any,
        symbols: Any,
        trainer: Trainer,
        settings: Settings,
        progress: Progress,
    ) -> None:
        """Train by passes over blocks of features: the sequences are too many for a matrix."""
        random = np.random.default_rng(trainer.random_state)
        held = held_out(trainer, random)
        is_held = np.isin(np.arange(len(trainer.y)), held)
        others = np.flatnonzero(~is_held)
        begin = others[stratified(trainer.y[others], SAMPLE, random)]
        total = LinearSum(pass_reader(self, settings, symbols), settings, X)
        whole = Collection(total, X, symbols)
        labels = trainer.y, trainer.sample_weight, is_held
        samples = Samples(whole[begin], trainer.of(begin), whole[held], trainer.of(held))
        self.train_index_, self.train_y_ = self.train_index_[begin], trainer.y[begin]
        self._learn(total, lambda: whole.makers(*labels), samples, settings, progress)

    def _learn(
        self: Any,
        total: LinearSum,
        makers: Callable[[], Sequence[Any]],
        samples: Samples,
        settings: Settings,
        progress: Progress,
    ) -> None:
        """Measure the features of all blocks, train on them and keep the machines."""
        with progress.stage("kernel") as report:
            with spread_blocks(self, makers(), keep=False) as blocks:
                total.measure(blocks, report)
        # the columns in use are known now: the blocks are made again, without the others
        with progress.stage("machines") as report, spread_blocks(self, makers()) as blocks:
            memory = parse_memory(self.memory_limit)
            solver = PassSolver(blocks, total.columns, self.problems_, memory)
            trained = fit_by_passes(solver, samples, candidates(settings.C), report)
        # neighbours are searched among the sequences of the sample
        kept = samples.begin.symbols
        found = total.divided(trained.margins, kept, self.memory_limit, self.n_jobs)
        self.machine_, self.views_, self.view_shares_ = found
        self._remember(trained)

    @with_callbacks
    def fit_blocks(self: Any, blocks: Sequence[Any]) -> Any:
        """Learn from sequences in blocks, which need not fit into memory together.

        The blocks are read once to draw a sample, once to measure the words, and once for every
        pass that does not fit into `memory_limit`. Frames and quantizers learn from the sample.
        On a cluster (`mvdfq.use_engine`) every block is read by the worker that needs the block.

        Parameters
        ----------
        blocks : sequence
            The blocks: pairs of sequences and labels, data sets of `mvdfq.io.read`, or functions
            without arguments that return a pair or a data set, as `mvdfq.io.list_parts` lists
            them. A block of 1000 to 10 000 sequences is a good size.

        Returns
        -------
        self : SequenceClassifier
            The fitted classifier.

        Examples
        --------
        >>> import mvdfq
        >>> X, y = mvdfq.load_japanese_vowels(split="train")
        >>> blocks = [(X[i::3], y[i::3]) for i in range(3)]
        >>> clf = mvdfq.SequenceClassifier("fast").fit_blocks(blocks)
        >>> clf.score(*mvdfq.load_japanese_vowels(split="test")) > 0.9
        True
        """
        plain = config_context(transform_output="default")
        with plain, engine_of(self), Progress(self, 3, self.verbose) as progress:
            seed = check_random_state(self.random_state).randint(2**31)
            makers = block_makers(blocks)
            with progress.stage("symbols") as report:
                with spread_blocks(self, makers, keep=False) as spread:
                    drawn = draw(spread, seed, report)
                settings = self._check_drawn(drawn)
                X = self._varying(drawn.X, settings)
                self.frames_, self.symbols_, symbols = fit_encoders(settings, X, drawn.y)
            codes = np.searchsorted(self.classes_, drawn.y)
            weight = class_weights(self.class_weight, self.classes_, drawn.counts)
            trainer = Trainer(
                self.problems_, codes, weight[codes], None, self.cv, seed, self.n_jobs
            )
            total = LinearSum(pass_reader(self, settings, symbols), settings, X)
            whole = Collection(total, X, symbols)
            begin, held = np.flatnonzero(~drawn.held), np.flatnonzero(drawn.held)
            self.train_index_, self.train_y_ = drawn.index[begin], codes[begin]
            samples = Samples(whole[begin], trainer.of(begin), whole[held], trainer.of(held))
            encoders = [step for step in (self.frames_, self.symbols_) if step is not None]
            reading = Reading(encoders, self.ranges_in_, self.classes_, weight, seed, drawn.limit)
            self._learn(total, lambda: reading.makers(makers, total), samples, settings, progress)
        return self

    def _check_drawn(self: Any, drawn: Drawn) -> Settings:
        """Check what was found in all blocks; return the parts for these sequences."""
        check_whole(self.cv, "cv", at_least=2)
        settings = settings_for(self, drawn.X)
        candidates(settings.C)  # raises an error now, before the long computation
        classes = drawn.classes
        if len(classes) < 2:
            raise ValueError(f"y must hold at least two classes, got {len(classes)} class.")
        if self.gamma is not None or self.weights is not None or self.solver == "kernel":
            raise ValueError(
                "fit_blocks trains a linear model; pass gamma=None, weights=None and solver='auto'."
            )
        self._forget()
        self.classes_, self.problems_ = classes, Problems(len(classes), settings.multi_class)
        self.n_channels_in_, self.channel_names_in_ = drawn.X.n_rows, drawn.X.channel_names
        self.training_, self.train_fingerprints_ = drawn.record(), drawn.fingerprints
        return settings

    def _varying(self: Any, X: Any, settings: Settings) -> Any:
        """Remember the ranges of the channels, and return X with 0 in constant channels."""
        self.ranges_in_ = ranges_for(settings, X)
        warn_constant(self.ranges_in_, self._channel_names())
        return without_constants(X, self.ranges_in_)

    def _forget(self: Any) -> None:
        """Drop the last fit: if the new fit breaks off, old machines must not give new labels."""
        for name in ("machine_", "n_features_in_"):
            self.__dict__.pop(name, None)

    def _remember(self: Any, trained: Trained) -> None:
        self.kernel_ = self.machine_.reader
        self.C_, self.temperature_ = trained.C, trained.temperature
        self.validation_scores_, validated = trained.scores, trained.scores[trained.best]
        self.validation_score_ = trained.score
        self.validation_std_ = float(validated.std()) if validated.size else np.nan
        kernel = self.kernel_
        rows, groups = kernel.row_weights, kernel.group_weights
        if groups is None and kernel.plan_.counts_groups:
            groups = [1.0] * len(kernel.plan_.groups(0))
        self.row_weights_ = np.ones(kernel.n_rows_in_) if rows is None else np.asarray(rows)
        self.group_weights_ = None if groups is None else np.asarray(groups)
