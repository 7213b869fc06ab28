"""Sources of explicit features: each makes the features of a block of sequences."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline

from mvdfq._utils.short import Short
from mvdfq.gram.features import SequenceFeatures
from mvdfq.machines.blocks import Block, MatrixBlock, ShareBlock, WordColumns
from mvdfq.machines.filter_words import filter_shares
from mvdfq.sequences import Ragged
from mvdfq.symbols.base import Symbols

__all__ = ["FeatureSource", "FilterSource", "Source", "WordSource"]


@dataclass(frozen=True, repr=False)
class WordSource(Short):
    """All words of some rows of symbols: of a classifier, or of an encoder of its own."""

    reader: SequenceFeatures
    columns: WordColumns
    rows: np.ndarray
    encoder: Any = None

    def block(self, X: Any, symbols: Symbols) -> Block:
        """Count the words of sequences, given as numbers and as symbols."""
        mine = symbols if self.encoder is None else self.encoder.transform(X)
        return self.columns.block(cast(Symbols, self.reader.read_new(mine.rows(self.rows))))


@dataclass(frozen=True, repr=False)
class FilterSource(Short):
    """The words of the responses of filters of one dilation."""

    encoder: Pipeline

    def block(self, X: Any, symbols: Symbols) -> Block:
        """Count the words of sequences, given as numbers and as symbols."""
        dilation = int(self.encoder[1].dilations_[0])
        # singles, and triples one dilation apart, of a sequence without missing values
        totals = X.lengths + np.maximum(X.lengths - 2 * dilation, 0)
        return ShareBlock.of(filter_shares(self.encoder, X), totals)


@dataclass(frozen=True, repr=False)
class FeatureSource(Short):
    """The features of `SequenceFeatures`, for kernels and alphabets of any kind."""

    reader: SequenceFeatures

    def block(self, X: Any, symbols: Ragged) -> Block:
        """Count the words of sequences, given as numbers and as symbols."""
        values = self.reader.values(self.reader.read_new(symbols))
        return MatrixBlock(values.astype(np.float32))


Source = WordSource | FilterSource | FeatureSource
