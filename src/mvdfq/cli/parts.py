"""The options that choose the parts of the classifier."""

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from mvdfq.cli import choices
from mvdfq.cli.choices import completed, in_words
from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.parts_help import or_help

__all__ = ["Balanced", "FramesName", "KernelName", "Parts", "Penalty", "PresetName", "SymbolsName"]

MODEL = "The classifier"


def _option(kind: str, values: tuple[str, ...], help: str) -> Any:
    """Return an option whose value ``help`` lists all values with their parameters."""
    return typer.Option(
        f"--{kind}",
        help=f"{help}; --{kind} help explains them.",
        callback=or_help(kind),
        is_eager=True,  # the list of values needs no data
        autocompletion=completed((*values, "help")),
        rich_help_panel=MODEL,
    )


PresetName = Annotated[
    str | None,
    _option(
        "preset",
        choices.PRESETS,
        f"{', '.join((*choices.OWN_PRESETS, *choices.OTHER_PRESETS))}, or METHOD-KERNEL with "
        f"METHOD {in_words(choices.METHODS)} and KERNEL spectrum, mismatch or sssk; -alt at the "
        f"end: the settings of the paper's comments",
    ),
]
FramesName = Annotated[
    str | None,
    _option("frames", choices.FRAMES, f"{in_words(choices.FRAMES)}, such as 'smooth(9) | delta'"),
]
SymbolsName = Annotated[
    str | None,
    _option("symbols", choices.SYMBOLS, f"{in_words(choices.SYMBOLS)}, such as 'direct(16)'"),
]
KernelName = Annotated[
    str | None,
    _option("kernel", choices.KERNELS, f"{in_words(choices.KERNELS)}, such as 'gapped(8, 6)'"),
]
Penalty = Annotated[
    str | None,
    typer.Option(
        "-C",
        help="Penalty of the support vector machine: a number > 0, or auto.",
        autocompletion=completed(("auto",)),
        rich_help_panel=MODEL,
    ),
]
Balanced = Annotated[
    bool,
    typer.Option("--balanced", help="All classes have the same weight.", rich_help_panel=MODEL),
]


@dataclass(frozen=True)
class Parts:
    """The options that choose the parts of the classifier."""

    preset: str | None = None
    frames: str | None = None
    symbols: str | None = None
    kernel: str | None = None
    C: str | None = None
    balanced: bool = False

    def given(self) -> dict[str, Any]:
        """Return the values of all options, by option."""
        names = {f"--{name}": getattr(self, name) for name in ("preset", "frames", "symbols")}
        return names | {"--kernel": self.kernel, "-C": self.C, "--balanced": self.balanced}

    def check(self) -> None:
        """Raise an error for values that are not known, before data are read."""
        self.classifier(0, 1, None, verbose=False)

    def classifier(self, seed: int, n_jobs: int, memory: str | None, verbose: bool) -> Any:
        """Return the classifier, not fitted."""
        from mvdfq.classifier.estimator import SequenceClassifier
        from mvdfq.classifier.spec import parse

        self._check_preset()
        texts = {kind: getattr(self, kind) for kind in ("frames", "symbols", "kernel")}
        parts = {kind: parse(kind, text) for kind, text in texts.items() if text is not None}
        return SequenceClassifier(
            self.preset,
            **parts,
            C=None if self.C is None else _penalty(self.C),
            class_weight="balanced" if self.balanced else None,
            random_state=seed,
            n_jobs=n_jobs,
            memory_limit=memory,
            verbose=verbose,
        )

    def _check_preset(self) -> None:
        from difflib import get_close_matches

        from mvdfq.classifier.presets import PRESETS

        if self.preset is not None and self.preset not in PRESETS:
            near = get_close_matches(self.preset, PRESETS, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            hint += "--preset help lists all presets"
            raise Refused(f"--preset: {self.preset!r} is not known.", hint, USAGE)


def _penalty(text: str) -> Any:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise typer.BadParameter(f"-C must be a number or auto, got {text!r}") from None
