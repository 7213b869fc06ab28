"""The progress of a fit, reported to a bar in the terminal and to scikit-learn's callbacks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mvdfq._utils.bar import new_bar, report_to
from mvdfq._utils.threads import Report

try:  # scikit-learn 1.9
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for the class of scikit-learn 1.9: older versions have no callbacks."""

    def with_callbacks(method: Callable) -> Callable:
        """Return the method unchanged: there are no callbacks to end."""
        return method


__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]

# Steps that are reported to callbacks during a stage.
STEPS = 100


class Progress:
    """Reports the stages of a fit, and how much of each stage is done.

    Use it as a context manager. `stage` opens one stage after the other and returns the function
    that takes how much is done and the total.
    """

    def __init__(self, estimator: Any, n_stages: int, verbose: Any) -> None:
        self.estimator = estimator
        self.root: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self.root = estimator._init_callback_context(max_subtasks=n_stages)
        self.bar = new_bar() if verbose else None

    def __enter__(self) -> "Progress":
        if self.root is not None:
            self.root.call_on_fit_task_begin(estimator=self.estimator)
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if self.bar is not None:
            self.bar.stop()
        if self.root is not None and kind is None:
            self.root.call_on_fit_task_end(estimator=self.estimator)

    @contextmanager
    def stage(self, name: str) -> Iterator[Report]:
        """Open a stage; it is done when the block is left."""
        reports = [report_to(self.bar, name), *self._callback_report(name)]

        def report(done: int, total: int) -> None:
            for one in reports:
                one(done, total)

        yield report
        report(1, 1)

    @contextmanager
    def fit_of(self, estimator: Any, name: str) -> Iterator[None]:
        """Open a stage that is the fit of another estimator; that estimator reports the details."""
        if self.root is None:
            yield
            return
        stage = self.root.subcontext(task_name=name)
        with stage.propagate_callback_context(estimator):
            stage.call_on_fit_task_begin(estimator=self.estimator)
            yield
            stage.call_on_fit_task_end(estimator=self.estimator)

    def _callback_report(self, name: str) -> list[Report]:
        if self.root is None:
            return []
        stage = self.root.subcontext(task_name=name, max_subtasks=STEPS)
        stage.call_on_fit_task_begin(estimator=self.estimator)
        told = 0

        def report(done: int, total: int) -> None:
            nonlocal told
            while told < STEPS * done // total:
                told += 1
                step = stage.subcontext(task_name=f"{told} %")
                step.call_on_fit_task_begin(estimator=self.estimator)
                step.call_on_fit_task_end(estimator=self.estimator)
                if told == STEPS:
                    stage.call_on_fit_task_end(estimator=self.estimator)

        return [report]
