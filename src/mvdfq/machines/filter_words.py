r"""Machines on the words of filter responses.

One dilation of `Filters`, cut at several thresholds: each filter and threshold is a row of two
symbols, and its words are single symbols and triples of symbols one dilation apart. The features
are those of `standard.py`. Filters, thresholds and words are read in one compiled loop, which is
much faster than rows of symbols and gives the same numbers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from mvdfq._engines import filter_words
from mvdfq._engines.choice import current_engine
from mvdfq._utils.short import Short
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.frames import Filters, Standardize
from mvdfq.machines.standard import Scale, StandardGram, on_gpu, on_host
from mvdfq.sequences import Sequences
from mvdfq.symbols import ThresholdQuantizer

__all__ = ["FilterMachine", "filter_encoder", "filter_shares"]

# Frames and sequences that a thread counts at once: some 10 MB of counts.
BLOCK_FRAMES, BLOCK_SEQUENCES = 2**14, 256


def filter_encoder(dilation: int, n_thresholds: int, seed: int) -> Pipeline:
    """Return a pipeline that makes rows of two symbols, one per filter and threshold."""
    filters = Filters(dilation, keep_symbolic=False, random_state=seed)
    return make_pipeline(Standardize(), filters, ThresholdQuantizer(n_thresholds))


def filter_shares(encoder: Pipeline, X: Sequences, n_jobs: int | None = None) -> Any:
    """Return the roots of the shares of all words, (n_sequences, 10 * n_rows).

    The columns are row by row the words 0, 1, 000, 001, ... 111, where 1 means above the
    threshold. An array; on a graphics card, a tensor.
    """
    engine = current_engine()
    if engine.name == "gpu":
        return _on_gpu(encoder, X, engine.device)
    read, n_rows = _Reader(encoder, X), encoder[-1].thresholds_.size
    out = np.empty((len(X), n_rows * filter_words.N_WORDS), np.float32)
    for block, shares in read.in_blocks(read.shares, n_jobs):
        out[block] = shares
    return out


def _on_gpu(encoder: Pipeline, X: Sequences, device: str) -> Any:
    scale, filters, quantizer = (step for _, step in encoder.steps)
    numeric = ~X.symbolic_mask
    moments = scale.mean_[numeric], scale.scale_[numeric]
    thresholds = quantizer.thresholds_
    values, read = X.data if numeric.all() else X.data[numeric], filters.compiled(0)
    return on_gpu().filter_shares(values, X.offsets, moments, read, thresholds, device)


@dataclass(repr=False)
class FilterMachine(Short):
    """A machine that keeps one weight per word of every row, and column.

    `weights` is (n_rows, 10, n_columns); `norms` is the share of each row in the squared norms of
    the machines. `scales` are the means and deviations of the words; model files do not hold them.
    """

    encoder: Pipeline
    weights: np.ndarray
    intercepts: np.ndarray
    norms: np.ndarray
    n_jobs: int | None = None
    _scales: list[Scale] = field(default_factory=list, repr=False)

    @classmethod
    def from_gram(
        cls, gram: StandardGram, encoder: Pipeline, coefficients: np.ndarray
    ) -> "FilterMachine":
        """Return the machine with these coefficients of the training sequences."""
        (learned,) = gram.learned(coefficients)
        weights = np.zeros((len(learned.rows), learned.n_words, coefficients.shape[1]), np.float32)
        weights.reshape(-1, coefficients.shape[1])[learned.kept] = learned.weights
        return cls(encoder, weights, learned.intercepts, learned.norms, gram.n_jobs, gram.scales)

    @property
    def scales(self) -> list[Scale]:
        """The scale of all words, in a list; empty for a machine that was read from a file."""
        return self._scales

    def features(self, X: Sequences) -> Iterator[np.ndarray]:
        """Yield the standardized words of sequences."""
        for scale in self.scales:
            yield on_host(scale.features(filter_shares(self.encoder, X, self.n_jobs)))

    def of(self, X: Sequences) -> np.ndarray:
        """Return the margins of sequences, (n_sequences, n_columns)."""
        n_columns = self.weights.shape[2]
        weights = self.weights.reshape(-1, n_columns)
        engine = current_engine()
        if engine.name == "gpu":
            shares = _on_gpu(self.encoder, X, engine.device)
            return on_gpu().product(shares.T, weights.astype(float)) + self.intercepts
        read = _Reader(self.encoder, X)

        def weighed(block: slice) -> np.ndarray:
            shares = read.shares(block)
            margins = np.zeros((len(shares), n_columns))
            filter_words.weigh(shares, weights, margins)
            return margins

        done = [margins for _, margins in read.in_blocks(weighed, self.n_jobs)]
        return np.concatenate(done) + self.intercepts

    def evidence(self, X: Sequences) -> tuple[np.ndarray, np.ndarray]:
        """Return the evidence in one sequence, by channel and frame, and by channel and layout.

        Shapes: (n_columns, n_channels, n_frames) and (n_columns, n_channels, 2), where the
        layouts are single symbols and triples. Symbolic channels have none.
        """
        read, n_columns = _Reader(self.encoder, X), self.weights.shape[2]
        n, n_frames = len(read.data), X.data.shape[1]
        by_response = np.zeros((n, n_frames, n_columns))
        by_kind, by_frame = np.zeros((2, n, n_columns)), np.zeros((n_columns, n, n_frames))
        weights = self.weights.reshape(*read.thresholds.shape, -1, n_columns).astype(float)
        if n_frames:
            filter_words.filter_evidence(
                read.data, read.filters, read.thresholds, weights, by_response, by_kind
            )
            filter_words.spread_taps(by_response, read.filters[0], by_frame)
        found = np.zeros((n_columns, X.n_rows, n_frames)), np.zeros((n_columns, X.n_rows, 2))
        found[0][:, read.numeric] = by_frame
        found[1][:, read.numeric] = by_kind.transpose(2, 1, 0)
        return found


class _Reader:
    """Sequences as the compiled loops read them, with the filters and thresholds."""

    def __init__(self, encoder: Pipeline, X: Sequences) -> None:
        scale, filters, quantizer = (step for _, step in encoder.steps)
        self.numeric = np.flatnonzero(~X.symbolic_mask)
        scaled = scale.transform(X)
        self.data = np.ascontiguousarray(scaled.data[self.numeric])
        self.offsets, self.filters = X.offsets, filters.compiled(0)
        self.thresholds = quantizer.thresholds_

    def shares(self, block: slice) -> np.ndarray:
        """Return the root shares of a block of sequences, (n_sequences, 10 * n_rows)."""
        n = block.stop - block.start
        out = np.empty((n, *self.thresholds.shape, filter_words.N_WORDS), np.float32)
        offsets = self.offsets[block.start : block.stop + 1]
        filter_words.filter_shares(self.data, offsets, self.filters, self.thresholds, out)
        return out.reshape(n, -1)

    def in_blocks(self, one: Callable[[slice], Any], n_jobs: int | None) -> Any:
        """Return (block, result) of all blocks of sequences, in order, computed by threads."""
        return run_in_order(one, _blocks(self.offsets), n_threads(n_jobs))


def _blocks(offsets: np.ndarray) -> list[slice]:
    """Cut sequences into blocks of few frames and few sequences, at least one sequence each."""
    n = len(offsets) - 1
    numbers = offsets[:-1] // BLOCK_FRAMES + np.arange(n) // BLOCK_SEQUENCES
    cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), n]
    return [slice(a, b) for a, b in pairwise(cuts)]
