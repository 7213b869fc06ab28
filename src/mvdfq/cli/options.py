"""Arguments and options that several commands share."""

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from mvdfq.cli.errors import USAGE, Refused, as_flags
from mvdfq.cli.output import Format, note, note_some, progress_bar
from mvdfq.cli.shared import option
from mvdfq.cli.values import FORMATS, RECIPES, in_words

# Bytes of audio that one process reads in about a second.
MANY_BYTES = 50_000_000

DATA = (
    "audio, .ts, .arff, .npz, .npy, .mat, .csv, .json, .xlsx, .parquet, .feather, FASTA, profiles."
)
DataPath = Annotated[Path, typer.Argument(help=f"File or folder: {DATA}")]
DataPaths = Annotated[
    list[Path],
    typer.Argument(
        help=f"File or folder, or FASTA files, one per class: {DATA}", metavar="DATA..."
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


_reading = partial(option, panel="Reading data")
_column = partial(option, panel="Columns of tables, by name or number (0 is the first)")


@dataclass(frozen=True)
class DataOptions:
    """The options that say how data are read; `with_shared` makes an option of every field."""

    as_: str | None = _reading(
        None,
        f"Format of the data: {in_words(FORMATS)}; default: recognised by content.",
        "--as",
        values=FORMATS,
    )
    recipe: str | None = _reading(
        None,
        f"How sound becomes numbers: {in_words(RECIPES)}; +delta and +fft64 after the name add "
        f"rows.",
        values=RECIPES,
    )
    label: str | None = _reading(
        None,
        "Column of labels, also of --labels: its name or number, or none. For FASTA: the number "
        "of a word in the header, or a regular expression.",
    )
    labels: Path | None = _reading(
        None,
        "Table of names and labels, for any data; names with or without endings, or one label "
        "per line in order.",
    )
    label_pattern: str | None = _reading(
        None,
        "Regular expression whose first group finds the label in a name, such as /([^/.]+) .",
    )
    group_pattern: str | None = _reading(
        None, "Regular expression whose first group finds the group in a name, such as _(.+)_ ."
    )
    skip_bad: bool = _reading(
        False, "Leave out files that cannot be read, and list them.", "--skip-bad"
    )
    strands: str = _reading(
        "one",
        "one: FASTA as it is; both: FASTA is DNA, read with the reverse complement.",
        values=("one", "both"),
    )
    cache: Path | None = _reading(
        None, "Folder that keeps audio features; default: the folder that mvdfq cache shows."
    )
    silence: str | None = _reading(
        None,
        "Frames of digital silence in sound: missing or keep; default: as the recipe says.",
        values=("missing", "keep"),
    )
    profile_values: str | None = _reading(
        None,
        "Numbers of profiles: log-odds or probabilities; default: what --kernel needs.",
        values=("log-odds", "probabilities"),
    )
    no_cache: bool = _reading(
        False, "Do not use or keep audio features in the cache; see mvdfq cache.", "--no-cache"
    )
    id: str | None = _column(None, "Column that names the sequence of each row.")
    time: str | None = _column(
        None, "Column of times, or none: rows in order; NAME:ms says the unit: s, ms, us or ns."
    )
    group: str | None = _column(None, "Column of groups (subjects, devices), or none.")
    channels: str | None = _column(
        None,
        "Columns that are channels, such as x,y,z; default: all columns without another role.",
    )
    drop: str | None = _column(None, "Columns that are left out, such as note,index.")
    categories: str | None = _column(
        None, "Columns of states, such as gear,mode, also if they hold numbers."
    )
    missing: str | None = _column(
        None, "Values that stand for a missing value, such as -999 or -1,-999."
    )
    resample: float | None = _column(
        None, "Rows per second that all sequences are brought to; gaps stay gaps.", min=0
    )
    windows: str | None = _reading(
        None,
        "Cut recordings into windows of this length, such as 5s, 500ms or 250 (rows); windows of "
        "one recording are one group.",
    )
    step: str | None = _reading(
        None, "From the start of a window to the next, such as 2.5s; default: --windows."
    )
    n_jobs: Jobs = -1
    quiet: Quiet = False

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the user names, as keywords of `mvdfq.io.read`."""
        names = "id time group channels drop resample silence categories missing".split()
        given = {name: getattr(self, name) for name in names}
        return {name: _parsed(name, value) for name, value in given.items() if value is not None}

    @property
    def elsewhere(self) -> Any:
        """Where labels and groups come from, if they do not come from the data themselves."""
        from mvdfq.io.labelling import Elsewhere

        label, group = (value and _parsed("", value) for value in (self.label, self.group))
        return Elsewhere(self.labels, label, group, self.label_pattern, self.group_pattern)

    def kind(self, path: Any) -> str:
        """Return the format of the data, recognised by content if the user does not say it."""
        from mvdfq.io import recognise

        first = path[0] if isinstance(path, list) else path
        return self.as_ or recognise(first, **self.columns)

    def labelled(self, path: Any) -> Any:
        """Read a data set; raise an error if the data have no labels."""
        from mvdfq.io.labelling import how_to_label

        data = self.read(path)
        if data.y is None:
            hint = as_flags(how_to_label(self.kind(path)))
            raise Refused(f"{shown_paths(path)} has no labels.", hint)
        return data

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
            data = read(path, self.as_, progress=progress, **self._keywords(path))
        if self.windows is None:
            if self.step is not None:
                raise Refused("--step needs --windows.", "name the length of a window", USAGE)
            return data
        from mvdfq.io.dataset import windows

        return windows(data, self.windows, self.step)

    def blocks(self, path: Path, limit: int) -> Any:
        """Return what reads a folder of more than `limit` bytes block by block; None for others."""
        from mvdfq.io import FolderBlocks

        kind = self.kind(path)
        if not path.is_dir() or kind not in ("audio", "csv-folder"):
            return None
        blocks = FolderBlocks(path, kind, **self._keywords(path))
        return blocks if blocks.n_bytes > limit else None

    def _keywords(self, path: Any) -> dict[str, Any]:
        """Return the options as keywords of `mvdfq.io.read`."""
        return {
            "recipe": self.recipe,
            "label": None if self.label is None else _parsed("label", self.label),
            "labels": self.labels,
            "strands": self.strands,
            "label_pattern": self.label_pattern,
            "group_pattern": self.group_pattern,
            "profile_values": self.profile_values,
            "skip_bad": self.skip_bad,
            "n_jobs": processes(path) if self.n_jobs == -1 else self.n_jobs,
            "cache": self.cache or self._default_cache(path),
            **self.columns,
        }

    def _default_cache(self, path: Any) -> Path | None:
        """Return the default folder if the data are sound; None if it cannot be created."""
        from mvdfq.io.sound.feature_cache import features_folder

        if self.no_cache or self.kind(path) != "audio":
            return None
        folder = features_folder()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:  # a home without the right to write: the cache only saves time
            return None
        return folder


def one_or_all(paths: list[Path]) -> Any:
    """Return the path that the user names, or the list of several paths."""
    return paths[0] if len(paths) == 1 else paths


def shown_paths(path: Any) -> str:
    """Return one path, or several paths, as text."""
    return " ".join(map(str, path)) if isinstance(path, list) else str(path)


def _parsed(name: str, value: Any) -> Any:
    """Return a column as the library takes it; a value that was read before stays as it is."""
    if not isinstance(value, str) or name == "silence":
        return value
    if name in ("categories", "missing"):
        return [one.strip() for one in value.split(",") if one.strip()]
    if name in ("channels", "drop"):
        return [number_or_name(name.strip()) for name in value.split(",") if name.strip()]
    return number_or_name(value)


def number_or_name(text: str) -> str | int:
    """Return a column as the library takes it: a number counts from 0, or from the end."""
    return int(text) if re.fullmatch("-?[0-9]{1,18}", text) else text


def processes(path: Any) -> int:
    """Return -1, all processors, for many bytes; else 1, since starting processes takes longer."""
    total = 0
    for place in path if isinstance(path, list) else [path]:
        for file in [place] if place.is_file() else filter(Path.is_file, place.rglob("*")):
            total += file.stat().st_size
            if total > MANY_BYTES:
                return -1
    return 1
