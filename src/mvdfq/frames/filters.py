"""Responses of short fixed filters as rows of numbers, as MiniRocket computes them."""

from collections import deque
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mvdfq._engines.choice import on_card
from mvdfq._engines.filter_words import N_TAPS, bank_of, filter_responses
from mvdfq._utils.checks import check_several
from mvdfq._utils.threads import n_threads, run_in_order
from mvdfq.frames.base import SequenceTransformer, channel_names, with_rows
from mvdfq.frames.learned import require, require_array
from mvdfq.sequences import Ragged, Sequences
from mvdfq.sequences.statistics import is_constant, ranges_of

# The taps of weight +2: all choices of three taps out of nine.
TAPS = np.array(list(combinations(range(N_TAPS), 3)))
# A filter sums at most this many channels, as in MiniRocket.
MOST_CHANNELS = 9
# Taps farther apart than this would read only padding, and the padding would fill the memory.
LONGEST = 2**20


@dataclass(eq=False, repr=False)
class Filters(SequenceTransformer):
    r"""Respond to short shapes: 84 fixed filters, stretched by dilations, one row per response.

    .. math:: z_t = \sum_{c \in S} \sum_{j=-4}^{4} w_j \, x_{c,\, t + j d}

    with nine weights :math:`w_j` (six are -1, three are +2), a dilation :math:`d`, and a random set
    :math:`S` of at most nine channels that are not constant in training, drawn for every filter
    and dilation [1]_. The filters are fixed; `fit` draws the sets of channels and, for ``"auto"``,
    chooses the dilations. Beyond the ends of a sequence, rows with an even index repeat the first
    and last frame, and rows with an odd index read zeros; so put `Standardize` before `Filters`. A
    response is NaN if a tap reads NaN, and is computed in single precision. Sequences shorter than
    a filter are allowed. The row ``filter 012 step 4 of a+b`` has the weight +2 at taps 0, 1 and 2,
    the dilation 4 and the channels ``a`` and ``b``. Cost: O(n) in the number of frames for each of
    the ``84 * len(dilations_)`` rows.

    Parameters
    ----------
    dilations : int, sequence of int or "auto", default="auto"
        Distances :math:`d` between the taps, in frames. ``"auto"`` takes 1, 2, 4, 5, 8,
        11, 16, ... (:math:`2^{i/2}`, rounded down) while a filter is not longer than the median
        training sequence.
    keep_symbolic : bool, default=True
        Pass symbolic channels through, after the responses, or else leave them out.
    random_state : int, RandomState or None, default=0
        Seed of the sets of channels.
    n_jobs : int, default=None
        Number of threads; -1 means all processors. Results stay the same.

    Attributes
    ----------
    dilations_ : ndarray of shape (n_dilations,)
        The dilations.
    members_ : ndarray of shape (84 * n_dilations, n_most)
        The numeric channels that each row sums; -1 fills unused places.

    References
    ----------
    .. [1] A. Dempster, D. F. Schmidt, G. I. Webb, "MiniRocket: a very fast (almost) deterministic
       transform for time series classification", KDD, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq.frames import Filters
    >>> filters = Filters(dilations=1).fit([np.zeros((1, 20))])
    >>> rows = filters.transform([np.eye(1, 20, 10)])
    >>> rows.n_rows, rows.channel_names[0]
    (84, 'filter 012 step 1 of x0')
    >>> rows[0][0, 6:15]
    array([-1., -1., -1., -1., -1., -1.,  2.,  2.,  2.])
    """

    dilations: Any = "auto"
    _: KW_ONLY
    keep_symbolic: bool = True
    random_state: Any = 0
    n_jobs: int | None = None

    dilations_: np.ndarray = field(init=False)
    members_: np.ndarray = field(init=False)

    def _fit(self, X: Sequences, y: Any) -> None:
        numeric = ~X.symbolic_mask
        if not numeric.any():
            raise ValueError("Filters needs at least one numeric channel, X holds only symbols.")
        self.dilations_ = np.array(self._dilations(X))
        random = check_random_state(self.random_state)
        varying = np.flatnonzero(~is_constant(*ranges_of(X))[numeric])
        channels = varying if varying.size else np.arange(np.count_nonzero(numeric))
        # as MiniRocket does: smaller sets of channels are more likely
        n_rows, most = len(TAPS) * len(self.dilations_), min(channels.size, MOST_CHANNELS)
        sizes = np.floor(2 ** random.uniform(0, np.log2(most + 1), n_rows)).astype(int)
        self.members_ = np.full((n_rows, most), -1)
        for row, size in zip(self.members_, np.minimum(sizes, most), strict=True):
            row[:size] = channels[np.sort(random.choice(channels.size, size, replace=False))]

    def _transform(self, X: Sequences) -> Sequences:
        device, card = on_card("filters")
        if device and not X.symbolic_mask.any():
            banks = [self.compiled(i) for i in range(len(self.dilations_))]
            data = card.responses(X.held, X.offsets, banks, device)
            return with_rows(X, data, self._row_names(channel_names(X)), ())
        rows = np.empty((len(self.members_), X.data.shape[1]), X.data.dtype)
        data = np.ascontiguousarray(X.data[~X.symbolic_mask])
        # one block of sequences per thread
        workers = max(1, min(n_threads(self.n_jobs), len(X)))
        blocks = list(pairwise(np.linspace(0, len(X), workers + 1).astype(int).tolist()))

        def respond(job: tuple[int, tuple[int, int]]) -> None:
            i, (a, b) = job
            out = rows[i * len(TAPS) : (i + 1) * len(TAPS)]
            filter_responses(data, X.offsets[a : b + 1], bank_of(self.compiled(i), len(data)), out)

        jobs = product(range(len(self.dilations_)), blocks)
        deque(run_in_order(respond, jobs, n_threads(self.n_jobs)), maxlen=0)
        names, passed = channel_names(X), self._passed
        flags = [False] * len(rows) + [True] * passed.size
        rows = np.concatenate([rows, X.data[passed]]) if passed.size else rows
        return with_rows(X, rows, [*self._row_names(names), *(names[j] for j in passed)], flags)

    @property
    def _passed(self) -> np.ndarray:
        """The symbolic channels that pass through."""
        return np.flatnonzero(self._symbolic_mask) if self.keep_symbolic else np.empty(0, int)

    def _dilations(self, X: Sequences) -> list[int]:
        if isinstance(self.dilations, str):
            if self.dilations != "auto":
                wanted = "'auto' or whole numbers >= 1"
                raise ValueError(f"dilations must be {wanted}, got {self.dilations!r}.")
            return auto_dilations(X)
        dilations = check_several(self.dilations, "dilations")
        if max(dilations) >= LONGEST:
            raise ValueError(f"dilations must be below {LONGEST}, got {max(dilations)}.")
        return dilations

    def compiled(self, i: int) -> tuple[Any, ...]:
        """Return what compiled loops read: dilation `i`, taps, members and kind of padding."""
        rows = slice(i * len(TAPS), (i + 1) * len(TAPS))
        # an even number of filters: the row and the filter are odd together
        return int(self.dilations_[i]), TAPS, self.members_[rows], np.arange(len(TAPS)) % 2 == 1

    def _row_names(self, names: tuple[str, ...]) -> list[str]:
        numeric = np.array(names, dtype=object)[~self._symbolic_mask]
        taps = ["".join(map(str, three)) for three in TAPS]
        places = [(tap, step) for step in self.dilations_ for tap in taps]
        return [
            f"filter {tap} step {step} of {'+'.join(numeric[members[members >= 0]])}"
            for (tap, step), members in zip(places, self.members_, strict=True)
        ]

    def taps(self) -> np.ndarray:
        """Return the frames that a response rests on, as distances from its own frame."""
        middle = N_TAPS // 2
        return np.unique(np.outer(np.arange(-middle, middle + 1), self.dilations_))

    def channel_shares(self) -> np.ndarray:
        """Return equal shares of the channels that a filter sums."""
        shares = np.zeros((len(self.members_), self.n_channels_in_))
        numeric = np.flatnonzero(~self._symbolic_mask)
        for row, members in zip(shares, self.members_, strict=True):
            row[numeric[members[members >= 0]]] = 1 / np.count_nonzero(members >= 0)
        return np.concatenate([shares, np.eye(self.n_channels_in_)[self._passed]])

    def _check_learned(self) -> None:
        require_array(self, "dilations_", (None,), np.int64, low=1, high=LONGEST - 1)
        shape, n_numeric = (len(TAPS) * self.dilations_.size, None), (~self._symbolic_mask).sum()
        require_array(self, "members_", shape, np.int64, low=-1, high=n_numeric - 1)
        known = self.members_.size and (self.members_[:, 0] >= 0).all()
        require(known, "dilations_ and members_ must not be empty; members_ are filled up with -1")


def auto_dilations(X: Ragged) -> list[int]:
    """Return 1, 2, 4, 5, 8, 11, 16, ... while a filter is not longer than the median sequence."""
    longest = max((int(np.median(X.lengths)) - 1) // (N_TAPS - 1), 1)
    steps = {int(2 ** (i / 2)) for i in range(2 * longest.bit_length())}
    return sorted(step for step in steps if step <= longest)
