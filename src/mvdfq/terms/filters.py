"""Standardized words of filter responses as a term, one bank of filters per dilation.

One dilation of `Filters`, cut at several thresholds: each filter and threshold is a row of two
symbols, and its words are single symbols and triples of symbols one dilation apart. The features
are standardized as in `standard.py`. Filters, thresholds and words are read in one compiled loop,
which is much faster than rows of symbols and gives the same numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from mvdfq._engines import filter_words
from mvdfq._engines.choice import current_engine, on_host, side_by_side
from mvdfq._engines.filter_evidence import filter_evidence
from mvdfq._engines.filter_words import N_TAPS, N_WORDS
from mvdfq._engines.shares import weighed
from mvdfq._utils.checks import check_several, check_whole
from mvdfq._utils.short import Short
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.frames import Filters, Standardize
from mvdfq.frames.filters import TAPS, auto_dilations
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.symbols import ThresholdQuantizer
from mvdfq.symbols.base import Symbols, as_symbols, numbered
from mvdfq.terms.base import Source, Term, Work
from mvdfq.terms.baseline import Evidence, View
from mvdfq.terms.feature_blocks import Block, MatrixBlock, SideBySide
from mvdfq.terms.fitted import StandardTerm, TermRows
from mvdfq.terms.standard import Learned, Piece, StandardFitting, gathered, on_gpu

# Thresholds are learned from sequences with this many frames together, but from at least
# `SEQUENCES` sequences: the thresholds of more sequences hardly differ.
FRAMES, SEQUENCES = 2**13, 50
# Explicit features have at most this many columns of filters: fewer thresholds per filter than on
# kernel matrices. On SpokenArabicDigits, 2 instead of 7 thresholds cost 0.1 points of accuracy.
COLUMNS = 2**13
# Fewer dilations than this make too few filters for all sets of channels.
FEW_BANKS = 5
# Weights and means of words, (n_filters, n_thresholds, 10, n_columns) each.
Compared = tuple[np.ndarray, np.ndarray]
# Frames and sequences that a thread counts at once: some 10 MB of counts.
BLOCK_FRAMES, BLOCK_SEQUENCES = 2**14, 256
# Levels that explanations show channels in.
LEVELS = 8


@dataclass(eq=False, repr=False)
class FilterTerm(Term):
    """Standardized words of filter responses: how often short shapes occur.

    The responses of 84 fixed filters per dilation (`Filters`) are cut at some thresholds, and the
    words are single symbols and triples of symbols one dilation apart. Words are standardized as
    in `WordTerm`. Channels of symbols have no responses. Cost: O(n) in the number of frames for
    each filter and threshold.

    Parameters
    ----------
    dilations : "auto", "few" or sequence of int, default="auto"
        Distances between the taps of a filter, in frames. ``"auto"`` takes the dilations of
        `Filters`, each twice if there are few dilations and more than two channels: the second
        time the filters read other channels. ``"few"`` takes every fourth dilation.
    n_thresholds : int, default=7
        Number of thresholds per response, at most 7.
    name : str, default="filters"
        Name of the term in explanations.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier(terms=[mvdfq.FilterTerm("few")]).fit(X, y)
    >>> clf.score(*mvdfq.load_japanese_vowels(split="test")) > 0.9
    True
    """

    dilations: str | Sequence[int] = "auto"
    _: KW_ONLY
    n_thresholds: int = 7
    name: str = "filters"

    def check(self) -> None:
        """Raise an error for parameters that do not exist."""
        check_whole(self.n_thresholds, "n_thresholds", at_most=7)
        if not isinstance(self.dilations, str):
            check_several(self.dilations, "dilations")
        elif self.dilations not in ("auto", "few"):
            wanted = "'auto', 'few' or whole numbers"
            raise ValueError(f"dilations must be {wanted}, got {self.dilations!r}.")

    def fit(self, X: Any, y: np.ndarray, work: Work) -> "StandardFitting | None":
        """Learn thresholds from some sequences, and compute the kernel matrix of all."""
        encoders = self._fit_encoders(X, self.n_thresholds)
        if not encoders:
            return None
        pieces = []
        for encoder in encoders:
            make_shares = partial(filter_shares, encoder, X, work.n_jobs)
            pieces.append(Piece(np.arange(encoder[-1].thresholds_.size), make_shares, [encoder]))
        make = partial(FittedFilters.of, self.name, encoders, work.n_jobs)
        # one bank after another: a bank uses the threads itself
        return StandardFitting(pieces, y, 0.0, work, make)

    def source(self, X: Any, y: np.ndarray, work: Work) -> "FilterSource | None":
        """Return what counts the words of blocks; so few thresholds that all columns fit."""
        n_banks = len(self._dilations(X)) if isinstance(X, Sequences) else 1
        # a linear model has a weight for every column and class: many columns cost memory in each
        # step
        most = COLUMNS // (n_banks * len(TAPS) * N_WORDS)
        encoders = self._fit_encoders(X, int(np.clip(most, 1, self.n_thresholds)))
        make = partial(FittedFilters.of, self.name, encoders, work.n_jobs)
        return FilterSource(0.0, encoders, make) if encoders else None

    def _fit_encoders(self, X: Any, n_thresholds: int) -> list[Pipeline]:
        """Learn thresholds from some of the sequences; no encoders without channels of numbers."""
        if not isinstance(X, Sequences) or X.symbolic_mask.all():
            return []
        n = max(SEQUENCES, FRAMES * len(X) // max(X.data.shape[1], 1))
        # spread over the collection, since files are often sorted by class
        chosen = X[np.linspace(0, len(X) - 1, min(len(X), n)).astype(int)]
        scale = Standardize().fit(chosen)
        scaled = scale.transform(chosen)

        def fitted(pair: tuple[int, int]) -> Pipeline:
            encoder = filter_encoder(pair[1], n_thresholds, pair[0])
            _, filters, quantizer = (step for _, step in encoder.steps)
            quantizer.fit(filters.fit_transform(scaled))
            encoder.steps[0] = encoder.steps[0][0], scale  # all banks read the same values
            return encoder

        return list(side_by_side(fitted, enumerate(self._dilations(X))))

    def _dilations(self, X: Sequences) -> list[int]:
        if not isinstance(self.dilations, str):
            return list(self.dilations)
        dilations = auto_dilations(X)
        if self.dilations == "few":
            return dilations[::4]
        return dilations * 2 if len(dilations) < FEW_BANKS and X.n_rows > 2 else dilations


@dataclass(frozen=True)
class FilterSource(Source):
    """Counts the words of filter responses of blocks of sequences."""

    @property
    def pieces(self) -> list[tuple[np.ndarray, int, np.ndarray]]:
        """One piece per bank."""
        banks = [np.arange(encoder[-1].thresholds_.size) for encoder in self.encoders]
        return [(rows, N_WORDS, np.arange(rows.size * N_WORDS)) for rows in banks]

    def read(self, X: Any) -> Any:
        """Return the sequences as they are."""
        return X

    def block(self, read: Any) -> Block:
        """Count the words of some sequences."""
        banks, n = [], read.lengths
        for encoder in self.encoders:
            # singles, and triples one dilation apart, of a sequence without missing values
            totals = n + np.maximum(n - 2 * int(encoder[1].dilations_[0]), 0)
            banks.append(MatrixBlock.of_shares(filter_shares(encoder, read), totals))
        return SideBySide(banks)


def filter_encoder(dilation: int, n_thresholds: int, seed: int) -> Pipeline:
    """Return a pipeline that makes rows of two symbols, one per filter and threshold."""
    filters = Filters(dilation, keep_symbolic=False, random_state=seed)
    return make_pipeline(Standardize(), filters, ThresholdQuantizer(n_thresholds))


def filter_shares(encoder: Pipeline, X: Sequences, n_jobs: int | None = None) -> Any:
    """Return the roots of the shares of all words, (n_sequences, 10 * n_rows).

    The columns are row by row the words 0, 1, 000, 001, ... 111, where 1 means above the
    threshold. An array; on a graphics card, a tensor.
    """
    engine, thresholds = current_engine(), encoder[-1].thresholds_
    if engine.name == "gpu":
        moments = (moment[~X.symbolic_mask] for moment in (encoder[0].mean_, encoder[0].scale_))
        filters = encoder[1].compiled(0)
        return on_gpu().filter_shares(X, tuple(moments), filters, thresholds, engine.device)
    read, out = _Reader(X), np.empty((len(X), thresholds.size * N_WORDS), np.float32)
    count = partial(read.shares, encoder, compiled_bank(encoder))
    for block, shares in run_in_order(count, read.blocks(), n_threads(n_jobs)):
        out[block] = shares
    return out


def compiled_bank(encoder: Pipeline) -> filter_words.Bank:
    """Return the filters and thresholds of an encoder as the compiled loops read them."""
    n_numeric = int((~encoder[1]._symbolic_mask).sum())
    return filter_words.bank_of(encoder[1].compiled(0), n_numeric, encoder[2].thresholds_)


@dataclass(repr=False)
class FilterBank(Short):
    """The filters of one dilation with the weights of their words.

    `weights` is (n_rows, 10, n_columns), `means` (n_rows, 10, n_classes) the means of the words
    over each class, or over all sequences if there are very many classes; `spreads` (n_rows, 10)
    their deviations, 0 for a word that is left out.
    """

    encoder: Pipeline
    weights: np.ndarray
    means: np.ndarray
    spreads: np.ndarray
    n_jobs: int | None = None

    @classmethod
    def of(cls, encoder: Pipeline, n_jobs: int | None, learned: Learned) -> "FilterBank":
        """Return the bank, given what was learned of its words."""

        def placed(numbers: np.ndarray, dtype: Any) -> np.ndarray:
            out = np.zeros((len(learned.rows), learned.n_words, numbers.shape[1]), dtype)
            out.reshape(-1, numbers.shape[1])[learned.kept] = numbers
            return out

        weights, means = placed(learned.weights, np.float32), learned.means.clip(0, 1)
        spreads = placed(learned.spreads[:, None], np.float16)[:, :, 0]
        return cls(encoder, weights, placed(means, np.float16), spreads, n_jobs)

    @cached_property
    def _compiled(self) -> filter_words.Bank:  # a name that model files leave out
        return compiled_bank(self.encoder)

    def weighed(self, shares: Any) -> np.ndarray:
        """Return the sums of the weights of words, (n_sequences, n_columns), given root shares."""
        weights = self.weights.reshape(-1, self.weights.shape[2])
        if current_engine().name == "gpu":
            return on_gpu().weighed(shares, weights)
        return weighed(shares, weights)

    def evidence(self, X: Sequences, compared: Compared) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the evidence in each sequence, by channel and frame, and by channel and layout.

        Shapes: (n_columns, n_channels, n_frames) and (n_columns, n_channels, 2), where the
        layouts are single symbols and triples. Symbolic channels have none.
        """
        read, n_columns = _Reader(X), compared[0].shape[-1]
        n, scale = len(read.data), read.scale(self.encoder)
        step, _, members, _ = self.encoder[1].compiled(0)
        for a, b in pairwise(X.offsets.tolist()):
            by_frame = np.zeros((n_columns, X.n_rows, b - a))
            by_layout = np.zeros((n_columns, X.n_rows, 2))
            if b > a:
                by_response, by_kind = np.zeros((n_columns, n, b - a)), np.zeros((2, n, n_columns))
                sequence, rest = (read.data, np.array([a, b]), scale), np.zeros((n, n_columns))
                n_thresholds = compared[0].shape[1]
                levels, counts = filter_words.filter_levels(sequence, self._compiled, n_thresholds)
                out = by_response, by_kind, rest
                filter_evidence(levels, counts, step, members, *compared, *out)
                spread = _spread_taps(by_response, step)
                by_frame[:, read.numeric] = spread + rest.T[:, :, None] / (b - a)
                by_layout[:, read.numeric] = by_kind.transpose(2, 1, 0)
            yield by_frame, by_layout


def _spread_taps(by_response: np.ndarray, dilation: int) -> np.ndarray:
    """Divide the evidence of responses, (..., n_frames), equally among the frames that they read.

    Taps beyond the ends get nothing: otherwise the ends would get what belongs to the middle.
    """
    n, half = by_response.shape[-1], N_TAPS // 2
    frames = np.arange(n)
    n_taps = 1 + sum(np.minimum(x // dilation, half) for x in (frames, frames[::-1]))
    shared, out = by_response / n_taps, np.zeros_like(by_response)
    for shift in range(0, min(half * dilation, n - 1) + 1, dilation):
        out[..., shift:] += shared[..., : n - shift]
        if shift:
            out[..., : n - shift] += shared[..., shift:]
    return out


@dataclass(repr=False, kw_only=True)
class FittedFilters(StandardTerm):
    """Standardized words of filter responses with their weights, one bank per dilation."""

    banks: list[FilterBank]
    says_curves = True

    @classmethod
    def of(
        cls, name: str, encoders: list[Any], n_jobs: Any, learned: Iterable[Learned], share: float
    ) -> "FittedFilters":
        """Return the term, given what was learned of the words of each encoder."""
        banks: list[FilterBank] = []
        left = iter(encoders)
        made: Any = gathered(
            name, learned, lambda words: banks.append(FilterBank.of(next(left), n_jobs, words))
        )
        return cls(name=name, encoders=[], banks=banks, share=share, **made)

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
        if current_engine().name == "gpu":
            shares = side_by_side(
                lambda bank: bank.weighed(filter_shares(bank.encoder, read)), self.banks
            )
            return np.sum(list(shares), axis=0)
        reader, n_columns = _Reader(read), self.banks[0].weights.shape[2]

        def weighed(job: tuple[slice, FilterBank]) -> np.ndarray:
            block, bank = job
            return bank.weighed(reader.shares(bank.encoder, bank._compiled, block))

        sums, jobs = np.zeros((len(read), n_columns)), product(reader.blocks(), self.banks)
        for (block, _), bank_sums in run_in_order(weighed, jobs, n_threads(self.banks[0].n_jobs)):
            sums[block] += bank_sums
        return sums

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence: one row per channel.

        The evidence of an occurrence is divided equally among the channels that the filter sums,
        the responses that the word reads and the frames that each response reads inside the
        sequence; see `baseline.py` for what a word is compared with. There are two layouts per
        dilation: single symbols and triples. Words are not listed: there are thousands.
        """
        done = run_in_order(
            lambda pair: list(pair[0].evidence(read, pair[1])),
            zip(self.banks, self._compared(view), strict=True),
            n_threads(self.banks[0].n_jobs),
        )
        by_bank = [evidence for _, evidence in done]
        parts = (zip(*of_banks, strict=True) for of_banks in zip(*by_bank, strict=True))
        return [Evidence(sum(f[1:], f[0]), np.concatenate(g, axis=2), list) for f, g in parts]

    @property
    def class_means(self) -> list[np.ndarray]:
        """The means of words over the classes, one array per bank."""
        return [bank.means for bank in self.banks]

    def shift(self, view: View) -> np.ndarray:
        """Return what the words of the baseline add to the margins."""
        pairs = self._compared(view)
        return np.sum([np.einsum("fqwc,fqwc->c", *pair, dtype=float) for pair in pairs], axis=0)

    def _compared(self, view: View) -> list[Compared]:
        def seen(bank: FilterBank) -> Compared:
            shape = *bank.encoder[-1].thresholds_.shape, N_WORDS, -1
            return view.weigh(bank.weights).reshape(shape), view.means(bank.means).reshape(shape)

        return self.once_for(view, lambda view: [*map(seen, self.banks)])

    def rows(self, read: Any, i: int, channels: list[str]) -> TermRows:
        """Return what an explanation says about the channels of sequence `i`."""
        steps = [int(bank.encoder[1].dilations_[0]) for bank in self.banks]
        scaled = self.banks[0].encoder[0].transform(read[i : i + 1]).data
        return TermRows(
            levels(read[i : i + 1]),
            [f"{self.name} on {name}" for name in channels],
            [[offsets] for d in steps for offsets in [(0,), (0, d, 2 * d)]],
            [numbered(LEVELS)] * len(channels),
            lambda: np.eye(len(channels)),
            np.where(read.symbolic_mask[:, None], np.nan, scaled),
        )

    def channel_shares(self, n_channels: int) -> np.ndarray:
        """Return the identity: every row is one channel."""
        return np.eye(n_channels)

    def features(self, read: Any) -> Iterator[np.ndarray]:
        """Yield the root shares of words, one bank after another."""
        return (on_host(filter_shares(bank.encoder, read, bank.n_jobs)) for bank in self.banks)

    def weights(self) -> Iterator[np.ndarray]:
        """Yield the weights of the words of each bank."""
        return (bank.weights.reshape(-1, bank.weights.shape[2]) for bank in self.banks)

    def columns(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the means and deviations of the words of each bank."""
        for bank in self.banks:
            yield bank.means.reshape(bank.spreads.size, -1), bank.spreads.ravel()


def levels(X: Sequences) -> Symbols:
    """Return every channel of one sequence in eight levels, to look at."""
    # explanations show channels, not thousands of filter responses
    low = np.nanmin(X.data, axis=1, keepdims=True, initial=np.inf)
    high = np.nanmax(X.data, axis=1, keepdims=True, initial=-np.inf)
    width = np.where(high > low, high - low, 1)
    levels = np.floor((X.data - low) / width * LEVELS).clip(0, LEVELS - 1)
    codes = np.where(np.isnan(levels), np.iinfo(np.uint8).max, np.nan_to_num(levels))
    return as_symbols(X, codes.astype(np.uint8), np.full(len(codes), LEVELS), None)


class _Reader:
    """Sequences as the compiled loops read them."""

    def __init__(self, X: Sequences) -> None:
        self.numeric, self.offsets = np.flatnonzero(~X.symbolic_mask), X.offsets
        is_whole = len(self.numeric) == len(X.data)
        self.data = np.ascontiguousarray(X.data if is_whole else X.data[self.numeric])

    def scale(self, encoder: Pipeline) -> tuple[np.ndarray, np.ndarray]:
        """Return the means and deviations of the channels of numbers."""
        return encoder[0].mean_[self.numeric], encoder[0].scale_[self.numeric]

    def shares(self, encoder: Pipeline, bank: filter_words.Bank, block: slice) -> np.ndarray:
        """Return the root shares of a block of sequences, (n_sequences, 10 * n_rows)."""
        n = block.stop - block.start
        out = np.empty((n, *encoder[2].thresholds_.shape, N_WORDS), np.float32)
        read = self.data, self.offsets[block.start : block.stop + 1], self.scale(encoder)
        filter_words.filter_shares(read, bank, out)
        return out.reshape(n, -1)

    def blocks(self) -> list[slice]:
        """Return blocks of sequences, for threads."""
        n = len(self.offsets) - 1
        # a block ends where either count reaches a new multiple
        numbers = self.offsets[:-1] // BLOCK_FRAMES + np.arange(n) // BLOCK_SEQUENCES
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), n]
        return [slice(a, b) for a, b in pairwise(cuts)]
