"""What a table is made of: cells, each a figure of the paper and the methods that give ours."""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from inspect import signature
from typing import Any

from sklearn.base import clone

from mvdfq.classifier.presets import Settings
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.kernels import Kernel

__all__ = ["READINGS", "Cell", "EstimatorMethod", "Method", "StringMethod"]

# The settings printed in the text, those in the comments of its source, those chosen here.
READINGS = ("text", "comment", "tuned")
# Alphabets in words, for people; one whose other parameters are changed is written out.
WORDS = {
    "DirectQuantizer": ("{n_bins} {strategy} bins", {"n_bins", "strategy"}),
    "CodebookQuantizer": ("{n_codewords} codewords", {"n_codewords"}),
    "HashingQuantizer": ("{n_bits} bits", {"n_bits"}),
    "Letters": ("as they are", {"alphabet"}),
}
# Said of other parts even where they are defaults.
SIZES = {"n_bins"}
# Not said of a kernel.
USUAL = {"dilation": 1, "neighbourhood": "full"}


@dataclass(frozen=True)
class StringMethod:
    """Symbols, a string kernel and machines.

    `view` names the rows of numbers it reads; `symbols` is None where they are symbols already.
    `scheme` is "ovo", "ovr" or, for what inner validation likes better, "ovo or ovr".
    """

    symbols: Any
    kernel: Kernel
    manifold: bool = False
    view: str = "mfcc"
    scheme: str = "ovo"

    @classmethod
    def of(cls, settings: Settings, view: str = "mfcc") -> "StringMethod":
        """Return the method of a preset's settings."""
        return cls(settings.symbols, settings.kernel, settings.manifold, view)

    @property
    def encoder(self) -> str:
        """How numbers become symbols, in words; methods that share it share the symbols."""
        return f"{self.view} {_described(self.symbols)}"

    @property
    def schemes(self) -> list[str]:
        """The ways to make machines of two classes tell many apart that are tried."""
        return self.scheme.split(" or ")

    @property
    def learns_words(self) -> bool:
        """Whether the kernel counts only words of the training part."""
        return getattr(self.kernel, "neighbourhood", "full") == "observed"

    def reader(self, n_jobs: int | None, memory_limit: Any) -> SequenceKernel:
        """Return what compares the symbols, not fitted."""
        return SequenceKernel(
            clone(self.kernel),
            manifold=self.manifold,
            constant_rows="ignore",
            n_jobs=n_jobs,
            memory_limit=memory_limit,
        )

    def __str__(self) -> str:
        root = ", manifold" if self.manifold else ""
        return f"{self.encoder}, {_described(self.kernel)}{root}, {self.scheme}"

    @property
    def label(self) -> str:
        """The settings that matter, for people."""
        given = {key: getattr(self.kernel, key) for key in signature(type(self.kernel)).parameters}
        values = ", ".join(f"{k}={v}" for k, v in given.items() if USUAL.get(k) != v)
        root = ", root" if self.manifold else ""
        symbols = "" if self.symbols is None else f"{_short(self.symbols)}, "
        kernel = f"{type(self.kernel).__name__}({values})"
        return f"{_seen(self.view)}{symbols}{kernel}{root}, {self.scheme}"


@dataclass(frozen=True)
class EstimatorMethod:
    """A classifier of sequences that is no string kernel."""

    estimator: Any
    view: str = "mfcc"

    @property
    def encoder(self) -> str:
        """The rows of numbers it reads."""
        return self.view

    @property
    def lacks(self) -> str:
        """The package that it needs and that is not installed; empty if there is none."""
        package = self.estimator.needs
        return package if package and find_spec(package) is None else ""

    def __str__(self) -> str:
        return f"{self.view} {_described(self.estimator)}"

    @property
    def label(self) -> str:
        """The settings that matter, for people."""
        return f"{_seen(self.view)}{_short(self.estimator)}"


Method = StringMethod | EstimatorMethod


def _seen(view: str) -> str:
    """Return a view in words; nothing of that which all tables of music have."""
    return "" if view == "mfcc" else f"{view} "


def _short(part: Any) -> str:
    """Return a part in words, or with what differs from its defaults."""
    values, name = part.get_params(), type(part).__name__
    changed = {k for k, v in values.items() if v != type(part)().get_params()[k]}
    words, said = WORDS.get(name, ("", set()))
    if words and changed <= said:
        return words.format(**values)
    shown = [f"{k}={v!r}" for k, v in values.items() if k in changed | SIZES]
    return f"{name}({', '.join(shown)})"


def _described(part: Any) -> str:
    """Return a part with every parameter that it has, in words that do not change."""
    if part is None:
        return "as they are"
    values = ", ".join(f"{key}={value!r}" for key, value in sorted(part.get_params().items()))
    return f"{type(part).__name__}({values})"


@dataclass(frozen=True)
class Cell:
    """One figure: its place in the paper, and the methods that give ours.

    Of several methods inner validation takes one; without any the figure is only quoted.
    """

    name: str
    kernel: str = ""
    manifold: str = ""
    setting: str = ""
    reading: str = "text"
    methods: tuple[Method, ...] = ()
    why_not: str = ""

    def with_methods(self, reading: str, *methods: Method) -> "Cell":
        """Return the same place in another reading."""
        return replace(self, reading=reading, methods=methods)

    @property
    def views(self) -> set[str]:
        """The views of the data that it needs."""
        return {method.view for method in self.methods}

    @property
    def described(self) -> list[str]:
        """Return all methods in words."""
        return [str(method) for method in self.methods]
