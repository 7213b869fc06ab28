"""The default for strings of DNA and RNA; `presets.py` has the default for all other strings."""

from typing import Any

from mvdfq.classifier.presets import LITTLE, PENALTIES, SHORT, Settings
from mvdfq.gram.base import are_letters
from mvdfq.kernels import Gapped, Kernel, Spatial, Words
from mvdfq.symbols import Letters
from mvdfq.symbols.letters import is_nucleic, letters_of

__all__ = ["are_nucleic", "nucleic"]


def are_nucleic(X: Any) -> bool:
    """Tell whether every row of X is a string of DNA or RNA."""
    return are_letters(X) and all(is_nucleic(letters_of(row)) for row in X.data)


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
