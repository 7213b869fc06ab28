"""Rows of several quantizers side by side, or of one quantizer for each group of channels."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline

from mvdfq._engines.choice import side_by_side
from mvdfq.frames.base import channel_names, shares_of
from mvdfq.frames.select import Select, groups_by_name
from mvdfq.frames.stack import Stack
from mvdfq.sequences import Sequences
from mvdfq.sequences.containers import check_lengths
from mvdfq.symbols.base import Symbols, names_of


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

    def _transform(self, X: Sequences) -> Symbols:  # type: ignore[override]
        """Encode the sequences by every quantizer."""
        return _joined(self._encoded(X))

    def _fit_transform(self, X: Sequences, y: Any) -> Symbols:
        """Fit every quantizer and encode the training sequences, in one pass."""

        def fitted(named: tuple[str, Any]) -> tuple[str, Any, Symbols]:
            name, given = named
            view: Any = None if given is None else clone(given)
            if hasattr(view, "fit_transform"):  # a pipeline then transforms only once
                return name, view, _checked(name, view.fit_transform(X, y))
            return name, view, _checked(name, view and view.fit(X, y).transform(X))

        done = list(side_by_side(fitted, self._named(X)))
        self.views_ = [(name, view) for name, view, _ in done]
        return _joined({name: symbols for name, _, symbols in done})

    def channel_shares(self) -> np.ndarray:
        """Return the shares of all quantizers, in the order of `views`."""
        return np.concatenate([shares_of([view], self.n_channels_in_) for _, view in self.views_])

    def symbol_names(self) -> list[Sequence[str]]:
        """Return the names of the symbols of all quantizers, in the order of `views`."""
        parts, views = self._encoded(self._nothing()), dict(self.views_)
        return [
            names
            for name, symbols in parts.items()
            for names in names_of(views[name], symbols.n_symbols.tolist())
        ]

    def _encoded(self, X: Any) -> dict[str, Symbols]:
        """Return the symbols of each quantizer, by the name of the view."""

        def encoded(named: tuple[str, Any]) -> tuple[str, Symbols]:
            name, view = named
            return name, _checked(name, None if view is None else view.transform(X))

        return dict(side_by_side(encoded, self.views_))


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
        groups = enumerate(groups_by_name(X), start=1)
        copies = [(i, make_pipeline(Select(group), clone(self.quantizer))) for i, group in groups]
        return [(f"group {i}", quantizer) for i, quantizer in copies]


def _joined(parts: dict[str, Symbols]) -> Symbols:
    """Return one collection with the rows of all parts."""
    check_lengths(parts)
    dtype = max(part.data.dtype for part in parts.values())
    rows = [part.astype(dtype) for part in parts.values()]
    names: list[str] = []
    for view, symbols in parts.items():  # a repeated name gets the name of its view as a prefix
        mine = channel_names(symbols)
        names += [f"{view}: {name}" if name in names else name for name in mine]
    return replace(
        rows[0],
        data=np.concatenate([part.data for part in rows]),
        n_symbols=np.concatenate([part.n_symbols for part in rows]),
        channel_names=tuple(names),
    )


def _checked(name: str, symbols: Any) -> Symbols:
    if not isinstance(symbols, Symbols):
        kind = "numbers" if symbols is None else type(symbols).__name__
        raise TypeError(
            f"View {name!r} must return Symbols, got {kind}; pass a quantizer or a pipeline that "
            f"ends in a quantizer."
        )
    return symbols
