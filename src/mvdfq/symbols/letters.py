"""Strings as symbols: one row, one code per character."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import numpy as np

from mvdfq.frames.base import PerChannel
from mvdfq.frames.learned import require
from mvdfq.sequences import Sequences, check_sequences
from mvdfq.symbols.base import MISSING, Symbols, encode_values, letter_name, to_symbols

BASES = [set("ACGT"), set("ACGU")]
RESIDUES = set("ACDEFGHIKLMNPQRSTVWY")
# Characters without a base or a residue: gaps, stops, and codes for one of several bases or
# residues. The X of DNA is an older form of N.
UNKNOWN = {"nucleic": "RYSWKMBDHVNX-.", "protein": "XBZJ*-.", "": ""}
# Residues that are read as the residue they are made from: selenocysteine and pyrrolysine.
SAME = {"nucleic": {}, "protein": {"U": "C", "O": "K"}, "": {}}
# Text in a language holds O, and mostly J, much more often than proteins do: text must not pass as
# a protein. O is 3 to 8 % of the letters of European languages.
RARE, RARE_SHARE = set("OJ"), 0.005
# Residues that must occur before letters are called a protein; small sets may lack W or C.
MIN_RESIDUES = 15
TO_UPPER = str.maketrans(ascii_lowercase, ascii_uppercase)


@dataclass(eq=False, repr=False)
class Letters(PerChannel):
    """Read strings as sequences of symbols, one symbol per character.

    Parameters
    ----------
    alphabet : str, default=None
        The characters, in the order of their codes; other characters are missing values. None
        learns the sorted characters of the training strings; a new character in `transform` gets
        a code from ``n_symbols`` upwards, which does not match any training symbol. In DNA and
        RNA, gaps, N and the other codes for several bases are missing values. In proteins, X,
        ``*``, gaps and the codes for two residues (B, Z, J) are missing values, U is read as C
        and O as K. ``Letters("ACGTN", fold_case=True)`` reads N as a letter.
    fold_case : bool or "auto", default="auto"
        Whether lower-case letters a to z are read as upper case. ``"auto"`` folds a row of DNA,
        RNA or proteins, because genomes mark repeats by lower case, and no other row: the row
        must hold A, C, G and T (or U) and otherwise only ambiguity codes, or at least 15 of
        the 20 amino acids and otherwise only B, Z, X, U, ``*``, gaps and, rarely, O and J.
        ``"auto"`` never folds where `alphabet` is given.
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
    kinds_ : list of {"nucleic", "protein", ""}
        What each row is, which decides about missing values; ``""`` where `alphabet` is given.

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

    A residue that is not known is a missing value, as N is in DNA:

    >>> Letters().fit(["ACDEFGHIKLMNPQRSTVWYX-"]).alphabets_
    ['ACDEFGHIKLMNPQRSTVWY']

    Similar residues share a symbol:

    >>> Letters(groups=("ILMV", "KR")).fit_transform(["MKVLR"])[0]
    array([[0, 1, 0, 0, 1]], dtype=uint8)
    """

    alphabet: str | None = None
    fold_case: bool | str = "auto"
    groups: Sequence[str] | None = None

    alphabets_: list[str] = field(init=False)
    folds_case_: list[bool] = field(init=False)
    kinds_: list[str] = field(init=False)

    def _fit(self, X: Sequences, y: Any) -> None:
        self._check_parameters()
        _only_letters(X)
        kinds = [kind_of(row) for row in X.data]
        if self.fold_case == "auto":
            self.folds_case_ = [self.alphabet is None and bool(kind) for kind in kinds]
        else:
            self.folds_case_ = [bool(self.fold_case)] * len(kinds)
        self.kinds_ = kinds if self.alphabet is None else [""] * len(kinds)
        self.alphabets_ = []
        for row, folds, kind in zip(X.data, self.folds_case_, self.kinds_, strict=True):
            if self.alphabet is None:
                values = self._read_row(row, folds, kind)
                codes = np.unique(values[~np.isnan(values)]).astype(int).tolist()
            else:
                given = self.alphabet.translate(TO_UPPER) if folds else self.alphabet
                # in the order of the user, each group once
                codes = list(dict.fromkeys(map(ord, given.translate(self._first_of_group(folds)))))
            self.alphabets_.append("".join(map(chr, codes)))

    def _read_row(self, row: np.ndarray, folds: bool, kind: str) -> np.ndarray:
        """Return the characters of a row; the first character stands for its group."""
        row = _fold(row) if folds else row
        named = "".join(self.groups or ())  # the user says what these characters mean
        for code in set(_both_cases(UNKNOWN[kind])) - set(_both_cases(named)):
            row = np.where(row == code, np.nan, row)
        for letter, other in SAME[kind].items():
            if letter not in named:
                for code, same in zip(_both_cases(letter), _both_cases(other), strict=True):
                    row = np.where(row == code, same, row)
        for code, first in self._first_of_group(folds).items():
            row = np.where(row == code, first, row) if code != first else row
        return row

    def _first_of_group(self, folds: bool) -> dict[int, int]:
        """Return the code of the first character of the group, by the code of the character."""
        groups = [group.translate(TO_UPPER) if folds else group for group in self.groups or ()]
        return {ord(letter): ord(group[0]) for group in groups for letter in group}

    def _read(self, X: Any) -> Sequences:
        return super()._read(_only_letters(check_sequences(X)))

    def _transform(self, X: Sequences) -> Symbols:
        rows, read_as = [], zip(X.data, self.folds_case_, self.kinds_, strict=True)
        for reading, alphabet in zip(read_as, self.alphabets_, strict=True):
            points = np.array([ord(letter) for letter in alphabet], dtype=float)
            # codes follow the given alphabet, which need not be sorted
            order = np.argsort(points)
            codes = encode_values(self._read_row(*reading), points[order])
            if self.alphabet is not None:
                codes[codes >= len(alphabet)] = MISSING
            known = (codes != MISSING) & (codes < len(alphabet))
            codes[known] = order[codes[known]]
            rows.append(codes)
        sizes = np.array([len(alphabet) for alphabet in self.alphabets_], dtype=np.int64)
        return to_symbols(X, rows, sizes, X.channel_names)

    def symbol_names(self) -> list[list[str]]:
        """Return one name per character of every row: the character, or all of its group."""
        by_row = []
        for alphabet, folds in zip(self.alphabets_, self.folds_case_, strict=True):
            groups: dict[str, list[str]] = {}
            for code, first in self._first_of_group(folds).items():
                groups.setdefault(chr(first), []).append(letter_name(chr(code)))
            joined = {key: f"[{''.join(members)}]" for key, members in groups.items()}
            names = {key: joined[key] for key, members in groups.items() if len(members) > 1}
            by_row.append([names.get(letter) or letter_name(letter) for letter in alphabet])
        return by_row

    def _check_learned(self) -> None:
        alphabets, n = self.alphabets_, self.n_channels_in_
        each = f"for each of the {n} rows"
        fits = len(alphabets) == n and all(len({*letters}) == len(letters) for letters in alphabets)
        require(fits, f"alphabets_ must hold one string of distinct characters {each}")
        require(len(self.folds_case_) == n, f"folds_case_ must hold True or False {each}")
        fits = len(self.kinds_) == n and set(self.kinds_) <= set(UNKNOWN)
        require(fits, f"kinds_ must hold 'nucleic', 'protein' or '' {each}")

    def _check_parameters(self) -> None:
        fold_case, groups, alphabet = self.fold_case, self.groups, self.alphabet
        if not isinstance(fold_case, bool | np.bool_) and fold_case != "auto":
            raise ValueError(f"fold_case must be True, False or 'auto', got {fold_case!r}.")
        if isinstance(groups, str) or not all(isinstance(g, str) and g for g in groups or ()):
            raise ValueError(f"groups must be strings such as ('ILMV', 'KR'), got {groups!r}.")
        letters = "".join(groups or ())
        if len(set(letters)) != len(letters):
            raise ValueError(f"groups must hold each character once, got {groups!r}.")
        if alphabet is None:
            return
        if not isinstance(alphabet, str):
            raise TypeError(f"alphabet must be a string of characters, got {alphabet!r}.")
        if not alphabet:
            raise ValueError("alphabet must hold characters, got ''; pass None to learn them.")
        read = alphabet if fold_case == "auto" or not fold_case else alphabet.translate(TO_UPPER)
        if len(set(read)) != len(alphabet):
            raise ValueError(f"alphabet must hold each character once, got {alphabet!r}.")


def kind_of(values: np.ndarray) -> str:
    """Tell whether the codes of a row are "nucleic", "protein" or "", in either case of letters."""
    codes, counts = np.unique(_fold(values[~np.isnan(values)]), return_counts=True)
    present = set(map(chr, codes.astype(int).tolist()))
    if any(bases <= present <= bases | set(UNKNOWN["nucleic"]) for bases in BASES):
        return "nucleic"
    often = set(map(chr, codes[counts > RARE_SHARE * counts.sum()].astype(int).tolist()))
    others = present - RESIDUES - set(UNKNOWN["protein"]) - set(SAME["protein"])
    is_protein = len(present & RESIDUES) >= MIN_RESIDUES and not others | (often & RARE)
    return "protein" if is_protein else ""


def _both_cases(letters: str) -> list[int]:
    """Return the codes of letters in upper and in lower case."""
    return [ord(letter) for letter in letters.translate(TO_UPPER) + letters.lower()]


def _fold(values: np.ndarray) -> np.ndarray:
    """Return the codes of a row with a to z as A to Z; letters of other scripts stay."""
    is_lower = (values >= ord("a")) & (values <= ord("z"))
    return np.where(is_lower, values - (ord("a") - ord("A")), values)


def _only_letters(X: Sequences) -> Sequences:
    if not X.symbolic_mask.all():
        problem = "X must hold strings, got sequences of numbers"
        raise TypeError(f"{problem}; mvdfq.DirectQuantizer turns numbers into symbols.")
    return X
