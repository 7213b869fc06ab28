"""The defaults for strings: for DNA and RNA, for proteins, and for all other strings."""

from typing import Any

from mvdfq.gram.base import are_letters
from mvdfq.kernels import Gapped, Kernel, Spatial, Words
from mvdfq.sequences import check_sequences
from mvdfq.symbols import Letters, Rows
from mvdfq.symbols.letters import kind_of
from mvdfq.terms.plain import PlainTerm
from mvdfq.terms.validation import Cautious
from mvdfq.terms.words import LITTLE

__all__ = ["PENALTIES", "letters_term"]

# Penalties for strings; 100 does the same as 10, for the training sequences are separated by then.
PENALTIES = Cautious((1.0, 10.0))
# Single letters and pairs only matter in strings shorter than 3 letters.
SHORT = [(0,), (0, 1)]
# Similar residues: the ten groups of L. R. Murphy, A. Wallqvist and R. M. Levy (Protein Engineering
# 13, 2000). Five of the groups hold one residue: A, C, G, H and P. Related proteins often have
# another residue of the same group at the same place.
SIMILAR = ("LVIM", "ST", "FYW", "EDNQ", "KR")
# The weight of the row of groups beside the row of residues.
SIMILAR_WEIGHT = 0.25


def letters_term(X: Any = None) -> PlainTerm:
    """Return the default for strings: for DNA and RNA, for proteins, or for all other strings."""
    known = X is not None and are_letters(X)
    kinds = {kind_of(row) for row in check_sequences(X).data} if known else set()
    defaults = {"nucleic": nucleic, "protein": proteins}
    return defaults.get(kinds.pop() if len(kinds) == 1 else "", strings)()


def strings() -> PlainTerm:
    """Triples of letters with gaps; chosen by benchmarks/choose_defaults.py."""
    layouts = _layouts(Spatial(t=3, k=1, d=5))
    weights = [LITTLE] * len(SHORT) + [1] * len(layouts)
    return PlainTerm(
        Letters(), Words([*SHORT, *layouts], weights=weights), manifold=True, pyramid=3
    )


def proteins() -> PlainTerm:
    """The default for strings, on two rows: residues, and groups of similar residues."""
    rows = Rows([("residues", Letters()), ("similar", Letters(groups=SIMILAR))])
    return strings().set_params(symbols=rows, row_weights=[1.0, SIMILAR_WEIGHT])


def nucleic() -> PlainTerm:
    """Words of six letters: any six of eight, and three pairs with gaps below 5 at half weight.

    Four letters tell little apart, so the words are long; motifs stand anywhere, so there is no
    pyramid. Chosen by benchmarks/bench_letters.py on training parts.
    """
    gapped = sorted(set(_layouts(Gapped(g=8, k=6))))
    pairs = sorted(set(_layouts(Spatial(t=3, k=2, d=5))) - set(gapped))
    weights = [LITTLE] * len(SHORT) + [1.0] * len(gapped) + [0.5] * len(pairs)
    return PlainTerm(Letters(), Words([*SHORT, *gapped, *pairs], weights=weights), manifold=True)


def _layouts(kernel: Kernel) -> list[tuple[int, ...]]:
    """Return the offsets of a kernel's words, counted from the first letter of each word."""
    found = [group.layouts[0].offsets for group in kernel.groups(2)]
    return [tuple(offset - word[0] for offset in word) for word in found]
