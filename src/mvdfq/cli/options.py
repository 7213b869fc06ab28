"""Arguments and options that several commands share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli.choices import FORMATS, RECIPES, completed, in_words
from mvdfq.cli.columns import given_columns, number_or_name
from mvdfq.cli.flags import as_flags
from mvdfq.cli.output import Format, note, note_some, progress_bar
from mvdfq.cli.shared import default_cache

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
    "Quiet",
    "Recipe",
    "Seed",
    "SkipBad",
    "Strands",
    "given_columns",
    "processes",
]

READ = "Reading data"
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
        help=f"Format of the data: {in_words(FORMATS)}; default: recognised by content.",
        autocompletion=completed(FORMATS),
        rich_help_panel=READ,
    ),
]
Recipe = Annotated[
    str | None,
    typer.Option(
        help=f"How sound becomes numbers: {in_words(RECIPES)}; +delta and +fft64 after the name "
        f"add rows.",
        autocompletion=completed(RECIPES),
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
        autocompletion=completed(("one", "both")),
        rich_help_panel=READ,
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        help="Folder that keeps audio features; default: the folder that mvdfq cache shows.",
        rich_help_panel=READ,
    ),
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
    # The columns of a table that the user names.
    columns: Mapping[str, Any] = field(default_factory=given_columns)

    def read(self, path: Any) -> Any:
        """Read a data set; print what was left out and what the reader decided by itself."""
        data = self.dataset(path)
        self.tell(data)
        return data

    def tell(self, data: Any) -> None:
        """Print what was left out and what the reader decided by itself."""
        for remark in data.remarks:
            note(as_flags(remark), self.quiet)
        note_some("skipped", [problem.message for problem in data.skipped])

    def dataset(self, path: Any) -> Any:
        """Read a data set with a progress bar."""
        from mvdfq.io import read

        with progress_bar("reading", self.quiet) as progress:
            return read(path, self.format, progress=progress, **self._keywords(path))

    def blocks(self, path: Path, limit: int) -> Any:
        """Return what reads a folder of more than `limit` bytes block by block; None for others."""
        from mvdfq.io import FolderBlocks, recognise

        kind = self.format or recognise(path, **given_columns())
        if not path.is_dir() or kind not in ("audio", "csv-folder"):
            return None
        blocks = FolderBlocks(path, kind, **self._keywords(path))
        return blocks if blocks.n_bytes > limit else None

    def _keywords(self, path: Any) -> dict[str, Any]:
        """Return the options as keywords of `mvdfq.io.read`."""
        return {
            "recipe": self.recipe,
            "label": None if self.label is None else number_or_name(self.label),
            "labels": self.labels,
            "strands": self.strands,
            "group_pattern": self.group_pattern,
            "skip_bad": self.skip_bad,
            "n_jobs": processes(path) if self.n_jobs == -1 else self.n_jobs,
            "cache": self.cache or _cache_for(path, self.format),
            **self.columns,
        }


def _cache_for(path: Any, format: str | None) -> Path | None:
    """Return the default cache if the data are sound; other formats have no features to keep."""
    from mvdfq.io import recognise

    kind = format or recognise(path[0] if isinstance(path, list) else path, **given_columns())
    return default_cache() if kind == "audio" else None


def processes(path: Any) -> int:
    """Return -1, all processors, for many bytes; else 1, since starting processes takes longer."""
    total = 0
    for one in path if isinstance(path, list) else [path]:
        files = [one] if one.is_file() else (file for file in one.rglob("*") if file.is_file())
        for file in files:
            total += file.stat().st_size
            if total > MANY_BYTES:
                return -1
    return 1
