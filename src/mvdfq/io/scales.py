"""Residues as numbers: substitution matrices, property scales, and the rule for odd letters.

The rule, applied here and nowhere else: B is the mean of D and N, Z of E and Q, J of I and L;
U (selenocysteine) counts as C and O (pyrrolysine) as K; X, ``*``, ``-`` and ``.`` are missing
values (NaN), which keep their place and break words; lower case counts as upper, or is missing
where it marks masked residues. Any other character is an error.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from mvdfq.sequences.containers import Sequences, check_collection, offsets_of

__all__ = ["AMINO_ACIDS", "MATRICES", "SCALES", "property_rows", "substitution_rows"]

# The order of channels in everything that has one for each amino acid.
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
# What an odd letter stands for: the mean of these, missing if there are none.
ODD = {"B": "DN", "Z": "EQ", "J": "IL", "U": "C", "O": "K", "X": "", "*": "", "-": "", ".": ""}

# Lower triangles, in the customary order. BLOSUM: S. Henikoff, J. G. Henikoff, "Amino acid
# substitution matrices from protein blocks", PNAS 89, 1992, as made by their program matblas
# from Blocks 5.0 (62 in halves of a bit; 45 and 80 in thirds, there is an 80 in halves as well).
# PAM250: M. O. Dayhoff et al., Atlas of Protein Sequence and Structure 5(3), 1978, as computed
# by the program pam 1.0.6 (thirds of a bit).
ORDER = "ARNDCQEGHILKMFPSTWYV"
MATRICES = {
    "BLOSUM45": """
        5
        -2 7
        -1 0 6
        -2 -1 2 7
        -1 -3 -2 -3 12
        -1 1 0 0 -3 6
        -1 0 0 2 -3 2 6
        0 -2 0 -1 -3 -2 -2 7
        -2 0 1 0 -3 1 0 -2 10
        -1 -3 -2 -4 -3 -2 -3 -4 -3 5
        -1 -2 -3 -3 -2 -2 -2 -3 -2 2 5
        -1 3 0 0 -3 1 1 -2 -1 -3 -3 5
        -1 -1 -2 -3 -2 0 -2 -2 0 2 2 -1 6
        -2 -2 -2 -4 -2 -4 -3 -3 -2 0 1 -3 0 8
        -1 -2 -2 -1 -4 -1 0 -2 -2 -2 -3 -1 -2 -3 9
        1 -1 1 0 -1 0 0 0 -1 -2 -3 -1 -2 -2 -1 4
        0 -1 0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -1 -1 2 5
        -2 -2 -4 -4 -5 -2 -3 -2 -3 -2 -2 -2 -2 1 -3 -4 -3 15
        -2 -1 -2 -2 -3 -1 -2 -3 2 0 0 -1 0 3 -3 -2 -1 3 8
        0 -2 -3 -3 -1 -3 -3 -3 -3 3 1 -2 1 0 -3 -1 0 -3 -1 5
    """,
    "BLOSUM62": """
        4
        -1 5
        -2 0 6
        -2 -2 1 6
        0 -3 -3 -3 9
        -1 1 0 0 -3 5
        -1 0 0 2 -4 2 5
        0 -2 0 -1 -3 -2 -2 6
        -2 0 1 -1 -3 0 0 -2 8
        -1 -3 -3 -3 -1 -3 -3 -4 -3 4
        -1 -2 -3 -4 -1 -2 -3 -4 -3 2 4
        -1 2 0 -1 -3 1 1 -2 -1 -3 -2 5
        -1 -1 -2 -3 -1 0 -2 -3 -2 1 2 -1 5
        -2 -3 -3 -3 -2 -3 -3 -3 -1 0 0 -3 0 6
        -1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4 7
        1 -1 1 0 -1 0 0 0 -1 -2 -2 0 -1 -2 -1 4
        0 -1 0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1 1 5
        -3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1 1 -4 -3 -2 11
        -2 -2 -2 -3 -2 -1 -2 -3 2 -1 -1 -2 -1 3 -3 -2 -2 2 7
        0 -3 -3 -3 -1 -2 -2 -3 -3 3 1 -2 1 -1 -2 -2 0 -3 -1 4
    """,
    "BLOSUM80": """
        7
        -3 9
        -3 -1 9
        -3 -3 2 10
        -1 -6 -5 -7 13
        -2 1 0 -1 -5 9
        -2 -1 -1 2 -7 3 8
        0 -4 -1 -3 -6 -4 -4 9
        -3 0 1 -2 -7 1 0 -4 12
        -3 -5 -6 -7 -2 -5 -6 -7 -6 7
        -3 -4 -6 -7 -3 -4 -6 -7 -5 2 6
        -1 3 0 -2 -6 2 1 -3 -1 -5 -4 8
        -2 -3 -4 -6 -3 -1 -4 -5 -4 2 3 -3 9
        -4 -5 -6 -6 -4 -5 -6 -6 -2 -1 0 -5 0 10
        -1 -3 -4 -3 -6 -3 -2 -5 -4 -5 -5 -2 -4 -6 12
        2 -2 1 -1 -2 -1 -1 -1 -2 -4 -4 -1 -3 -4 -2 7
        0 -2 0 -2 -2 -1 -2 -3 -3 -2 -3 -1 -1 -4 -3 2 8
        -5 -5 -7 -8 -5 -4 -6 -6 -4 -5 -4 -6 -3 0 -7 -6 -5 16
        -4 -4 -4 -6 -5 -3 -5 -6 3 -3 -2 -4 -3 4 -6 -3 -3 3 11
        -1 -4 -5 -6 -2 -4 -4 -6 -5 4 1 -4 1 -2 -4 -3 0 -5 -3 7
    """,
    "PAM250": """
        2
        -2 6
        0 0 2
        0 -1 2 4
        -2 -4 -4 -5 12
        0 1 1 2 -5 4
        0 -1 1 3 -5 2 4
        1 -3 0 1 -3 -1 0 5
        -1 2 2 1 -3 3 1 -2 6
        -1 -2 -2 -2 -2 -2 -2 -3 -2 5
        -2 -3 -3 -4 -6 -2 -3 -4 -2 2 6
        -1 3 1 0 -5 1 0 -2 0 -2 -3 5
        -1 0 -2 -3 -5 -1 -2 -3 -2 2 4 0 6
        -3 -4 -3 -6 -4 -5 -5 -5 -2 1 2 -5 0 9
        1 0 0 -1 -3 0 -1 0 0 -2 -3 -1 -2 -5 6
        1 0 1 0 0 -1 0 1 -1 -1 -3 0 -2 -3 1 2
        1 -1 0 0 -2 -1 0 0 -1 0 -2 0 -1 -3 0 1 3
        -6 2 -4 -7 -8 -5 -7 -7 -3 -5 -2 -3 -4 0 -6 -2 -5 17
        -3 -4 -2 -4 0 -4 -4 -5 0 -1 -1 -4 -2 7 -5 -3 -3 0 10
        0 -2 -2 -2 -2 -2 -2 -1 -2 4 2 -2 2 -1 -1 -1 0 -6 -2 4
    """,
}

# One value for each letter of AMINO_ACIDS.
SCALES = {
    # J. Kyte, R. F. Doolittle, J. Mol. Biol. 157, 1982 (AAindex KYTJ820101).
    "hydropathy": """1.8 2.5 -3.5 -3.5 2.8 -0.4 -3.2 4.5 -3.9 3.8
        1.9 -3.5 -1.6 -3.5 -4.5 -0.8 -0.7 4.2 -0.9 -1.3""",
    # Cubic angstroms. A. A. Zamyatnin, Prog. Biophys. Mol. Biol. 24, 1972.
    "volume": """88.6 108.5 111.1 138.4 189.9 60.1 153.2 166.7 168.6 166.7
        162.9 114.1 112.7 143.8 173.4 89.0 116.1 140.0 227.8 193.6""",
    # Net charge. P. Klein et al., Biochim. Biophys. Acta 787, 1984 (AAindex KLEP840101).
    "charge": "0 0 -1 -1 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0",
    # R. Grantham, Science 185, 1974 (AAindex GRAR740102).
    "polarity": """8.1 5.5 13.0 12.3 5.2 9.0 10.4 5.2 11.3 4.9
        5.7 11.6 8.0 10.5 10.5 9.2 8.6 5.9 5.4 6.2""",
    # Preference for helix and for strand. P. Y. Chou, G. D. Fasman, Adv. Enzymol. 47, 1978
    # (AAindex CHOP780201, CHOP780202).
    "helix": """1.42 0.70 1.01 1.51 1.13 0.57 1.00 1.08 1.16 1.21
        1.45 0.67 0.57 1.11 0.98 0.77 0.83 1.06 1.08 0.69""",
    "strand": """0.83 1.19 0.54 0.37 1.38 0.75 0.87 1.60 0.74 1.30
        1.05 0.89 0.55 1.10 0.93 0.75 1.19 1.70 1.37 1.47""",
    # M. Vihinen, E. Torkkila, P. Riikonen, Proteins 19, 1994 (AAindex VINM940101).
    "flexibility": """0.984 0.906 1.068 1.094 0.915 1.031 0.950 0.927 1.102 0.935
        0.952 1.048 1.049 1.037 1.008 1.046 0.997 0.931 0.904 0.929""",
}


def substitution_rows(
    X: Iterable[str], matrix: str = "BLOSUM62", *, lower: str = "upper"
) -> Sequences:
    """Replace each residue by its column of a substitution matrix.

    Parameters
    ----------
    X : list of str
        Protein sequences. B is read as the mean of D and N, Z of E and Q, J of I and L, U as C
        and O as K; X, ``*``, ``-`` and ``.`` are missing values.

    matrix : {"BLOSUM45", "BLOSUM62", "BLOSUM80", "PAM250"}, default="BLOSUM62"
        The matrix: in halves of a bit for BLOSUM62, in thirds for the others.

    lower : {"upper", "mask"}, default="upper"
        Lower case is read as upper case, or marks masked residues, which are missing.

    Returns
    -------
    sequences : Sequences
        20 channels, named by the amino acids in alphabetic order of their letters.

    Examples
    --------
    >>> from mvdfq.io.scales import substitution_rows
    >>> X = substitution_rows(["ACW", "BX"])
    >>> X.n_rows, X.lengths, X.channel_names[:3]
    (20, array([3, 2]), ('A', 'C', 'D'))
    >>> X[0][:3]
    array([[ 4.,  0., -3.],
           [ 0.,  9., -2.],
           [-2., -3., -4.]], dtype=float32)
    """
    if matrix not in MATRICES:
        raise ValueError(f"matrix must be one of {', '.join(MATRICES)}, got {matrix!r}.")
    return _looked_up(X, matrix_values(matrix), tuple(AMINO_ACIDS), lower)


def matrix_values(name: str) -> np.ndarray:
    """Return a matrix of `MATRICES` with rows and columns in the order of `AMINO_ACIDS`."""
    values = np.zeros((20, 20))
    values[np.tril_indices(20)] = MATRICES[name].split()
    full = values + np.tril(values, -1).T
    places = [ORDER.index(letter) for letter in AMINO_ACIDS]
    return full[np.ix_(places, places)]


def property_rows(
    X: Iterable[str],
    scales: Iterable[str] | Mapping[str, Mapping[str, float]] = tuple(SCALES),
    *,
    lower: str = "upper",
) -> Sequences:
    """Replace each residue by its properties: hydropathy, volume, charge, ...

    Parameters
    ----------
    X : list of str
        Protein sequences; odd letters are read as in `substitution_rows`.

    scales : sequence of str, or mapping of name to mapping, default=all that have a name
        Names out of ``"hydropathy"`` (Kyte and Doolittle 1982), ``"volume"`` (Zamyatnin 1972),
        ``"charge"`` (Klein et al. 1984), ``"polarity"`` (Grantham 1974), ``"helix"`` and
        ``"strand"`` (Chou and Fasman 1978) and ``"flexibility"`` (Vihinen et al. 1994), or
        scales of your own: name -> letter -> number, for all twenty amino acids.

    lower : {"upper", "mask"}, default="upper"
        Lower case is read as upper case, or marks masked residues, which are missing.

    Returns
    -------
    sequences : Sequences
        A channel for each scale, named by it, in the units of the scale.

    Examples
    --------
    >>> from mvdfq.io.scales import property_rows
    >>> property_rows(["KID-"], ["charge", "hydropathy"])[0]
    array([[ 1. ,  0. , -1. ,  nan],
           [-3.9,  4.5, -3.5,  nan]], dtype=float32)
    """
    names = [scales] if isinstance(scales, str) else list(scales)
    if not names:
        raise ValueError(f"scales is empty; names are {', '.join(SCALES)}.")
    own = scales if isinstance(scales, Mapping) else {}
    values = np.array([_scale_values(name, own.get(name)) for name in names])
    return _looked_up(X, values, tuple(names), lower)


def _scale_values(name: str, own: Mapping[str, float] | None) -> np.ndarray:
    """One value for each amino acid, of a scale that has a name or of the user's own."""
    if own is not None:
        lacking = [letter for letter in AMINO_ACIDS if letter not in own]
        if lacking:
            raise ValueError(f"Scale {name!r} has no value for {', '.join(lacking)}.")
        return np.array([own[letter] for letter in AMINO_ACIDS], dtype=float)
    if name not in SCALES:
        raise ValueError(f"Scale {name!r} is not known; names are {', '.join(SCALES)}.")
    return np.array(SCALES[name].split(), dtype=float)


def _looked_up(
    X: Iterable[str], values: np.ndarray, names: tuple[str, ...], lower: str
) -> Sequences:
    """Sequences of the columns of `values`, (n_rows, 20), that the residues stand for."""
    if lower not in ("upper", "mask"):
        raise ValueError(f"lower must be 'upper' or 'mask', got {lower!r}.")
    strings = _check_strings(X)
    table, known = _residue_table(values, lower)
    codes = np.frombuffer("".join(strings).encode("utf-32-le"), dtype=np.uint32)
    offsets = offsets_of(map(len, strings))
    codes = np.minimum(codes, table.shape[1] - 1)
    _refuse_strangers(~known[codes], strings, offsets)
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


def _residue_table(values: np.ndarray, lower: str) -> tuple[np.ndarray, np.ndarray]:
    """A column for each character code, 127 meaning all above; and which codes are known."""
    table = np.full((len(values), 128), np.nan, dtype=np.float32)
    known = np.zeros(128, dtype=bool)
    for letter, meaning in [*zip(AMINO_ACIDS, AMINO_ACIDS, strict=True), *ODD.items()]:
        known[[ord(letter), ord(letter.lower())]] = True
        if meaning:
            mean = values[:, [AMINO_ACIDS.index(residue) for residue in meaning]].mean(axis=1)
            table[:, ord(letter)] = mean
            if lower == "upper":
                table[:, ord(letter.lower())] = mean
    return table, known


def _refuse_strangers(strange: np.ndarray, strings: list[str], offsets: np.ndarray) -> None:
    if strange.any():
        place = int(np.argmax(strange))
        i = int(np.searchsorted(offsets, place, side="right")) - 1
        position = place - int(offsets[i])
        raise ValueError(
            f"Sequence {i}: {strings[i][position]!r} at position {position + 1} is not an amino "
            f"acid; X or '-' marks a residue that is missing."
        )
