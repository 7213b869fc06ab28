r"""Learned weights of rows or groups of layouts, by alignment with the classes.

Centred kernel alignment [1]_: :math:`K_u^c` is the centred Gram matrix of one unit (a row or a
group), `Y` are the centred class indicators. The weights are non-negative and bring
:math:`\sum_u w_u K_u^c` nearest to the ideal kernel :math:`Y Y^T`, up to a factor,

.. math:: \min_{w \ge 0} w^T M w - 2 w^T a, \qquad
          M_{uv} = \langle K_u^c, K_v^c \rangle, \quad a_u = \langle K_u^c, Y Y^T \rangle.

.. [1] C. Cortes, M. Mohri, A. Rostamizadeh, "Algorithms for learning kernels based on centered
   alignment", Journal of Machine Learning Research 13, 2012.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.optimize import nnls

from mvdfq.gram.plan import Plan
from mvdfq.gram.tiles import gram
from mvdfq.kernels import Group, Kernel
from mvdfq.symbols.base import Symbols


class _OneGroup(Kernel):
    """One group of another kernel, for each alphabet size."""

    def __init__(self, by_size: dict[int, Group]) -> None:
        self.by_size = by_size

    def groups(self, n_symbols: int) -> list[Group]:
        return [self.by_size[n_symbols]]


def unit_grams(
    collection: Symbols,
    plan: Plan,
    by_rows: bool,
    n_jobs: int | None = None,
    memory_limit: int | str | None = None,
) -> Iterator[np.ndarray]:
    """Yield the Gram matrix of every row, or of every group of layouts, in single precision."""
    units = []
    if by_rows:
        for r, size in enumerate(plan.n_symbols[:, None]):
            words = {(0, d): found for (row, d), found in plan.vocabularies.items() if row == r}
            mine = replace(plan, n_symbols=size, row_weights=np.ones(1), vocabularies=words)
            units.append((collection.rows(slice(r, r + 1)), mine))
    else:
        # groups depend on the alphabet alone, so one row of each size stands for all
        sizes = {int(n): r for r, n in enumerate(plan.n_symbols)}
        every = range(len(plan.groups(0)))
        kernels = [_OneGroup({n: plan.groups(r)[g] for n, r in sizes.items()}) for g in every]
        units = [(collection, replace(plan, kernel=k, group_weights=None)) for k in kernels]
    for symbols, mine in units:
        found = gram(symbols, None, mine, n_jobs=n_jobs, memory_limit=memory_limit)
        yield found.values.astype(np.float32)


def align(stack: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weights of Gram matrices (n_units, n_sequences, n_sequences) by alignment; mean 1.

    All weights are equal if no unit helps to tell the classes apart.

    >>> import numpy as np
    >>> telling, noise = np.kron(np.eye(2), np.ones((2, 2))), np.eye(4)
    >>> align(np.stack([telling, noise]), np.array([0, 0, 1, 1])).round(6)
    array([2., 0.])
    """
    indicators = (y[:, None] == np.unique(y)).astype(float)
    indicators -= indicators.mean(axis=0)
    pairs = ((K, K.mean(axis=0)) for K in stack)
    units = np.stack([(K - m - m[:, None] + m.mean()).ravel() for K, m in pairs])
    # the ideal kernel: sequences of one class are alike
    target = (indicators @ indicators.T).ravel()
    # units of norm 1 make the problem well conditioned; `scale` takes the weights back
    norms = np.sqrt(np.einsum("ij,ij->i", units, units, dtype=float))
    scale = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
    products = (units @ units.T).astype(float) * np.outer(scale, scale)
    aligned = (units @ target.astype(np.float32)).astype(float) * scale
    # write the quadratic problem as least squares, with a square root of the products; eigenvalues
    # below 1e-10 of units of norm 1 are rounding errors
    values, vectors = np.linalg.eigh(products)
    roots = np.sqrt(np.maximum(values, 1e-10))
    weights = nnls(roots[:, None] * vectors.T, (vectors.T @ aligned) / roots)[0] * scale
    # mean 1, so that the penalty C means the same with and without weights
    total = weights.sum()
    return weights * (len(weights) / total) if total > 0 else np.ones(len(weights))
