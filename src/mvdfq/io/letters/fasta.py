"""FASTA as text: records, alphabets and strands."""

import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mvdfq.io.dataset import ReadError
from mvdfq.io.formats import Glimpse
from mvdfq.io.source import read_lines
from mvdfq.sequences.check import check_collection
from mvdfq.sequences.containers import Sequences, offsets_of

__all__ = [
    "ALPHABETS",
    "Record",
    "both_strands",
    "clean",
    "is_fasta",
    "read_records",
    "reverse_complement",
]

GAPS = "-."
# The characters of a sequence, in upper case, with the ambiguity codes of IUPAC. residues.py
# says what letters mean that are not one of the twenty amino acids.
ALPHABETS = {
    "protein": string.ascii_uppercase + "*" + GAPS,
    "dna": "ACGT" + "RYSWKMBDHVNX" + GAPS,
    "rna": "ACGU" + "RYSWKMBDHVNX" + GAPS,
}
# The letter for an unknown residue: masked residues become this letter.
UNKNOWN = {"protein": "X", "dna": "N", "rna": "N"}
# Only ASCII letters change: str.upper would turn letters of other scripts into residues.
TO_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
# Each base, or set of bases, and its complement: R = A or G pairs with Y = T or C, and so on.
PAIRS = "RY SS WW KM BV DH NN XX -- .."
COMPLEMENTS = {"dna": f"AT CG {PAIRS}", "rna": f"AU CG {PAIRS}"}


class Record(NamedTuple):
    """One record of a FASTA file: the line number of its header, the header and the letters."""

    line: int
    header: str
    sequence: str

    @property
    def id(self) -> str:
        """The first word of the header, or "" if the header is empty."""
        return self.header.split(maxsplit=1)[0] if self.header else ""


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the records of a FASTA file; blank lines and comments after ``;`` are left out."""
    header, start = None, 0
    parts: list[str] = []
    for number, line in read_lines(path):
        line = line.strip()
        if line.startswith(">"):
            if header is not None:
                yield Record(start, header, "".join(parts))
            start, header, parts = number, line[1:].strip(), []
        elif header is not None and not line.startswith(";"):
            parts += line.split()
        elif line and not line.startswith(";"):
            raise ReadError(
                path, f"line {number}: a sequence without a header", "records begin with '>'"
            )
    if header is None:
        raise ReadError(path, "holds no records", "records of a FASTA file begin with '>'")
    yield Record(start, header, "".join(parts))


def is_fasta(glimpse: Glimpse) -> bool:
    """Is the first line a header with an id, and the first other line made of residues?"""
    lines = [line.strip() for line in glimpse.lines]
    lines = [line for line in lines if line and not line.startswith(";")]
    if not lines or not lines[0].strip("> \t") or not lines[0].startswith(">"):
        return False
    first = next((line for line in lines if not line.startswith(">")), "")
    return bool(first) and _stranger(first.replace(" ", ""), "protein") is None


def clean(sequence: str, alphabet: str | None, lower: str) -> str:
    """Return the letters in the form that `lower` names; a ValueError names an unknown letter."""
    if alphabet is None:
        return sequence.translate(TO_UPPER) if lower == "upper" else sequence
    bad = _stranger(sequence, alphabet)
    if bad is not None:
        raise ValueError(f"{sequence[bad]!r} at position {bad + 1} is not in {alphabet!r}")
    if lower == "mask":
        masked = str.maketrans(dict.fromkeys(string.ascii_lowercase, UNKNOWN[alphabet]))
        return sequence.translate(masked)
    return sequence.translate(TO_UPPER) if lower == "upper" else sequence


def _stranger(sequence: str, alphabet: str) -> int | None:
    """Return the place of the first character outside the alphabet, in either case, or None."""
    known = set(ALPHABETS[alphabet]) | set(ALPHABETS[alphabet].lower())
    strangers = set(sequence) - known
    return min(map(sequence.index, strangers)) if strangers else None


def reverse_complement(sequence: str, alphabet: str = "dna") -> str:
    """Return the other strand of a nucleic acid, read in its own direction.

    Parameters
    ----------
    sequence : str
        Bases, ambiguity codes of IUPAC, gaps (``-`` and ``.``) and X. Upper and lower case stay.

    alphabet : {"dna", "rna"}, default="dna"
        Whether A pairs with T or with U.

    Returns
    -------
    other : str
        The complement, from its end to its beginning.

    Examples
    --------
    >>> from mvdfq.io.letters.fasta import reverse_complement
    >>> reverse_complement("AACGTn"), reverse_complement("GGRU", alphabet="rna")
    ('nACGTT', 'AYCC')
    """
    if alphabet not in COMPLEMENTS:
        raise ValueError(f"alphabet must be 'dna' or 'rna', got {alphabet!r}.")
    bad = _stranger(sequence, alphabet)
    if bad is not None:
        raise ValueError(
            f"{sequence[bad]!r} at position {bad + 1} is not a letter of {alphabet!r}; "
            f"letters are {ALPHABETS[alphabet]!r}, in either case."
        )
    pairs = (COMPLEMENTS[alphabet] + " " + COMPLEMENTS[alphabet].lower()).split()
    table = {ord(pair[i]): pair[1 - i] for pair in pairs for i in (0, 1)}
    return sequence.translate(table)[::-1]


def both_strands(X: Iterable[str], alphabet: str = "dna") -> Sequences:
    """Join each sequence with its reverse complement, a missing value between them.

    The missing value breaks words: each word of a joined sequence lies in one of the two strands,
    and no word spans both strands.

    Parameters
    ----------
    X : list of str
        Nucleic acids, see `reverse_complement`.

    alphabet : {"dna", "rna"}, default="dna"
        Whether A pairs with T or with U.

    Returns
    -------
    sequences : Sequences
        One symbolic channel of character codes; `Letters` and `SequenceClassifier` take these
        sequences in place of strings. An empty sequence stays empty.

    Examples
    --------
    >>> from mvdfq import SequenceKernel, Spectrum
    >>> from mvdfq.io.letters.fasta import both_strands
    >>> X = both_strands(["AAC", "GTT"])
    >>> X.lengths
    array([7, 7])
    >>> SequenceKernel(Spectrum(2)).fit_transform(X).round(6)
    array([[1., 1.], [1., 1.]])
    """
    check_collection(X)
    rows = [_joined(x, reverse_complement(x, alphabet)) for x in X]
    if not rows:
        raise ValueError("X holds no sequences.")
    return Sequences(np.concatenate(rows)[np.newaxis], offsets_of(map(len, rows)), symbolic=(True,))


def _joined(one: str, other: str) -> np.ndarray:
    codes = np.array([ord(letter) for letter in one + "-" + other], dtype=float)
    codes[len(one)] = np.nan
    return codes if one else codes[:0]
