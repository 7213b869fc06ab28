"""The cells of a table: each has a place in the paper and the methods that compute our figure."""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from inspect import signature
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from mvdfq.classifier.presets import preset_terms
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.kernels import Kernel

__all__ = ["READINGS", "Cell", "EstimatorMethod", "Method", "StringMethod"]

# A reading is one answer to the question which settings the paper used. "text": the settings
# printed in the text. "comment": the settings in comments of its source. "tuned": the settings
# that inner validation chooses. "inferred": settings that were tried because they give the figures.
READINGS = ("text", "comment", "tuned", "inferred")
# Quantizers in words, for people, and the parameters that the words tell. A quantizer with other
# changed parameters is written out.
WORDS = {
    "DirectQuantizer": ("{n_bins} {strategy} bins", {"n_bins", "strategy"}),
    "CodebookQuantizer": ("{n_codewords} codewords", {"n_codewords"}),
    "HashingQuantizer": ("{n_bits} bits", {"n_bits"}),
    "Letters": ("as they are", {"alphabet"}),
    "Delta": ("with deltas", set()),
}
# Parameters that are always written out.
SIZES = {"n_bins", "n_codewords"}
# Values of kernel parameters that are not written out.
USUAL = {"dilation": 1, "neighbourhood": "full"}


@dataclass(frozen=True)
class StringMethod:
    """A quantizer and a string kernel.

    `view` names the form of the data that the method reads; `symbols` is None if the data are
    symbols already. `frames` transforms the numbers before the quantizer. Inner validation chooses
    the penalty if `C` is None; both multi-class schemes are trained if `scheme` is empty.
    """

    symbols: Any
    kernel: Kernel
    manifold: bool = False
    view: str = "mfcc"
    frames: Any = None
    C: float | None = None
    scheme: str = ""

    @classmethod
    def of(cls, preset: str, view: str = "mfcc") -> "StringMethod":
        """Return the method of a preset of the paper."""
        (term,) = preset_terms(preset)
        return cls(term.symbols, term.kernel, term.manifold, view)

    def quantizer(self) -> Any:
        """Return frames and symbols as one transformer, not fitted."""
        symbols = clone(self.symbols)
        return symbols if self.frames is None else make_pipeline(clone(self.frames), symbols)

    @property
    def encoder(self) -> str:
        """View and quantizer in words; methods with equal words share the symbols."""
        before = "" if self.frames is None else f"{_described(self.frames)}, "
        return f"{self.view} {before}{_described(self.symbols)}"

    @property
    def counted(self) -> str:
        """The kernel in words; methods with equal words compare equal symbols equally."""
        return f"{_described(self.kernel)}{', manifold' if self.manifold else ''}"

    @property
    def learns_words(self) -> bool:
        """Whether the kernel counts only words that occur in the training part."""
        return getattr(self.kernel, "neighbourhood", "full") == "observed"

    def sequence_kernel(self, n_jobs: int | None, memory_limit: Any) -> SequenceKernel:
        """Return the kernel on symbols, not fitted."""
        return SequenceKernel(
            clone(self.kernel),
            manifold=self.manifold,
            constant_rows="ignore",
            n_jobs=n_jobs,
            memory_limit=memory_limit,
        )

    def __str__(self) -> str:
        scheme = f", {self.scheme}" if self.scheme else ""
        return f"{self.encoder}, {self.counted}{self._penalty}{scheme}"

    @property
    def _penalty(self) -> str:
        return "" if self.C is None else f", C={self.C:g}"

    @property
    def label(self) -> str:
        """The settings in words, for people."""
        given = {key: getattr(self.kernel, key) for key in signature(type(self.kernel)).parameters}
        values = ", ".join(f"{k}={v}" for k, v in given.items() if USUAL.get(k) != v)
        root = ", root" if self.manifold else ""
        symbols = "" if self.symbols is None else f"{_short(self.symbols)}, "
        kernel = f"{type(self.kernel).__name__}({values})"
        frames = "" if self.frames is None else f"{_short(self.frames)}, "
        return f"{_seen(self.view)}{frames}{symbols}{kernel}{root}{self._penalty}"


@dataclass(frozen=True)
class EstimatorMethod:
    """A classifier of sequences that is not a string kernel."""

    estimator: Any
    view: str = "mfcc"

    @property
    def encoder(self) -> str:
        """The view that the classifier reads."""
        return self.view

    @property
    def lacks(self) -> str:
        """The package that is needed and not installed; empty if nothing is missing."""
        package = self.estimator.needs
        return package if package and find_spec(package) is None else ""

    def __str__(self) -> str:
        return f"{self.view} {_described(self.estimator)}"

    @property
    def label(self) -> str:
        """The settings in words, for people."""
        return f"{_seen(self.view)}{_short(self.estimator)}"


Method = StringMethod | EstimatorMethod


def _seen(view: str) -> str:
    """Return a view in words; nothing for MFCC, the usual view of music."""
    return "" if view == "mfcc" else f"{view} "


def _short(part: Any) -> str:
    """Return a part in words, or with the parameters that differ from their defaults."""
    values, name = part.get_params(), type(part).__name__
    changed = {k for k, v in values.items() if v != type(part)().get_params()[k]}
    words, said = WORDS.get(name, ("", set()))
    if words and changed <= said:
        return words.format(**values)
    shown = [f"{k}={v!r}" for k, v in values.items() if k in changed | SIZES]
    return f"{name}({', '.join(shown)})"


def _described(part: Any) -> str:
    """Return a part with all its parameters: the text is part of the keys of records."""
    if part is None:
        return "as they are"
    values = ", ".join(f"{key}={value!r}" for key, value in sorted(part.get_params().items()))
    return f"{type(part).__name__}({values})"


@dataclass(frozen=True)
class Cell:
    """One place of a table: where the published figure stands, and the methods that compute ours.

    Inner validation chooses one of several methods. A cell without methods is only quoted, and
    `why_not` says why.
    """

    name: str
    kernel: str = ""
    manifold: str = ""
    setting: str = ""
    reading: str = "text"
    methods: tuple[Method, ...] = ()
    why_not: str = ""

    def with_methods(self, reading: str, *methods: Method) -> "Cell":
        """Return the same place with the methods of a reading."""
        return replace(self, reading=reading, methods=methods)

    @property
    def views(self) -> set[str]:
        """The views of the data that the methods read."""
        return {method.view for method in self.methods}

    @property
    def described(self) -> list[str]:
        """Return all methods in words."""
        return [str(method) for method in self.methods]
