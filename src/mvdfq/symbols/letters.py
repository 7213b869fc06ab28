"""Strings as symbols: one row, one code per character."""

from typing import Any

import numpy as np

from mvdfq.frames.base import SequenceTransformer
from mvdfq.frames.learned import require
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.symbols.base import Symbols
from mvdfq.symbols.naming import letter_name
from mvdfq.symbols.values import MISSING, encode_values, to_symbols

__all__ = ["Letters"]


class Letters(SequenceTransformer):
    """Read strings as sequences of symbols, one symbol per character.

    Parameters
    ----------
    alphabet : str, default=None
        The characters, in the order of their codes; other characters are missing values. None
        learns the sorted characters of the training strings; a new character in `transform` gets
        a code from ``n_symbols`` upwards, which does not match any training symbol.

    Attributes
    ----------
    alphabets_ : list of str
        The alphabet of each row. A string is one row; a list of strings has one row per
        string.

    Examples
    --------
    >>> from mvdfq.symbols import Letters
    >>> letters = Letters().fit(["ABBA", "CAB"])
    >>> letters.alphabets_
    ['ABC']
    >>> letters.transform(["CAX"])[0]
    array([[2, 0, 3]], dtype=uint8)
    """

    alphabets_: list[str]

    def __init__(self, alphabet: str | None = None) -> None:
        self.alphabet = alphabet

    def fit(self, X: Any, y: Any = None) -> "Letters":
        """Learn the alphabet.

        Parameters
        ----------
        X : list of str
            Training strings; lengths may differ.

        y : None
            Ignored.

        Returns
        -------
        self : Letters
            The fitted transformer.
        """
        if self.alphabet is not None:
            _check_alphabet(self.alphabet)
        X = _only_letters(self._read_training(X))
        present = [np.unique(row[~np.isnan(row)]) for row in X.data]
        learned = ["".join(map(chr, row.astype(int).tolist())) for row in present]
        self.alphabets_ = learned if self.alphabet is None else [self.alphabet] * X.n_rows
        return self

    def transform(self, X: Any) -> Symbols:
        """Encode the characters.

        Parameters
        ----------
        X : list of str
            Strings; lengths may differ.

        Returns
        -------
        symbols : Symbols
            One row of codes for each row of characters.
        """
        X = self._read(_only_letters(check_sequences(X)))
        rows = [self._encode(*pair) for pair in zip(X.data, self.alphabets_, strict=True)]
        sizes = np.array([len(alphabet) for alphabet in self.alphabets_], dtype=np.int64)
        return to_symbols(X, rows, sizes, X.channel_names)

    def reach(self) -> int:
        """Return 0: a character is encoded without its neighbours."""
        return 0

    def channel_shares(self) -> np.ndarray:
        """Return the identity: every row is one channel."""
        return np.eye(self.n_channels_in_)

    def symbol_names(self) -> list[list[str]]:
        """Return one name per character of every row."""
        return [[letter_name(letter) for letter in alphabet] for alphabet in self.alphabets_]

    def check_learned(self) -> None:
        """Raise an error unless every row has an alphabet."""
        super().check_learned()
        found, n = self.alphabets_, self.n_channels_in_
        fits = isinstance(found, list) and len(found) == n
        require(
            fits and all(isinstance(one, str) and len(set(one)) == len(one) for one in found),
            f"alphabets_ must hold one string of distinct characters for each of the {n} rows, "
            f"got {found!r}",
        )

    def _encode(self, values: np.ndarray, alphabet: str) -> np.ndarray:
        points = np.array([ord(letter) for letter in alphabet], dtype=float)
        order = np.argsort(points)
        codes = encode_values(values, points[order])
        if self.alphabet is not None:
            codes[codes >= len(alphabet)] = MISSING
        known = (codes != MISSING) & (codes < len(alphabet))
        codes[known] = order[codes[known]]
        return codes


def _check_alphabet(alphabet: Any) -> None:
    if not isinstance(alphabet, str):
        raise TypeError(f"alphabet must be a string of characters, got {alphabet!r}.")
    if not alphabet:
        raise ValueError("alphabet must hold characters, got ''; pass None to learn them.")
    if len(set(alphabet)) != len(alphabet):
        raise ValueError(f"alphabet must hold each character once, got {alphabet!r}.")


def _only_letters(X: Sequences) -> Sequences:
    if not X.symbolic_mask.all():
        raise TypeError(
            "X must hold strings, got sequences of numbers; "
            "mvdfq.DirectQuantizer turns numbers into symbols."
        )
    return X
