"""Loops of single kernels: profiles and subsequences.

Compiled, without checks, one thread each. Callers guarantee that outputs are large enough.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inner
from mvdfq._engines.cpu import segment


@compiled
def emit_profile(costs, least, offsets, k, sigma, level, cell, key_shift, out):
    """Write an entry for every word whose summed cost is below `sigma`, at every position.

    `costs` is (n_letters, n_frames), `least` the smallest cost of each frame: the search stops
    early where even the cheapest rest of a word costs too much. Returns the number of words;
    writes entries while they fit into `out`.
    """
    n_letters = costs.shape[0]
    letter, cost = np.zeros(k, np.int64), np.zeros(k + 1)
    rest = np.zeros(k + 1)
    count = 0
    for s in range(offsets.size - 1):
        first, last = segment(max(offsets[s + 1] - offsets[s] - k + 1, 0), level, cell)
        for t in range(offsets[s] + first, offsets[s] + last):
            for i in range(k - 1, -1, -1):
                # the cheapest way to end a word, from every position on
                rest[i] = rest[i + 1] + least[t + i]
            # depth-first search over words; `letter` is the word so far, `cost` its summed cost
            depth = 0
            letter[0] = -1
            while depth >= 0 and not np.isnan(rest[0]):
                letter[depth] += 1
                if letter[depth] == n_letters:
                    depth -= 1
                    continue
                cost[depth + 1] = cost[depth] + costs[letter[depth], t + depth]
                if depth == k - 1 and cost[k] < sigma:
                    if count < out.size:
                        key = np.uint64(0)
                        for i in range(k):
                            key = key * np.uint64(n_letters) + np.uint64(letter[i])
                        out[count] = (key << np.uint64(key_shift)) | np.uint64(s)
                    count += 1
                elif depth < k - 1 and cost[depth + 1] + rest[depth + 1] < sigma + 1e-9:  # rounding
                    depth += 1
                    letter[depth] = -1
    return count


@inner
def subsequence_product(x, y, k, decay, missing):
    """Return the gap-weighted subsequence kernel of two rows, by Lodhi's recursion."""
    prefix = np.zeros((k, y.size + 1))  # K'_i(a, b) for the current a
    prefix[0] = 1
    total = 0.0
    square = decay * decay
    for a in range(x.size):
        if x[a] != missing:
            for b in range(y.size):
                if x[a] == y[b]:
                    total += square * prefix[k - 1, b]
        for i in range(k - 1, 0, -1):  # downwards: level i - 1 must still hold the values of a - 1
            running = 0.0
            for b in range(y.size):
                running *= decay
                if x[a] == y[b] and x[a] != missing:
                    running += square * prefix[i - 1, b]
                # one more symbol of x lies between: every open pair loses a factor
                prefix[i, b + 1] = decay * prefix[i, b + 1] + running
    return total


@compiled
def add_subsequence_products(codes, offsets, k, decay, missing, first_right, symmetric, own, out):
    """Add the kernel of every left and right sequence to `out`, of each with itself to `own`."""
    for i in range(offsets.size - 1):
        x = codes[offsets[i] : offsets[i + 1]]
        own[i] += subsequence_product(x, x, k, decay, missing)
    for i in range(out.shape[0]):
        x = codes[offsets[i] : offsets[i + 1]]
        # the lower triangle is copied by the caller
        for j in range(i if symmetric else 0, out.shape[1]):
            right = first_right + j
            y = codes[offsets[right] : offsets[right + 1]]
            out[i, j] += subsequence_product(x, y, k, decay, missing)
