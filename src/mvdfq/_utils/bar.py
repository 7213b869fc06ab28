"""The progress bar in the terminal, for estimators and for the command line."""

from typing import Any

from mvdfq._utils.threads import Report

__all__ = ["new_bar", "report_to"]


def new_bar(transient: bool = False) -> Any:
    """Return a progress bar on the error stream; `transient` removes the bar when it is done."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn()]
    columns.append(TimeRemainingColumn(compact=True))
    console = Console(stderr=True)
    # Results go to the standard output, which the bar must not redirect.
    return Progress(*columns, console=console, redirect_stdout=False, transient=transient)


def report_to(bar: Any, title: str) -> Report:
    """Add a line to the bar; return the function that takes how much is done and the total."""
    if bar is None:
        return lambda done, total: None
    task = bar.add_task(title, total=None)
    return lambda done, total: bar.update(task, completed=done, total=total)
