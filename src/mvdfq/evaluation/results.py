"""The predictions of all folds, and the metrics that judge the predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from mvdfq._utils.short import Short, counted, table
from mvdfq.evaluation import measures


def codes_of(values: np.ndarray, labels: Sequence[Any]) -> np.ndarray:
    """Return the places of values among the labels."""
    places = {label: place for place, label in enumerate(labels)}
    return np.array([places[value] for value in values.tolist()], np.int64)


@dataclass(frozen=True, repr=False)
class Fold(Short):
    """The predictions for the test part of one fold, and the true labels."""

    name: str
    seed: int
    test: np.ndarray
    truth: np.ndarray
    predicted: np.ndarray
    scores: np.ndarray | None = None  # decision values, if the classifier says them
    probabilities: Any = None  # of the classes of the evaluation, if the classifier says them

    @property
    def accuracy(self) -> float:
        """Share of the test part that was classified correctly."""
        return float(np.mean(self.truth == self.predicted))


@dataclass(frozen=True, repr=False)
class Evaluation(Short):
    """The folds of an evaluation, and the metrics of all folds together.

    Every metric but `mean_over_folds` and `spread` counts the predictions of all test parts
    together, so a large test part counts more than a small one.

    Parameters
    ----------
    protocol : str
        The protocol that cut the folds.
    labels : list
        The classes.
    folds : list of Fold
        The predictions of each fold.
    groups : ndarray of shape (n_sequences,), default=None
        The group of each sequence of the data, if known; `Fold.test` are places in it.
    remarks : tuple of str, default=()
        What was decided without being asked for: which protocol, and why.
    names : sequence of str, default=()
        The name of each sequence of the data, if known.
    positive : object, default=None
        The positive of two classes; None means the second class.

    Examples
    --------
    >>> import mvdfq
    >>> X, y = mvdfq.load_japanese_vowels(split="train")
    >>> clf = mvdfq.SequenceClassifier("mvdfqm-sssk", C=10)
    >>> result = mvdfq.evaluate(clf, X, y, protocol="3-fold")
    >>> result.accuracy > 0.8, len(result.folds)
    (True, 3)
    """

    protocol: str
    labels: list[Any]
    folds: list[Fold] = field(default_factory=list)
    groups: np.ndarray | None = None
    remarks: tuple[str, ...] = ()
    names: Sequence[str] = ()
    positive: Any = None

    @property
    def truth(self) -> np.ndarray:
        """True labels of all test parts, one test part after the other."""
        return np.concatenate([fold.truth for fold in self.folds])

    @property
    def predicted(self) -> np.ndarray:
        """Predictions for all test parts, one test part after the other."""
        return np.concatenate([fold.predicted for fold in self.folds])

    @property
    def right(self) -> np.ndarray:
        """Which predictions are right, one test part after the other."""
        return self.truth == self.predicted

    @property
    def probabilities(self) -> np.ndarray | None:
        """Probabilities of `labels`, one test part after the other; None without probabilities."""
        return joined([fold.probabilities for fold in self.folds])

    @property
    def seeds(self) -> list[int]:
        """The seeds; every seed predicts the same sequences again."""
        return sorted({fold.seed for fold in self.folds})

    @property
    def accuracy(self) -> float:
        """Right predictions of all test parts, divided by all predictions."""
        return float(self.right.mean())

    @property
    def mean_over_folds(self) -> float:
        """Mean of the accuracies of the folds: small and large folds count the same."""
        return float(np.mean([fold.accuracy for fold in self.folds]))

    @property
    def spread(self) -> float:
        """Standard deviation of the accuracies of the folds."""
        return float(np.std([fold.accuracy for fold in self.folds]))

    @property
    def tested_groups(self) -> np.ndarray | None:
        """The group of the sequence of every prediction; None if no groups are known."""
        if self.groups is None:
            return None
        return self.groups[np.concatenate([fold.test for fold in self.folds])]

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the accuracy; over groups, if groups are known."""
        return measures.share_interval(self.right, self.tested_groups, len(self.seeds))

    @property
    def interval_name(self) -> str:
        """What the interval rests on, such as ``"t interval over 6 groups"``."""
        return measures.interval_name(len(self.right) // len(self.seeds), self.tested_groups)

    @property
    def per_group(self) -> list[dict[str, Any]]:
        """Predictions, right predictions and accuracy of each group; empty without groups."""
        if self.tested_groups is None:
            return []
        names, codes, sizes = np.unique(self.tested_groups, return_inverse=True, return_counts=True)
        hits = np.bincount(codes, weights=self.right).astype(int)
        return [
            dict(group=str(name), n=n, right=k, accuracy=k / n)
            for name, n, k in zip(names.tolist(), sizes.tolist(), hits.tolist(), strict=True)
        ]

    @property
    def per_sequence(self) -> list[dict[str, Any]]:
        """Name, group, classes, probability and loss of every prediction, fold by fold."""
        rows = []
        for fold in self.folds:
            parts = (part.tolist() for part in (fold.test, fold.truth, fold.predicted))
            for i, true, answer in zip(*parts, strict=True):
                group = {} if self.groups is None else {"group": str(self.groups[i])}
                row = {"name": self.names[i] if len(self.names) else str(i), **group}
                row |= {"true": str(true), "predicted": str(answer), "right": true == answer}
                rows.append(row | {"fold": fold.name, "seed": fold.seed})
        if (known := self.probabilities) is not None:
            truth, said = (codes_of(part, self.labels) for part in (self.truth, self.predicted))
            chances, losses = known[np.arange(len(said)), said], measures.log_losses(known, truth)
            for row, p, loss in zip(rows, chances.tolist(), losses.tolist(), strict=True):
                row.update(probability=p, log_loss=loss)
        return rows

    @property
    def confusion(self) -> np.ndarray:
        """How often a class (row) was predicted as a class (column), over all folds and seeds."""
        return confusion_matrix(self.truth, self.predicted, labels=self.labels)

    @property
    def per_class(self) -> list[dict[str, Any]]:
        """Precision, recall, F1 and number of members of each class."""
        numbers = precision_recall_fscore_support(
            self.truth, self.predicted, labels=self.labels, zero_division=0
        )
        return [
            dict(label=label, precision=float(p), recall=float(r), f1=float(f), n=int(n))
            for label, p, r, f, n in zip(self.labels, *numbers, strict=True)
        ]

    @property
    def f1(self) -> tuple[float, float]:
        """F1 in both definitions: mean F1 of the classes; F1 of mean precision and mean recall.

        The author of the paper reported the second F1 in 2008.
        """
        # of classes that occur, as a true class or as a prediction
        precision, recall, f1, _ = precision_recall_fscore_support(
            self.truth, self.predicted, average="macro", zero_division=0
        )
        # without a right prediction both means are 0, and so is F1
        return float(f1), float(2 * precision * recall / max(precision + recall, 1e-300))

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes that have members in the test parts, over all folds."""
        return float(np.mean([row["recall"] for row in self.per_class if row["n"]]))

    @property
    def two_classes(self) -> dict[str, Any]:
        """Measures of two classes, by default the second is positive; empty for other numbers.

        Sensitivity and specificity are the recalls of the positive and of the other class, None
        for a class without members. ROC area, average precision and ROC50 rank the decision
        values of all test parts together, so a test part may lack a class.
        """
        if len(self.labels) != 2:
            return {}
        texts = list(map(str, self.labels))
        # decision values of two classes are margins of the second class
        place = 1 if self.positive is None else texts.index(str(self.positive))
        recalls = [row["recall"] if row["n"] else None for row in self.per_class]
        scores = joined([fold.scores for fold in self.folds])
        scores = scores if scores is None or place else -scores
        facts = {"positive_class": texts[place], "sensitivity": recalls[place]}
        facts["specificity"] = recalls[1 - place]
        return facts | measures.ranking_of(self.truth == self.labels[place], scores)

    def _repr_html_(self) -> str:
        """Return accuracy, classes and confusions, for notebooks."""
        low, high = self.interval
        interval = f"95 %: {low:.2%} to {high:.2%}, {self.interval_name}"
        how = f"{self.protocol}, {counted(len(self.folds), 'fold')}"
        title = f"accuracy {self.accuracy:.2%} ({interval}), {how}"
        names = [str(label) for label in self.labels]
        classes = [tuple(row.values()) for row in self.per_class]
        lines = [(name, *row) for name, row in zip(names, self.confusion.tolist(), strict=True)]
        groups = [tuple(row.values()) for row in self.per_group]
        return (
            table(["class", "precision", "recall", "F1", "n"], classes, title)
            + (table(["group", "n", "right", "accuracy"], groups, "groups") if groups else "")
            + table(["true \\ said", *names], lines, "confusions")
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain numbers and text, ready for JSON."""
        mean_f1, harmonic_f1 = self.f1
        return {
            "protocol": self.protocol,
            "remarks": list(self.remarks),
            "accuracy": self.accuracy,
            "n": len(self.right),
            "right": int(self.right.sum()),
            "error": 1 - self.accuracy,
            "interval_95": list(self.interval),
            "interval_name": self.interval_name,
            "mean_over_folds": self.mean_over_folds,
            "std_over_folds": self.spread,
            "balanced_accuracy": self.balanced_accuracy,
            **measures.honesty_of(self.probabilities, codes_of(self.truth, self.labels)),
            "f1_mean_of_classes": mean_f1,
            "f1_of_mean_precision_and_recall": harmonic_f1,
            "seeds": self.seeds,
            "folds": [
                dict(name=f.name, seed=f.seed, n=len(f.truth), accuracy=f.accuracy)
                for f in self.folds
            ],
            "groups": self.per_group,
            "classes": [{**row, "label": str(row["label"])} for row in self.per_class],
            "confusion": self.confusion.tolist(),
            **self.two_classes,
        }


def joined(parts: list[Any]) -> np.ndarray | None:
    """Join the arrays of all folds; return None if a fold has no array."""
    return None if any(part is None for part in parts) else np.concatenate(parts)
