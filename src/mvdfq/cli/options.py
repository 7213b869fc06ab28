"""The options that several commands share: how data are read, and which classifier is trained."""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import typer

from mvdfq._utils.errors import ParameterError
from mvdfq.cli.errors import USAGE, Refused, in_options
from mvdfq.cli.output import note, note_some, progress_bar

# Bytes of audio that one process reads in about a second.
MANY_BYTES = 50_000_000


@dataclass(frozen=True)
class DataOptions:
    """The options that say how data are read; `with_shared` makes an option of every field."""

    as_: str | None = None
    recipe: str | None = None
    label: str | None = None
    labels: Path | None = None
    label_pattern: str | None = None
    group_pattern: str | None = None
    skip_bad: bool = False
    strands: str = "one"
    cache: Path | None = None
    silence: str | None = None
    profile_values: str | None = None
    no_cache: bool = False
    id: str | None = None
    time: str | None = None
    group: str | None = None
    channels: str | None = None
    drop: str | None = None
    categories: str | None = None
    missing: str | None = None
    resample: float | None = None
    windows: str | None = None
    step: str | None = None
    n_jobs: int = -1
    quiet: bool = False

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

        label = {} if self.label is None else {"label": _parsed("label", self.label)}
        first = path[0] if isinstance(path, list) else path
        return self.as_ or recognise(first, **self.columns, **label)

    def labelled(self, path: Any) -> Any:
        """Read a data set; raise an error if the data have no labels."""
        from mvdfq.io.inspection import letters_remarks
        from mvdfq.io.labelling import how_to_label

        data = self.read(path)
        if data.y is None:
            hint = in_options(how_to_label(self.kind(path)))
            raise Refused(f"{shown_paths(path)} has no labels.", hint)
        for remark in letters_remarks(data):
            note(in_options(remark), self.quiet)
        return data

    def read(self, path: Any) -> Any:
        """Read a data set; print what was left out and what the reader decided by itself."""
        data = self.dataset(path)
        self.tell(data)
        return data

    def tell(self, data: Any) -> None:
        """Print what was left out and what the reader decided by itself."""
        for remark in data.remarks:
            note(in_options(remark), self.quiet)
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

        try:
            return windows(data, self.windows, self.step)
        except ParameterError as error:  # the option has another name than the parameter
            names = {"window": "windows"}
            raise ParameterError(names.get(error.name, error.name), *error.args[1:]) from None

    def parts(self, path: Path, limit: int) -> Any:
        """List a folder of more than `limit` bytes as parts; None for other data."""
        from mvdfq.io import list_parts

        kind = self.kind(path)
        if not path.is_dir() or kind not in ("audio", "csv-folder"):
            return None
        # the size of the files stands for the memory that their numbers would take
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return list_parts(path, format=kind, **self._keywords(path)) if size > limit else None

    def _keywords(self, path: Any) -> dict[str, Any]:
        """Return the options as keywords of `mvdfq.io.read`."""
        from mvdfq._utils.files import cache_folder

        cache, as_given = self.cache, "recipe labels strands label_pattern group_pattern skip_bad"
        if not (cache or self.no_cache) and self.kind(path) == "audio":
            # a home without the right to write: the cache only saves time
            with suppress(OSError):
                cache_folder("features").mkdir(parents=True, exist_ok=True)
                cache = cache_folder("features")
        return {
            **{name: getattr(self, name) for name in (*as_given.split(), "profile_values")},
            "label": None if self.label is None else _parsed("label", self.label),
            "n_jobs": processes(path) if self.n_jobs == -1 else self.n_jobs,
            "cache": cache,
            **self.columns,
        }


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
        return [name.strip() for name in value.split(",") if name.strip()]
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
        from mvdfq.classifier.registry import parse

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
        same = {name: getattr(self, name) for name in ("pyramid", "n_jobs", "memory_limit")}
        parts |= same | {"C": C, "class_weight": self._weights(), "random_state": self.seed}
        return SequenceClassifier(self.preset, **parts, verbose=verbose)

    def _weights(self) -> Any:
        """Return the weights of classes: equal for all classes, or as the user names them."""
        if self.class_weight is None:
            return "balanced" if self.balanced else None
        if self.balanced:
            problem = "--balanced and --class-weight exclude each other."
            raise Refused(problem, "leave out one of them", USAGE)
        pairs = [pair.rpartition("=") for pair in self.class_weight.split(",")]
        try:
            weights = {label.strip(): float(weight) for label, _, weight in pairs}
        except ValueError:
            weights = {"": 0.0}
        if "" in weights or min(weights.values()) <= 0:
            problem = "must name classes with weights above 0"
            hint = "--class-weight rare=5,common=1, or --balanced"
            raise Refused(f"--class-weight {problem}, got {self.class_weight!r}.", hint, USAGE)
        return weights


def explain_values(kind: str) -> NoReturn:
    """Print the names that an option takes, with a line on each."""
    from mvdfq.classifier.presets import PRESETS
    from mvdfq.classifier.registry import NAMED, call_of

    parts: dict[str, Any] = PRESETS if kind == "preset" else NAMED[kind]
    for name, part in parts.items():
        about = (part.__doc__ or "A method of the paper.").strip().partition("\n")[0]
        call = name if kind == "preset" else call_of(name, part)
        typer.echo(f"{call}: {about.replace('`', '')}")
    raise typer.Exit
