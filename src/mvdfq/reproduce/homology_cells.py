"""The cells of the table of remote homology, and the settings of every reading.

The paper prints the settings of mismatch (5, 1) alone. Words of the spectrum kernel have three
residues: this is usual for proteins and gives the printed figure for letters. Triples have the
distances of the text (d=5, given for music) and the usual distances for proteins (d=3). A hashed
row has two symbols only, so its words have five symbols, as in the table of running times.
"""

from dataclasses import dataclass, replace
from typing import Any

from mvdfq.frames import Delta
from mvdfq.io.scales import AMINO_ACIDS
from mvdfq.kernels import Kernel, Mismatch, Profile, Spatial, Spectrum
from mvdfq.reproduce.cells import Cell, StringMethod
from mvdfq.reproduce.residues import MeanMethod, RbfMethod
from mvdfq.symbols import DirectQuantizer, HashingQuantizer, Letters

__all__ = ["BESIDE", "HASHED", "PROFILE", "QUANTIZED", "QUANTIZED_PROFILE", "UNIVARIATE", "cells"]

UNIVARIATE = "Univariate"
HASHED = "Sim. hashing"
QUANTIZED = "MVDFQ (20 BLOSUM rows)"
BESIDE = "MVDFQ (letters beside 20 BLOSUM rows)"
PROFILE = "Profile kernel (NRDB)"
QUANTIZED_PROFILE = "MVDFQ on profiles (NRDB)"
QUOTED = "quoted only: needs proteins without labels and a search among them"


@dataclass(frozen=True)
class Alphabet:
    """How proteins become symbols: a view of the proteins and a quantizer."""

    view: str
    symbols: Any

    def method(self, kernel: Kernel, manifold: bool = False) -> StringMethod:
        """Return the method of a kernel on these symbols."""
        return StringMethod(self.symbols, kernel, manifold, self.view)


LETTERS = Alphabet("letters", Letters(AMINO_ACIDS))
# As many bins as amino acids, so every score of a BLOSUM row is a symbol.
SCORES = Alphabet("BLOSUM62 rows", DirectQuantizer(20, strategy="kmeans"))
BINS = Alphabet("BLOSUM62 rows", DirectQuantizer(6))
# The bins of the inferred reading of music, and slopes along the protein. A bin is narrower than
# the step between two scores, so every score is a symbol here too: only the slopes are new.
SLOPES = StringMethod(
    DirectQuantizer(32, strategy="uniform", margin=1.5),
    Spectrum(3),
    view="BLOSUM62 rows",
    frames=Delta(),
)
BITS = {n: Alphabet("BLOSUM62 rows", HashingQuantizer(n)) for n in (32, 64)}
# Whole scores from -64 to 64; every score is a symbol.
PROFILE_SCORES = Alphabet("log-odds", DirectQuantizer(129, strategy="kmeans"))

# The first kernel has the distances of the text; the key names the setting of the second.
TRIPLES = {"": Spatial(3, 1, 5), "d=3": Spatial(3, 1, 3)}
# Widths of the RBF by the number of mismatches: mismatches make words similar already, so the
# widths are smaller. The text reading takes the second width; the paper does not give a width.
WIDTHS = {0: (0.35, 0.5, 0.7), 1: (0.15, 0.25, 0.35)}


def cells(has_profiles: bool) -> list[Cell]:
    """Return all cells; without profiles the cells on profiles have no methods."""
    return [
        *_spectrum(),
        *_mismatch(),
        *_sssk(),
        *_rbf(),
        *_comments(),
        *_inferred(),
        *_profiles(has_profiles),
    ]


def _cell(name: str, kernel: str, reading: str, *methods: Any, setting: str = "") -> Cell:
    return Cell(name, kernel, setting=setting, reading=reading, methods=methods)


def _spectrum() -> list[Cell]:
    words = [Spectrum(k) for k in (3, 4, 5)]
    bits = [alphabet.method(Spectrum(k)) for alphabet in BITS.values() for k in (5, 8)]
    return [
        _cell(UNIVARIATE, "Spectrum", "text", LETTERS.method(Spectrum(3))),
        _cell(HASHED, "Spectrum", "text", BITS[32].method(Spectrum(5))),
        _cell(QUANTIZED, "Spectrum", "text", SCORES.method(Spectrum(3))),
        _cell(UNIVARIATE, "Spectrum", "tuned", *_both(LETTERS, *(Spectrum(k) for k in (2, 3)))),
        _cell(HASHED, "Spectrum", "tuned", *bits),
        _cell(QUANTIZED, "Spectrum", "tuned", *_both(SCORES, *words), BINS.method(Spectrum(3))),
    ]


def _mismatch() -> list[Cell]:
    name, printed = "Mismatch(5,1)", Mismatch(5, 1)
    letters = [LETTERS.method(Mismatch(k, m)) for k, m in [(5, 1), (4, 1), (5, 2), (6, 2)]]
    bits = [BITS[n].method(kernel) for n in BITS for kernel in (printed, Mismatch(8, 1))]
    rows = [*_both(SCORES, printed), SCORES.method(Mismatch(6, 1))]
    return [
        _cell(UNIVARIATE, name, "text", LETTERS.method(printed)),
        _cell(HASHED, name, "text", BITS[32].method(printed)),
        _cell(QUANTIZED, name, "text", SCORES.method(printed)),
        _cell(UNIVARIATE, name, "tuned", *letters, LETTERS.method(printed, True)),
        _cell(HASHED, name, "tuned", *bits),
        _cell(QUANTIZED, name, "tuned", *rows),
    ]


def _sssk() -> list[Cell]:
    kernels = [*TRIPLES.values()]
    bits = [BITS[32].method(kernel) for kernel in (*kernels, Spatial(3, 2, 3))]
    rows = [*_both(SCORES, *kernels), SCORES.method(Spatial(4, 1, 3), True)]
    return [
        *(cell for setting, kernel in TRIPLES.items() for cell in _printed_sssk(setting, kernel)),
        _cell(UNIVARIATE, "SSSK", "tuned", *_both(LETTERS, *kernels)),
        _cell(HASHED, "SSSK", "tuned", *bits),
        _cell(QUANTIZED, "SSSK", "tuned", *rows),
        _cell(BESIDE, "SSSK", "tuned", *map(beside, kernels)),
    ]


def _printed_sssk(setting: str, kernel: Kernel) -> list[Cell]:
    columns = {UNIVARIATE: LETTERS, HASHED: BITS[32], QUANTIZED: SCORES}
    return [
        _cell(name, "SSSK", "text", alphabet.method(kernel), setting=setting)
        for name, alphabet in columns.items()
    ]


def _both(alphabet: Alphabet, *kernels: Kernel) -> list[StringMethod]:
    """Return the methods of kernels, each without and with the manifold."""
    return [alphabet.method(kernel, manifold) for kernel in kernels for manifold in (False, True)]


def beside(kernel: Kernel) -> MeanMethod:
    """Return the mean of the kernels on letters and on BLOSUM rows, with the manifold."""
    return MeanMethod((LETTERS.method(kernel, True), SCORES.method(kernel, True)))


def _rbf() -> list[Cell]:
    found = []
    for name, m in [("Spectrum-RBF", 0), ("Mismatch-RBF", 1)]:
        rows, usual = [RbfMethod(3, m, width) for width in WIDTHS[m]], WIDTHS[m][1]
        found.append(_cell(name, "", "text", rows[1]))
        found.append(_cell(name, "", "tuned", *rows, RbfMethod(3, m, usual, "properties")))
    return found


def _comments() -> list[Cell]:
    """Return the cells of figures in comments: hashing, MVDFQ and cluster kernels."""
    spectrum, mismatch, triples = Spectrum(3), Mismatch(5, 1), Spatial(3, 1, 5)
    hashed, quantized = "Sim. hashing (2D BLOSUM)", "MVDFQ (2D BLOSUM)"
    clusters = "Semi-supervised cluster kernel"
    return [
        _cell(hashed, "Spectrum", "comment", BITS[64].method(Spectrum(5))),
        _cell(hashed, "Mismatch", "comment", BITS[64].method(mismatch)),
        _cell(quantized, "Spectrum", "comment", SCORES.method(spectrum)),
        _cell(quantized, "Mismatch", "comment", SCORES.method(mismatch)),
        _cell(quantized, "SSSK", "comment", SCORES.method(triples)),
        replace(_cell(clusters, "", "comment"), why_not=QUOTED),
        replace(_cell(f"{clusters} (2D BLOSUM)", "", "comment"), why_not=QUOTED),
    ]


def _inferred() -> list[Cell]:
    kernels = {"Spectrum": Spectrum(3), "Mismatch(5,1)": Mismatch(5, 1), "SSSK": Spatial(3, 1, 5)}
    return [
        _cell(QUANTIZED, name, "inferred", replace(SLOPES, kernel=kernel))
        for name, kernel in kernels.items()
    ]


def _profiles(at_hand: bool) -> list[Cell]:
    setting = "k=5,sigma=7.5"
    words = StringMethod(None, Profile(5, 7.5), False, "probabilities")
    rows = PROFILE_SCORES.method(Spectrum(5))
    found = [
        _cell(PROFILE, "Profile", "comment", words, setting=setting),
        _cell(QUANTIZED_PROFILE, "Profile", "comment", rows, setting=setting),
        _cell("Profile kernel (2D)", "Profile", "comment", rows),
    ]
    if at_hand:
        return found
    return [replace(cell, methods=(), why_not="not run: no profiles") for cell in found]
