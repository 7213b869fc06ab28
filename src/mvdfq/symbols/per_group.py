"""A copy of one quantizer for each group of channels."""

from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

from mvdfq.frames.select import Select, groups_by_name
from mvdfq.sequences import Sequences
from mvdfq.symbols.rows import Rows

__all__ = ["PerGroup"]


class PerGroup(Rows):
    """Fit a copy of one quantizer to each group of channels, and put the rows side by side.

    A group is the channels whose names differ only in the last number: MFCCs and spectral bands,
    say, are two groups, so each has a codebook of its own. Channels without names are one group.
    Symbolic channels are left out.

    Parameters
    ----------
    quantizer : quantizer
        The quantizer, or a pipeline that ends in a quantizer.

    Attributes
    ----------
    views_ : list of (str, quantizer)
        The fitted copies, each after a `Select` of the channels of its group.

    Examples
    --------
    >>> import mvdfq
    >>> names = ["mfcc 0", "mfcc 1", "band 0", "band 1"]
    >>> X = mvdfq.check_sequences([[[0.0, 1.0, 2.0, 3.0, 4.0]] * 4], channel_names=names)
    >>> mvdfq.PerGroup(mvdfq.CodebookQuantizer(2)).fit_transform(X).n_rows
    2
    """

    def __init__(self, quantizer: Any) -> None:
        self.quantizer = quantizer

    # the copies are not parameters: the groups are known in `fit` only
    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params

    def _named(self, X: Sequences) -> list[tuple[str, Any]]:
        groups = enumerate(groups_by_name(X), start=1)
        copies = [(i, make_pipeline(Select(group), clone(self.quantizer))) for i, group in groups]
        return [(f"group {i}", one) for i, one in copies]
