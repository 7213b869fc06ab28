"""Tables by their names: what is read, what is run, what comes out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mvdfq._utils.threads import Report, n_threads
from mvdfq.reproduce import music
from mvdfq.reproduce.cells import READINGS, Cell, EstimatorMethod
from mvdfq.reproduce.claims import claims
from mvdfq.reproduce.contradictions import remarks
from mvdfq.reproduce.families import POLICY as FAMILY_POLICY
from mvdfq.reproduce.fold import CHOICE, Workshop
from mvdfq.reproduce.homology import homology
from mvdfq.reproduce.loaders import FOLDERS, LOADERS, existing
from mvdfq.reproduce.measuring import POLICY, measure
from mvdfq.reproduce.published import SECONDS, TITLES
from mvdfq.reproduce.result import Result, Row
from mvdfq.reproduce.rows import (
    beside_published,
    datasets_rows,
    measured_row,
    missing_row,
    time_row,
)
from mvdfq.reproduce.sets import MusicSet
from mvdfq.reproduce.store import Store, default_folder
from mvdfq.reproduce.timing import processor, timed

__all__ = ["TABLES", "check_request", "run"]

GTZAN_PROTOCOLS = ("5-fold", "artist-disjoint", "fault-filtered")
NOT_YET = "not run yet"


@dataclass(frozen=True)
class Table:
    """A table of the paper: its data, how they are cut, and its cells."""

    data: str = ""
    protocols: tuple[str, ...] = ()
    cells: Callable[[], list[Cell]] = list
    is_timed: bool = False


TABLES = {
    "datasets": Table(),
    "genre": Table("gtzan", GTZAN_PROTOCOLS, music.genre),
    "genre-compare": Table("gtzan", GTZAN_PROTOCOLS, music.genre_compare),
    "ismir": Table("ismir", ("5-fold",), music.ismir),
    "ismir-compare": Table("ismir", ("5-fold",), music.ismir_compare),
    "artist": Table("artist20", ("group-per-class",), music.artist),
    "homology": Table("proteins"),
    "runtime": Table("gtzan", ("5-fold",), music.runtime, is_timed=True),
    "bins": Table("gtzan", ("5-fold",), music.bins),
}


def run(
    table: str,
    folder: str | Path,
    *,
    readings: Sequence[str] = READINGS,
    protocols: Sequence[str] | None = None,
    seeds: int = 5,
    quick: bool = False,
    kept: bool = False,
    cache: str | Path | None = None,
    n_jobs: int | None = None,
    memory_limit: int | str | None = None,
    progress: Report | None = None,
) -> Result:
    """Compute a table of the paper, and put it beside the published one.

    Every fold is kept when it is done, so that a run that was broken off goes on where it stopped,
    and tables that share cells share the work.

    Parameters
    ----------
    table : str
        Its name, one of `TABLES`.

    folder : str or Path
        Where the data lie: ``gtzan``, ``artist20``, ``ismir2004``, ``proteins`` and so on.

    readings : sequence of str, default=("text", "comment", "tuned")
        Whose settings: those of the paper's text, those in the comments of its source, those that
        inner validation chooses.

    protocols : sequence of str, default=None
        How the data are cut; None is all that the table has, the paper's first. Those of
        ``homology`` are cut by the set itself.

    seeds : int, default=5
        Repetitions of the first of these protocols, where a kernel matrix takes less than a
        minute. In ``homology`` nothing is drawn.

    quick : bool, default=False
        A smoke run: one fold of a small part of the data. Its figures mean nothing.

    kept : bool, default=False
        Compute nothing: show what earlier runs have done so far.

    cache : str or Path, default=None
        Folder for what is done; None is one in the user's cache.

    n_jobs : int, default=None
        Number of threads; -1 is all processors.

    memory_limit : int or str, default=None
        Bytes, or text such as ``"4 GB"``, that a kernel matrix may take.

    progress : callable, default=None
        Called with the pieces of work done and those there are.

    Returns
    -------
    result : Result
        The lines of the table, remarks and claims.

    Examples
    --------
    >>> import mvdfq
    >>> result = mvdfq.reproduce.run("genre", "sets", seeds=1)  # doctest: +SKIP
    >>> [(row.name, row.published, row.value) for row in result.rows][:2]  # doctest: +SKIP
    """
    check_request(table, readings, protocols or [])
    existing(Path(folder), f"it holds {', '.join(FOLDERS)}, or some of them")
    store = Store(default_folder() if cache is None else cache)
    workshop = Workshop(n_jobs, memory_limit, choice=30 if quick else CHOICE)
    options = Options(tuple(readings), protocols, 1 if quick else seeds, quick, kept)
    work = {"datasets": _datasets, "homology": _homology}.get(table, _music)
    rows, facts = work(table, Path(folder), options, workshop, store, progress)
    rows.sort(key=lambda row: [*READINGS, ""].index(row.reading))
    facts |= {"versions": _versions(), "processor": processor()}
    facts |= {} if kept else {"threads": n_threads(n_jobs)}
    return Result(table, TITLES[table], rows, remarks(table), claims(rows), facts)


def check_request(table: str, readings: Sequence[str], protocols: Sequence[str]) -> None:
    """Refuse names that are not known, before anything is read."""
    _check_known("table", [table], [*TABLES])
    _check_known("reading", readings, READINGS)
    _check_known("protocol", protocols, TABLES[table].protocols)


def _check_known(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            hint = f"one of {', '.join(known)}" if known else "this table has none"
            raise ValueError(f"There is no {what} {name!r}; {hint}.")


@dataclass(frozen=True)
class Options:
    """What is run of a table."""

    readings: tuple[str, ...]
    protocols: Sequence[str] | None
    seeds: int
    quick: bool
    kept: bool


def _music(table, folder, options, workshop, store, progress) -> tuple[list[Row], dict[str, Any]]:
    spec = TABLES[table]
    data: MusicSet = LOADERS[spec.data](folder)
    data = data.small() if options.quick else data
    protocols = _protocols(spec, data, options.protocols)
    cells = [cell for cell in spec.cells() if cell.reading in options.readings]
    why_not = {cell: why for cell in cells if (why := _why_not(cell, data))}
    ready = [cell for cell in cells if cell not in why_not]
    worker = None if options.kept else workshop
    measured = measure(ready, data, protocols, range(options.seeds), worker, store, progress)
    rows = [measured_row(table, each, data.notes) for each in measured]
    rows += [missing_row(table, cell, why) for cell, why in why_not.items()]
    done = {(each.cell, each.protocol) for each in measured}
    rows += [
        missing_row(table, cell, NOT_YET, protocol)
        for cell in ready
        for protocol in protocols
        if (cell, protocol) not in done
    ]
    facts = {"data": data.name, "sequences": len(data), "classes": len(data.classes)}
    facts |= {"machines": POLICY}
    return rows + _times(table, ready if spec.is_timed else [], data, worker, store), facts


def _times(table, cells, data, workshop, store) -> list[Row]:
    """Return the lines of seconds; only those kept where nothing is to be computed."""
    rows = []
    for cell in cells:
        for method in cell.methods:
            seconds = timed(method, data, store, workshop)
            missing = missing_row(table, cell, NOT_YET, metric=SECONDS)
            rows.append(time_row(table, cell, seconds) if seconds else missing)
    return rows


def _why_not(cell: Cell, data: MusicSet) -> str:
    """Return why a cell cannot be run; empty if it can."""
    if not cell.methods:
        return cell.why_not
    if lacking := sorted(cell.views - {*data.views}):
        return f"not run: {data.name} is not at hand as {', '.join(lacking)}"
    packages = [m.lacks for m in cell.methods if isinstance(m, EstimatorMethod) and m.lacks]
    return f"not run: {packages[0]} is not installed" if packages else ""


def _protocols(spec: Table, data: MusicSet, asked: Sequence[str] | None) -> list[str]:
    """Return the protocols asked for, else all that the data allow, in the order of the table."""
    allowed = [protocol for protocol in spec.protocols if data.allows(protocol)]
    _check_known("protocol", asked or [], allowed)
    return [protocol for protocol in allowed if protocol in (asked or allowed)]


def _datasets(table, folder, options, workshop, store, progress):
    return datasets_rows(folder), {}


def _homology(table, folder, options, workshop, store, progress):
    data = LOADERS["proteins"](folder)
    rows = homology(
        data,
        store,
        readings=options.readings,
        n_jobs=workshop.n_jobs,
        memory_limit=workshop.memory_limit,
        quick=options.quick,
        kept=options.kept,
        progress=progress,
    )
    facts = {"data": data.name, "sequences": len(data), "families": len(data.tasks)}
    facts |= {"machines": FAMILY_POLICY}
    return [beside_published(table, row) for row in rows], facts


def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("mvdfq", "numpy", "scikit-learn", "numba")}
