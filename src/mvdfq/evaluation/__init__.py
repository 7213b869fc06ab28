"""Evaluation of a classifier: protocols cut the data into folds, metrics judge the predictions.

A classifier learns from the training part of each fold alone. No data set is named here.
"""

from mvdfq.evaluation.measures import roc50
from mvdfq.evaluation.protocols import folds_of, usual_protocol
from mvdfq.evaluation.results import Evaluation, Fold
from mvdfq.evaluation.running import answers, evaluate, evaluate_fitted, useful_groups

__all__ = [
    "Evaluation",
    "Fold",
    "answers",
    "evaluate",
    "evaluate_fitted",
    "folds_of",
    "roc50",
    "useful_groups",
    "usual_protocol",
]
