"""Responses of short filters along time: compiled loops without checks, one thread each.

Sequence i is ``data[:, offsets[i]:offsets[i + 1]]``. A filter has nine taps `dilation` frames
apart, six of weight -1 and three of weight +2, and reads the sum of a few channels. The arguments
`filters` of the functions below are a tuple:

- ``dilation``;
- ``taps`` (n_filters, 3), the taps of weight +2;
- ``members`` (n_filters, most), the channels that a filter sums, filled up with -1;
- ``zero_padded`` (n_filters,), whether zeros or the end values stand beyond the ends;
- ``used`` (2, n_channels), the channels that any filter of each kind of padding reads.
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
def prepare(data, start, stop, filters):
    """Return the padded channels of one sequence and their sums of nine taps, by padding."""
    dilation, _, _, _, used = filters
    pad = (N_TAPS // 2) * dilation
    # channels that no filter reads stay unwritten and are never read
    padded = np.empty((2, data.shape[0], stop - start + 2 * pad), data.dtype)
    nine = np.empty((2, data.shape[0], stop - start), data.dtype)
    for c in range(data.shape[0]):
        for kind in range(2):
            if used[kind, c]:
                pad_channel(data[c, start:stop], pad, kind == 1, padded[kind, c])
                sum_taps(padded[kind, c], dilation, nine[kind, c])
    return padded, nine


@njit(nogil=True, cache=True)
def respond(padded, nine, f, filters, total, out):
    """Write the response of filter `f` at every frame; NaN wherever a tap reads NaN.

    With weights -1 and +2,

        response = 3 * (sum of three taps) - (sum of all nine taps),

    The second sum is the same for all filters that read a channel, so it is computed once for
    each channel and kind of padding, as in MiniRocket (Dempster et al. 2021).
    """
    dilation, taps, members, zero_padded, _ = filters
    kind = 1 if zero_padded[f] else 0
    out[:] = 0
    total[:] = 0
    for c in members[f]:
        # the rest of the list is filled up with -1
        if c < 0:
            break
        own, all_taps = padded[kind, c], nine[kind, c]
        for t in range(total.size):
            total[t] += own[t]
        for t in range(out.size):
            out[t] -= all_taps[t]
    first = total[taps[f, 0] * dilation : taps[f, 0] * dilation + out.size]
    second = total[taps[f, 1] * dilation : taps[f, 1] * dilation + out.size]
    third = total[taps[f, 2] * dilation : taps[f, 2] * dilation + out.size]
    for t in range(out.size):
        out[t] += 3 * (first[t] + second[t] + third[t])


@njit(nogil=True, cache=True)
def filter_responses(data, offsets, filters, out):
    """Write the response of every filter at every frame, (n_filters, n_frames).

    Sums run in the same order for every sequence, so one sequence alone gives the same numbers.
    """
    for s in range(offsets.size - 1):
        start, stop = offsets[s], offsets[s + 1]
        if start == stop:
            continue
        padded, nine = prepare(data, start, stop, filters)
        total = np.empty(padded.shape[2], data.dtype)
        for f in range(out.shape[0]):
            respond(padded, nine, f, filters, total, out[f, start:stop])
