"""Sums of products -> kernel values: weights and norms of rows, and the lower triangle."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.gram.cuts import Tile
from mvdfq.gram.plan import Plan
from mvdfq.gram.products import Products

__all__ = ["Gram", "add_row", "inverse_root", "mirror_tiles", "mirror_upper", "row_scale"]


@dataclass(frozen=True)
class Gram:
    """Kernel values of left (rows) and right (columns), and of each sequence with itself.

    `scale` holds the factor by which each row of each left sequence was multiplied.
    """

    values: np.ndarray
    left: np.ndarray
    right: np.ndarray
    scale: np.ndarray


def mirror_tiles(values: np.ndarray, own: np.ndarray, tiles: list[Tile]) -> None:
    """Fill the lower triangle tile by tile, without a second matrix."""
    for rows, columns in tiles:
        if rows == columns:
            mirror_upper(values[rows, rows], own[rows])
        else:
            values[columns, rows] = values[rows, columns].T


def mirror_upper(values: np.ndarray, own: np.ndarray) -> None:
    """Make a square matrix symmetric by its upper triangle; write `own` to its diagonal."""
    upper = np.triu(values, 1)
    np.add(upper, upper.T, out=values)
    np.fill_diagonal(values, own)


def add_row(out: Gram, plan: Plan, r: int, parts: list[tuple[float, Products]]) -> None:
    """Add the kernel of one row to the tile, normalized and weighted as the plan says."""
    first = parts[0][1]
    number = _number_type(parts)
    total = np.sum([part.total for _, part in parts], axis=0)
    own = np.sum([number(weight) * part.own for weight, part in parts], axis=0).astype(float)
    values = _weighted_sum([(number(weight), part.values) for weight, part in parts])
    if plan.normalises_rows:
        scale = row_scale(plan, own, total)
        values *= scale[: first.n_left, None]
        values *= scale[first.first_right :]
        own *= scale**2
        out.scale[r] = scale[: first.n_left]
    weight = plan.row_weights[r]
    out.values[...] += values if weight == 1 else weight * values
    out.left[...] += weight * own[: first.n_left]
    out.right[...] += weight * own[first.first_right :]


def _weighted_sum(terms: list[tuple[Any, np.ndarray]]) -> np.ndarray:
    """Return the weighted sum of arrays; overwrites the arrays, each as large as a tile."""
    terms = [(weight, values.astype(type(weight), copy=False)) for weight, values in terms]
    weight, total = terms[0]
    total *= weight
    for weight, values in terms[1:]:
        values *= weight
        total += values
    return total


def _number_type(parts: list[tuple[float, Products]]) -> Callable[[float], Any]:
    """Return float64, or an extended type if whole numbers may exceed 2**53.

    Mismatch weights grow with the alphabet and alternate in sign, so rounding errors would show.
    """
    largest = sum(abs(weight) * part.own.max(initial=0) for weight, part in parts)
    return np.longdouble if largest >= 2**53 else np.float64


def row_scale(plan: Plan, own: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return the factors that scale a row of each sequence to unit length, or to counts of sum 1.

    `own` are the squared norms with the weights of groups and words, `total` the squared norms
    without these weights: for square roots of counts, the sums of the counts.
    """
    return inverse_root(own if plan.row_norm == "cosine" else total)


def inverse_root(own: np.ndarray) -> np.ndarray:
    """Return ``1 / sqrt(own)``; 0 for a sequence without words."""
    return np.divide(1, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
