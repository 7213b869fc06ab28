"""Progress on the error stream, for estimators and for the command line: a bar, or lines.

A terminal shows a bar. A log file or a pipe gets lines of text: one line per 10 %, and one line
after 30 s without news. A fit also reports to scikit-learn's callbacks.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from threading import Event, Lock, Thread
from typing import Any

from mvdfq._utils.threads import Report

# Lines of one piece of work.
LINES = 10
# Seconds without a line after which a line says that the work goes on.
SILENCE = 30.0
# Seconds between two lines, so that quick work does not fill a log.
GAP = 2.0


class Lines:
    """Progress as lines at least `gap` seconds apart; quicker work has a line if `shows_quick`."""

    def __init__(self, gap: float = GAP, shows_quick: bool = True) -> None:
        self.gap, self.shows_quick = gap, shows_quick
        self.ended, self.thread = Event(), Thread(target=self._break_silence, daemon=True)
        self.writing = Lock()  # or a line of the thread could follow the line of the end
        self.report("")

    def __enter__(self) -> "Lines":
        self.thread.start()
        return self

    def __exit__(self, *rest: Any) -> None:
        self.ended.set()
        self.thread.join()

    def report(self, title: str) -> Report:
        """Begin the work `title`; return the function that takes how much is done."""
        self.title, self.done, self.total = title, 0, 0
        self.began = self.last = time.monotonic()
        return self._tell

    def _tell(self, done: int, total: int) -> None:
        with self.writing:
            now, before = time.monotonic(), self.done * LINES // max(self.total, 1)
            was_done = 0 < self.total <= self.done
            self.done, self.total = done, total
            if was_done:  # the end has been said
                return
            if done >= total:
                if self.shows_quick or now - self.began >= self.gap:
                    self._write(f"done in {duration(now - self.began)}")
            elif done * LINES // max(total, 1) > before and now - self.last >= self.gap:
                self._write(self._state(now))

    def _state(self, now: float) -> str:
        past = now - self.began
        if not self.done:
            return f"running for {duration(past)}"
        left = past / self.done * (self.total - self.done)
        share = f"{100 * self.done // self.total} % ({self.done} of {self.total})"
        return f"{share} in {duration(past)}, about {duration(left)} left"

    def _write(self, text: str) -> None:
        self.last = time.monotonic()
        sys.stderr.write(f"{self.title} {text}\n")
        sys.stderr.flush()

    def _break_silence(self) -> None:
        while not self.ended.wait(SILENCE / 30):
            with self.writing:
                now, is_done = time.monotonic(), 0 < self.total <= self.done
                if self.title and not is_done and now - self.last >= SILENCE:
                    self._write(self._state(now))


def duration(seconds: float) -> str:
    """Return seconds as text: ``0.3 s``, ``45 s``, ``3 min 5 s``, ``2 h 10 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours} h {minutes_left} min" if hours else f"{minutes} min {rest} s"


def rich_bar(transient: bool, force: bool | None = None) -> Any:
    """Return a progress bar; `transient` removes the bar when the work is done."""
    from rich import progress
    from rich.console import Console

    # Results go to the standard output, which the bar must not redirect.
    return progress.Progress(
        progress.TextColumn("{task.description:<10}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(compact=True),
        console=Console(stderr=True, force_terminal=force),
        redirect_stdout=False,
        transient=transient,
    )


# What makes a bar; the command line sets it to what its options say.
BARS: ContextVar[Callable[[bool], Any]] = ContextVar(
    "BARS", default=lambda transient: rich_bar(transient) if sys.stderr.isatty() else Lines()
)


def new_bar(transient: bool = False) -> Any:
    """Return what shows progress: a bar, lines, or None for nothing."""
    return BARS.get()(transient)


def report_to(bar: Any, title: str) -> Report:
    """Add a line to the bar; return the function that takes how much is done and the total."""
    if bar is None:
        return lambda done, total: None
    if isinstance(bar, Lines):
        return bar.report(title)
    task = bar.add_task(title, total=None)
    return lambda done, total: bar.update(task, completed=done, total=total)


# Steps that are reported to callbacks during a stage.
STEPS = 100


@contextmanager
def _task(context: Any, estimator: Any) -> Iterator[None]:
    """Tell scikit-learn's callbacks, if there are any, that a task begins and ends."""
    if context is not None:
        context.call_on_fit_task_begin(estimator=estimator)
    yield
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator)


class Progress:
    """Reports the stages of a fit, one after the other, and how much of each stage is done."""

    def __init__(self, estimator: Any, root: Any, bar: Any) -> None:
        self.estimator, self.root, self.bar = estimator, root, bar

    @classmethod
    @contextmanager
    def of(cls, estimator: Any, n_stages: int, verbose: Any) -> Iterator["Progress"]:
        """Report the fit of an estimator, which the block carries out."""
        begin = getattr(estimator, "_init_callback_context", None)
        root = None if begin is None else begin(max_subtasks=n_stages)
        bar = new_bar() if verbose else None
        with _task(root, estimator), nullcontext() if bar is None else bar:
            yield cls(estimator, root, bar)

    def _subtask(self, name: str, **options: Any) -> Any:
        return None if self.root is None else self.root.subcontext(task_name=name, **options)

    @contextmanager
    def stage(self, name: str) -> Iterator[Report]:
        """Open a stage; it is done when the block is left."""
        tell, stage, n_told = report_to(self.bar, name), self._subtask(name, max_subtasks=STEPS), 0

        def report(done: int, total: int) -> None:
            nonlocal n_told
            tell(done, total)
            while stage is not None and n_told < STEPS * done // total:
                n_told += 1
                with _task(stage.subcontext(task_name=f"{n_told} %"), self.estimator):
                    pass

        with _task(stage, self.estimator):
            yield report
            report(1, 1)

    @contextmanager
    def fit_of(self, estimator: Any) -> Iterator[None]:
        """Open a stage that is the fit of a candidate; the candidate reports the details."""
        stage = self._subtask("candidate")
        inner = nullcontext() if stage is None else stage.propagate_callback_context(estimator)
        with inner, _task(stage, self.estimator):
            yield
