"""Sound files -> sequences of MFCC, by several processes and with a cache; lists and facts."""

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from mvdfq._utils.errors import Sentence
from mvdfq._utils.short import counted, some
from mvdfq._utils.threads import Report, in_processes, n_threads, one_blas_thread
from mvdfq.io import inspection
from mvdfq.io.dataset import Case, Dataset, check_kept, dataset_of
from mvdfq.io.labelling import Elsewhere, person_remarks
from mvdfq.io.sound import decoding
from mvdfq.io.sound.decoding import Header, shown
from mvdfq.io.sound.feature_cache import FeatureCache, size_limit
from mvdfq.io.sound.recipes import AudioRecipe, audio_recipe
from mvdfq.io.source import ReadError, Source, check_inside
from mvdfq.io.tables.column_roles import known_places
from mvdfq.io.tables.csv_tables import METADATA, Row, rows_of
from mvdfq.sequences import Sequences, offsets_of

# Coefficients of a flat spectrum, the first aside, are smaller; rounding errors are near 1e-5.
FLAT = 1e-3


def read(source: Source, recipe: Any = None, silence: Any = None, n_jobs: Any = None,
         cache: Any = None, elsewhere: bool = False) -> Dataset:  # fmt: skip
    """Read sound files as sequences of MFCC, in the order of their names or of `metadata.csv`.

    The source is a folder with one sub-folder per class, a folder with `metadata.csv`, or files
    without labels. The first problem is raised: problems of the folder come first.
    """
    recipe, workers = audio_recipe(recipe, silence), n_threads(n_jobs)
    store = None if cache is None else FeatureCache(cache)
    listing = list_audio(list(source.files) or source.path, elsewhere)
    where = "the list of files" if source.files else shown(source.path)
    source = replace(source, path=Path(where), skipped=[])
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
    if not features:
        check_kept(source.path, 0, source.skipped)
        source.fail("holds no sound files", decoding.READABLE)
    offsets = offsets_of(rows.shape[1] for rows in features.values())
    frames = np.concatenate([*features.values()], axis=1)
    X = Sequences(frames, offsets, recipe.channel_names, recipe.frame_rate)
    data = replace(listing.take([*features]), X=X, skipped=tuple(source.skipped))
    for label in (label for label, n in inspection.counts_of(data.y).items() if n == 1):
        text = f"Class {label!r} has only one file, so this class cannot be tested."
        warnings.warn(text, stacklevel=2)
    silent = inspection.frame_shares(data, silent_frames(X, recipe.n_mfcc))
    remarks = inspection.silence_in_words(silent, recipe.silence)
    if data.y is not None:
        # the last file first: it is of another class than the first, and mostly of the same kind
        places = np.roll(np.arange(len(data)), 1)
        known = headers(listing.X[[*features]][places], recipe, deep=False)
        remarks += _kinds_in_words(data.y[places], known)
    return replace(data, remarks=(*data.remarks, *remarks))


def _kinds_in_words(labels: Iterable[Any], known: Iterable[Header | ReadError]) -> list[str]:
    """Warn if no kind of file is in two classes; headers after such a kind are not looked at."""
    owners: dict[str, str] = {}
    for label, header in zip(map(str, labels), known, strict=False):
        if isinstance(header, Header) and owners.setdefault(header.kind, label) != label:
            return []
    if len({*owners.values()}) < 2:
        return []
    pairs = sorted((label, kind) for kind, label in owners.items())
    listed = "; ".join(f"{kind} in {label!r}" for label, kind in pairs[:5])
    return [f"classes differ in their files: {listed}; a classifier may tell classes by it"]


def silent_frames(X: Sequences, n_mfcc: int) -> np.ndarray:
    """Return idle frames with a flat spectrum, as of digital silence; pure tones are idle, too."""
    shape = X.data[1:n_mfcc]
    return inspection.idle_frames(X) & (np.isnan(shape) | (np.abs(shape) < FLAT)).all(axis=0)


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
        if cache is None:
            return decoding.decoded_features(stream, shown(file), recipe)
        entry = cache.entry(stream, recipe.key)
        kept = cache.load(entry)
        if kept is not None and kept.ndim == 2 and len(kept) == recipe.n_rows:
            return kept
        features = decoding.decoded_features(stream, shown(file), recipe)
    cache.store(entry, features)  # after the file is known to be unchanged
    return features


def facts_of_audio(
    path: Any, elsewhere: Elsewhere, progress: Report | None, recipe: Any, deep: bool, n_jobs: int
) -> dict[str, Any]:
    """Facts of sound files, from their headers; `deep` decodes the files too."""
    listing = list_audio(path, elsewhere.gives_labels)
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
    data, known = listing.take([*good]), [*good.values()]
    seconds = np.array([header.seconds for header in known])
    shares = inspection.shares_of(data, seconds * [header.silence for header in known], seconds)
    remarks = [*data.remarks, *inspection.silence_in_words(shares, audio_recipe(recipe).silence)]
    if data.y is not None and not elsewhere.gives_labels:
        remarks += person_remarks(data.names)
    digests = [header.digest for header in known] if deep else _digests(data.X)
    shown_as = replace(data, names=list(map(str, data.X)), skipped=tuple(bad))
    kinds = Counter(header.kind for header in known)
    remarks += [] if data.y is None else _kinds_in_words(data.y, known)
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


def list_audio(path: Any, elsewhere: bool = False) -> Dataset:
    """List sound files with classes and groups, if not `elsewhere`; `X` is an array of paths."""
    paths = [path] if isinstance(path, str | os.PathLike) else path
    source = Source(Path("."), skip_bad=True)
    listed = [Case(Path(file), name=os.fspath(file)) for file in paths]
    if paths is not path and os.path.isdir(path):
        has_table = not elsewhere and os.path.isfile(os.path.join(path, METADATA))
        listed = (_from_metadata if has_table else _from_folders)(Path(path), source)
    cases = [case for case in listed if shown(case.name) == case.name]
    for case in (case for case in listed if shown(case.name) != case.name):
        source.skip("the name is not valid UTF-8", "rename the file", shown(case.values))
    source.skipped.sort(key=lambda problem: problem.path)
    return dataset_of(source, cases, lambda files: np.array(files, dtype=object))


def _from_folders(root: Path, source: Source) -> list[Case]:
    """List a folder with one sub-folder per class, or a folder of files without classes."""
    folders, paths = _below(root, source)
    inside = {file: file.relative_to(root) for file in paths}
    filled = {inside[file].parts[0] for file in paths}
    for folder in (folder for folder in folders if folder.name not in filled):
        hint = "put the files of the class into the folder, or remove the folder"
        source.skip("is an empty folder", hint, shown(folder))
    sound = list(filter(decoding.meant_as_sound, paths))
    alone = [file for file in sound if len(inside[file].parts) == 1]
    has_classes = len(alone) < len(sound) or bool(source.skipped)
    for file in alone if has_classes else ():
        hint = "move the file into the folder of its class"
        source.skip("lies beside the class folders", hint, shown(file))
    passed = [inside[file] for file in paths if file not in sound]
    _pass_over(source, passed, "file", f"that {'is' if len(passed) == 1 else 'are'} not sound")
    if not has_classes:
        return [Case(file, name=file.name) for file in alone]
    classed = [(file, inside[file]) for file in sound if file not in alone]
    return [Case(file, place.parts[0], place.as_posix()) for file, place in classed]


def _pass_over(source: Source, files: Sequence[Path], what: str, why: str) -> None:
    """Say which files are not read, if any."""
    shown_files = ", ".join([*map(shown, files[:5]), *["..."] * (len(files) > 5)])
    if files:
        source.remark(f"passed over {counted(len(files), what)} {why}: {shown_files}")


def _below(root: Path, source: Source) -> tuple[list[Path], list[Path]]:
    """Return the folders in a folder, and all files below it, by name, without hidden ones."""
    folders, files = [], []
    # links to folders are not followed: a link that stays inside leads to files that are listed
    walk = os.walk(root, onerror=lambda e: source.leave_out(decoding.unreadable(e.filename, e)))
    for folder, names, inside in walk:
        names[:] = [name for name in names if not name.startswith(".")]
        for path in (Path(folder, name) for name in (*names, *inside) if not name.startswith(".")):
            try:
                check_inside(path, root)
            except ReadError as error:
                source.skip(error.problem, error.hint, shown(path))
                continue
            if not path.is_dir():
                files.append(path)
            elif path.parent == root:
                folders.append(path)
    return sorted(folders), sorted(files)


def _from_metadata(root: Path, source: Source) -> list[Case]:
    """List the files that metadata.csv names, in the order of the table."""
    source.path = root / METADATA
    check_inside(source.path, root)
    cases: dict[str, Case] = {}
    named = set()
    header, rows = _labelled_table(source)
    for line, cells in rows:
        row = dict(zip_longest(header, cells[: len(header)], fillvalue=""))
        name = row["file_name"]
        named.add(root / name)
        wrong = [f"no {key}" for key in ("file_name", "label", "group") if not row.get(key, "-")]
        if len(cells) > len(header):
            wrong = [f"{counted(len(cells), 'cell')}, the header has {len(header)}"]
        is_inside = (root / name).resolve().is_relative_to(root.resolve())
        if wrong or name in cases or not (is_inside and os.path.isfile(root / name)):
            wanted = "a file in the folder that is listed once, a label, and a group if others have"
            found = [*wrong, repr(name)][0]
            source.skip(f"line {line}: expected {wanted}, found {found}", decoding.MEND)
        else:
            cases[name] = Case(root / name, row["label"], name, row.get("group"))
    # what is wrong with other files of the folder does not matter
    others = [file for file in _below(root, Source(root, skip_bad=True))[1] if file not in named]
    passed = [file.relative_to(root) for file in filter(decoding.meant_as_sound, others)]
    _pass_over(source, passed, "sound file", f"that {METADATA} does not list")
    return list(cases.values())


def _labelled_table(source: Source) -> tuple[list[str], Iterator[Row]]:
    """Return the header, with file_name, label and maybe group, and the rows below it."""
    rows = rows_of(source, marks="\t;,")
    found = next(rows, (1, []))[1]
    header = found[:]
    for key in ("file_name", "label", "group"):  # speaker or subject_id is a group, too
        for place in islice(known_places(key, header), 1):
            if header[place].lower() != key:
                source.remark(f"{key}: column {header[place]!r} of {source.path.name}")
            header[place] = key
    for name in (name for name in ("file_name", "label") if name not in header):
        wish = {"labels": str(source.path)}, " and ", {"label": "NAME"}, " read other columns"
        hint = Sentence(f"found {some(found)}, expected file_name,label[,group]; ", *wish)
        source.fail(f"line 1: there is no column {name!r}", hint)
    return header, rows
