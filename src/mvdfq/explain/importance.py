"""How much each row, and each channel behind the rows, has to do with what was learned."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from mvdfq.frames import Centre, Delta, Rotate, Smooth, Stack, Standardize
from mvdfq.gram.vocabulary import Vocabulary
from mvdfq.machines.alignment import row_units, unit_grams
from mvdfq.machines.machine import KernelMachine, LinearMachine, Machine
from mvdfq.symbols import DirectQuantizer, JointQuantizer, Letters

__all__ = ["channel_shares", "row_importance"]


def row_importance(machine: Machine) -> np.ndarray:
    """Return the share of each row in the squared norms of all machines."""
    if isinstance(machine, KernelMachine):
        norms = _kernel_norms(machine)
    else:
        assert isinstance(machine, LinearMachine)
        norms = _linear_norms(machine)
    norms = np.maximum(norms, 0)  # not below it by rounding
    return norms / norms.sum() if norms.any() else np.full(len(norms), 1 / len(norms))


def _kernel_norms(machine: KernelMachine) -> np.ndarray:
    kernel, coefficients = machine.reader, machine.coefficients
    used = np.flatnonzero(coefficients.any(axis=1))
    units = row_units(kernel.train_[used], kernel.plan_)
    grams = unit_grams(units, kernel.n_jobs, kernel.memory_limit)
    mine = coefficients[used]
    squares = [float(np.einsum("ic,ij,jc->", mine, K, mine, optimize=True)) for K in grams]
    return np.array(squares) * kernel.plan_.row_weights


def _linear_norms(machine: LinearMachine) -> np.ndarray:
    columns, coefficients = machine.reader.columns_, machine.margins.coefficients
    if not isinstance(columns, Vocabulary):
        raise AttributeError(
            "Hashed words of all rows share their columns, so that no row has a share of its "
            "own; n_features=None keeps them apart."
        )
    norms = np.zeros(len(machine.reader.plan_.row_weights))
    for (r, t), words in columns.words.items():
        first = columns.first[r, t]
        norms[r] += float((coefficients[first : first + len(words)] ** 2).sum())
    return norms


def channel_shares(encoders: list[Any], n_channels: int, n_rows: int) -> np.ndarray:
    """Return how each row is made up of channels: (n_rows, n_channels), rows sum to 1.

    A row of several channels is divided equally, that of a rotation by the squares of its
    weights; where nothing is known of a transformer, among all channels.
    """
    shares = np.eye(n_channels)
    for step in encoders:
        shares = _shares(step, shares.shape[0]) @ shares
    return shares if len(shares) == n_rows else np.full((n_rows, n_channels), 1 / n_channels)


def _shares(step: Any, n: int) -> np.ndarray:
    """Shares of `n` rows in those that a fitted transformer makes of them."""
    if step is None or isinstance(
        step, Standardize | Smooth | Centre | DirectQuantizer | Letters | str
    ):
        return np.eye(n)
    if isinstance(step, Delta):
        is_symbolic, one = _symbolic(step, n), np.eye(n)
        return np.concatenate([one[is_symbolic | step.keep], one[~is_symbolic]])
    if isinstance(step, Rotate):
        return _shares_of_rotation(step, _symbolic(step, n))
    if isinstance(step, JointQuantizer):
        return np.array([np.isin(range(n), members) / len(members) for members in step.sets_])
    if isinstance(step, Stack):
        return np.concatenate([_shares(view, n) for _, view in step.views_])
    if isinstance(step, Pipeline):
        shares = np.eye(n)
        for _, part in step.steps:
            shares = _shares(part, shares.shape[0]) @ shares
        return shares
    n_out = len(step.get_feature_names_out()) if hasattr(step, "get_feature_names_out") else n
    return np.full((n_out, n), 1 / n)


def _symbolic(step: Any, n: int) -> np.ndarray:
    """Which of `n` channels hold symbols, which transformers of numbers pass through."""
    return np.array(step.symbolic_in_ or [False] * n)


def _shares_of_rotation(step: Rotate, is_symbolic: np.ndarray) -> np.ndarray:
    """Squares of the weights, those of slopes added to those of the channels themselves."""
    squares, n_numbers = step.components_**2, int((~is_symbolic).sum())
    shares = np.zeros((len(squares), len(is_symbolic)))
    shares[:, ~is_symbolic] = squares[:, :n_numbers]
    if step.deltas:
        shares[:, ~is_symbolic] += squares[:, n_numbers:]
    return np.concatenate([shares, np.eye(len(is_symbolic))[is_symbolic]])
