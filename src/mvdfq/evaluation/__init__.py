"""Evaluation of a classifier: protocols cut the data into folds, metrics judge the predictions.

A classifier learns from the training part of each fold alone. No data set is named here.
"""

from mvdfq.evaluation.measures import roc50 as roc50
from mvdfq.evaluation.protocols import folds_of as folds_of, usual_protocol as usual_protocol
from mvdfq.evaluation.results import (
    Evaluation as Evaluation,
    Fold as Fold,
    codes_of as codes_of,
    joined as joined,
)
from mvdfq.evaluation.running import (
    aligned as aligned,
    answers as answers,
    evaluate as evaluate,
    evaluate_fitted as evaluate_fitted,
    useful_groups as useful_groups,
)
