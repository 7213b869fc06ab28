"""Strategies of hypothesis: collections that are short, empty, constant or have gaps."""

import numpy as np
from hypothesis import strategies as st

from mvdfq.sequences import Sequences

# Eighths, so that sums, means of pairs and comparisons are exact, and ties frequent.
EIGHTHS = st.integers(-40, 40).map(lambda i: i / 8)
VALUES = st.one_of(EIGHTHS, st.just(0.5), st.just(float("nan")))


@st.composite
def any_collections(draw, max_channels=3):
    """Collections of up to five sequences of up to nine frames."""
    n_channels = draw(st.integers(1, max_channels))
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=5))
    n_values = n_channels * sum(lengths)
    values = draw(st.lists(VALUES, min_size=n_values, max_size=n_values))
    # Not read from lists, so that frames missing at the end stay in place.
    data = np.array(values, dtype=float).reshape(n_channels, sum(lengths))
    return Sequences(data, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
