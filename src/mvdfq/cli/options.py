"""Arguments and options that commands share, and what they stand for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.output import Format, note, progress_bar

__all__ = [
    "Cache",
    "DataFormat",
    "DataPath",
    "GroupPattern",
    "Jobs",
    "Label",
    "Labels",
    "Memory",
    "Output",
    "Parts",
    "Quiet",
    "Reading",
    "Recipe",
    "Seed",
    "SkipBad",
    "Strands",
]

READ, MODEL = "Reading data", "The classifier"
# Sound that one process reads in about a second.
MANY_BYTES = 50_000_000

DataPath = Annotated[
    Path, typer.Argument(help="Audio folder, .ts, .arff, .npz, .csv, .parquet or FASTA.")
]
DataFormat = Annotated[
    str | None, typer.Option("--as", help="Format of the data.", rich_help_panel=READ)
]
Recipe = Annotated[
    str | None, typer.Option(help="Sound to numbers: gtzan+fft64, ...", rich_help_panel=READ)
]
Label = Annotated[
    str | None,
    typer.Option(help="Column of labels; or where a FASTA header says it.", rich_help_panel=READ),
]
Labels = Annotated[
    Path | None, typer.Option(help="Table id,label[,group] for FASTA.", rich_help_panel=READ)
]
GroupPattern = Annotated[
    str | None,
    typer.Option(help="Regular expression: group in a file name.", rich_help_panel=READ),
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave bad files out, list them.", rich_help_panel=READ)
]
Strands = Annotated[
    str,
    typer.Option(help="both: DNA with its reverse complement.", rich_help_panel=READ),
]
Cache = Annotated[
    Path | None, typer.Option(help="Folder for audio features.", rich_help_panel=READ)
]
Output = Annotated[Format, typer.Option("--format", help="How results are shown.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress, no remarks.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
Jobs = Annotated[int, typer.Option("--n-jobs", help="Processors to use, -1 for all.")]
Memory = Annotated[str | None, typer.Option("--memory-limit", help="For example 500MB.")]
PresetName = Annotated[
    str | None, typer.Option(help="A method by its name.", rich_help_panel=MODEL)
]
KernelName = Annotated[str | None, typer.Option(help="For example sssk.", rich_help_panel=MODEL)]
SymbolsName = Annotated[str | None, typer.Option(help="For example direct.", rich_help_panel=MODEL)]
FramesName = Annotated[str | None, typer.Option(help="For example delta.", rich_help_panel=MODEL)]
Penalty = Annotated[
    str | None, typer.Option("-C", help="A number, or auto.", rich_help_panel=MODEL)
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Classes weigh the same.", rich_help_panel=MODEL)
]


@dataclass(frozen=True)
class Reading:
    """How data are read."""

    format: str | None = None
    recipe: Any = None
    label: str | None = None
    labels: Path | None = None
    group_pattern: str | None = None
    skip_bad: bool = False
    cache: Path | None = None
    n_jobs: int = 1
    quiet: bool = False
    strands: str = "one"

    def read(self, path: Any) -> Any:
        """Read a data set, with a bar; say what was left out."""
        from mvdfq.io import read

        label: Any = self.label
        if label is not None and label.lstrip("-").isdigit():
            label = int(label)
        with progress_bar("reading", self.quiet) as progress:
            data = read(
                path,
                self.format,
                recipe=self.recipe,
                label=label,
                labels=self.labels,
                strands=self.strands,
                group_pattern=self.group_pattern,
                skip_bad=self.skip_bad,
                n_jobs=_processes(path) if self.n_jobs == -1 else self.n_jobs,
                cache=self.cache,
                progress=progress,
            )
        for problem in data.skipped:
            note(f"skipped {problem}")
        return data


def _processes(path: Any) -> int:
    """All processors for many bytes; for few, other processes take longer to start than to work."""
    total = 0
    for one in path if isinstance(path, list) else [path]:
        files = [one] if one.is_file() else (file for file in one.rglob("*") if file.is_file())
        for file in files:
            total += file.stat().st_size
            if total > MANY_BYTES:
                return -1
    return 1


@dataclass(frozen=True)
class Parts:
    """Which classifier is meant."""

    preset: str | None = None
    frames: str | None = None
    symbols: str | None = None
    kernel: str | None = None
    C: str | None = None
    balanced: bool = False

    def check(self) -> None:
        """Refuse names that are not known, before data are read."""
        from mvdfq.classifier.presets import PRESETS, part

        if self.preset is not None and self.preset not in PRESETS:
            names = ", ".join(PRESETS)
            raise Refused(f"preset={self.preset!r} is not known.", f"one of {names}", USAGE)
        for kind in ("frames", "symbols", "kernel"):
            part(kind, getattr(self, kind))
        if self.C is not None:
            _penalty(self.C)

    def classifier(self, seed: int, n_jobs: int, memory: str | None, verbose: bool) -> Any:
        """Return it, not fitted."""
        from mvdfq.classifier.estimator import SequenceClassifier

        return SequenceClassifier(
            self.preset,
            frames=self.frames,
            symbols=self.symbols,
            kernel=self.kernel,
            C=None if self.C is None else _penalty(self.C),
            class_weight="balanced" if self.balanced else None,
            random_state=seed,
            n_jobs=n_jobs,
            memory_limit=memory,
            verbose=verbose,
        )


def _penalty(text: str) -> Any:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise typer.BadParameter(f"-C must be a number or auto, got {text!r}") from None
