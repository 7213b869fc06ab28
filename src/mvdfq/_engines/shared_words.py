"""How many words do two sequences share? Bits, added up for 512 pairs of sequences at once.

Most words of a string occur once in it, most others twice. So the values of entries have two
*levels*, `low` and `high`; entries with other values are *odd*. A word is a row of bits, one bit
for each right sequence. The rows of all words of a left sequence are added bit by bit, in binary:
bit j of *plane* q is digit q of the number of words that sequence j shares. What odd entries are
more than a level is added one by one. Compiled loops without checks, one thread each.
"""

import numpy as np

from mvdfq._engines.compiled import compiled, inner

# Numbers of 64 bits in a row of bits: 1024 sequences, as many as a tile has.
WIDTH = 16
PANEL = 64 * WIDTH
# Digits of a sum, and the first number that does not fit.
PLANES = 10
FULL = 1 << PLANES
# Rows of bits that are added in one step; their sum has three digits.
STEP = 7


@compiled
def degrees(indptr, sequence, value, low, high, n_left, symmetric, out):
    """Write left and right entries, then odd left and right entries, of each column: (4, n)."""
    for c in range(indptr.size - 1):
        left = odd_left = odd = 0
        for e in range(indptr[c], indptr[c + 1]):
            is_left, is_odd = sequence[e] < n_left, (value[e] != low) & (value[e] != high)
            left += is_left
            odd += is_odd
            odd_left += is_left & is_odd
        size = indptr[c + 1] - indptr[c]
        out[0, c], out[1, c] = left, size if symmetric else size - left
        out[2, c], out[3, c] = odd_left, odd if symmetric else odd - odd_left


@compiled
def words_of_sequences(indptr, middle, sequence, value, columns, least, n_left):
    """List the entries of left sequences whose value is at least `least`, sequence by sequence.

    Returns where the entries of each sequence begin, the number of each entry, and the place of
    its column in `columns`. Every sequence has a multiple of `STEP` entries: the place of entries
    that fill up is ``columns.size``.
    """
    begin = np.zeros(n_left + 1, np.int64)
    for c in columns:
        for e in range(indptr[c], middle[c]):
            begin[sequence[e] + np.uint32(1)] += value[e] >= least
    for s in range(n_left):
        begin[s + 1] = begin[s] + -(-begin[s + 1] // STEP) * STEP
    entry = np.zeros(begin[-1], np.uint32)
    place = np.full(begin[-1], columns.size, np.uint32)
    end = begin.copy()
    for k in range(columns.size):
        for e in range(indptr[columns[k]], middle[columns[k]]):
            if value[e] >= least:
                p = end[sequence[e]]
                entry[p], place[p] = e, k
                end[sequence[e]] = p + 1
    return begin, entry, place


@compiled
def rows_of_bits(indptr, first, sequence, value, columns, least, first_right, panel):
    """Return the bits of right sequences in one panel of `PANEL` sequences, and a row of zeros.

    The right entries of column ``c`` begin at ``first[c]``; those that are at least `least` count.
    """
    bits = np.zeros((columns.size + 1, WIDTH), np.uint64)
    start, six, low = first_right + np.uint32(panel * PANEL), np.uint32(6), np.uint32(63)
    for k in range(columns.size):
        row = bits[k]
        for e in range(first[columns[k]], indptr[columns[k] + 1]):
            j = sequence[e] - start  # wraps around where a sequence is before the panel
            if j < PANEL and value[e] >= least:
                row[j >> six] |= np.uint64(1) << np.uint64(j & low)
    return bits


@inner
def add_digits(a, b, c):
    """Return the sum of three bits, and the carry."""
    either = a ^ b
    return either ^ c, (a & b) | (either & c)


@compiled
def add_bits(bits, begin, place, planes):
    """Add the rows of bits of every left sequence to its `planes`, (n_left, PLANES * WIDTH).

    The distances of the planes are constant, so that one instruction adds the bits of 512 pairs:
    a quarter of the time without.
    """
    for s in range(begin.size - 1):
        plane = planes[s]
        for p in range(begin[s], begin[s + 1], STEP):
            row0, row1, row2 = bits[place[p]], bits[place[p + 1]], bits[place[p + 2]]
            row3, row4, row5 = bits[place[p + 3]], bits[place[p + 4]], bits[place[p + 5]]
            row6 = bits[place[p + 6]]
            for x in range(WIDTH):
                sum0, carry0 = add_digits(row0[x], row1[x], row2[x])
                sum1, carry1 = add_digits(row3[x], row4[x], row5[x])
                ones, carry2 = add_digits(sum0, sum1, row6[x])
                twos, fours = add_digits(carry0, carry1, carry2)
                before = plane[x]
                plane[x], carry = before ^ ones, before & ones
                before = plane[WIDTH + x]
                plane[WIDTH + x], carry = add_digits(before, twos, carry)
                before = plane[2 * WIDTH + x]
                plane[2 * WIDTH + x], carry = add_digits(before, fours, carry)
                before = plane[3 * WIDTH + x]
                plane[3 * WIDTH + x], carry = before ^ carry, before & carry
                before = plane[4 * WIDTH + x]
                plane[4 * WIDTH + x], carry = before ^ carry, before & carry
                before = plane[5 * WIDTH + x]
                plane[5 * WIDTH + x], carry = before ^ carry, before & carry
                before = plane[6 * WIDTH + x]
                plane[6 * WIDTH + x], carry = before ^ carry, before & carry
                before = plane[7 * WIDTH + x]
                plane[7 * WIDTH + x], carry = before ^ carry, before & carry
                before = plane[8 * WIDTH + x]
                plane[8 * WIDTH + x], carry = before ^ carry, before & carry
                before = plane[9 * WIDTH + x]
                plane[9 * WIDTH + x], carry = before ^ carry, before & carry


@compiled
def add_planes(planes, weight, out):
    """Add the numbers of `planes`, times `weight`, to `out` (n_left, at most PANEL); clear them."""
    number = np.zeros(64, np.int64)
    for s in range(out.shape[0]):
        for x in range(-(-out.shape[1] // 64)):
            for b in range(64):
                number[b] = 0
            for q in range(PLANES):
                digits = planes[s, q * WIDTH + x]
                for b in range(64 if digits else 0):
                    number[b] += ((digits >> np.uint64(b)) & np.uint64(1)) << np.uint64(q)
                planes[s, q * WIDTH + x] = 0
            row = out[s, 64 * x : 64 * x + 64]
            for b in range(row.size):
                row[b] += weight * number[b]


@compiled
def odd_entries(indptr, first, sequence, value, columns, low, high):
    """List the odd right entries of columns: where each column begins, sequences, what is more."""
    begin = np.zeros(columns.size + 1, np.int64)
    for k in range(columns.size):
        begin[k + 1] = begin[k]
        for e in range(first[columns[k]], indptr[columns[k] + 1]):
            begin[k + 1] += (value[e] != low) & (value[e] != high)
    who, more = np.empty(begin[-1], np.uint32), np.empty(begin[-1])
    n = 0
    for c in columns:
        for e in range(first[c] if begin[-1] else indptr[c + 1], indptr[c + 1]):
            if (value[e] != low) & (value[e] != high):
                who[n] = sequence[e]
                more[n] = np.float64(value[e]) - (high if value[e] >= high else low)
                n += 1
    return begin, who, more


@compiled
def add_odd_products(right, left, odd, low, high, first_right, out):
    """Add what products of odd entries are more than products of levels, row by row of `out`.

    `right` is (indptr, first, sequence, value, columns), `left` what `words_of_sequences` returns,
    `odd` what `odd_entries` returns. With levels l and r, a product of x and y is
    ``l * r + (x - l) * y + l * (y - r)``.
    """
    indptr, first, sequence, value, columns = right
    begin, entry, place = left
    odd_begin, odd_who, odd_more = odd
    for s in range(out.shape[0]):
        row = out[s]
        for p in range(begin[s], begin[s + 1]):
            k = place[p]
            if k == columns.size:  # no entry: it fills up
                continue
            mine = np.float64(value[entry[p]])
            level = high if mine >= high else low
            # slices: the compiler sees no negative index
            who = odd_who[odd_begin[k] : odd_begin[k + 1]]
            more = odd_more[odd_begin[k] : odd_begin[k + 1]]
            for b in range(who.size):
                row[who[b] - first_right] += level * more[b]
            if mine != level:
                c = columns[k]
                who, much = sequence[first[c] : indptr[c + 1]], value[first[c] : indptr[c + 1]]
                for b in range(who.size):
                    row[who[b] - first_right] += (mine - level) * much[b]
