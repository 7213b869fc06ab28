"""The options that choose the parts of the classifier, and ``--kernel help`` and the like."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from inspect import getdoc, signature
from typing import Any, NoReturn

import typer

from mvdfq.cli.errors import USAGE, Refused


def explain_values(kind: str, entry: dict[str, Any]) -> NoReturn:
    """Print the values of an option with their parameters, given its entry in `options.toml`."""
    from rich.console import Console

    width = min(Console().width, 100)
    for text, first, rest in _page(kind, f"{entry['about']} Example: {entry['example']}"):
        lines = textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest)
        typer.echo("\n".join(lines))
    raise typer.Exit


def _page(kind: str, about: str) -> Iterator[tuple[str, str, str]]:
    """Yield paragraphs: a text, the indent of its first line and of further lines."""
    yield about, "", "    "
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
        doc, known = getdoc(cls) or "", {}
        for each in signature(cls).parameters:  # a docstring of numpy's form
            section = re.search(rf"^{each} : .*\n((?:    .*\n?)+)", doc, re.MULTILINE)
            known[each] = _sentence(textwrap.dedent(section[1])) if section else ""
        yield call_of(name, cls), _sentence(doc), known


def _sentence(doc: str) -> str:
    """Return the first sentence of a docstring without markup."""
    plain = re.sub(r":math:`\\?(.*?)`", r"\1", doc)
    first = " ".join(plain.strip().split("\n\n")[0].split()).replace("`", "")
    return re.split(r"(?<=\.)\s", first)[0]


@dataclass(frozen=True)
class Parts:
    """The options that choose the classifier; `with_shared` makes an option of every field."""

    preset: str | None = None
    frames: str | None = None
    symbols: str | None = None
    kernel: str | None = None
    C: str | None = None
    balanced: bool = False
    class_weight: str | None = None
    pyramid: int | None = None
    seed: int = 0
    n_jobs: int = -1
    memory_limit: str | None = None

    def given(self) -> dict[str, Any]:
        """Return the values of all options, by option."""
        names = "preset frames symbols kernel C balanced class_weight pyramid".split()
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
        try:
            C = float(self.C) if self.C not in (None, "auto") else self.C
        except ValueError:
            raise typer.BadParameter(f"-C must be a number or auto, got {self.C!r}") from None
        return SequenceClassifier(
            self.preset,
            **parts,
            C=C,
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
