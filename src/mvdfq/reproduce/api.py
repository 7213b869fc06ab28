"""Tables by their names: `run` reads the data, computes the cells and returns the result."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mvdfq._engines.choice import current_engine
from mvdfq._utils.files import cache_folder
from mvdfq._utils.threads import Report, n_threads
from mvdfq._utils.version import version_of
from mvdfq.reproduce import families, workshop
from mvdfq.reproduce.cells import READINGS
from mvdfq.reproduce.claims import claims, remarks
from mvdfq.reproduce.folds import music
from mvdfq.reproduce.homology import homology
from mvdfq.reproduce.loaders import FOLDERS, LOADERS, NotThere, existing
from mvdfq.reproduce.published import TABLES, beside_published, cells
from mvdfq.reproduce.result import Result, Row
from mvdfq.reproduce.scop import ProteinSet
from mvdfq.reproduce.store import Store

# Clips that methods are chosen on in a smoke run.
QUICK_CHOICE = 30
PACKAGES = ("mvdfq", "numpy", "scikit-learn", "numba")


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
        Which settings to run: of the paper's text, of comments in its source, chosen by inner
        validation, or inferred from the printed figures. Text and comment are computed with both
        multi-class schemes, because the paper does not name its scheme.
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
    folder = existing(Path(folder), f"it holds {', '.join(FOLDERS)}, or some of them")
    store = Store(cache_folder("reproduce") if cache is None else cache)
    facts: dict[str, Any] = {}
    if table == "datasets":
        rows = _sizes(folder)
    else:
        data = LOADERS[TABLES[table].data](folder)
        data = data.small() if quick else data
        facts = {"data": data.name, "sequences": len(data)}
        if isinstance(data, ProteinSet):
            means = {"n_jobs": n_jobs, "memory_limit": memory_limit, "progress": progress}
            rows = homology(data, store, readings, kept=kept, **means)
            facts |= {"families": len(data.tasks), "machines": families.POLICY}
        else:
            wanted = [cell for cell in cells(table) if cell.reading in readings]
            choice = QUICK_CHOICE if quick else workshop.CHOICE
            worker = None if kept else workshop.Workshop(n_jobs, memory_limit, choice)
            repeats = range(1 if quick else seeds)
            allowed = [protocol for protocol in TABLES[table].protocols if data.allows(protocol)]
            _check_known("protocol", protocols or [], allowed)
            cuts = [protocol for protocol in allowed if protocol in (protocols or allowed)]
            rows = music(table, wanted, data, cuts, repeats, worker, store, progress)
            facts |= {"classes": len(data.classes), "machines": workshop.POLICY}
    # stable: within a reading, rows stay in the order of the paper
    rows.sort(key=lambda row: [*READINGS, ""].index(row.reading))
    facts |= {"versions": {name: version_of(name) for name in PACKAGES}}
    facts |= {"processor": workshop.processor()}
    facts |= {} if kept else {"threads": n_threads(n_jobs), "engine": current_engine().name}
    return Result(table, TABLES[table].title, rows, remarks(table), claims(rows), facts)


def check_request(table: str, readings: Sequence[str], protocols: Sequence[str]) -> None:
    """Refuse unknown names before any data are read."""
    _check_known("table", [table], [*TABLES])
    _check_known("reading", readings, READINGS)
    _check_known("protocol", protocols, TABLES[table].protocols)
    # no reading asked for means all readings; some tables have none
    known = dict.fromkeys(cell.reading for cell in cells(table))
    if known and readings and not known.keys() & set(readings):
        asked = ", ".join(map(repr, readings))
        problem = f"The table {table!r} has no cells of the reading {asked}"
        raise ValueError(f"{problem}; one of {', '.join(known)}.")


def _check_known(what: str, asked: Sequence[str], known: Sequence[str]) -> None:
    for name in asked:
        if name not in known:
            hint = f"one of {', '.join(known)}" if known else f"this table has no {what}s"
            raise ValueError(f"There is no {what} {name!r}; {hint}.")


def _sizes(folder: Path) -> list[Row]:
    """Return the sizes of the sets that are at hand, beside the sizes in the paper."""
    rows = []
    for task, key in TABLES["datasets"].sets.items():
        try:
            data = LOADERS[key](folder)
            sizes: list[float | None] = [float(len(data)), float(len(data.classes))]
        except NotThere:
            sizes = [None, None]
        for metric, size in zip(("n_sequences", "n_classes"), sizes, strict=True):
            row = Row(task, metric=metric, value=size, note="not at hand" if size is None else "")
            rows.append(beside_published("datasets", row))
    return rows
