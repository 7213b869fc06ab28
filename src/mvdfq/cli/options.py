"""Arguments and options that several commands share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli.columns import number_or_name
from mvdfq.cli.errors import USAGE, Refused
from mvdfq.cli.flags import as_flags
from mvdfq.cli.output import Format, note, note_some, progress_bar

__all__ = [
    "Cache",
    "DataFormat",
    "DataOptions",
    "DataPath",
    "GroupPattern",
    "Jobs",
    "Label",
    "Labels",
    "Memory",
    "Output",
    "Parts",
    "Quiet",
    "Recipe",
    "Seed",
    "SkipBad",
    "Strands",
]

READ, MODEL = "Reading data", "The classifier"
# Bytes of audio that one process reads in about a second.
MANY_BYTES = 50_000_000

DataPath = Annotated[
    Path,
    typer.Argument(help="File or folder: audio, .ts, .arff, .npz, .npy, .csv, .parquet, FASTA."),
]
DataFormat = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="Format of the data: audio, fasta, profiles, ts, arff, npz, npy, parquet, long-csv, "
        "wide-csv or csv-folder; default: recognised by content.",
        rich_help_panel=READ,
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        help="How sound becomes numbers: default, gtzan, librosa or telephone; +delta and +fft64 "
        "after the name add rows.",
        rich_help_panel=READ,
    ),
]
Label = Annotated[
    str | None,
    typer.Option(
        help="Column of labels: its name or number, or none. For FASTA: the number of a word in "
        "the header, or a regular expression.",
        rich_help_panel=READ,
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option(
        help="Table with the columns id,label[,group], for FASTA and profiles.",
        rich_help_panel=READ,
    ),
]
GroupPattern = Annotated[
    str | None,
    typer.Option(
        help="Regular expression whose first group finds the group in a name, such as _(.+)_ .",
        rich_help_panel=READ,
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Leave out files that cannot be read, and list them.",
        rich_help_panel=READ,
    ),
]
Strands = Annotated[
    str,
    typer.Option(
        help="one: FASTA as it is; both: FASTA is DNA, read with the reverse complement.",
        rich_help_panel=READ,
    ),
]
Cache = Annotated[
    Path | None, typer.Option(help="Folder that keeps audio features.", rich_help_panel=READ)
]
Output = Annotated[Format, typer.Option("--format", help="Format of the results.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Do not show progress and remarks.")]
Seed = Annotated[int, typer.Option(help="Seed of all random choices, a whole number.")]
Jobs = Annotated[int, typer.Option("--n-jobs", help="Number of processors; -1 means all.")]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        help="Memory limit of kernel matrices, such as 500MB or 2GB; default 2GiB.",
    ),
]
PresetName = Annotated[
    str | None,
    typer.Option(
        help="numbers, letters, multi-vq, multi-vq-alt, mvdfq-1d, mvdfqm-1d, or METHOD-KERNEL with "
        "METHOD mvdfq, mvdfqm, vq, vqm, hashing or hashingm and KERNEL spectrum, mismatch or sssk; "
        "-alt at the end: the settings of the paper's comments.",
        rich_help_panel=MODEL,
    ),
]
KernelName = Annotated[
    str | None,
    typer.Option(
        help="gapped, gappy, mismatch, profile, spatial, spectrum, sssk, subsequence or wildcard.",
        rich_help_panel=MODEL,
    ),
]
SymbolsName = Annotated[
    str | None,
    typer.Option(
        help="codebook, direct, hashing, joint, letters or threshold.", rich_help_panel=MODEL
    ),
]
FramesName = Annotated[
    str | None,
    typer.Option(
        help="centre, delta, filters, lags, rotate, smooth or standardize.", rich_help_panel=MODEL
    ),
]
Penalty = Annotated[
    str | None,
    typer.Option(
        "-C",
        help="Penalty of the support vector machine: a number > 0, or auto.",
        rich_help_panel=MODEL,
    ),
]
Balanced = Annotated[
    bool,
    typer.Option("--balanced", help="All classes have the same weight.", rich_help_panel=MODEL),
]


@dataclass(frozen=True)
class DataOptions:
    """The options that say how data are read."""

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
    # The columns of a table, see mvdfq.cli.columns.
    columns: Mapping[str, Any] = field(default_factory=dict)

    def read(self, path: Any) -> Any:
        """Read a data set; print what was left out and what the reader decided by itself."""
        data = self.dataset(path)
        for remark in data.remarks:
            note(as_flags(remark), self.quiet)
        note_some("skipped", data.skipped)
        return data

    def dataset(self, path: Any) -> Any:
        """Read a data set with a progress bar."""
        from mvdfq.io import read

        with progress_bar("reading", self.quiet) as progress:
            return read(
                path,
                self.format,
                recipe=self.recipe,
                label=None if self.label is None else number_or_name(self.label),
                labels=self.labels,
                strands=self.strands,
                group_pattern=self.group_pattern,
                skip_bad=self.skip_bad,
                n_jobs=_processes(path) if self.n_jobs == -1 else self.n_jobs,
                cache=self.cache,
                progress=progress,
                **self.columns,
            )


def _processes(path: Any) -> int:
    """Return -1, all processors, for many bytes; else 1, since starting processes takes longer."""
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
    """The options that choose the parts of the classifier."""

    preset: str | None = None
    frames: str | None = None
    symbols: str | None = None
    kernel: str | None = None
    C: str | None = None
    balanced: bool = False

    def check(self) -> None:
        """Raise an error for unknown names, before data are read."""
        from mvdfq.classifier.presets import PRESETS, part

        if self.preset is not None and self.preset not in PRESETS:
            names = ", ".join(PRESETS)
            raise Refused(f"preset={self.preset!r} is not known.", f"use one of {names}", USAGE)
        for kind in ("frames", "symbols", "kernel"):
            part(kind, getattr(self, kind))
        if self.C is not None:
            _penalty(self.C)

    def classifier(self, seed: int, n_jobs: int, memory: str | None, verbose: bool) -> Any:
        """Return the classifier, not fitted."""
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
