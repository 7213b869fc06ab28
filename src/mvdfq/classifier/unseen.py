"""A remark on sequences that hold many symbols that did not occur in training."""

import warnings
from typing import Any

import numpy as np

from mvdfq._utils.short import listed
from mvdfq.symbols.base import Symbols

__all__ = ["warn_unseen"]

# Words with an unseen symbol tell nothing; a fifth of unseen letters spoils most words of six.
MOST_UNSEEN = 0.2
# Alphabets up to this size are letters, states or bins.
FEW_SYMBOLS = 64


def warn_unseen(read: list[Any]) -> None:
    """Warn about sequences with many symbols that did not occur in training: other letters, say.

    `read` holds the same sequences as several terms read them; one warning is enough.
    """
    for symbols in read:
        strange = _strange(symbols) if isinstance(symbols, Symbols) else np.empty(0)
        if strange.size:
            warnings.warn(
                f"More than a fifth of the symbols of {listed(strange, 'sequence')} did not occur "
                f"in training; the answer rests on the other symbols. Is this the kind of data "
                f"that the classifier was trained on?",
                stacklevel=4,
            )
            return


def _strange(symbols: Symbols) -> np.ndarray:
    """Return the sequences of which more than a fifth of the symbols is new."""
    if not symbols.unseen.any() or symbols.n_symbols.max() > FEW_SYMBOLS:
        return np.empty(0)  # in a large vocabulary, new words are nothing strange
    counts = np.append(symbols.unseen.sum(axis=0), 0)
    unseen = np.where(symbols.lengths > 0, np.add.reduceat(counts, symbols.offsets[:-1]), 0)
    return np.flatnonzero(unseen > MOST_UNSEEN * symbols.n_rows * symbols.lengths)
