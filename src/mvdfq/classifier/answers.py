"""Predictions of a fitted classifier: decision values, labels and probabilities."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from mvdfq._engines.choice import current_engine, engine_of
from mvdfq.classifier.blocks import cluster_margins
from mvdfq.classifier.questions import Questions

__all__ = ["Answers"]


class Answers(Questions):
    """The part of `SequenceClassifier` that predicts."""

    temperature_: float

    def decide(self, symbols: Any) -> np.ndarray:
        """Return the decision values of encoded sequences.

        Parameters
        ----------
        symbols : Symbols
            Sequences that `encode` has turned into symbols.

        Returns
        -------
        decision : ndarray of shape (n_sequences,) or (n_sequences, n_classes)
            As in `decision_function`.
        """
        if self.views_:
            raise ValueError(
                "decide reads symbols, but this classifier also has parts that read numbers "
                f"({', '.join(dict.fromkeys(view.name for view in self.views_))}); "
                "use decision_function."
            )
        with engine_of(self):
            return self.problems_.decision(self.machine_.of(symbols))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision value of each class.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        decision : ndarray of shape (n_sequences,) or (n_sequences, n_classes)
            One-vs-rest: the margins. One-vs-one: the votes, plus less than half a vote from the
            margins. For two classes: the margin of the second class.
        """
        with engine_of(self):
            engine = current_engine()
            margins = (
                cluster_margins(engine, self, X) if engine.name == "dask" else self._margins(X)
            )
        return self.problems_.decision(margins)

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each sequence.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        labels : ndarray of shape (n_sequences,)
            The class with the largest decision value.
        """
        decision = self.decision_function(X)
        return self.classes_[self.problems_.predicted(decision)]

    def predict_proba(self, X: Any) -> np.ndarray:
        r"""Return the probability of each class.

        The probabilities are :math:`p_c \propto \exp(\tau f_c)`. The factor :math:`\tau` fits the
        labels of the inner folds best. The most probable class is the predicted class.

        Parameters
        ----------
        X : list of array-like of shape (n_channels, n_timepoints)
            Sequences with the channels seen in `fit`.

        Returns
        -------
        probabilities : ndarray of shape (n_sequences, n_classes)
            Every row sums to 1.
        """
        return self.probabilities(self.decision_function(X))

    def probabilities(self, decision: np.ndarray) -> np.ndarray:
        """Turn decision values into probabilities.

        Parameters
        ----------
        decision : ndarray of shape (n_sequences,) or (n_sequences, n_classes)
            Decision values.

        Returns
        -------
        probabilities : ndarray of shape (n_sequences, n_classes)
            Every row sums to 1.
        """
        if decision.ndim > 1:
            return softmax(self.temperature_ * decision, axis=1)
        second = expit(self.temperature_ * decision)
        return np.stack([1 - second, second], axis=1)
