"""Remarks on sequences that are unlike the training sequences."""

import warnings
from typing import Any

import numpy as np

from mvdfq._utils.short import counted
from mvdfq.sequences import Sequences
from mvdfq.symbols.base import Symbols

__all__ = ["warn_unseen"]

# Words with an unseen symbol tell nothing; a fifth of unseen symbols spoils most words of six.
MOST_UNSEEN = 0.2
# Alphabets up to this size are letters, states or bins.
FEW_SYMBOLS = 64


def warn_unseen(X: Any, read: list[Any]) -> None:
    """Warn about sequences with symbols that did not occur in training: other letters, say.

    `read` holds the sequences X as several terms read them; one warning is enough. New columns of
    numbers are nothing strange; new letters and categories are.
    """
    of_numbers = isinstance(X, Symbols) or (isinstance(X, Sequences) and not any(X.symbolic))
    for symbols in read:
        if isinstance(symbols, Symbols) and symbols.unseen.any():
            if _warned(symbols, MOST_UNSEEN if of_numbers else 0):
                return


def _warned(symbols: Symbols, share: float) -> bool:
    """Warn about sequences with more than this share of unseen symbols; tell whether any has."""
    small = symbols.n_symbols <= FEW_SYMBOLS  # a large vocabulary: new words are nothing strange
    counts = np.append((symbols.unseen & small[:, None]).sum(axis=0), 0)
    unseen = np.where(symbols.lengths > 0, np.add.reduceat(counts, symbols.offsets[:-1]), 0)
    n = np.count_nonzero(unseen > share * symbols.n_rows * symbols.lengths)
    if not n:
        return False
    rows, names = np.flatnonzero(symbols.unseen.any(axis=1) & small), symbols.channel_names
    where = f" of {', '.join(repr(names[r]) for r in rows[:5])}" if names else ""
    warnings.warn(
        f"{n} of {counted(len(symbols), 'sequence')} hold symbols{where} that did not occur in "
        f"training, {unseen.sum()} symbols together; the answer rests on the other symbols. Is "
        f"this the kind of data that the classifier was trained on?",
        stacklevel=6,
    )
    return True
