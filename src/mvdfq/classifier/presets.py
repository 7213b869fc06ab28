"""Presets: settings of a classifier that have a name, among them the methods of the paper.

Settings follow the paper's text; presets that follow its comments instead end in ``-alt``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from sklearn.pipeline import make_pipeline

from mvdfq.classifier.registry import NAMED
from mvdfq.classifier.views import WordView, filter_views
from mvdfq.frames import Centre, Delta, Rotate, Select, Smooth, Standardize
from mvdfq.frames.filters import auto_dilations
from mvdfq.frames.select import groups_by_name
from mvdfq.kernels import Kernel, Mismatch, Spatial, Spectrum, Words
from mvdfq.machines.validation import Cautious
from mvdfq.symbols import (
    CodebookQuantizer,
    DirectQuantizer,
    HashingQuantizer,
    JointQuantizer,
    Letters,
    Rows,
)

__all__ = ["PRESETS", "Settings", "list_presets", "part"]


@dataclass(frozen=True)
class Settings:
    """The parts of a classifier; None or "passthrough" for a part that is left out."""

    symbols: Any
    kernel: Kernel
    frames: Any = None
    manifold: bool = False
    pyramid: int = 1
    multi_class: str = "ovo"
    C: Any = "auto"
    # Share of the training sequences that must hold a word, if words are standardized; else None.
    min_share: float | None = None
    # Views beside the first kernel, given the training sequences.
    views: Callable[[Any], list[Any]] | None = None
    # The weights of the rows of symbols, given their number; None gives every row weight 1.
    row_weights: Callable[[int], list[float]] | None = None

    def alone(self) -> "Settings":
        """Return the first kernel without what belongs to the preset: views, weights, more rows."""
        symbols = self.symbols if self.row_weights is None else self.symbols.views[0][1]
        return replace(self, symbols=symbols, views=None, min_share=None, row_weights=None)


def part(kind: str, value: Any) -> Any:
    """Return the part that a name stands for; return other values as they are."""
    if not isinstance(value, str) or value == "passthrough":
        return value
    if value not in NAMED[kind]:
        raise ValueError(
            f"{kind}={value!r} is not a known name; pass {', '.join(sorted(NAMED[kind]))}, "
            f"or an object."
        )
    return NAMED[kind][value]()


# Single symbols and pairs have a small weight: they only matter in sequences shorter than 3 frames.
SHORT = [(0,), (0, 1)]
LITTLE = 0.01
# Words of three symbols, 1 to 16 frames apart.
TRIPLES = [(0, step, 2 * step) for step in (1, 2, 4, 8, 16)]
# Components of each group of channels whose pairs the preset "music" reads.
COMPONENTS = 13
# Fewer dilations than this make too few filters for all sets of channels.
FEW_BANKS = 5
# Penalties for strings; 100 does the same as 10, for the training sequences are separated by then.
PENALTIES = Cautious((1.0, 10.0))


def _numbers() -> Settings:
    """The default for numbers: standardized words, and standardized words of filter responses.

    The rows were chosen by benchmarks/choose_defaults.py, the weights by splits of the training
    parts of the sets in benchmarks/bench_accuracy.py.
    """
    rows = [
        ("trend pairs", Smooth(9), Rotate(deltas=True), _pairs()),
        ("slope pairs", Smooth(5), Delta(keep=False), _pairs()),
        ("components", *_components()),
        ("slope components", Smooth(9), Delta(keep=False), Rotate(), DirectQuantizer(6)),
    ]
    symbols = Rows([(name, make_pipeline(*steps)) for name, *steps in rows])

    def views(X: Any) -> list[Any]:
        return filter_views(_banks(X))

    return Settings(symbols, _with_short(TRIPLES), None, True, 2, "ovr", 10, 0.2, views)


def _banks(X: Any) -> list[int]:
    """Return the dilations of the filters; twice if there are few dilations and many channels.

    The second time the filters read other channels.
    """
    dilations = auto_dilations(X)
    return dilations * 2 if len(dilations) < FEW_BANKS and X.n_rows > 2 else dilations


def _music() -> Settings:
    """For artists and genres: the default, codewords of frames, and pairs of components.

    Codewords and pairs are standardized words of one symbol, so they do not see the order of the
    frames. Both read frames together with their slopes. Every group of channels, such as MFCCs or
    spectral bands, has a codebook and components of its own.
    """
    numbers = _numbers()
    assert numbers.views is not None
    others = numbers.views

    def views(X: Any) -> list[Any]:
        groups = groups_by_name(X)
        codewords = [Delta(), Standardize(), CodebookQuantizer(2048)]
        return [
            *[_singles("codewords", Select(group), *codewords) for group in groups],
            *[_singles("pairs", Select(group), *_centred_pairs(group)) for group in groups],
            *others(X),
        ]

    return replace(numbers, views=views)


def _singles(name: str, *steps: Any) -> WordView:
    return WordView(name, Words([(0,)]), make_pipeline(*steps))


def _centred_pairs(group: list[int]) -> list[Any]:
    """Return the steps to pairs of components and their slopes: how channels vary together."""
    rotate = Rotate(min(len(group), COMPONENTS))
    most = comb(2 * COMPONENTS, 2)
    return [Centre(), Standardize(), rotate, Delta(), JointQuantizer(2, n_bins=3, max_sets=most)]


def _fast() -> Settings:
    """The default with the rows of one encoder instead of four, and a quarter of the filters."""
    symbols = make_pipeline(*_components())

    def views(X: Any) -> list[Any]:
        return filter_views(auto_dilations(X)[::4])

    return Settings(symbols, _with_short(TRIPLES), None, True, 2, "ovr", 10, 0.2, views)


def _components() -> list[Any]:
    return [Delta(), Standardize(), Rotate(), DirectQuantizer(6)]


def _pairs() -> JointQuantizer:
    return JointQuantizer(2, n_bins=3, max_sets=20)


def _letters() -> Settings:
    """The default for strings: triples of letters with gaps; other words for DNA and proteins.

    Chosen by benchmarks/choose_defaults.py. The words for DNA, RNA and proteins are in
    letters_default.py.
    """
    triples = [group.layouts[0].offsets for group in Spatial(t=3, k=1, d=5).groups(2)]
    return Settings(Letters(), _with_short(triples), None, True, 3, "ovr", PENALTIES)


def _with_short(layouts: Sequence[tuple[int, ...]]) -> Words:
    weights = [LITTLE] * len(SHORT) + [1] * len(layouts)
    return Words([*SHORT, *layouts], weights=weights)


def _bins() -> DirectQuantizer:
    return DirectQuantizer(n_bins=32, strategy="uniform")


# The kernels of each family: first as in the paper's text, then as in its comments.
SSSK = [lambda: Spatial(t=3, k=1, d=5), lambda: Spatial(t=3, k=2, d=5)]
FAMILIES: dict[str, tuple[Callable[[], Any], dict[str, list[Callable[[], Kernel]]]]] = {
    "mvdfq": (
        _bins,
        {
            "spectrum": [lambda: Spectrum(6), lambda: Spectrum(1)],
            "mismatch": [lambda: Mismatch(6, 1), lambda: Mismatch(5, 2)],
            "sssk": SSSK,
        },
    ),
    "vq": (
        lambda: CodebookQuantizer(2048),
        {
            "spectrum": [lambda: Spectrum(5), lambda: Spectrum(1)],
            "mismatch": [lambda: Mismatch(5, 1), lambda: Mismatch(5, 2)],
            "sssk": SSSK,
        },
    ),
    "hashing": (
        lambda: HashingQuantizer(32),
        {
            "spectrum": [lambda: Spectrum(6), lambda: Spectrum(8)],
            "mismatch": [lambda: Mismatch(6, 1), lambda: Mismatch(5, 2)],
            "sssk": SSSK,
        },
    ),
}


def _paper() -> dict[str, Callable[[], Settings]]:
    """List every method of the paper by its name; an `m` after the family means manifold=True."""
    table: dict[str, Callable[[], Settings]] = {}
    for family, (symbols, kernels) in FAMILIES.items():
        for kernel, readings in kernels.items():
            for reading, suffix in zip(readings, ["", "-alt"], strict=True):
                for manifold, letter in [(False, ""), (True, "m")]:
                    name = f"{family}{letter}-{kernel}{suffix}"
                    table[name] = _later(symbols, reading, manifold)
    codebooks = lambda: CodebookQuantizer([1024, 2048, 4096])  # noqa: E731
    columns = lambda: JointQuantizer("all", n_bins=3, strategy="uniform")  # noqa: E731
    table["multi-vq"] = _later(codebooks, lambda: Spectrum(5), False)
    table["multi-vq-alt"] = _later(codebooks, lambda: Spectrum(1), False)
    table["mvdfq-1d"] = _later(columns, SSSK[0], False)
    table["mvdfqm-1d"] = _later(columns, SSSK[0], True)
    return table


def _later(symbols: Callable, kernel: Callable, manifold: bool) -> Callable[[], Settings]:
    """Return a function that makes new parts in every call, so that no two presets share a part."""
    return lambda: Settings(symbols(), kernel(), manifold=manifold)


PRESETS: dict[str, Callable[[], Settings]] = {
    "numbers": _numbers,
    "fast": _fast,
    "music": _music,
    "letters": _letters,
    **_paper(),
}


def list_presets() -> list[str]:
    """Return the names of all presets of `SequenceClassifier`.

    Returns
    -------
    names : list of str
        ``"numbers"`` and ``"letters"`` are the defaults; ``"fast"`` is a smaller ``"numbers"``;
        ``"music"`` adds codewords and pairs of components, for genres and artists; the others are
        the methods of the paper. ``m`` after the family means manifold embedding, ``-alt`` means
        the settings in the comments of the paper.

    Examples
    --------
    >>> import mvdfq
    >>> [name for name in mvdfq.list_presets() if name.startswith("mvdfqm")][:2]
    ['mvdfqm-spectrum', 'mvdfqm-spectrum-alt']
    """
    return list(PRESETS)
