"""Letters: alphabets, strands, and residues as numbers by substitution matrices and scales."""

import csv
import string
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.checks import check_choice
from mvdfq.explain.mutations import joined_strands, reverse_strand
from mvdfq.sequences.check import check_collection
from mvdfq.sequences.containers import Sequences, offsets_of

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
# The order of channels wherever there is one channel per amino acid.
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
# The amino acids that an odd letter stands for: it is read as their mean, or as a missing value,
# which keeps its place and breaks words. U is selenocysteine, O is pyrrolysine.
ODD = {"B": "DN", "Z": "EQ", "J": "IL", "U": "C", "O": "K", "X": "", "*": "", "-": "", ".": ""}
# Tables of residues.csv. BLOSUM: S. Henikoff, J. G. Henikoff, "Amino acid substitution matrices
# from protein blocks", PNAS 89, 1992, as made by their program matblas from Blocks 5.0 (62 in
# halves of a bit; 45 and 80 in thirds, there is an 80 in halves as well). PAM250: M. O. Dayhoff
# et al., Atlas of Protein Sequence and Structure 5(3), 1978, as computed by the program pam
# 1.0.6 (thirds of a bit).
MATRICES = ("BLOSUM45", "BLOSUM62", "BLOSUM80", "PAM250")
# Tables of residues.csv, with their numbers in AAindex.
SCALES = (
    "hydropathy",  # J. Kyte, R. F. Doolittle, J. Mol. Biol. 157, 1982 (KYTJ820101)
    "volume",  # cubic angstroms: A. A. Zamyatnin, Prog. Biophys. Mol. Biol. 24, 1972
    "charge",  # net charge: P. Klein et al., Biochim. Biophys. Acta 787, 1984 (KLEP840101)
    "polarity",  # R. Grantham, Science 185, 1974 (GRAR740102)
    "helix",  # preference: P. Y. Chou, G. D. Fasman, Adv. Enzymol. 47, 1978 (CHOP780201)
    "strand",  # the same (CHOP780202)
    "flexibility",  # M. Vihinen, E. Torkkila, P. Riikonen, Proteins 19, 1994 (VINM940101)
)


def clean(sequence: str, alphabet: str | None, lower: str) -> str:
    """Return the letters in the form that `lower` names; a ValueError names an unknown letter."""
    if alphabet is not None and (problem := stranger(sequence, alphabet)):
        raise ValueError(problem)
    if lower == "mask" and alphabet is not None:
        masked = dict.fromkeys(map(ord, string.ascii_lowercase), UNKNOWN[alphabet])
        return sequence.translate(masked)
    return sequence.translate(TO_UPPER) if lower == "upper" else sequence


def stranger(sequence: str, alphabet: str) -> str:
    """Say which character is the first outside the alphabet, in either case; "" if none is."""
    strangers = set(sequence) - set(ALPHABETS[alphabet] + ALPHABETS[alphabet].lower())
    place = min(map(sequence.index, strangers), default=None)
    if place is None:
        return ""
    return f"{sequence[place]!r} at position {place + 1} is not in {alphabet!r}"


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
    >>> from mvdfq.io import reverse_complement
    >>> reverse_complement("AACGTn"), reverse_complement("GGRU", alphabet="rna")
    ('nACGTT', 'AYCC')
    """
    check_choice(alphabet, "alphabet", ("dna", "rna"))
    if problem := stranger(sequence, alphabet):
        raise ValueError(f"{problem}; letters are {ALPHABETS[alphabet]!r}, in either case.")
    return reverse_strand(sequence, is_rna=alphabet == "rna")


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
    >>> from mvdfq.io import both_strands
    >>> X = both_strands(["AAC", "GTT"])
    >>> X.lengths
    array([7, 7])
    >>> SequenceKernel(Spectrum(2)).fit_transform(X).round(6)
    array([[1., 1.], [1., 1.]])
    """
    strings = _check_strings(X)
    return joined_strands(strings, (reverse_complement(x, alphabet) for x in strings))


def substitution_rows(X: Iterable[str], matrix: str = "BLOSUM62") -> Sequences:
    """Replace each residue by its column of a substitution matrix.

    Parameters
    ----------
    X : list of str
        Protein sequences, in upper or lower case. B is read as the mean of D and N, Z of E and
        Q, J of I and L, U as C and O as K; X, ``*``, ``-`` and ``.`` are missing values.
    matrix : {"BLOSUM45", "BLOSUM62", "BLOSUM80", "PAM250"}, default="BLOSUM62"
        The matrix. BLOSUM62 is in halves of a bit, the other matrices are in thirds of a bit.

    Returns
    -------
    sequences : Sequences
        20 channels, named by the amino acids in alphabetic order of their letters.

    Examples
    --------
    >>> from mvdfq.io import substitution_rows
    >>> X = substitution_rows(["ACW", "BX"])
    >>> X.n_rows, X.lengths, X.channel_names[:3]
    (20, array([3, 2]), ('A', 'C', 'D'))
    >>> X[0][:3]
    array([[ 4.,  0., -3.],
           [ 0.,  9., -2.],
           [-2., -3., -4.]], dtype=float32)
    """
    check_choice(matrix, "matrix", MATRICES)
    return _looked_up(X, matrix_values(matrix), tuple(AMINO_ACIDS))


@cache  # callers do not write to the array
def matrix_values(name: str) -> np.ndarray:
    """Return a matrix, or a scale as one row, with columns in the order of `AMINO_ACIDS`."""
    with open(Path(__file__).with_suffix(".csv"), encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["table"] == name]
    return np.array([[float(row[letter]) for letter in AMINO_ACIDS] for row in rows])


def property_rows(X: Iterable[str], scales: Iterable[str] = SCALES) -> Sequences:
    """Replace each residue by its properties: hydropathy, volume, charge, ...

    Parameters
    ----------
    X : list of str
        Protein sequences; odd letters are read as in `substitution_rows`.
    scales : sequence of str, default=all scales
        Some of ``"hydropathy"`` (Kyte and Doolittle 1982), ``"volume"`` (Zamyatnin 1972),
        ``"charge"`` (Klein et al. 1984), ``"polarity"`` (Grantham 1974), ``"helix"`` and
        ``"strand"`` (Chou and Fasman 1978) and ``"flexibility"`` (Vihinen et al. 1994).

    Returns
    -------
    sequences : Sequences
        One channel per scale, with the name and the unit of the scale.

    Examples
    --------
    >>> from mvdfq.io import property_rows
    >>> property_rows(["KID-"], ["charge", "hydropathy"])[0]
    array([[ 1. ,  0. , -1. ,  nan],
           [-3.9,  4.5, -3.5,  nan]], dtype=float32)
    """
    names = [scales] if isinstance(scales, str) else list(scales)
    if not names or not set(names) <= set(SCALES):
        raise ValueError(f"scales must be some of {', '.join(SCALES)}, got {names}.")
    return _looked_up(X, np.concatenate([matrix_values(name) for name in names]), tuple(names))


def _looked_up(X: Iterable[str], values: np.ndarray, names: tuple[str, ...]) -> Sequences:
    """Return sequences whose frames are columns of `values`, (n_rows, 20), one per residue."""
    strings = _check_strings(X)
    # one column per character code (127: all larger codes), and which codes are known
    table = np.full((len(values), 128), np.nan, dtype=np.float32)
    known = np.zeros(128, dtype=bool)
    for letter, meaning in [*zip(AMINO_ACIDS, AMINO_ACIDS, strict=True), *ODD.items()]:
        codes_of = [ord(letter), ord(letter.lower())]
        known[codes_of] = True
        if meaning:
            mean = values[:, [AMINO_ACIDS.index(residue) for residue in meaning]].mean(axis=1)
            table[:, codes_of] = mean[:, np.newaxis]
    codes = np.frombuffer("".join(strings).encode("utf-32-le"), dtype=np.uint32)
    offsets = offsets_of(map(len, strings))
    codes = np.minimum(codes, table.shape[1] - 1)
    if not known[codes].all():
        place = int(np.argmin(known[codes]))
        i = int(np.searchsorted(offsets, place, side="right")) - 1
        position = place - int(offsets[i])
        problem = f"{strings[i][position]!r} at position {position + 1} is not an amino acid"
        raise ValueError(f"Sequence {i}: {problem}; write X or '-' for a missing residue.")
    return Sequences(table[:, codes], offsets, channel_names=names)


def _check_strings(X: Any) -> list[str]:
    check_collection(X)
    strings = list(X)
    for i, x in enumerate(strings):
        if not isinstance(x, str):
            raise TypeError(f"Sequence {i} must be a string of residues, got {type(x).__name__}.")
    if not strings:
        raise ValueError("X holds no sequences.")
    return strings
