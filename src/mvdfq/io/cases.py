"""Files that hold one sequence per line or record: every reader of such a file ends here."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from mvdfq.io.dataset import Dataset, ReadError
from mvdfq.io.letters.labels import columns_of
from mvdfq.io.source import Source, as_sequences

__all__ = ["Case", "dataset_of", "gather"]

Row = TypeVar("Row")


class Case(NamedTuple):
    """One sequence of a file. A sequence without a name gets a number."""

    values: Any
    label: Any = None
    name: str | None = None
    group: str | None = None


def gather(
    source: Source,
    rows: Iterable[tuple[int, Row]],
    read: Callable[[Row], Case],
    collect: Callable[[Sequence[Any]], Any] = as_sequences,
) -> Dataset:
    """Read one sequence from each row, given with its line number; `collect` makes them `X`.

    `read` raises a ValueError for a row that cannot be read. The row is then skipped, or the
    error is raised with the file and the line.
    """
    cases: list[Case] = []
    count = 0
    for count, (line, row) in enumerate(rows, 1):
        try:
            case = read(row)
            name = f"{source.stem}:{count}" if case.name is None else case.name
            cases.append(case._replace(name=name))
        except ReadError as error:  # names its place
            source.leave_out(error)
        except ValueError as error:
            source.skip(f"line {line}: {error}")
    if not count:
        source.fail("the file holds no sequences after its header")
    if not cases:
        source.fail("no sequence can be read", f"the first problem: {source.skipped[0].problem}")
    return dataset_of(source, cases, collect)


def dataset_of(
    source: Source, cases: Sequence[Case], collect: Callable[[Sequence[Any]], Any]
) -> Dataset:
    """Return the data set of sequences that have names; `collect` makes `X` of their values."""
    y, groups = columns_of([(case.label, case.group) for case in cases])
    names = _numbered(source, [str(case.name) for case in cases])
    X = collect([case.values for case in cases])
    skipped, remarks = tuple(source.skipped), tuple(source.remarks)
    return Dataset(X, y, names, groups, skipped=skipped, remarks=remarks)


def _numbered(source: Source, names: Sequence[str]) -> list[str]:
    """Return names that all differ: ``a`` that occurs twice becomes ``a:1`` and ``a:2``."""
    often = {name: n for name, n in Counter(names).items() if n > 1}
    if not often:
        return list(names)
    first = next(iter(often))
    source.remark(
        f"id {first!r} occurs {often[first]} times; {len(often)} repeated ids got numbers, "
        f"such as '{first}:1'"
    )
    used, numbers = set(names), Counter[str]()
    return [_free_name(name, used, numbers) if name in often else name for name in names]


def _free_name(name: str, used: set[str], numbers: Counter[str]) -> str:
    """Return the name with its next number that no other sequence has."""
    numbers[name] += 1
    while (found := f"{name}:{numbers[name]}") in used:
        numbers[name] += 1
    return found
