"""Strings as symbols: one row, one code per character."""

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from mvdfq.frames.base import SequenceTransformer
from mvdfq.frames.learned import require
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.symbols.base import Symbols
from mvdfq.symbols.naming import letter_name
from mvdfq.symbols.values import MISSING, encode_values, to_symbols

__all__ = ["Letters", "is_nucleic", "is_protein", "letters_of"]

# Letters that DNA, RNA and proteins are written with. Text in a language holds O or J almost
# always, so these two rare residue codes are left out: text must not pass as a protein.
BASES = [set("ACGT"), set("ACGU")]
# Codes for several bases: the base is not known. X is an older form of N.
UNKNOWN_BASES = "RYSWKMBDHVNX"
BASE_CODES = set(UNKNOWN_BASES) | set("-.")
RESIDUES = set("ACDEFGHIKLMNPQRSTVWY")
RESIDUE_CODES = set("BZXU*-.")
# Residues that must occur before letters are called a protein; small sets may lack W or C.
MIN_RESIDUES = 15
TO_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)
WITHOUT_UNKNOWN = str.maketrans("", "", UNKNOWN_BASES + UNKNOWN_BASES.lower())


class Letters(SequenceTransformer):
    """Read strings as sequences of symbols, one symbol per character.

    Parameters
    ----------
    alphabet : str, default=None
        The characters, in the order of their codes; other characters are missing values. None
        learns the sorted characters of the training strings; a new character in `transform` gets
        a code from ``n_symbols`` upwards, which does not match any training symbol. In DNA and
        RNA, N and the other codes for several bases are missing values;
        ``Letters("ACGTN", fold_case=True)`` reads N as a letter.

    fold_case : bool or "auto", default="auto"
        Whether lower-case letters a to z are read as upper case. ``"auto"`` folds a row of DNA,
        RNA or proteins, because genomes mark repeats by lower case, and no other row: the row
        must hold A, C, G and T (or U) and otherwise only ambiguity codes, or at least 15 of
        the 20 amino acids and otherwise only B, Z, X, U, ``*`` and gaps. ``"auto"`` never folds
        where `alphabet` is given.

    groups : sequence of str, default=None
        Characters that share one symbol: ``("ILMV", "FWY")`` reads I, L, M and V as one symbol, and
        F, W and Y as another. A character outside all groups keeps a symbol of its own.

    Attributes
    ----------
    alphabets_ : list of str
        The alphabet of each row. A string is one row; a list of strings has one row per
        string. The first character of a group stands for the group.

    folds_case_ : list of bool
        Whether the case of each row is folded.

    Examples
    --------
    >>> from mvdfq.symbols import Letters
    >>> letters = Letters().fit(["ABBA", "CAB"])
    >>> letters.alphabets_
    ['ABC']
    >>> letters.transform(["CAX"])[0]
    array([[2, 0, 3]], dtype=uint8)

    Case is folded in DNA, and kept in other strings:

    >>> Letters().fit(["ACGTacgt"]).alphabets_, Letters().fit(["Anna"]).alphabets_
    (['ACGT'], ['Aan'])

    Similar residues share a symbol:

    >>> Letters(groups=("ILMV", "KR")).fit_transform(["MKVLR"])[0]
    array([[0, 1, 0, 0, 1]], dtype=uint8)
    """

    alphabets_: list[str]
    # None in model files of earlier versions: case is kept.
    folds_case_: list[bool] | None = None

    def __init__(
        self,
        alphabet: str | None = None,
        fold_case: bool | str = "auto",
        groups: Sequence[str] | None = None,
    ) -> None:
        self.alphabet = alphabet
        self.fold_case = fold_case
        self.groups = groups

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
        _check_fold_case(self.fold_case)
        _check_groups(self.groups)
        if self.alphabet is not None:
            _check_alphabet(self.alphabet, self.fold_case)
        X = _only_letters(self._read_training(X))
        self.folds_case_ = [self._folds(letters_of(row)) for row in X.data]
        pairs = zip(X.data, self.folds_case_, strict=True)
        self.alphabets_ = [self._alphabet(row, folds) for row, folds in pairs]
        return self

    def _alphabet(self, row: np.ndarray, folds: bool) -> str:
        """Return the alphabet of a row: as given, or as learned."""
        if self.alphabet is None:
            found = letters_of(self._read_row(row, folds))
            return found.translate(WITHOUT_UNKNOWN) if is_nucleic(found) else found
        given = self.alphabet.translate(TO_UPPER) if folds else self.alphabet
        return "".join(dict.fromkeys(given.translate(self._first_of_group(folds))))

    def _read_row(self, row: np.ndarray, folds: bool) -> np.ndarray:
        """Return the characters of a row; the first character stands for its group."""
        row = _fold(row) if folds else row
        for code, first in self._first_of_group(folds).items():
            row = np.where(row == code, first, row) if code != first else row
        return row

    def _first_of_group(self, folds: bool) -> dict[int, int]:
        """Return the code of the first character of the group, by the code of the character."""
        groups = [group.translate(TO_UPPER) if folds else group for group in self.groups or ()]
        return {ord(letter): ord(group[0]) for group in groups for letter in group}

    def _folds(self, present: str) -> bool:
        if self.fold_case != "auto":
            return bool(self.fold_case)
        return self.alphabet is None and (is_nucleic(present) or is_protein(present))

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
        folds = self.folds_case_ or [False] * X.n_rows
        values = [self._read_row(*pair) for pair in zip(X.data, folds, strict=True)]
        rows = [self._encode(*pair) for pair in zip(values, self.alphabets_, strict=True)]
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
        folds = self.folds_case_ or [False] * len(self.alphabets_)
        return [
            [self._name(letter, one) for letter in alphabet]
            for alphabet, one in zip(self.alphabets_, folds, strict=True)
        ]

    def _name(self, letter: str, folds: bool) -> str:
        """Return the name of a character, or all characters of its group."""
        first_of = self._first_of_group(folds)
        group = [letter_name(chr(code)) for code, first in first_of.items() if chr(first) == letter]
        return f"[{''.join(group)}]" if len(group) > 1 else letter_name(letter)

    def check_learned(self) -> None:
        """Raise an error unless every row has an alphabet."""
        super().check_learned()
        found, n = self.alphabets_, self.n_channels_in_
        require(
            len(found) == n and all(len(set(one)) == len(one) for one in found),
            f"alphabets_ must hold one string of distinct characters for each of the {n} rows",
        )
        folds = self.folds_case_
        require(
            folds is None or len(folds) == n,
            f"folds_case_ must hold True or False for each of the {n} rows",
        )

    def _encode(self, values: np.ndarray, alphabet: str) -> np.ndarray:
        points = np.array([ord(letter) for letter in alphabet], dtype=float)
        order = np.argsort(points)
        codes = encode_values(values, points[order])
        others = np.flatnonzero(codes >= len(alphabet))
        if self.alphabet is None:
            bases = list(WITHOUT_UNKNOWN) if is_nucleic(alphabet) else []
            others = others[np.isin(values[others], bases)]
        codes[others] = MISSING
        known = (codes != MISSING) & (codes < len(alphabet))
        codes[known] = order[codes[known]]
        return codes


def letters_of(values: np.ndarray) -> str:
    """Return the distinct characters among the codes of a row, sorted."""
    return "".join(map(chr, np.unique(values[~np.isnan(values)]).astype(int).tolist()))


def is_protein(letters: str) -> bool:
    """Tell whether these are the letters of proteins: most residues, and ambiguity codes."""
    found = set(letters.translate(TO_UPPER))
    return len(found & RESIDUES) >= MIN_RESIDUES and found <= RESIDUES | RESIDUE_CODES


def is_nucleic(letters: str) -> bool:
    """Tell whether these are the letters of DNA or RNA: all four bases, and ambiguity codes.

    Upper and lower case may be mixed.
    """
    found = set(letters.translate(TO_UPPER))
    return any(bases <= found <= bases | BASE_CODES for bases in BASES)


def _fold(values: np.ndarray) -> np.ndarray:
    """Return the codes of a row with a to z as A to Z; letters of other scripts stay."""
    is_lower = (values >= ord("a")) & (values <= ord("z"))
    return np.where(is_lower, values - (ord("a") - ord("A")), values)


def _check_fold_case(fold_case: Any) -> None:
    if not isinstance(fold_case, bool | np.bool_) and fold_case != "auto":
        raise ValueError(f"fold_case must be True, False or 'auto', got {fold_case!r}.")


def _check_groups(groups: Any) -> None:
    if groups is None:
        return
    if isinstance(groups, str) or not all(isinstance(group, str) and group for group in groups):
        raise ValueError(f"groups must be strings such as ('ILMV', 'KR'), got {groups!r}.")
    letters = "".join(groups)
    if len(set(letters)) != len(letters):
        raise ValueError(f"groups must hold each character once, got {groups!r}.")


def _check_alphabet(alphabet: Any, fold_case: bool | str) -> None:
    if not isinstance(alphabet, str):
        raise TypeError(f"alphabet must be a string of characters, got {alphabet!r}.")
    if not alphabet:
        raise ValueError("alphabet must hold characters, got ''; pass None to learn them.")
    read = alphabet if fold_case == "auto" or not fold_case else alphabet.translate(TO_UPPER)
    if len(set(read)) != len(alphabet):
        raise ValueError(f"alphabet must hold each character once, got {alphabet!r}.")


def _only_letters(X: Sequences) -> Sequences:
    if not X.symbolic_mask.all():
        raise TypeError(
            "X must hold strings, got sequences of numbers; "
            "mvdfq.DirectQuantizer turns numbers into symbols."
        )
    return X
