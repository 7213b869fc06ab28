"""Rows of several quantizers side by side, or of one quantizer for each group of channels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

from mvdfq.frames.base import channel_names, shares_of
from mvdfq.frames.stack import Select, Stack, groups_by_name
from mvdfq.sequences import Sequences
from mvdfq.sequences.containers import check_lengths
from mvdfq.symbols.base import Symbols, names_of, side_by_side


class Rows(Stack):
    """Put the rows of several quantizers side by side.

    Kernels sum over rows, so every quantizer adds evidence: bins of single channels, joint bins of
    pairs of channels, codewords of whole frames.

    Parameters
    ----------
    views : list of quantizers or of (str, quantizer)
        The quantizers, or pipelines that end in a quantizer. `fit` fits each of them on the same
        sequences. A quantizer without a name gets the name of its class in lower case, with a
        number if the name occurs twice. Parameters are set as in a pipeline:
        ``directquantizer__n_bins=4``. All quantizers must return the same number of frames.

    Attributes
    ----------
    views_ : list of (str, quantizer)
        The fitted quantizers.

    Examples
    --------
    >>> from mvdfq.symbols import DirectQuantizer, JointQuantizer, Rows
    >>> rows = Rows([DirectQuantizer(4), JointQuantizer(n_bins=2)])
    >>> symbols = rows.fit_transform([[[0.0, 1.0, 2.0, 3.0], [3.0, 2.0, 1.0, 0.0]]])
    >>> symbols.channel_names
    ('x0', 'x1', 'x0 & x1')
    >>> symbols[0]
    array([[0, 1, 2, 3],
           [3, 2, 1, 0],
           [2, 2, 1, 1]], dtype=uint8)
    """

    def _checked(self, name: str, part: Any) -> Symbols:
        if not isinstance(part, Symbols):
            kind = "numbers" if isinstance(part, Sequences) else type(part).__name__
            problem = f"View {name!r} must return Symbols, got {kind}"
            raise TypeError(f"{problem}; pass a quantizer or a pipeline that ends in a quantizer.")
        return part

    def _joined(self, X: Sequences, parts: dict[str, Symbols]) -> Symbols:
        check_lengths(parts)
        names: list[str] = []
        for view, symbols in parts.items():  # a repeated name gets the name of its view as a prefix
            names_of_view = channel_names(symbols)
            names += [f"{view}: {name}" if name in names else name for name in names_of_view]
        return side_by_side([*parts.values()], tuple(names))

    def channel_shares(self) -> np.ndarray:
        """Return the shares of all quantizers, in the order of `views`."""
        return np.concatenate([shares_of([view], self.n_channels_in_) for _, view in self.views_])

    def symbol_names(self) -> list[Sequence[str]]:
        """Return the names of the symbols of all quantizers, in the order of `views`."""
        parts, views = self._parts(self._nothing()), dict(self.views_)
        return [
            names
            for name, symbols in parts.items()
            for names in names_of(views[name], symbols.n_symbols.tolist())
        ]


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
    >>> X = mvdfq.check_sequences([[[0.0, 1.0, 2.0, 3.0]] * 4], channel_names=names)
    >>> mvdfq.PerGroup(mvdfq.CodebookQuantizer(2)).fit_transform(X).n_rows
    2
    """

    def __init__(self, quantizer: Any) -> None:
        self.quantizer = quantizer

    # the copies are not parameters: the groups are known in `fit` only
    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params

    def _named(self, X: Sequences) -> list[tuple[str, Any]]:
        return [
            (f"group {i}", make_pipeline(Select(group), clone(self.quantizer)))
            for i, group in enumerate(groups_by_name(X), start=1)
        ]
