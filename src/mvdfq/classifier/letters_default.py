"""The defaults for DNA, RNA and proteins; `presets.py` has the default for all other strings."""

from dataclasses import replace
from typing import Any

from mvdfq.classifier.presets import LITTLE, PENALTIES, PRESETS, SHORT, Settings
from mvdfq.gram.base import are_letters
from mvdfq.kernels import Gapped, Kernel, Spatial, Words
from mvdfq.symbols import Letters, Rows
from mvdfq.symbols.letters import kind_of

__all__ = ["letters_settings"]

# Similar residues: the ten groups of L. R. Murphy, A. Wallqvist and R. M. Levy (Protein Engineering
# 13, 2000). Five of the groups hold one residue: A, C, G, H and P. Related proteins often have
# another residue of the same group at the same place.
SIMILAR = ("LVIM", "ST", "FYW", "EDNQ", "KR")
# The weight of the row of groups beside the row of residues.
SIMILAR_WEIGHT = 0.25


def letters_settings(X: Any) -> Settings:
    """Return the default for strings: for DNA and RNA, for proteins, or for all other strings."""
    if not are_letters(X):
        return PRESETS["letters"]()
    kinds = {kind_of(row) for row in X.data}
    defaults = {"nucleic": nucleic, "protein": proteins}
    return defaults.get(kinds.pop() if len(kinds) == 1 else "", PRESETS["letters"])()


def proteins() -> Settings:
    """The default for strings, on two rows: residues, and groups of similar residues."""
    rows = Rows([("residues", Letters()), ("similar", Letters(groups=SIMILAR))])

    def weights(n_rows: int) -> list[float]:
        return [1.0] * (n_rows // 2) + [SIMILAR_WEIGHT] * (n_rows // 2)

    return replace(PRESETS["letters"](), symbols=rows, row_weights=weights)


def nucleic() -> Settings:
    """Words of six letters: any six of eight, and three pairs with gaps below 5 at half weight.

    Four letters tell little apart, so the words are long; motifs stand anywhere, so there is no
    pyramid. Chosen by benchmarks/bench_letters.py on training parts.
    """
    gapped = _layouts(Gapped(g=8, k=6))
    pairs = _layouts(Spatial(t=3, k=2, d=5)) - gapped
    weights = [LITTLE] * len(SHORT) + [1.0] * len(gapped) + [0.5] * len(pairs)
    words = Words([*SHORT, *sorted(gapped), *sorted(pairs)], weights=weights)
    return Settings(Letters(), words, None, True, 1, "ovr", PENALTIES)


def _layouts(kernel: Kernel) -> set[tuple[int, ...]]:
    """Return the offsets of a kernel's words, counted from the first letter of each word."""
    found = [group.layouts[0].offsets for group in kernel.groups(2)]
    return {tuple(offset - word[0] for offset in word) for word in found}
