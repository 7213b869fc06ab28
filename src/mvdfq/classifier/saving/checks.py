"""Checks of the parts of a model that was read from a file.

Compiled loops do not check their arguments, so these modules check every array that the loops use
as an index. They also check that learned values belong together. Transformers check their own
learned values, see `SequenceTransformer.check_learned`.
"""

from typing import Any

import numpy as np

from mvdfq._utils.memory import parse_memory
from mvdfq._utils.threads import n_threads
from mvdfq.classifier.parts import encode
from mvdfq.classifier.saving.demands import TreeError, check_norms, class_name, require
from mvdfq.classifier.saving.kinds import check_kinds
from mvdfq.classifier.saving.machines import MACHINES
from mvdfq.classifier.saving.readers import READERS
from mvdfq.frames.learned import check_array
from mvdfq.frames.steps import steps_of

__all__ = ["check"]

# Each thread plans its own working memory, and has a stack.
MOST_THREADS = 1024


def check(value: Any) -> None:
    """Raise an error for an object that is inconsistent or not safe for compiled loops."""
    try:
        check_kinds(value)
        _check_resources(value)
        for cls in reversed(type(value).__mro__):
            if cls.__name__ in CHECKS:
                CHECKS[cls.__name__](value)
    except (ValueError, TypeError) as error:  # also of the checks of parameters
        problem = str(error).removesuffix(".")
        raise TreeError(f"in {type(value).__name__}, {problem}") from None


def _check_resources(value: Any) -> None:
    """Check what many classes have; both functions raise an error for another value."""
    n = n_threads(getattr(value, "n_jobs", None))
    require(n <= MOST_THREADS, f"n_jobs must be at most {MOST_THREADS} threads, got {n}")
    parse_memory(getattr(value, "memory_limit", None))


def _check_classifier(value: Any) -> None:
    _check_problems(value)
    _check_steps(value)
    fits = value.classes_.ndim == 1 and value.classes_.dtype.kind in "biufUO"
    require(fits, "classes_ must be a list of labels, got another array")
    usable = np.isfinite(value.temperature_) and value.temperature_ > 0
    require(usable, f"temperature_ must be a positive number, got {value.temperature_}")
    _check_views(value)
    _check_training(value)
    _check_encoders(value)
    check_array(value.ranges_in_, "ranges_in_", (2, value.n_channels_in_))


def _check_problems(clf: Any) -> None:
    """Check that the machine solves the problems of the classes, with the kernel."""
    n_classes, machine, problems = len(clf.classes_), clf.machine_, clf.problems_
    require(
        problems.n_classes == n_classes >= 2,
        f"problems_ must have as many classes as classes_, at least two, got "
        f"{problems.n_classes} and {n_classes}",
    )
    found, wanted = len(machine.margins.intercepts), len(problems.pairs)
    require(found == wanted, f"machine_ must have {wanted} columns, one per problem, got {found}")
    require(clf.kernel_ is machine.reader, "kernel_ must be the kernel of machine_, got another")


def _check_steps(clf: Any) -> None:
    """Check that frames and symbols are fitted transformers."""
    for part in clf.encoders:
        is_part = hasattr(part, "transform")
        require(
            is_part, f"frames_ and symbols_ must be transformers or None, got {class_name(part)}"
        )
    for step in steps_of(clf.frames_, clf.symbols_):
        is_fitted = hasattr(step, "n_channels_in_")
        require(is_fitted, f"frames_ and symbols_ must be fitted, but {class_name(step)} is not")


def _check_views(clf: Any) -> None:
    """Check that every view has one column per problem, and a share in the sum."""
    wanted = len(clf.problems_.pairs)
    for view in clf.views_:
        found = view.n_columns
        require(found == wanted, f"a view must have {wanted} columns, got {found}")
    check_norms(clf.view_shares_, "view_shares_", (1 + len(clf.views_),))


def _check_training(clf: Any) -> None:
    """Check the indices and the classes of the training sequences that the machine keeps."""
    n, n_classes = clf.machine_.n_train, len(clf.classes_)
    check_array(clf.train_index_, "train_index_", (n,), np.int64)
    check_array(clf.train_y_, "train_y_", (n,), np.int64)
    inside = (clf.train_y_ < n_classes).all() and (clf.train_y_ >= 0).all()
    require(inside, f"train_y_ must hold numbers from 0 to {n_classes - 1}")
    if clf.train_fingerprints_ is not None:
        n_given = len(np.atleast_1d(clf.train_fingerprints_))
        check_array(clf.train_fingerprints_, "train_fingerprints_", (n_given,), np.uint64)


def _check_encoders(clf: Any) -> None:
    """Check that encoders, kernel and views belong together: they read a collection of nothing."""
    steps = steps_of(clf.frames_, clf.symbols_)
    found = steps[0].n_channels_in_ if steps else clf.kernel_.n_rows_in_
    n = clf.n_channels_in_
    require(found == n, f"the first part must read n_channels_in_={n} channels, got {found}")
    if not steps:
        return
    nothing = steps[0]._nothing()
    try:
        symbols = encode(clf.encoders, nothing)
        clf.kernel_.read_new(symbols)
        for view in clf.views_:
            view.read(nothing)
    except Exception as error:  # whatever a damaged part raises
        raise TreeError(f"the parts do not belong together: {error}") from None


# Checks by the name of a class or of one of its base classes.
CHECKS = READERS | MACHINES | {"SequenceClassifier": _check_classifier}
