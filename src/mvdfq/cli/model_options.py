"""The options that choose the parts of the classifier, and ``--kernel help`` and the like."""

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from inspect import getdoc, signature
from typing import Any

import typer

from mvdfq.cli import values
from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.options import Jobs, Memory, Seed
from mvdfq.cli.shared import option
from mvdfq.cli.values import in_words

MODEL = "The classifier"


EXAMPLES = {
    "preset": ("A preset is a set of parts with a name.", "--preset mvdfqm-sssk"),
    "frames": (
        "Transformers of the numbers. | puts transformers one after another, + puts transformers "
        "side by side; + comes first, and parentheses group.",
        "--frames 'smooth(9) | delta'",
    ),
    "symbols": (
        "Quantizers, which turn numbers into symbols. Transformers of --frames may stand before "
        "a quantizer, with | between them; + puts quantizers side by side.",
        "--symbols 'direct(n_bins=16)'",
    ),
    "kernel": ("Kernels: which words are counted.", "--kernel 'gapped(8, 6)'"),
}


def _or_help(kind: str) -> Callable[[Any], Any]:
    """Return a callback of an option that prints the list of values for the value ``help``."""

    def callback(value: str | None) -> str | None:
        if value != "help":
            return value
        from rich.console import Console

        width = min(Console().width, 100)
        for text, first, rest in _page(kind):
            lines = textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest)
            typer.echo("\n".join(lines))
        raise typer.Exit

    return callback


def _page(kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield paragraphs: a text, the indent of its first line and of further lines."""
    about, example = EXAMPLES[kind]
    yield f"{about} Example: {example}", "", "    "
    for head, sentence, parameters in _presets() if kind == "preset" else _parts(kind):
        yield "", "", ""
        yield head, "", "    "
        if sentence:
            yield sentence, "    ", "    "
        width = max((len(name) for name in parameters), default=0)
        for name, meaning in parameters.items():
            if meaning:
                yield meaning, f"      {name:<{width}}  ", " " * (8 + width)


def _presets() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield every preset: its sentence, or its parts if the preset is a method of the paper."""
    from mvdfq.classifier.presets import PRESETS

    for name, make in PRESETS.items():
        sentence = _sentence(make.__doc__ or "")
        if not sentence:
            (term,) = make().terms
            parts = [repr(term.symbols), repr(term.kernel)]
            sentence = ", ".join(parts + ["manifold embedding"] * term.manifold)
        yield name, " ".join(sentence.split()), {}


def _parts(kind: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield every part of an option: its call with defaults, its sentence, its parameters."""
    from mvdfq.classifier.spec import call_of, named_parts

    for name, cls in named_parts(kind).items():
        doc = getdoc(cls) or ""
        known = {parameter: _meaning(doc, parameter) for parameter in signature(cls).parameters}
        yield call_of(name, cls), _sentence(doc), known


def _sentence(doc: str) -> str:
    """Return the first sentence of a docstring without markup."""
    plain = re.sub(r":math:`\\?(.*?)`", r"\1", doc)
    first = " ".join(plain.strip().split("\n\n")[0].split()).replace("`", "")
    return re.split(r"(?<=\.)\s", first)[0]


def _meaning(doc: str, name: str) -> str:
    """Return the first sentence about a parameter in a docstring of numpy's form."""
    section = re.search(rf"^{name} : .*\n((?:    .*\n?)+)", doc, re.MULTILINE)
    return _sentence(textwrap.dedent(section[1])) if section else ""


def _part(kind: str, values: tuple[str, ...], help: str) -> Any:
    """Return an option whose value ``help`` lists all values with their parameters."""
    return option(
        None,
        f"{help}; --{kind} help explains them.",
        panel=MODEL,
        values=(*values, "help"),
        callback=_or_help(kind),
        is_eager=True,  # the list of values needs no data
    )


@dataclass(frozen=True)
class Parts:
    """The options that choose the classifier; `with_shared` makes an option of every field."""

    preset: str | None = _part(
        "preset",
        values.PRESETS,
        f"{', '.join((*values.OWN_PRESETS, *values.OTHER_PRESETS))}, or METHOD-KERNEL with "
        f"METHOD {in_words(values.METHODS)} and KERNEL spectrum, mismatch or sssk; -alt at the "
        f"end: the settings of the paper's comments",
    )
    frames: str | None = _part(
        "frames", values.FRAMES, f"{in_words(values.FRAMES)}, such as 'smooth(9) | delta'"
    )
    symbols: str | None = _part(
        "symbols", values.SYMBOLS, f"{in_words(values.SYMBOLS)}, such as 'direct(16)'"
    )
    kernel: str | None = _part(
        "kernel", values.KERNELS, f"{in_words(values.KERNELS)}, such as 'gapped(8, 6)'"
    )
    C: str | None = option(
        None,
        "Penalty of the support vector machine: a number > 0, or auto.",
        "-C",
        panel=MODEL,
        values=("auto",),
    )
    balanced: bool = option(False, "All classes have the same weight.", "--balanced", panel=MODEL)
    class_weight: str | None = option(
        None, "Weights of classes, such as rare=5,common=1; others have the weight 1.", panel=MODEL
    )
    pyramid: int | None = option(
        None,
        "Count words in the whole (1), in halves too (2), in quarters too (3), for sequences that "
        "are aligned.",
        panel=MODEL,
        min=1,
    )
    seed: Seed = 0
    n_jobs: Jobs = -1
    memory_limit: Memory = None

    def given(self) -> dict[str, Any]:
        """Return the values of all options, by option."""
        names = (
            "preset",
            "frames",
            "symbols",
            "kernel",
            "C",
            "balanced",
            "class_weight",
            "pyramid",
        )
        flags = {"C": "-C", "class_weight": "--class-weight"}
        return {flags.get(name, f"--{name}"): getattr(self, name) for name in names}

    def reading(self, reading: Any, path: Any = None) -> Any:
        """Return how data are read: the kernel of profiles reads probabilities."""
        wants = re.match(r"profile\b", self.kernel or "", re.IGNORECASE)
        if not wants or reading.profile_values is not None or reading.kind(path) != "profiles":
            return reading
        return replace(reading, profile_values="probabilities")

    def classifier(self, *, verbose: bool) -> Any:
        """Return the classifier, not fitted; values that are not known are an error."""
        from difflib import get_close_matches

        from mvdfq.classifier.estimator import SequenceClassifier
        from mvdfq.classifier.presets import PRESETS
        from mvdfq.classifier.spec import parse

        if self.preset is not None and self.preset not in PRESETS:
            near = get_close_matches(self.preset, PRESETS, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            hint += "--preset help lists all presets"
            raise Refused(f"--preset: {self.preset!r} is not known.", hint, USAGE)
        texts = {kind: getattr(self, kind) for kind in ("frames", "symbols", "kernel")}
        parts = {kind: parse(kind, text) for kind, text in texts.items() if text is not None}
        return SequenceClassifier(
            self.preset,
            **parts,
            C=None if self.C is None else _penalty(self.C),
            class_weight=self._weights(),
            pyramid=self.pyramid,
            random_state=self.seed,
            n_jobs=self.n_jobs,
            memory_limit=self.memory_limit,
            verbose=verbose,
        )

    def _weights(self) -> Any:
        """Return the weights of classes: equal for all classes, or as the user names them."""
        if self.class_weight is None:
            return "balanced" if self.balanced else None
        pairs = [pair.rpartition("=") for pair in self.class_weight.split(",")]
        try:
            weights = {label.strip(): float(weight) for label, _, weight in pairs}
        except ValueError:
            weights = {"": 0.0}
        if self.balanced or "" in weights or min(weights.values()) <= 0:
            hint = "--class-weight rare=5,common=1, or --balanced"
            raise Refused(f"--class-weight: {self.class_weight!r} is not known.", hint, USAGE)
        return weights


def _penalty(text: str) -> Any:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise typer.BadParameter(f"-C must be a number or auto, got {text!r}") from None
