"""Sound files -> sequences of MFCC, by several processes and with a cache; lists and facts."""

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.threads import Report, in_processes, n_threads, one_blas_thread
from mvdfq.io import inspection
from mvdfq.io.dataset import Case, Dataset, dataset_of
from mvdfq.io.labelling import Elsewhere, person_remarks
from mvdfq.io.sound import decoding
from mvdfq.io.sound.decoding import Header, shown
from mvdfq.io.sound.feature_cache import FeatureCache, size_limit
from mvdfq.io.sound.recipes import AudioRecipe, audio_recipe
from mvdfq.io.source import ReadError, Source, check_inside
from mvdfq.io.tables.csv_tables import METADATA, labelled_rows
from mvdfq.sequences import Sequences, offsets_of


def read_audio(
    path: Any,
    recipe: AudioRecipe | str | None = None,
    *,
    silence: str | None = None,
    skip_bad: bool = False,
    n_jobs: int | None = None,
    cache: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Dataset:
    r"""Read sound files as sequences of MFCC.

    WAV, FLAC, OGG, Opus, MP3 and AU are recognised by content, not by extension; AAC and m4a are
    read if ffmpeg is installed. All channels are mixed to one channel. Names that begin with a dot
    are ignored, and files beside the class folders that are not sound.

    An error names a file that is empty, damaged, not sound, silent, shorter than a window or
    longer than the recipe allows. A class with one file is read, with a warning.

    Parameters
    ----------
    path : str, Path or list of these
        A folder with one sub-folder per class (files may lie deeper), a folder with a table
        ``metadata.csv`` (columns ``file_name,label[,group]``), or files without labels: a folder
        of files, a list of files or a single file.
    recipe, silence, skip_bad, n_jobs, cache, progress : see `mvdfq.io.read`
        `Dataset.remarks` names the share of frames of digital silence. By default the first
        problem is raised: first problems of the folder, then of the files, by name. The cache
        finds features by the content of the file and the recipe; the variable MVDFQ_CACHE_SIZE
        limits its size (2 GiB), and entries used longest ago go first.

    Returns
    -------
    dataset : Dataset
        Sequences in the order of their names, or in the order of `metadata.csv`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, soundfile
    >>> from mvdfq.io import read_audio
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ["high/anna_1.wav", "high/ben_1.wav", "low/anna_1.wav", "low/ben_1.wav"]:
    ...         hertz = 880 if name.startswith("high") else 110
    ...         (Path(folder) / name).parent.mkdir(exist_ok=True)
    ...         tone = np.sin(2 * np.pi * hertz * np.arange(8000) / 8000)
    ...         soundfile.write(Path(folder) / name, tone, 8000)
    ...     data = read_audio(folder)
    >>> data.X.n_rows, data.X.lengths, data.X.sampling_rate
    (13, array([98, 98, 98, 98]), 100.0)
    >>> data.y.tolist()
    ['high', 'high', 'low', 'low']
    """
    recipe, workers = audio_recipe(recipe, silence), n_threads(n_jobs)
    store = None if cache is None else FeatureCache(cache)
    listing = list_audio(path)
    where = shown(path) if isinstance(path, str | Path) else "the list of files"
    source = Source(Path(where), skip_bad, progress)
    for problem in listing.skipped:
        source.leave_out(problem)
    features = {}
    jobs = [(audio_features, file, recipe, store) for file in listing.X]
    with closing(in_processes(_or_error, jobs, workers)) as results:
        for i, result in enumerate(results):
            if isinstance(result, ReadError):
                source.leave_out(result)
            else:
                features[i] = result
            source.tell(i + 1, len(listing))
    if store is not None:
        store.trim(size_limit())
    if not features and source.skipped:
        source.fail(f"no file can be read; the first problem is {source.skipped[0]}")
    if not features:
        source.fail("holds no sound files", decoding.READABLE)
    offsets = offsets_of(rows.shape[1] for rows in features.values())
    frames = np.concatenate([*features.values()], axis=1)
    X = Sequences(frames, offsets, recipe.channel_names, recipe.frame_rate)
    data = replace(listing.take([*features]), X=X, skipped=tuple(source.skipped))
    for label in (label for label, n in inspection.counts_of(data.y).items() if n == 1):
        text = f"Class {label!r} has only one file, so this class cannot be tested."
        warnings.warn(text, stacklevel=2)
    told = inspection.silence_in_words(inspection.idle_shares(data), recipe.silence)
    return replace(data, remarks=(*data.remarks, *told))


def headers(
    files: Sequence[Path], recipe: AudioRecipe | str | None, deep: bool, n_jobs: int | None = None
) -> Generator[Header | ReadError, None, None]:
    """Yield the header of each file, or its error; errors of decoding are found with `deep`."""
    jobs = [(decoding.header_of, file, audio_recipe(recipe), deep) for file in files]
    return in_processes(_or_error, jobs, n_threads(n_jobs) if deep else 1)


def _or_error(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a result or the error: an error raised in a worker would end the other workers."""
    try:
        return function(*arguments)
    except ReadError as error:
        return error


def audio_features(
    file: str | Path, recipe: AudioRecipe | str | None = None, cache: FeatureCache | None = None
) -> np.ndarray:
    """Return the features of one sound file, (n_rows, n_frames); the cache may hold them."""
    recipe = audio_recipe(recipe)
    # One thread, so that the bits are the same in any process.
    with decoding.opened(file) as stream, one_blas_thread():
        entry = None if cache is None else cache.entry(stream, recipe.key)
        found = None if cache is None or entry is None else cache.load(entry)
        if found is not None and found.ndim == 2 and len(found) == recipe.n_rows:
            return found
        features = decoding.decoded_features(stream, shown(file), recipe)
    if cache is not None and entry is not None:  # after the file is known to be unchanged
        cache.store(entry, features)
    return features


def read(source: Source, **options: Any) -> Dataset:
    """Read the sound files of a source."""
    path = list(source.files) or source.path
    return read_audio(path, skip_bad=source.skip_bad, progress=source.progress, **options)


def facts_of_audio(
    path: Any, elsewhere: Elsewhere, progress: Report | None, recipe: Any, deep: bool, n_jobs: int
) -> dict[str, Any]:
    """Facts of sound files, from their headers; `deep` decodes the files too."""
    listing = list_audio(path)
    if len(listing):
        listing = elsewhere.applied(listing, Source(Path("."), skip_bad=True))
    good: dict[int, Header] = {}
    bad = list(listing.skipped)
    tell = Source(Path("."), progress=progress).tell
    for i, header in enumerate(headers(listing.X, recipe, deep, n_jobs)):
        if isinstance(header, ReadError):
            bad.append(header)
        else:
            good[i] = header
        tell(i + 1, len(listing))
    data, found = listing.take([*good]), [*good.values()]
    seconds = np.array([header.seconds for header in found])
    shares = inspection.shares_of(data, seconds * [header.silence for header in found], seconds)
    remarks = [*data.remarks, *inspection.silence_in_words(shares, audio_recipe(recipe).silence)]
    if data.y is not None and not elsewhere.gives_labels:
        remarks += person_remarks(data.names)
    digests = [header.digest for header in found] if deep else _digests(data.X)
    shown_as = replace(data, names=list(map(str, data.X)), skipped=tuple(bad))
    kinds = Counter(header.kind for header in found)
    return inspection.lengths_of(seconds) | {
        "unit of lengths": "seconds",
        "total hours": round(float(seconds.sum()) / 3600, 3),
        "kinds": "; ".join(f"{n} x {kind}" for kind, n in kinds.most_common()),
        **inspection.idle_facts("digital silence", shares),
        **inspection.common_facts(shown_as, inspection.equal_places(digests), remarks),
    }


def _digests(files: Any) -> list[bytes]:
    """Return digests of the content of files; only files of equal size are read."""
    sizes = [os.path.getsize(file) if os.path.isfile(file) else 0 for file in files]
    often, digests = Counter(sizes), []
    for file, size in zip(files, sizes, strict=True):
        digests.append(b"")
        if often[size] > 1:
            with open(file, "rb") as content:
                digests[-1] = hashlib.file_digest(content, "sha256").digest()
    return digests


def list_audio(path: Any) -> Dataset:
    """List sound files with their classes and groups; `X` is an array of their paths."""
    paths = [path] if isinstance(path, str | os.PathLike) else path
    source = Source(Path("."), skip_bad=True)
    for one in paths:
        if not isinstance(one, str | os.PathLike):
            raise TypeError(f"path must hold paths of files, got {type(one).__name__}.")
    found = [Case(Path(one), name=os.fspath(one)) for one in paths]
    if paths is not path and os.path.isdir(path):
        has_table = os.path.isfile(os.path.join(path, METADATA))
        found = (_from_metadata if has_table else _from_folders)(Path(path), source)
    cases = [case for case in found if shown(case.name) == case.name]
    for case in (case for case in found if shown(case.name) != case.name):
        _refuse(source, case.values, "the name is not valid UTF-8", "rename the file")
    source.skipped.sort(key=lambda problem: problem.path)
    return dataset_of(source, cases, lambda files: np.array(files, dtype=object))


def _refuse(source: Source, path: Path, problem: str, hint: str) -> None:
    source.leave_out(ReadError(shown(path), problem, hint))


def _from_folders(root: Path, source: Source) -> list[Case]:
    """List a folder with one sub-folder per class, or a folder of files without classes."""
    folders, found = _below(root, source)
    inside = {file: file.relative_to(root) for file in found}
    filled = {inside[file].parts[0] for file in found}
    for folder in (folder for folder in folders if folder.name not in filled):
        hint = "put the files of the class into the folder, or remove the folder"
        _refuse(source, folder, "is an empty folder", hint)
    sound = list(filter(decoding.meant_as_sound, found))
    alone = [file for file in sound if len(inside[file].parts) == 1]
    has_classes = len(alone) < len(sound) or bool(source.skipped)
    for file in alone if has_classes else ():
        hint = "move the file into the folder of its class"
        _refuse(source, file, "lies beside the class folders", hint)
    passed = [shown(inside[file]) for file in found if file not in sound]
    if n := len(passed):
        files = "1 file that is" if n == 1 else f"{n} files that are"
        few = ", ".join([*passed[:5], *["..."] * (n > 5)])
        source.remark(f"passed over {files} not sound: {few}")
    if not has_classes:
        return [Case(file, name=file.name) for file in alone]
    classed = [(file, inside[file]) for file in sound if file not in alone]
    return [Case(file, place.parts[0], place.as_posix()) for file, place in classed]


def _below(root: Path, source: Source) -> tuple[list[Path], list[Path]]:
    """Return the folders in a folder, and all files below it, by name, without hidden ones.

    Links to folders are not followed: a link that stays inside leads to files that are listed.
    """
    folders, files = [], []
    for here, names, inside in os.walk(root, onerror=partial(_closed, source)):
        names[:] = [name for name in names if not name.startswith(".")]
        for path in (Path(here, name) for name in (*names, *inside) if not name.startswith(".")):
            try:
                check_inside(path, root)
            except ReadError as error:
                _refuse(source, path, error.problem, error.hint)
                continue
            if not path.is_dir():
                files.append(path)
            elif path.parent == root:
                folders.append(path)
    return sorted(folders), sorted(files)


def _closed(source: Source, error: OSError) -> None:
    source.leave_out(decoding.unreadable(error.filename, error))


def _from_metadata(root: Path, source: Source) -> list[Case]:
    """List the files that metadata.csv names, in the order of the table."""
    source.path = root / METADATA
    check_inside(source.path, root)
    cases: dict[str, Case] = {}
    for line, row in labelled_rows(source):
        name = row["file_name"]
        is_inside = not os.path.isabs(name) and ".." not in Path(name).parts
        is_inside = is_inside and (root / name).resolve().is_relative_to(root.resolve())
        absent = [key for key in ("file_name", "label", "group") if not row.get(key, "-")]
        if absent or name in cases or not (is_inside and os.path.isfile(root / name)):
            found = f"no {absent[0]}" if absent else repr(name)
            wanted = "a file in the folder that is listed once, a label, and a group if others have"
            source.skip(f"line {line}: expected {wanted}, found {found}", decoding.MEND)
        else:
            cases[name] = Case(root / name, row["label"], name, row.get("group"))
    return list(cases.values())
