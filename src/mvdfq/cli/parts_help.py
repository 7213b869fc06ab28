"""``--kernel help`` and the like: names, parameters and a sentence each, from the docstrings."""

import re
import textwrap
from collections.abc import Callable, Iterator
from inspect import getdoc, signature
from typing import Any

import typer

__all__ = ["or_help"]

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


def or_help(kind: str) -> Callable[[Any], Any]:
    """Return a callback of an option that prints the list of values for the value ``help``."""

    def callback(value: str | None) -> str | None:
        if value != "help":
            return value
        for line in _page(kind):
            typer.echo(line)
        raise typer.Exit

    return callback


def _page(kind: str) -> Iterator[str]:
    about, example = EXAMPLES[kind]
    yield from _wrapped(f"{about} Example: {example}", "")
    for head, sentence, parameters in _presets() if kind == "preset" else _parts(kind):
        yield ""
        yield from _wrapped(head, "")
        yield from _wrapped(sentence, "    ")
        width = max((len(name) for name in parameters), default=0)
        for name, meaning in parameters.items():
            yield from _wrapped(meaning, " " * (8 + width), f"      {name:<{width}}  ")


def _wrapped(text: str, indent: str, first: str | None = None) -> list[str]:
    from rich.console import Console

    width = min(Console().width, 100)
    start = indent if first is None else first
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=indent or "    ")


def _presets() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield every preset: its sentence, or its parts if the preset is a method of the paper."""
    from mvdfq.classifier.presets import PRESETS

    for name, make in PRESETS.items():
        sentence = _sentence(make.__doc__ or "")
        if not sentence:
            settings = make()
            parts = [repr(settings.symbols), repr(settings.kernel)]
            sentence = ", ".join(parts + ["manifold embedding"] * settings.manifold)
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
    found = re.search(rf"^{name} : .*\n((?:    .*\n?)+)", doc, re.MULTILINE)
    return _sentence(textwrap.dedent(found[1])) if found else ""
