"""Gap-weighted subsequences without a bound on the span: no words, only pairs of sequences."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.counting import Row
from mvdfq.engines import cpu

__all__ = ["SubsequenceTask"]


@dataclass(frozen=True)
class SubsequenceTask:
    """Compare all pairs of sequences by Lodhi's dynamic program."""

    k: int
    decay: float

    def add_to(self, products: Any, row: Row) -> None:
        """Add the kernel of all pairs to `products`."""
        cpu.add_subsequence_products(
            row.data,
            row.offsets,
            self.k,
            self.decay,
            np.iinfo(row.data.dtype).max,
            products.first_right,
            products.symmetric,
            products.own,
            products.values,
        )
