"""The methods the paper compares with, as classifiers of sequences behind one interface."""

from mvdfq.reproduce.baselines.alignment import DTW, GAK
from mvdfq.reproduce.baselines.autoregressive import MAR
from mvdfq.reproduce.baselines.base import Baseline, VectorClassifier
from mvdfq.reproduce.baselines.boosting import BoostedAggregates
from mvdfq.reproduce.baselines.factors import NMFBases
from mvdfq.reproduce.baselines.mixture import GMM
from mvdfq.reproduce.baselines.summary import MeanVariance
from mvdfq.reproduce.baselines.topics import PLSA
from mvdfq.reproduce.baselines.wavelets import DWCH

__all__ = [
    "DTW",
    "DWCH",
    "GAK",
    "GMM",
    "MAR",
    "PLSA",
    "Baseline",
    "BoostedAggregates",
    "MeanVariance",
    "NMFBases",
    "VectorClassifier",
]
