"""The methods the paper compares with, as classifiers of sequences behind one interface."""

from mvdfq.reproduce.baselines.vectors import DTW, DWCH, GAK, MAR, PLSA, MeanVariance
from mvdfq.reproduce.baselines.votes import GMM, BoostedAggregates, NMFBases

__all__ = ["DTW", "DWCH", "GAK", "GMM", "MAR", "PLSA", "BoostedAggregates", "MeanVariance",
           "NMFBases"]  # fmt: skip
