"""Presets: sums of terms that have a name, among them the methods of the paper.

Settings follow the paper's text; presets that follow its comments instead end in ``-alt``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from mvdfq.frames import Centre, Delta, Rotate, Smooth, Standardize
from mvdfq.gram.base import are_letters
from mvdfq.kernels import Gapped, Kernel, Mismatch, Spatial, Spectrum, Words
from mvdfq.sequences import check_sequences
from mvdfq.symbols import (
    CodebookQuantizer,
    DirectQuantizer,
    HashingQuantizer,
    JointQuantizer,
    Letters,
    PerGroup,
    Rows,
)
from mvdfq.symbols.letters import kind_of
from mvdfq.terms.base import Term
from mvdfq.terms.filters import FilterTerm
from mvdfq.terms.plain import PlainTerm
from mvdfq.terms.validation import Cautious
from mvdfq.terms.words import LITTLE, WordTerm

# Penalties for strings; 100 does the same as 10, for the training sequences are separated by then.
PENALTIES = Cautious((1.0, 10.0))
# Single letters and pairs only matter in strings shorter than 3 letters.
SHORT = [(0,), (0, 1)]
# Similar residues: the ten and the fifteen groups of L. R. Murphy, A. Wallqvist and R. M. Levy
# (Protein Engineering 13, 2000); residues that are not named are groups of their own. Related
# proteins often have another residue of the same group at the same place.
SIMILAR = {"similar": ("LVIM", "ST", "FYW", "EDNQ", "KR"), "alike": ("LVIM", "FY", "KR")}
# Strings with a larger share of spaces are text: words of European languages have 4 to 6 letters.
SPACES = 0.05
# The weight of a row of groups beside the row of residues.
SIMILAR_WEIGHT = 0.25


@dataclass(frozen=True)
class Preset:
    """The terms of a classifier, and how its machines are trained."""

    terms: list[Term]
    multi_class: str = "ovo"
    C: Any = "auto"
    keeps_relatives: bool = False  # whether inner folds keep similar sequences together
    squares_loss: bool = False  # whether the machine of two classes has the squared hinge


# Layouts of the words of the defaults for numbers: single symbols, pairs, and three symbols that
# are 1 to 16 frames apart.
LAYOUTS = [(0,), (0, 1), *[(0, step, 2 * step) for step in (1, 2, 4, 8, 16)]]
# Words of the defaults for numbers must occur in more than this share of the training sequences.
MIN_SHARE = 0.2
# Components that the defaults for numbers read at most: all of 64 channels and their slopes.
# Hundreds of components that hardly vary take most of the time, and blur the probabilities.
MOST = 128
# Components of each group of channels whose pairs the preset "music" reads.
COMPONENTS = 13
# Presets that read numbers.
NUMBERS = ("numbers", "fast", "music")


def _numbers() -> Preset:
    """The default for numbers: standardized words, and standardized words of filter responses.

    The rows were chosen by benchmarks/choose_defaults.py, the terms by splits of the training
    parts of the sets in benchmarks/bench_accuracy.py.
    """
    rows = [
        ("trend pairs", Smooth(9), Rotate(MOST, deltas=True), _pairs()),
        ("slope pairs", Smooth(5), Delta(keep=False), _pairs()),
        ("components", *_components()),
        ("slope components", Smooth(9), Delta(keep=False), Rotate(MOST), DirectQuantizer(6)),
    ]
    symbols = Rows([(name, make_pipeline(*steps)) for name, *steps in rows])
    return Preset([_words(symbols), FilterTerm()], "ovr", 10)


def _fast() -> Preset:
    """The default with one set of rows instead of four, and a quarter of the filters."""
    return Preset([_words(make_pipeline(*_components())), FilterTerm("few")], "ovr", 10)


def _music() -> Preset:
    """For artists and genres: the default, codewords of frames, and pairs of components."""
    words, filters = _numbers().terms
    most = comb(2 * COMPONENTS, 2)
    codewords = [Delta(), Standardize(), CodebookQuantizer(2048)]
    pairs = [Centre(), Standardize(), Rotate(COMPONENTS), Delta(), _pairs(most)]
    terms = [words, _singles("codewords", *codewords), _singles("pairs", *pairs), filters]
    return Preset(terms, "ovr", 10)


def _words(symbols: Any) -> WordTerm:
    return WordTerm(symbols, Words(LAYOUTS), pyramid=2, min_share=MIN_SHARE)


def _singles(name: str, *steps: Any) -> WordTerm:
    return WordTerm(PerGroup(make_pipeline(*steps)), Words([(0,)]), name=name)


def _components() -> list[Any]:
    return [Delta(), Standardize(), Rotate(MOST), DirectQuantizer(6)]


def _pairs(max_sets: int = 20) -> JointQuantizer:
    return JointQuantizer(2, n_bins=3, max_sets=max_sets)


# The quantizer of each family, the lengths of words for the spectrum kernel, and lengths and
# mismatches for the mismatch kernel: first as in the paper's text, then as in its comments.
FAMILIES: dict[str, tuple[Callable[[], Any], list[int], list[tuple[int, int]]]] = {
    "mvdfq": (partial(DirectQuantizer, 32, strategy="uniform"), [6, 1], [(6, 1), (5, 2)]),
    "vq": (partial(CodebookQuantizer, 2048), [5, 1], [(5, 1), (5, 2)]),
    "hashing": (partial(HashingQuantizer, 32), [6, 8], [(6, 1), (5, 2)]),
}
SSSK: list[Callable[[], Kernel]] = [partial(Spatial, t=3, k=k, d=5) for k in (1, 2)]


def _paper() -> dict[str, Callable[[], Preset]]:
    """List every method of the paper by its name; an `m` after the family means manifold=True."""
    table: dict[str, Callable[[], Preset]] = {}
    for family, (symbols, lengths, mismatches) in FAMILIES.items():
        kernels: dict[str, list] = {"spectrum": [partial(Spectrum, k) for k in lengths]}
        kernels |= {"mismatch": [partial(Mismatch, *pair) for pair in mismatches], "sssk": SSSK}
        for name, readings in kernels.items():
            for kernel, suffix in zip(readings, ["", "-alt"], strict=True):
                for manifold, letter in [(False, ""), (True, "m")]:
                    table[f"{family}{letter}-{name}{suffix}"] = _later(symbols, kernel, manifold)
    codebooks = partial(CodebookQuantizer, [1024, 2048, 4096])
    columns = partial(JointQuantizer, "all", n_bins=3, strategy="uniform")
    table["multi-vq"] = _later(codebooks, partial(Spectrum, 5), False)
    table["multi-vq-alt"] = _later(codebooks, partial(Spectrum, 1), False)
    table["mvdfq-1d"] = _later(columns, SSSK[0], False)
    table["mvdfqm-1d"] = _later(columns, SSSK[0], True)
    return table


def _later(symbols: Callable, kernel: Callable, manifold: bool) -> Callable[[], Preset]:
    """Return a function that makes new parts in every call, so that no two presets share a part."""
    return lambda: Preset([PlainTerm(symbols(), kernel(), manifold=manifold)])


def _letters(X: Any = None) -> Preset:
    """The default for strings: for DNA and RNA, proteins, text, or all other strings."""
    known = X is not None and are_letters(X)
    kinds = {_kind_of(row) for row in check_sequences(X).data} if known else set()
    defaults = {"nucleic": nucleic, "protein": proteins, "text": text}
    kind = kinds.pop() if len(kinds) == 1 else ""
    make = defaults.get(kind, strings)
    is_plain = kind in ("nucleic", "text")  # one row of words without a place
    return Preset([make()], "ovr", PENALTIES, keeps_relatives=True, squares_loss=is_plain)


def _kind_of(row: np.ndarray) -> str:
    """Return what a row of letters is: "nucleic", "protein", "text" or ""."""
    return "text" if np.count_nonzero(row == ord(" ")) > SPACES * row.size else kind_of(row)


def strings() -> PlainTerm:
    """Triples of letters with gaps; chosen by benchmarks/choose_defaults.py."""
    layouts = _layouts(Spatial(t=3, k=1, d=5))
    words = Words([*SHORT, *layouts], weights=[LITTLE] * len(SHORT) + [1] * len(layouts))
    return PlainTerm(Letters(), words, manifold=True, pyramid=3)


def text() -> PlainTerm:
    """Words of 1 to 6 letters in either case; chosen by benchmarks/bench_letters.py."""
    runs = [tuple(range(n)) for n in range(1, 7)]
    return PlainTerm(Letters(fold_case=True), Words(runs), manifold=True)


def proteins() -> PlainTerm:
    """The default for strings, on three rows: residues, and two kinds of groups of residues."""
    alike = [(name, Letters(groups=groups)) for name, groups in SIMILAR.items()]
    rows, weights = Rows([("residues", Letters()), *alike]), [1.0] + [SIMILAR_WEIGHT] * len(alike)
    return strings().set_params(symbols=rows, row_weights=weights)


def nucleic() -> PlainTerm:
    """Words of six of eight letters, and three pairs with gaps; see benchmarks/bench_letters.py."""
    # windows that differ in where they begin have the same layouts
    gapped = sorted(set(_layouts(Gapped(g=8, k=6))))
    pairs = sorted(set(_layouts(Spatial(t=3, k=2, d=5))) - set(gapped))
    weights = [LITTLE] * len(SHORT) + [1.0] * len(gapped) + [0.5] * len(pairs)
    return PlainTerm(Letters(), Words([*SHORT, *gapped, *pairs], weights=weights), manifold=True)


def _layouts(kernel: Kernel) -> list[tuple[int, ...]]:
    """Return the offsets of a kernel's words, counted from the first letter of each word."""
    words = [group.layouts[0].offsets for group in kernel.groups(2)]
    return [tuple(offset - word[0] for offset in word) for word in words]


PRESETS: dict[str, Callable[[], Preset]] = {
    "numbers": _numbers,
    "fast": _fast,
    "music": _music,
    "letters": _letters,
    **_paper(),
}


def preset_for(name: str | None, X: Any = None) -> Preset:
    """Return the preset for sequences; the default if `name` is None."""
    if name is None:
        name = "letters" if are_letters(X) else "numbers"
    if name not in PRESETS:
        raise ValueError(f"preset={name!r} is not known; mvdfq.list_presets() lists all presets.")
    return _letters(X) if name == "letters" else PRESETS[name]()


def preset_terms(name: str, X: Any = None) -> list[Term]:
    """Return the terms of a preset, to look at, to change and to pass to `SequenceClassifier`.

    Parameters
    ----------
    name : str
        Name of a preset, see `list_presets`.
    X : list of str, default=None
        Strings, if `name` is ``"letters"``: the terms for DNA and RNA, for proteins and for text
        differ from the term for other strings.

    Returns
    -------
    terms : list of Term
        New objects in every call.

    Examples
    --------
    >>> import mvdfq
    >>> [term.name for term in mvdfq.preset_terms("music")]
    ['words', 'codewords', 'pairs', 'filters']
    >>> terms = [*mvdfq.preset_terms("fast"),
    ...          mvdfq.WordTerm(mvdfq.CodebookQuantizer(16), mvdfq.Words([(0,)]), name="sounds")]
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> mvdfq.SequenceClassifier(terms=terms).fit(X, y).score(X, y)
    1.0
    """
    return preset_for(name, X).terms


def list_presets() -> list[str]:
    """Return the names of all presets of `SequenceClassifier`.

    Returns
    -------
    names : list of str
        The presets for numbers and letters, and the methods of the paper: ``m`` after the family
        means manifold embedding, ``-alt`` the settings in the comments of the paper.

    Examples
    --------
    >>> import mvdfq
    >>> [name for name in mvdfq.list_presets() if name.startswith("mvdfqm")][:2]
    ['mvdfqm-spectrum', 'mvdfqm-spectrum-alt']
    """
    return list(PRESETS)
