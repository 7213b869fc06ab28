"""Responses of short filters along time: compiled loops without checks, one thread each.

Sequence i is ``data[:, offsets[i]:offsets[i + 1]]``. A filter has nine taps `dilation` frames
apart, six of weight -1 and three of weight +2, and reads the sum of a few channels.
"""

import numpy as np
from numba import njit

# Number of taps of a filter; with three of nine taps set to +2 there are 84 filters.
N_TAPS = 9


@njit(nogil=True, cache=True)
def pad_channel(x, pad, zeros, out):
    """Write `x` with `pad` frames before and after it: zeros, or its first and last value."""
    out[:pad] = 0 if zeros else x[0]
    out[pad : pad + x.size] = x
    out[pad + x.size :] = 0 if zeros else x[x.size - 1]


@njit(nogil=True, cache=True)
def sum_taps(padded, dilation, out):
    """Write the sum of all nine taps at every frame."""
    out[:] = 0
    for tap in range(N_TAPS):
        shifted = padded[tap * dilation : tap * dilation + out.size]
        for t in range(out.size):
            out[t] += shifted[t]


@njit(nogil=True, cache=True)
def filter_responses(data, offsets, dilation, taps, members, zero_padded, used, out):
    """Write the response of every filter at every frame; NaN wherever a tap reads NaN.

    `taps` (n_filters, 3) are the taps of weight +2, `members` (n_filters, most) the channels that
    a filter sums, filled up with -1, `zero_padded` (n_filters,) tells how its ends are padded and
    `used` which channels any filter reads. With weights -1 and +2,

        response = 3 * (sum of three taps) - (sum of all nine taps),

    The second sum is the same for all filters that read a channel, so it is computed once for
    each channel and kind of padding, as in MiniRocket (Dempster et al. 2021). Sums run in the
    same order for every sequence, so one sequence alone gives the same numbers.
    """
    pad = (N_TAPS // 2) * dilation
    n_channels = data.shape[0]
    for s in range(offsets.size - 1):
        n = offsets[s + 1] - offsets[s]
        if n == 0:
            continue
        padded = np.empty((2, n_channels, n + 2 * pad), data.dtype)
        nine = np.empty((2, n_channels, n), data.dtype)
        for c in range(n_channels):
            for kind in range(2):
                if used[kind, c]:
                    x = data[c, offsets[s] : offsets[s + 1]]
                    pad_channel(x, pad, kind == 1, padded[kind, c])
                    sum_taps(padded[kind, c], dilation, nine[kind, c])
        total = np.empty(n + 2 * pad, data.dtype)
        for f in range(taps.shape[0]):
            kind = 1 if zero_padded[f] else 0
            response = out[f, offsets[s] : offsets[s + 1]]
            response[:] = 0
            total[:] = 0
            for c in members[f]:
                if c < 0:
                    break
                own, all_taps = padded[kind, c], nine[kind, c]
                for t in range(total.size):
                    total[t] += own[t]
                for t in range(n):
                    response[t] -= all_taps[t]
            first = total[taps[f, 0] * dilation : taps[f, 0] * dilation + n]
            second = total[taps[f, 1] * dilation : taps[f, 1] * dilation + n]
            third = total[taps[f, 2] * dilation : taps[f, 2] * dilation + n]
            for t in range(n):
                response[t] += 3 * (first[t] + second[t] + third[t])
