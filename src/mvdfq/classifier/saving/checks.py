"""Checks of the parts of a model that was read from a file.

Compiled loops do not check their arguments, so these modules check every array that the loops use
as an index. They also check that learned values belong together. Transformers check their own
learned values, see `SequenceTransformer.check_learned`.
"""

from typing import Any

import numpy as np

from mvdfq._utils.checks import parse_memory
from mvdfq._utils.threads import n_threads
from mvdfq.classifier.saving.fitted_terms import TERMS
from mvdfq.classifier.saving.kinds import check_finite, check_kinds, check_norms
from mvdfq.classifier.saving.readers import READERS
from mvdfq.frames.base import steps_of
from mvdfq.frames.learned import LearnedError, check_array, require
from mvdfq.terms.total import width_of

# Each thread plans its own working memory, and has a stack.
MOST_THREADS = 1024


def check(value: Any) -> None:
    """Raise an error for an object that is inconsistent or not safe for compiled loops."""
    try:
        check_kinds(value)
        n = n_threads(getattr(value, "n_jobs", None))  # raises an error for another value
        require(n <= MOST_THREADS, f"n_jobs must be at most {MOST_THREADS} threads, got {n}")
        parse_memory(getattr(value, "memory_limit", None))
        for cls in reversed(type(value).__mro__):
            if cls.__name__ in CHECKS:
                CHECKS[cls.__name__](value)
    except (ValueError, TypeError) as error:  # also of the checks of parameters
        problem = str(error).removesuffix(".")
        raise LearnedError(f"in {type(value).__name__}, {problem}") from None


def _check_classifier(value: Any) -> None:
    fits = value.classes_.ndim == 1 and value.classes_.dtype.kind in "biufUO"
    require(fits, "classes_ must be a list of labels, got another array")
    usable = np.isfinite(value.temperature_) and value.temperature_ > 0
    require(usable, f"temperature_ must be a positive number, got {value.temperature_}")
    _check_problems(value)
    check_array(value.class_shares_, "class_shares_", (len(value.classes_),), np.float64)
    usable = (value.class_shares_ > 0).all() and np.isclose(value.class_shares_.sum(), 1)
    require(usable, f"class_shares_ must be positive and sum to 1, got {value.class_shares_}")
    check_array(value.lost_, "lost_", (None, 2, 3), np.float64)
    n, wanted = len(value.lost_), value.n_channels_in_ + len(value.sum_.terms)
    require(n in (0, wanted), f"lost_ must hold {wanted} parts: channels and terms, got {n}")
    _check_training(value)
    _check_reading(value)
    check_array(value.ranges_in_, "ranges_in_", (2, value.n_channels_in_), np.float64)
    if value.calibration_ is not None:
        known = value.sum_.knows_means(len(value.classes_))
        require(known, "calibration_ needs terms that know the means of the classes")
        _check_calibration(value.calibration_, len(value.classes_))


def _check_calibration(value: Any, n_classes: int) -> None:
    """Check the scores of held-out sequences, and the spreads of the classes."""
    check_array(value.y, "y", (None,), np.int64)
    inside = (value.y < n_classes).all() and (value.y >= 0).all()
    require(inside, f"y must hold numbers from 0 to {n_classes - 1}")
    check_array(value.scores, "scores", (len(value.y), 2), np.float32)
    require(np.isfinite(value.scores).all(), "scores must hold finite numbers")
    for name in ("sizes", "strays"):
        check_norms(getattr(value, name), name, (n_classes,))
    require((value.sizes > 0).all(), "sizes must be positive")


def _check_problems(clf: Any) -> None:
    """Check that every term of the sum solves the problems of the classes."""
    n_classes, problems = len(clf.classes_), clf.problems_
    require(
        problems.n_classes == n_classes >= 2,
        f"problems_ must have as many classes as classes_, at least two, got "
        f"{problems.n_classes} and {n_classes}",
    )
    require(clf.sum_.terms, "the sum must hold at least one term, got an empty list")
    wanted = len(problems.pairs)
    check_finite(clf.sum_.intercepts, "intercepts", (wanted,))
    for term in clf.sum_.terms:
        found = term.intercepts.size
        require(found == wanted, f"a term must have {wanted} columns, one per problem, got {found}")
        for size in (means.shape[-1] for means in term.class_means):
            usable = size in (1, n_classes)  # 1: the mean of all classes
            require(usable, f"a term must have means of {n_classes} classes or one, got {size}")
    names = [term.name for term in clf.sum_.terms]
    require(len(set(names)) == len(names), f"every term must have another name, got {names}")


def _check_training(clf: Any) -> None:
    """Check the sketches, indices and classes of the training sequences."""
    n, n_classes, terms = len(clf.train_y_), len(clf.classes_), clf.sum_.terms
    kept = [term.train.shape[0] for term in terms if term.train is not None]
    require(all(n == one for one in kept), f"terms must keep {n} sequences, got {kept}")
    check_array(clf.sum_.sketches, "sketches", (n, width_of(terms)), np.int8)
    check_array(clf.sum_.scales, "scales", (n,), np.float32)
    usable = np.isfinite(clf.sum_.scales).all() and (clf.sum_.scales >= 0).all()
    require(usable, "scales must hold finite numbers from 0 on")
    check_array(clf.train_index_, "train_index_", (n,), np.int64)
    check_array(clf.train_y_, "train_y_", (n,), np.int64)
    inside = (clf.train_y_ < n_classes).all() and (clf.train_y_ >= 0).all()
    require(inside, f"train_y_ must hold numbers from 0 to {n_classes - 1}")
    check_array(clf.train_fingerprints_, "train_fingerprints_", (None,), np.uint64)


def _check_reading(clf: Any) -> None:
    """Check that encoders and readers belong together: they read a collection of nothing."""
    for term in clf.sum_.terms:
        steps = steps_of(*term.encoders)
        found = steps[0].n_channels_in_ if steps else term.n_channels_in
        n = clf.n_channels_in_
        require(
            found == n, f"the term {term.name} must read n_channels_in_={n} channels, got {found}"
        )
        try:
            if steps:
                term.read(steps[0]._nothing())
        except Exception as error:  # whatever a damaged part raises
            raise LearnedError(f"the parts do not belong together: {error}") from None


# Checks by the name of a class or of one of its base classes.
CHECKS = READERS | TERMS | {"SequenceClassifier": _check_classifier}
