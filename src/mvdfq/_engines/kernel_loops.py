"""Loops of single kernels: mismatches, profiles and subsequences.

Compiled, without checks, one thread each. Callers guarantee that outputs are large enough.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inner
from mvdfq._engines.cpu import segment


@compiled
def count_grid(words, order, group, p, q, out):
    """Write the words that mix the symbols at `p` and `q` of words equal elsewhere.

    `order` brings words of one `group` together. Each group of more than one word gives all
    pairs of a symbol seen at `p` and a symbol seen at `q`. Returns the number of words; writes
    words while they fit into `out`, so a first call with an empty `out` only counts.
    """
    count = start = 0
    # symbols of these two positions alone: an alphabet may be much larger
    largest = 0
    for w in range(words.shape[0]):
        largest = max(largest, words[w, p], words[w, q])
    seen_p, seen_q = np.zeros(largest + 1, np.bool_), np.zeros(largest + 1, np.bool_)
    values_p, values_q = np.empty(largest + 1, np.int64), np.empty(largest + 1, np.int64)
    while start < order.size:
        n_p = n_q = 0
        stop = start
        while stop < order.size and group[order[stop]] == group[order[start]]:
            a, b = words[order[stop], p], words[order[stop], q]
            if not seen_p[a]:
                seen_p[a] = True
                values_p[n_p] = a
                n_p += 1
            if not seen_q[b]:
                seen_q[b] = True
                values_q[n_q] = b
                n_q += 1
            stop += 1
        for i in range(n_p):
            # cleared by what was set: clearing the whole alphabet for each group would take longer
            seen_p[values_p[i]] = False
            for j in range(n_q):
                if stop - start > 1:
                    if count < out.shape[0]:
                        for place in range(words.shape[1]):
                            out[count, place] = words[order[start], place]
                        out[count, p] = values_p[i]
                        out[count, q] = values_q[j]
                    count += 1
        for j in range(n_q):
            seen_q[values_q[j]] = False
        start = stop
    return count


@compiled
def add_neighbours(ids, factors, gapped_ptr, gapped_sequence, gapped_count, n_sequences, columns):
    """Sum, for every word, the columns of gapped words in `ids`, times the factor of each set.

    Writes to `columns`, a tuple of indptr, sequence and count; returns the number of counts.
    """
    indptr, sequence, count = columns
    total = np.zeros(n_sequences)
    # stamp[s] == w: total[s] belongs to word w; so `total` is not cleared for every word
    stamp = np.full(n_sequences, -1)
    n_counts = 0
    for w in range(ids.shape[0]):
        begin = n_counts
        for j in range(ids.shape[1]):
            if ids[w, j] < 0:
                continue
            for e in range(gapped_ptr[ids[w, j]], gapped_ptr[ids[w, j] + 1]):
                s = gapped_sequence[e]
                if stamp[s] != w:
                    stamp[s] = w
                    total[s] = 0
                    sequence[n_counts] = s
                    n_counts += 1
                total[s] += factors[j] * gapped_count[e]
        # columns promise ascending sequences, and gapped words are visited set by set
        sequence[begin:n_counts].sort()
        for e in range(begin, n_counts):
            count[e] = total[sequence[e]]
        indptr[w + 1] = n_counts
    return n_counts


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
