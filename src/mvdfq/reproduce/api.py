"""Tables by their names: `run` reads the data, computes the cells and returns the result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mvdfq._engines.choice import current_engine
from mvdfq._utils.folders import cache_folder
from mvdfq._utils.threads import Report, n_threads
from mvdfq._utils.version import version_of
from mvdfq.reproduce import families, music, workshop
from mvdfq.reproduce.cells import READINGS, Cell, EstimatorMethod
from mvdfq.reproduce.claims import claims, remarks
from mvdfq.reproduce.folds import measure
from mvdfq.reproduce.homology import homology
from mvdfq.reproduce.loaders import FOLDERS, LOADERS, existing
from mvdfq.reproduce.published import SECONDS, TITLES
from mvdfq.reproduce.result import NOT_YET, Result, Row
from mvdfq.reproduce.rows import (
    beside_published,
    datasets_rows,
    measured_row,
    missing_row,
    time_row,
)
from mvdfq.reproduce.sets import MusicSet
from mvdfq.reproduce.store import Store
from mvdfq.reproduce.timing import processor, timed

__all__ = ["TABLES", "check_request", "run"]

GTZAN_PROTOCOLS = ("5-fold", "artist-disjoint", "fault-filtered")
# Clips that methods are chosen on in a smoke run.
QUICK_CHOICE = 30


@dataclass(frozen=True)
class Table:
    """A table of the paper: its data, the protocols that cut the data into folds, its cells."""

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
    """Compute a table of the paper, with the published figures beside ours.

    Every finished fold is kept. An interrupted run continues with the same call, and tables that
    share cells share the work.

    Parameters
    ----------
    table : str
        The name of the table, one of `TABLES`.

    folder : str or Path
        The folder of the data; it holds ``gtzan``, ``artist20``, ``ismir2004``, ``proteins``.

    readings : sequence of str, default=("text", "comment", "tuned", "inferred")
        Which settings to run: the settings of the paper's text, the settings in comments of its
        source, the settings that inner validation chooses, or settings that were inferred from the
        printed figures. Text and comment are computed with both multi-class schemes, because the
        paper does not name its scheme.

    protocols : sequence of str, default=None
        How the data are cut into folds; None is all protocols of the table, the paper's first.
        ``homology`` has no protocols: the set itself says what is tested.

    seeds : int, default=5
        Repetitions of the first protocol, for cells whose kernel matrix takes less than a minute.
        ``homology`` does not depend on a seed.

    quick : bool, default=False
        A smoke run: one fold of a small part of the data. Its figures mean nothing.

    kept : bool, default=False
        Compute nothing, and show the records of earlier runs.

    cache : str or Path, default=None
        The folder of finished folds; None is a folder in the user's cache.

    n_jobs : int, default=None
        Number of threads; -1 is all processors.

    memory_limit : int or str, default=None
        Bytes, or text such as ``"4 GB"``, that a kernel matrix may take.

    progress : callable, default=None
        Called with the number of jobs done and the number of all jobs.

    Returns
    -------
    result : Result
        Rows, remarks and claims.

    Examples
    --------
    >>> import mvdfq
    >>> result = mvdfq.reproduce.run("genre", "sets", seeds=1)  # doctest: +SKIP
    >>> [(row.name, row.published, row.value) for row in result.rows][:2]  # doctest: +SKIP
    """
    check_request(table, readings, protocols or [])
    existing(Path(folder), f"it holds {', '.join(FOLDERS)}, or some of them")
    store = Store(cache_folder("reproduce") if cache is None else cache)
    options = Options(
        Path(folder), tuple(readings), protocols, 1 if quick else seeds, quick, kept,
        n_jobs, memory_limit, progress,
    )  # fmt: skip
    work = {"datasets": _datasets, "homology": _homology}.get(table, _music)
    rows, facts = work(table, options, store)
    rows.sort(key=lambda row: [*READINGS, ""].index(row.reading))
    facts |= {"versions": _versions(), "processor": processor()}
    facts |= {} if kept else {"threads": n_threads(n_jobs), "engine": current_engine().name}
    return Result(table, TITLES[table], rows, remarks(table), claims(rows), facts)


def check_request(table: str, readings: Sequence[str], protocols: Sequence[str]) -> None:
    """Refuse unknown names before any data are read."""
    _check_known("table", [table], [*TABLES])
    _check_known("reading", readings, READINGS)
    _check_known("protocol", protocols, TABLES[table].protocols)
    # no reading asked for means all readings; some tables have none
    found = dict.fromkeys(cell.reading for cell in TABLES[table].cells())
    if found and readings and not found.keys() & set(readings):
        raise ValueError(
            f"The table {table!r} has no cells of the reading {', '.join(map(repr, readings))}; "
            f"one of {', '.join(found)}."
        )


def _check_known(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            hint = f"one of {', '.join(known)}" if known else f"this table has no {what}s"
            raise ValueError(f"There is no {what} {name!r}; {hint}.")


@dataclass(frozen=True)
class Options:
    """The arguments of `run`."""

    folder: Path
    readings: tuple[str, ...]
    protocols: Sequence[str] | None
    seeds: int
    quick: bool
    kept: bool
    n_jobs: int | None
    memory_limit: Any
    progress: Report | None


def _music(table: str, options: Options, store: Store) -> tuple[list[Row], dict[str, Any]]:
    spec = TABLES[table]
    data: MusicSet = LOADERS[spec.data](options.folder)
    data = data.small() if options.quick else data
    protocols = _protocols(spec, data, options.protocols)
    cells = [cell for cell in spec.cells() if cell.reading in options.readings]
    why_not = {cell: why for cell in cells if (why := _why_not(cell, data))}
    ready = [cell for cell in cells if cell not in why_not]
    choice = QUICK_CHOICE if options.quick else workshop.CHOICE
    worker = workshop.Workshop(options.n_jobs, options.memory_limit, choice)
    measured = measure(
        ready, data, protocols, range(options.seeds), None if options.kept else worker, store,
        options.progress,
    )  # fmt: skip
    rows = [measured_row(table, each, data.notes) for each in measured]
    rows += [missing_row(table, cell, why) for cell, why in why_not.items()]
    done = {(each.cell, each.protocol) for each in measured}
    rows += [
        missing_row(table, cell, NOT_YET, protocol)
        for cell in ready
        for protocol in protocols
        if (cell, protocol) not in done
    ]
    rows += _times(table, ready if spec.is_timed else [], data, options, store)
    facts = {"data": data.name, "sequences": len(data), "classes": len(data.classes)}
    return rows, facts | {"machines": workshop.POLICY}


def _times(
    table: str, cells: list[Cell], data: MusicSet, options: Options, store: Store
) -> list[Row]:
    """Return the rows of seconds; every cell of a timed table has one string method."""
    methods: Any = [cell.methods[0] for cell in cells]
    found = timed(methods, data, store, options.memory_limit, options.kept)
    return [
        time_row(table, cell, seconds)
        if seconds
        else missing_row(table, cell, NOT_YET, metric=SECONDS)
        for cell, seconds in zip(cells, found, strict=True)
    ]


def _why_not(cell: Cell, data: MusicSet) -> str:
    """Return why a cell cannot be run; empty if it can."""
    if not cell.methods:
        return cell.why_not
    if lacking := sorted(cell.views - {*data.views}):
        return f"not run: {data.name} is not at hand as {', '.join(lacking)}"
    packages = [m.lacks for m in cell.methods if isinstance(m, EstimatorMethod) and m.lacks]
    return f"not run: {packages[0]} is not installed" if packages else ""


def _protocols(spec: Table, data: MusicSet, asked: Sequence[str] | None) -> list[str]:
    """Return the protocols asked for, or all that the data allow, in the order of the table."""
    allowed = [protocol for protocol in spec.protocols if data.allows(protocol)]
    _check_known("protocol", asked or [], allowed)
    return [protocol for protocol in allowed if protocol in (asked or allowed)]


def _datasets(table: str, options: Options, store: Store) -> tuple[list[Row], dict[str, Any]]:
    return datasets_rows(options.folder), {}


def _homology(table: str, options: Options, store: Store) -> tuple[list[Row], dict[str, Any]]:
    data = LOADERS["proteins"](options.folder)
    rows = homology(
        data.small() if options.quick else data,
        store,
        readings=options.readings,
        n_jobs=options.n_jobs,
        memory_limit=options.memory_limit,
        kept=options.kept,
        progress=options.progress,
    )
    facts = {"data": data.name, "sequences": len(data), "families": len(data.tasks)}
    return [beside_published(table, row) for row in rows], facts | {"machines": families.POLICY}


def _versions() -> dict[str, str]:
    return {name: version_of(name) for name in ("mvdfq", "numpy", "scikit-learn", "numba")}
