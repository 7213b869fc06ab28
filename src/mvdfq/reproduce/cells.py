"""The cells of a table: each has a place in the paper and the methods that compute our figure."""

import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from mvdfq.gram.kernel import SequenceKernel
from mvdfq.kernels import Kernel

# What people read in place of short names: readings, schemes, metrics, and parts of methods.
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
READINGS = tuple(WORDS["readings"])
# Parameters that are always written out.
SIZES = {"n_bins", "n_codewords"}
# Values of kernel parameters that are not written out.
USUAL = {"dilation": 1, "neighbourhood": "full"}
# The text of a method, `str(method)`, names all parameters that differ from their defaults, and
# records are kept under this text. The property `label` is for people.


@dataclass(frozen=True)
class StringMethod:
    """A quantizer and a string kernel."""

    symbols: Any  # None if the data are symbols already
    kernel: Kernel
    manifold: bool = False
    view: str = "mfcc"  # the form of the data that the method reads
    C: float | None = None  # None: inner validation chooses the penalty
    scheme: str = ""  # empty: both multi-class schemes are trained

    def sequence_kernel(self, n_jobs: int | None, memory_limit: Any) -> SequenceKernel:
        """Return the kernel on symbols, not fitted."""
        means: dict[str, Any] = {"n_jobs": n_jobs, "memory_limit": memory_limit}
        kernel, manifold = clone(self.kernel), self.manifold
        return SequenceKernel(kernel, manifold=manifold, constant_rows="ignore", **means)

    @property
    def label(self) -> str:
        """The settings in words."""
        given = {key: getattr(self.kernel, key) for key in signature(type(self.kernel)).parameters}
        values = ", ".join(f"{k}={v}" for k, v in given.items() if USUAL.get(k) != v)
        steps = [] if self.symbols is None else [self.symbols]
        if isinstance(self.symbols, Pipeline):
            steps = [part for _, part in self.symbols.steps]
        parts = [*map(_short, steps), f"{type(self.kernel).__name__}({values})"]
        parts += ["root"] if self.manifold else []
        parts += [] if self.C is None else [f"C={self.C:g}"]
        return _seen(self.view) + ", ".join(parts)


@dataclass(frozen=True)
class EstimatorMethod:
    """A classifier of sequences that is not a string kernel."""

    estimator: Any
    view: str = "mfcc"

    @property
    def label(self) -> str:
        """The settings in words."""
        return f"{_seen(self.view)}{_short(self.estimator)}"


@dataclass(frozen=True)
class RbfMethod:
    """Words of `k` residues with `m` mismatches, compared by an RBF of their descriptors."""

    k: int = 3
    m: int = 0
    width: float = 0.5  # of the RBF, in units of the mean distance between two amino acids
    descriptors: str = "BLOSUM62"
    view: str = "letters"

    @property
    def label(self) -> str:
        """The settings in words."""
        return f"RBF(k={self.k}, m={self.m}, width={self.width}) of {self.descriptors}"


@dataclass(frozen=True)
class MeanMethod:
    """The mean of several kernels, each normalized."""

    methods: tuple[StringMethod, ...]
    view: str = "letters"

    @property
    def label(self) -> str:
        """The settings in words."""
        return f"mean of ({') and ('.join(method.label for method in self.methods)})"


def _seen(view: str) -> str:
    """Return a view in words; nothing for MFCC, the usual view of music."""
    return "" if view == "mfcc" else f"{view} "


def _short(part: Any) -> str:
    """Return a part in words, or with the parameters that differ from their defaults."""
    values, name = part.get_params(), type(part).__name__
    changed = {k for k, v in values.items() if v != type(part)().get_params()[k]}
    words, *named = WORDS["parts"].get(name, [""])
    if words and changed <= {*named}:
        return words.format(**values)
    shown = [f"{k}={v!r}" for k, v in values.items() if k in changed | SIZES]
    return f"{name}({', '.join(shown)})"


@dataclass(frozen=True)
class Cell:
    """One place of a table: of the published figure, and of the methods that compute ours."""

    name: str
    kernel: str = ""
    manifold: str = ""
    setting: str = ""
    reading: str = "text"
    methods: tuple[Any, ...] = ()  # inner validation chooses one of several
    why_not: str = ""  # why a cell without methods is only quoted

    @property
    def views(self) -> set[str]:
        """The views of the data that the methods read."""
        return {method.view for method in self.methods}

    @property
    def labels(self) -> dict[str, str]:
        """The labels of all methods, by the texts of the methods."""
        return {str(method): method.label for method in self.methods}

    def lacks(self, data: Any) -> str:
        """Return why a cell cannot be run on a set of music; empty if it can."""
        if not self.methods:
            return self.why_not
        if lacking := sorted(self.views - {*data.views}):
            return f"not run: {data.name} is not at hand as {', '.join(lacking)}"
        needs = [m.estimator.needs for m in self.methods if isinstance(m, EstimatorMethod)]
        absent = [package for package in needs if package and find_spec(package) is None]
        return f"not run: {absent[0]} is not installed" if absent else ""
