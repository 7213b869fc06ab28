"""Sound files -> sequences of MFCC, read block by block in bounded memory.

What is in a folder (`list_audio`), what a file holds (`audio_features`), and both together, by
several processes and with a cache (`read_audio`).
"""

import csv
import os
import re
import stat
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from io import BufferedReader, FileIO
from math import gcd
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mvdfq.io.base import Dataset, ReadError
from mvdfq.io.cache import FeatureCache
from mvdfq.io.mfcc import AudioRecipe, audio_recipe
from mvdfq.sequences import Sequences, offsets_of
from mvdfq.threads import n_threads, one_blas_thread

__all__ = ["AudioListing", "audio_features", "list_audio", "looks_like_audio", "read_audio"]

# Samples decoded at a time, over all channels: 1 MB.
BLOCK = 2**18
# Rates that are resampled; the filter between two of them grows with the larger one.
RATES = 1000, 384_000
# Half a step of 16 bits. What is never louder is silent, also if a codec left a trace in it.
SILENCE = 2.0**-16
# Files of a folder that are looked at to tell what it holds.
LOOKS = 20
MEND = "mend or remove it, or skip bad files"
FORMATS = "WAV, FLAC, OGG, Opus, MP3 and AU are read"


@dataclass
class AudioListing:
    """The sound files of a folder and what their places say about them.

    Parameters
    ----------
    files : list of Path
        The files.

    names : list of str
        Their names: paths relative to the folder, with slashes.

    labels : list of str
        The class of each file; empty if there are no classes.

    groups : list of str
        The group of each file; empty if there are no groups.

    problems : list of ReadError
        What is wrong with the folder, in name order (`metadata.csv`: in its order).

    Examples
    --------
    >>> from pathlib import Path
    >>> from mvdfq.io.audio import AudioListing
    >>> AudioListing([Path("music/rock/a.mp3")], ["rock/a.mp3"], ["rock"]).labels
    ['rock']
    """

    files: list[Path] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    problems: list[ReadError] = field(default_factory=list)

    def add(self, file: Path, name: str, label: str | None, group: str | None = None) -> None:
        """Take in a file, or say why not."""
        if not _is_utf8(name):
            problem = "the name is not valid UTF-8"
            self.problems.append(ReadError(shown(file), problem, "rename the file"))
            return
        self.files.append(file)
        self.names.append(name)
        self.labels += [] if label is None else [label]
        self.groups += [] if group is None else [group]

    def keep(self, kept: list[int]) -> None:
        """Leave out the other files."""
        columns: list[list[Any]] = [self.files, self.names, self.labels, self.groups]
        for values in columns:
            values[:] = [values[i] for i in kept] if values else []


def read_audio(
    path: Any,
    recipe: AudioRecipe | str | None = None,
    *,
    group_pattern: str | None = None,
    skip_bad: bool = False,
    n_jobs: int | None = None,
    cache: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Dataset:
    r"""Read sound files as sequences of MFCC.

    WAV, FLAC, OGG, Opus, MP3 and AU, recognised by content, not by extension; channels are mixed
    to one. `path` is a folder with a sub-folder for each class (files may lie deeper), a folder
    with a ``metadata.csv`` of the columns ``file_name,label[,group]``, or files without labels:
    a folder of them, a list, a single one. Names that begin with a dot are passed over, and so is
    what is no sound beside the folders of the classes.

    A file that is empty, damaged, no sound, silent, shorter than a window or longer than the
    recipe allows is refused, by name. A class of one file is read, with a warning.

    Parameters
    ----------
    path : str, Path or list of these
        A folder, a file, or several files.

    recipe : AudioRecipe or str, default=None
        How sound becomes numbers, or a name in `AUDIO_RECIPES`; None is ``"default"``.

    group_pattern : str, default=None
        Regular expression, searched in the name of each file, or in its path relative to the
        folder if the expression has a slash in it. Its group named ``group``, else its first,
        is what the file belongs to. It goes before the column ``group``.

    skip_bad : bool, default=False
        Leave out what cannot be read and list it in `Dataset.skipped`, in place of raising the
        first: what is wrong with the folder, else with its files, in name order.

    n_jobs : int, default=None
        Number of processes; None is one, -1 all processors.

    cache : str or Path, default=None
        Folder for features, kept by content of the file and recipe.

    progress : callable, default=None
        Called with the number of files done and of all files.

    Returns
    -------
    dataset : Dataset
        Sequences in the order of their names (`metadata.csv`: in its order).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, soundfile
    >>> from mvdfq.io.audio import read_audio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ["high/anna_1.wav", "high/ben_1.wav", "low/anna_1.wav", "low/ben_1.wav"]:
    ...         hertz = 880 if name.startswith("high") else 110
    ...         (Path(folder) / name).parent.mkdir(exist_ok=True)
    ...         tone = np.sin(2 * np.pi * hertz * np.arange(8000) / 8000)
    ...         soundfile.write(Path(folder) / name, tone, 8000)
    ...     data = read_audio(folder, group_pattern=r"(\w+)_")
    >>> data.X.n_rows, data.X.lengths, data.X.sampling_rate
    (13, array([98, 98, 98, 98]), 100.0)
    >>> data.y.tolist(), data.groups.tolist()
    (['high', 'high', 'low', 'low'], ['anna', 'ben', 'anna', 'ben'])
    """
    recipe, workers = audio_recipe(recipe), n_threads(n_jobs)
    store = None if cache is None else FeatureCache(cache)
    listing = list_audio(path, group_pattern=group_pattern)
    if listing.problems and not skip_bad:
        raise listing.problems[0]
    features, bad = {}, []
    results = _extracted([(file, recipe, store) for file in listing.files], workers)
    for i, result in enumerate(results):
        if not isinstance(result, ReadError):
            features[i] = result
        elif skip_bad:
            bad.append(result)
        else:
            raise result
        if progress is not None:
            progress(i + 1, len(listing.files))
    if not features:
        raise _nothing(path, [*listing.problems, *bad])
    listing.keep([*features])
    return _dataset(listing, [*features.values()], recipe, (*listing.problems, *bad))


def _dataset(
    listing: AudioListing,
    features: list[np.ndarray],
    recipe: AudioRecipe,
    skipped: tuple[ReadError, ...],
) -> Dataset:
    for label, n in sorted(Counter(listing.labels).items()):
        if n == 1:
            warnings.warn(f"Class {label!r} has one file; it cannot be tested.", stacklevel=3)
    X = Sequences(
        np.concatenate(features, axis=1),
        offsets_of([rows.shape[1] for rows in features]),
        channel_names=recipe.channel_names,
        sampling_rate=recipe.frame_rate,
    )
    labels, groups = [
        np.array(values) if values else None for values in (listing.labels, listing.groups)
    ]
    return Dataset(X, y=labels, names=listing.names, groups=groups, skipped=skipped)


def _nothing(path: Any, problems: list[ReadError]) -> ReadError:
    where = shown(path) if isinstance(path, str | Path) else "the list of files"
    if not problems:
        return ReadError(where, "holds no files", FORMATS)
    return ReadError(where, f"no file can be read; the first problem is {problems[0]}")


def _extracted(
    jobs: list[tuple[Path, AudioRecipe, FeatureCache | None]], workers: int
) -> Iterator[np.ndarray | ReadError]:
    """Yield the features of each file, or what is wrong with it, in order."""
    if workers == 1 or len(jobs) < 2:
        yield from (_attempt(*job) for job in jobs)
        return
    import joblib

    parallel = joblib.Parallel(n_jobs=min(workers, len(jobs)), return_as="generator")
    yield from parallel(joblib.delayed(_attempt)(*job) for job in jobs)


def _attempt(file: Path, recipe: AudioRecipe, cache: FeatureCache | None) -> np.ndarray | ReadError:
    """The features of a file, or the error: raised in a worker it would end the others."""
    try:
        return audio_features(file, recipe, cache=cache)
    except ReadError as error:
        return error


def audio_features(
    file: str | Path,
    recipe: AudioRecipe | str | None = None,
    *,
    cache: FeatureCache | None = None,
) -> np.ndarray:
    """Extract the features of one sound file.

    Memory does not grow with the length of the file but for the features themselves.

    Parameters
    ----------
    file : str or Path
        The file.

    recipe : AudioRecipe or str, default=None
        How sound becomes numbers, or a name in `AUDIO_RECIPES`; None is ``"default"``.

    cache : FeatureCache, default=None
        Where features are looked for, and put.

    Returns
    -------
    features : ndarray of shape (n_rows, n_frames), dtype=float32
        One row for each of the recipe's `channel_names`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, soundfile
    >>> from mvdfq.io.audio import audio_features
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "tone.flac"
    ...     soundfile.write(file, np.sin(np.arange(44100) / 10), 44100)
    ...     audio_features(file, "librosa").shape
    (13, 44)
    """
    recipe = audio_recipe(recipe)
    # One thread, so that the bits are the same in any process.
    with _opened(file) as stream, one_blas_thread():
        entry = None if cache is None else cache.entry(stream, recipe.key)
        found = None if cache is None or entry is None else cache.load(entry)
        if found is not None and found.ndim == 2 and len(found) == recipe.n_rows:
            return found
        features = _decoded_features(stream, shown(file), recipe)
        if cache is not None and entry is not None:
            cache.store(entry, features)
    return features


class _Nameless(BufferedReader):
    """A file without a name: soundfile would believe the extension ``.raw`` more than the bytes."""

    name = ""


@contextmanager
def _opened(file: str | Path) -> Iterator[BinaryIO]:
    """Open a file that is one: a pipe would be waited for, a folder has no bytes."""
    try:
        status = os.stat(file)
        if not stat.S_ISREG(status.st_mode):
            raise ReadError(shown(file), "is not a regular file", MEND)
        if not status.st_size:
            raise ReadError(shown(file), "is empty (0 bytes)", MEND)
        stream = _Nameless(FileIO(file))
    except (OSError, ValueError) as error:
        if isinstance(error, ReadError):
            raise
        raise _unreadable(file, error) from None
    with stream:
        yield stream


def _unreadable(file: str | Path, error: Exception) -> ReadError:
    """What the system says of a path that it does not open."""
    if isinstance(error, FileNotFoundError):
        link = os.path.islink(file)
        problem = "is a link to a file that is not there" if link else "there is no such file"
        return ReadError(shown(file), problem, MEND if link else "check the path")
    if isinstance(error, PermissionError):
        return ReadError(shown(file), "permission denied", "make it readable, or skip bad files")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return ReadError(shown(file), f"cannot be opened ({reason})", MEND)


def _decoded_features(stream: BinaryIO, name: str, recipe: AudioRecipe) -> np.ndarray:
    import soundfile  # here, so that all else works without the library it loads

    _check_whole(stream, name)
    try:
        with soundfile.SoundFile(stream) as sound:
            _check_header(sound, name, recipe)
            blocks = _checked(_mono(sound), sound.samplerate, name, recipe)
            return recipe.features(resampled(blocks, sound.samplerate, recipe.sr))
    except soundfile.LibsndfileError as error:
        reason = error.error_string.rstrip(".")
        raise ReadError(name, f"is damaged or no sound ({reason})", f"{FORMATS}; {MEND}") from None


def _check_whole(stream: BinaryIO, name: str) -> None:
    """Refuse a WAV that ends early: the decoder would take the rest for the whole."""
    start = stream.read(8)
    announced = 8 + int.from_bytes(start[4:], "little")
    held = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    # Programs that cannot go back to the header write a very large size, and some miss the last
    # byte of padding.
    if start[:4] == b"RIFF" and held + 8 < announced < 2**31 - 2**16:
        problem = f"is damaged: it ends after {held} of {announced} bytes"
        raise ReadError(name, problem, MEND)


def _check_header(sound: Any, name: str, recipe: AudioRecipe) -> None:
    if not RATES[0] <= sound.samplerate <= RATES[1]:
        problem = f"{sound.samplerate} samples per second"
        raise ReadError(name, problem, f"from {RATES[0]} to {RATES[1]} are read")
    # A stream of unknown length announces 2**63 - 1: it is measured while it is read.
    if sound.frames < 2**62 and sound.frames > recipe.max_duration * sound.samplerate:
        raise _too_long(name, recipe)


def _too_long(name: str, recipe: AudioRecipe) -> ReadError:
    problem = f"lasts more than {recipe.max_duration:g} seconds"
    return ReadError(name, problem, "cut it, or raise max_duration of the recipe")


def _mono(sound: Any) -> Iterator[np.ndarray]:
    """Yield the mean of all channels, block by block."""
    size = max(1, BLOCK // sound.channels)
    # equivalent to block.mean(axis=1), which took a third of the time of reading a stereo file
    shares = np.full(sound.channels, 1 / sound.channels, dtype=np.float32)
    while len(block := sound.read(size, dtype="float32", always_2d=True)):
        yield block[:, 0] if sound.channels == 1 else block @ shares


def _checked(
    blocks: Iterable[np.ndarray], rate: int, name: str, recipe: AudioRecipe
) -> Iterator[np.ndarray]:
    """Pass the samples on, and refuse what is no use when the end shows it."""
    n, peak = 0, 0.0
    for block in blocks:
        # The largest magnitude is NaN if any sample is: one pass finds both.
        loudest = float(np.abs(block).max())
        if not np.isfinite(loudest):
            place = n + int(np.flatnonzero(~np.isfinite(block))[0])
            raise ReadError(name, f"sample {place} is not a finite number", MEND)
        n, peak = n + len(block), max(peak, loudest)
        if n > recipe.max_duration * rate:
            raise _too_long(name, recipe)
        yield block
    shortest = recipe.window_samples if recipe.center is True else recipe.frame_samples
    if n * recipe.sr < shortest * rate:
        problem = f"is too short: {n / rate:.3g} s, a window takes {shortest / recipe.sr:.3g} s"
        raise ReadError(name, problem, MEND)
    if peak <= SILENCE:
        raise ReadError(name, f"is silent: nothing can be heard in its {n / rate:.3g} s", MEND)


def resampled(blocks: Iterable[np.ndarray], rate: int, wanted: int) -> Iterator[np.ndarray]:
    """Yield a signal at another sampling rate, block by block.

    The same samples as `scipy.signal.resample_poly` gives for the whole signal: every piece is
    resampled with as much of its neighbours as the filter reaches, and these are cut off again.
    Pieces begin at multiples of `down` samples, where input and output fall together.
    """
    up, down = wanted // gcd(rate, wanted), rate // gcd(rate, wanted)
    if up == down:
        yield from blocks
        return
    reach = -(-10 * max(up, down) // (up * down)) + 1  # of the filter, in units of `down` samples
    units = max(1, BLOCK // (4 * max(up, down)))
    rest = np.zeros(reach * down, dtype=np.float32)
    needed = (units + 2 * reach) * down
    for block in blocks:
        rest = np.concatenate([rest, block])
        while len(rest) >= needed:
            yield _resample(rest[:needed], up, down)[reach * up : (reach + units) * up]
            rest = rest[units * down :]
    left = len(rest) - reach * down
    last = _resample(np.concatenate([rest, np.zeros(reach * down, dtype=np.float32)]), up, down)
    yield last[reach * up : reach * up - (-left * up // down)]


def _resample(samples: np.ndarray, up: int, down: int) -> np.ndarray:
    from scipy.signal import resample_poly  # slow to import

    return resample_poly(samples, up, down, window=_low_pass(up, down))


@lru_cache(maxsize=8)
def _low_pass(up: int, down: int) -> np.ndarray:
    """The filter that `resample_poly` designs in every call, designed once."""
    from scipy.signal import firwin

    largest = max(up, down)
    return firwin(20 * largest + 1, 1 / largest, window=("kaiser", 5.0)).astype(np.float32)


def list_audio(path: Any, *, group_pattern: str | None = None) -> AudioListing:
    """List the sound files of a folder with their classes and groups, without reading them.

    Parameters
    ----------
    path : str, Path or list of these
        A folder, a file, or several files, as in `read_audio`.

    group_pattern : str, default=None
        Regular expression that finds the group in a name, as in `read_audio`.

    Returns
    -------
    listing : AudioListing
        The files, and what is wrong with the folder.

    Examples
    --------
    >>> from mvdfq.io.audio import list_audio
    >>> list_audio(["7_anna_1.wav", "7_ben_1.wav"], group_pattern="_(.+)_").groups
    ['anna', 'ben']
    """
    pattern = _group_expression(group_pattern)
    if not isinstance(path, str | os.PathLike):
        listing = _from_files(path)
    elif not os.path.isdir(path):
        listing = _from_files([path])
    elif os.path.isfile(os.path.join(path, "metadata.csv")):
        listing = _from_metadata(Path(path))
    else:
        listing = _from_folders(Path(path))
    if pattern is not None:
        _find_groups(listing, pattern)
    return listing


def _from_files(paths: Iterable[Any]) -> AudioListing:
    listing = AudioListing()
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"path must hold paths of files, got {type(path).__name__}.")
        listing.add(Path(path), os.fspath(path), None)
    return listing


def _from_folders(root: Path) -> AudioListing:
    """A folder for each class; where there is no folder, files without a class."""
    listing = AudioListing()
    entries = _entries(root, listing)
    folders = [entry for entry in entries if os.path.isdir(entry)]
    for entry in entries:
        if not folders:
            listing.add(entry, entry.name, None)
        elif entry in folders:
            before = len(listing.files) + len(listing.problems)
            _walk(entry, root, listing, (_identity(root),))
            if len(listing.files) + len(listing.problems) == before:
                hint = "put the files of the class into it, or remove it"
                listing.problems.append(ReadError(shown(entry), "is an empty folder", hint))
        elif looks_like_audio(entry):
            hint = "move it into the folder of its class"
            listing.problems.append(ReadError(shown(entry), "lies beside the class folders", hint))
    return listing


def _walk(folder: Path, root: Path, listing: AudioListing, above: tuple[Any, ...]) -> None:
    """Take in all files below a class folder; links are followed, but not in circles."""
    here = _identity(folder)
    if here in above:
        problem = "is a link to a folder that it lies in"
        listing.problems.append(ReadError(shown(folder), problem, "remove the link"))
        return
    for entry in _entries(folder, listing):
        if os.path.isdir(entry):
            _walk(entry, root, listing, (*above, here))
        else:
            parts = entry.relative_to(root).parts
            listing.add(entry, "/".join(parts), parts[0])


def _identity(folder: Path) -> tuple[int, int]:
    status = os.stat(folder)
    return status.st_dev, status.st_ino


def _entries(folder: Path, listing: AudioListing) -> list[Path]:
    """What lies in a folder, by name, without what is hidden."""
    try:
        names = sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError as error:
        listing.problems.append(_unreadable(folder, error))
        return []
    return [folder / name for name in names]


def _from_metadata(root: Path) -> AudioListing:
    """The files that a table lists, in its order."""
    table = root / "metadata.csv"
    listing = AudioListing()
    seen: set[str] = set()
    for line, row in _rows(table):
        name = row["file_name"] or ""
        problem = _row_problem(row, root, seen)
        seen.add(name)
        if problem:
            listing.problems.append(ReadError(shown(table), f"line {line}: {problem}", MEND))
        else:
            listing.add(root / name, name, row["label"], row.get("group"))
    return listing


def _rows(table: Path) -> Iterator[tuple[int, dict[Any, Any]]]:
    """Yield the lines of a table, numbered, as dictionaries of its columns."""
    hint = "its columns are file_name,label[,group], with commas, in UTF-8"
    try:
        with open(table, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            for column in ("file_name", "label"):
                if column not in (reader.fieldnames or ()):
                    raise ReadError(shown(table), f"line 1: there is no column {column!r}", hint)
            for row in reader:
                yield reader.line_num, row
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReadError(shown(table), f"is no table ({error})", hint) from None
    except OSError as error:
        raise _unreadable(table, error) from None


def _row_problem(row: dict[Any, Any], root: Path, seen: set[str]) -> str | None:
    """Say what is wrong with a line of the table, if anything is."""
    for column, value in row.items():
        if column is None:
            return f"{len(row) - 1 + len(value)} values, expected {len(row) - 1}"
        if column in ("file_name", "label", "group") and not value:
            return f"no {column}"
    name = row["file_name"]
    if os.path.isabs(name) or ".." in Path(name).parts:
        return f"{name!r} lies outside the folder"
    if name in seen:
        return f"{name!r} is listed a second time"
    return None if os.path.isfile(root / name) else f"there is no file {name!r}"


def _group_expression(pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"group_pattern {pattern!r} is no regular expression: {error}.") from None
    if not expression.groups:
        raise ValueError(f"group_pattern {pattern!r} has no group; put the part in parentheses.")
    return expression


def _find_groups(listing: AudioListing, pattern: re.Pattern[str]) -> None:
    """Read the group of each file from its name; where there is none, leave out the file."""
    which = "group" if "group" in pattern.groupindex else 1
    kept, groups = [], []
    for i, name in enumerate(listing.names):
        text = name if "/" in pattern.pattern else name.rpartition("/")[2]
        match = pattern.search(text)
        if match and match[which]:
            kept.append(i)
            groups.append(match[which])
        else:
            problem = f"group_pattern {pattern.pattern!r} finds nothing in {text!r}"
            hint = "change the expression, or the name"
            listing.problems.append(ReadError(shown(listing.files[i]), problem, hint))
    listing.keep(kept)
    listing.groups = groups


def looks_like_audio(path: str | Path) -> bool:
    """Tell from its first bytes whether a file is sound; of a folder, from a few of its files.

    Parameters
    ----------
    path : str or Path
        A file or a folder.

    Returns
    -------
    is_audio : bool
        Whether it begins like WAV, FLAC, OGG, MP3, AU or AIFF; False if it cannot be opened.

    Examples
    --------
    >>> from mvdfq.io.audio import looks_like_audio
    >>> looks_like_audio(__file__)
    False
    """
    if os.path.isdir(path):
        return any(looks_like_audio(file) for file in _first_files(path))
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            return _is_magic(file.read(12))
    except (OSError, ValueError):
        return False


def _first_files(folder: str | Path) -> Iterator[str]:
    seen = 0
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(name for name in files if not name.startswith(".")):
            seen += 1
            if seen > LOOKS:
                return
            yield os.path.join(here, name)


def _is_magic(start: bytes) -> bool:
    if start[:4] in (b"RIFF", b"RIFX", b"RF64"):
        return start[8:12] == b"WAVE"
    if start[:4] == b"FORM":
        return start[8:12] in (b"AIFF", b"AIFC")
    if start[:4] in (b"fLaC", b"OggS", b".snd") or start[:3] == b"ID3":
        return True
    # A frame of MPEG layer III: eleven ones, layer 01, and neither of the values that are reserved
    # for version, bit rate and sampling rate. FF FE, which opens UTF-16 text, has another layer.
    if len(start) < 4 or start[0] != 0xFF or start[1] & 0xE6 != 0xE2:
        return False
    return start[1] & 0x18 != 0x08 and start[2] & 0xF0 != 0xF0 and start[2] & 0x0C != 0x0C


def shown(path: Any) -> str:
    """A path as text that can be printed, whatever its bytes."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode()


def _is_utf8(name: str) -> bool:
    return shown(name) == name
