"""Words of filter responses with their weights: the fitted term, one bank per dilation.

One dilation of `Filters`, cut at several thresholds: each filter and threshold is a row of two
symbols, and its words are single symbols and triples of symbols one dilation apart. The features
are standardized as in `standard.py`. Filters, thresholds and words are read in one compiled loop,
which is much faster than rows of symbols and gives the same numbers.
"""

from collections.abc import Callable, Iterator, Sequence
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
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.symbols import ThresholdQuantizer
from mvdfq.symbols.base import Symbols, numbered
from mvdfq.terms.baseline import View
from mvdfq.terms.evidence_words import Evidence
from mvdfq.terms.fitted import FittedTerm, TermRows
from mvdfq.terms.standard import Scale, on_gpu, on_host
from mvdfq.terms.typical import Centres, Nearness, added

# Weights and means of words, (n_filters, n_thresholds, 10, n_columns) each.
Compared = tuple[np.ndarray, np.ndarray]
# Frames and sequences that a thread counts at once: some 10 MB of counts.
BLOCK_FRAMES, BLOCK_SEQUENCES = 2**14, 256
# Levels that explanations show channels in.
LEVELS = 8


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
    return on_gpu().filter_shares(X, moments, filters.compiled(0), thresholds, device)


@dataclass(repr=False)
class FilterBank(Short):
    """The filters of one dilation with the weights of their words.

    `weights` is (n_rows, 10, n_columns), `means` (n_rows, 10, n_classes) the means of the words
    over each class, or over all sequences if there are very many classes; `spreads` (n_rows, 10)
    their deviations, 0 for a word that is left out. `scale` is the mean and the deviation of the
    words; model files do not hold it.
    """

    encoder: Pipeline
    weights: np.ndarray
    means: np.ndarray
    spreads: np.ndarray
    n_jobs: int | None = None
    _scale: Scale | None = field(default=None, repr=False)

    @property
    def dilation(self) -> int:
        """The distance between the taps of a filter, in frames."""
        return int(self.encoder[1].dilations_[0])

    def features(self, X: Sequences) -> np.ndarray:
        """Return the standardized words of sequences."""
        assert self._scale is not None
        return on_host(self._scale.features(filter_shares(self.encoder, X, self.n_jobs)))

    def nearness(self, X: Sequences) -> Nearness:
        """Return the products of sequences with themselves and with the means of the classes."""
        centres = Centres(self.means.reshape(self.spreads.size, -1), self.spreads.ravel())
        if current_engine().name == "gpu":
            return centres.nearness(on_host(filter_shares(self.encoder, X)))
        read = _Reader(self.encoder, X)
        done = read.in_blocks(lambda block: centres.nearness(read.shares(block)), self.n_jobs)
        own, cross, means = zip(*(found for _, found in done), strict=True)
        return Nearness(np.concatenate(own), np.concatenate(cross), means[0])

    def sums(self, X: Sequences) -> np.ndarray:
        """Return the sums of the weights of words, (n_sequences, n_columns)."""
        n_columns = self.weights.shape[2]
        weights = self.weights.reshape(-1, n_columns)
        engine = current_engine()
        if engine.name == "gpu":
            shares = _on_gpu(self.encoder, X, engine.device)
            return on_gpu().product(shares.T, weights.astype(float))
        read = _Reader(self.encoder, X)

        def weighed(block: slice) -> np.ndarray:
            shares = read.shares(block)
            sums = np.zeros((len(shares), n_columns))
            filter_words.weigh(shares, weights, sums)
            return sums

        return np.concatenate([sums for _, sums in read.in_blocks(weighed, self.n_jobs)])

    def compared(self, view: View) -> Compared:
        """Return the weights of words and their means over the baseline, as a view sees them."""
        shape = *self.encoder[-1].thresholds_.shape, filter_words.N_WORDS, -1
        return view.weigh(self.weights).reshape(shape), view.means(self.means).reshape(shape)

    def evidence(self, X: Sequences, compared: Compared) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the evidence in each sequence, by channel and frame, and by channel and layout.

        Shapes: (n_columns, n_channels, n_frames) and (n_columns, n_channels, 2), where the
        layouts are single symbols and triples. Symbolic channels have none.
        """
        read, n_columns = _Reader(self.encoder, X), compared[0].shape[-1]
        for a, b in pairwise(X.offsets.tolist()):
            by_frame = np.zeros((n_columns, X.n_rows, b - a))
            by_layout = np.zeros((n_columns, X.n_rows, 2))
            if b > a:
                by_frame[:, read.numeric], by_layout[:, read.numeric] = read.evidence(
                    a, b, compared
                )
            yield by_frame, by_layout


@dataclass(repr=False, kw_only=True)
class FittedFilters(FittedTerm):
    """Standardized words of filter responses with their weights, one bank per dilation."""

    banks: list[FilterBank]
    says_curves = True

    @classmethod
    def of(
        cls, name: str, banks: list[FilterBank], intercepts: np.ndarray, share: float
    ) -> "FittedFilters":
        """Return the term of some banks."""
        return cls(name=name, encoders=[], banks=banks, intercepts=intercepts, share=share)

    def read(self, X: Any) -> Any:
        """Return the sequences as they are."""
        return check_sequences(X, n_channels=self.n_channels_in)

    @property
    def symbolic_in(self) -> tuple[bool, ...]:
        """Which channels hold symbols, () for none."""
        return self.banks[0].encoder[0].symbolic_in_

    @property
    def n_channels_in(self) -> int:
        """Number of channels that the filters read."""
        return self.banks[0].encoder[0].n_channels_in_

    def sums(self, read: Any) -> np.ndarray:
        """Return the sums of the weights of words, (n_sequences, n_columns)."""
        return np.sum([bank.sums(read) for bank in self.banks], axis=0)

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence: one row per channel.

        The evidence of an occurrence is divided equally among the channels that the filter sums,
        the responses that the word reads and the frames that each response reads inside the
        sequence; see `baseline.py` for what a word is compared with. There are two layouts per
        dilation: single symbols and triples. Words are not listed: there are thousands.
        """
        pairs = zip(self.banks, self._compared(view), strict=True)
        done = run_in_order(
            lambda pair: list(pair[0].evidence(read, pair[1])),
            pairs,
            n_threads(self.banks[0].n_jobs),
        )
        return [_added(found) for found in zip(*(one for _, one in done), strict=True)]

    def contrast(self, read: Any, find: Callable[[], Evidence], view: View) -> Evidence:
        """Return the evidence in one sequence, compared with another baseline."""
        return self.evidence(read, view)[0]

    @property
    def class_means(self) -> list[np.ndarray]:
        """The means of words over the classes, one array per bank."""
        return [bank.means for bank in self.banks]

    def nearness(self, read: Any, y: np.ndarray, n_classes: int) -> Nearness | None:
        """Return the products of sequences with themselves and with the means of the classes."""
        if any(bank.means.shape[-1] != n_classes for bank in self.banks):
            return None
        return added(bank.nearness(read) for bank in self.banks)

    def shift(self, view: View) -> np.ndarray:
        """Return what the words of the baseline add to the margins."""
        pairs = self._compared(view)
        return np.sum([np.einsum("fqwc,fqwc->c", *pair, dtype=float) for pair in pairs], axis=0)

    def _compared(self, view: View) -> list[Compared]:
        return self.once_for(view, lambda view: [bank.compared(view) for bank in self.banks])

    def rows(self, read: Any, i: int, channels: list[str]) -> TermRows:
        """Return what an explanation says about the channels of sequence `i`."""
        steps = [bank.dilation for bank in self.banks]
        return TermRows(
            levels(read[i : i + 1]),
            [f"{self.name} on {name}" for name in channels],
            [[offsets] for d in steps for offsets in [(0,), (0, d, 2 * d)]],
            [numbered(LEVELS)] * len(channels),
            lambda: np.eye(len(channels)),
            self._curves(read[i : i + 1]),
        )

    def _curves(self, X: Sequences) -> np.ndarray:
        """Return the channels as the filters read them, NaN for symbols."""
        scaled = self.banks[0].encoder[0].transform(X).data
        return np.where(X.symbolic_mask[:, None], np.nan, scaled)

    def channel_shares(self, n_channels: int) -> np.ndarray:
        """Return the identity: every row is one channel."""
        return np.eye(n_channels)

    @property
    def can_compare(self) -> bool:
        """Whether the means and deviations of words are known: not after `load`."""
        return all(bank._scale is not None for bank in self.banks)

    def features(self, read: Any) -> Iterator[np.ndarray]:
        """Yield the standardized words of sequences, one bank after another."""
        yield from (bank.features(read) for bank in self.banks)


def _added(found: Sequence[tuple[np.ndarray, np.ndarray]]) -> Evidence:
    """Return the evidence of all banks in one sequence."""
    by_frame, by_layout = zip(*found, strict=True)
    return Evidence(np.sum(by_frame, axis=0), np.concatenate(by_layout, axis=2), list)


def levels(X: Sequences) -> Symbols:
    """Return every channel of one sequence in eight levels, to look at."""
    # explanations show channels, not thousands of filter responses
    low = np.nanmin(X.data, axis=1, keepdims=True, initial=np.inf)
    high = np.nanmax(X.data, axis=1, keepdims=True, initial=-np.inf)
    width = np.where(high > low, high - low, 1)
    levels = np.floor((X.data - low) / width * LEVELS).clip(0, LEVELS - 1)
    codes = np.where(np.isnan(levels), np.iinfo(np.uint8).max, np.nan_to_num(levels))
    return Symbols(
        codes.astype(np.uint8),
        X.offsets,
        n_symbols=np.full(len(codes), LEVELS),
        sampling_rate=X.sampling_rate,
    )


class _Reader:
    """Sequences as the compiled loops read them, with the filters and thresholds."""

    def __init__(self, encoder: Pipeline, X: Sequences) -> None:
        scale, filters, quantizer = (step for _, step in encoder.steps)
        self.numeric = np.flatnonzero(~X.symbolic_mask)
        scaled = scale._transform(X).data  # every bank reads the same sequences, checked before
        is_whole = len(self.numeric) == len(scaled)
        self.data = np.ascontiguousarray(scaled if is_whole else scaled[self.numeric])
        self.offsets, self.filters = X.offsets, filters.compiled(0)
        self.thresholds = quantizer.thresholds_

    def shares(self, block: slice) -> np.ndarray:
        """Return the root shares of a block of sequences, (n_sequences, 10 * n_rows)."""
        n = block.stop - block.start
        out = np.empty((n, *self.thresholds.shape, filter_words.N_WORDS), np.float32)
        offsets = self.offsets[block.start : block.stop + 1]
        filter_words.filter_shares(self.data, offsets, self.filters, self.thresholds, out)
        return out.reshape(n, -1)

    def evidence(self, start: int, stop: int, compared: Compared) -> tuple[np.ndarray, np.ndarray]:
        """Return the evidence of numeric channels in one sequence, see `FilterBank.evidence`."""
        n, n_frames, n_columns = len(self.data), stop - start, compared[0].shape[-1]
        by_response, by_kind = np.zeros((n, n_frames, n_columns)), np.zeros((2, n, n_columns))
        by_frame, rest = np.zeros((n_columns, n, n_frames)), np.zeros((n, n_columns))
        flat = by_response.reshape(n, -1)
        read = self.data, (start, stop), self.filters, self.thresholds
        filter_words.filter_evidence(*read, *compared, flat, by_kind, rest)
        filter_words.spread_taps(by_response, self.filters[0], by_frame)
        return by_frame + rest.T[:, :, None] / n_frames, by_kind.transpose(2, 1, 0)

    def in_blocks(self, one: Callable[[slice], Any], n_jobs: int | None) -> Any:
        """Return (block, result) of all blocks of sequences, in order, computed by threads."""
        return run_in_order(one, _blocks(self.offsets), n_threads(n_jobs))


def _blocks(offsets: np.ndarray) -> list[slice]:
    """Cut sequences into blocks of few frames and few sequences, at least one sequence each."""
    n = len(offsets) - 1
    # a block ends where either count reaches a new multiple
    numbers = offsets[:-1] // BLOCK_FRAMES + np.arange(n) // BLOCK_SEQUENCES
    cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), n]
    return [slice(a, b) for a, b in pairwise(cuts)]
