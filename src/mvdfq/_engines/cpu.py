"""Keys and counts of words: compiled loops without checks, one thread each.

A collection is one flat row of codes and its `offsets`. An *entry* packs everything that is
known about one word into 64 bits, ``key | sequence | layout`` from high to low. One stable sort
by key then brings the occurrences of a word together, with their sequences in order.
*Columns* are the result, as in a CSC matrix: column ``c`` owns
``sequence[indptr[c]:indptr[c + 1]]``, ascending, and the counts beside them.
Callers guarantee that entries fit into 64 bits and that outputs are large enough.
"""

import numpy as np

from mvdfq._engines.compiled import bare, compiled, inlined

# Most bits per pass of the sort, so that words of up to 14 bits take one pass. Measured on
# 1.3 million entries: 8, 12 and 16 bits per pass take the same time within a tenth.
DIGIT = 14
# Whole numbers below this are exact in single precision.
EXACT_SINGLE = 2**24
# A row of marks has WIDTH words of 64 bits, a counter of bits DIGITS binary digits.
WIDTH, DIGITS = 16, 12
# Adding one row of marks takes as long as this many products of an outer product.
MARK_STEPS = 4


def bits(n: int) -> int:
    """Return the number of bits for numbers below `n`."""
    return max(int(n) - 1, 0).bit_length()


@inlined
def segment(n_words, level, cell):
    """Return the first and last + 1 start t with ``floor(t * 2**level / n_words) == cell``."""
    # -(-a // b) rounds up, in whole numbers: the cells of a level cover every word exactly once.
    cells = 1 << level
    return -(-cell * n_words // cells), -(-(cell + 1) * n_words // cells)


@inlined
def read_words(codes, start, read, j, base, present, words, flags):
    """Read the words of layout `j` that start at `start` and after, as numbers in base `base`.

    Fills `words`, moves the words that count to the front and returns how many words count. A word
    counts where its window holds no missing value and, in a distinct group, where no layout before
    `j` reads the same word in the same window. `read` is (layouts, windows, distinct), `flags` is
    memory, (2, as many as words).
    """
    layouts, windows, distinct = read
    # The loop over offsets is outside and the loop over positions inside, on slices that begin at
    # 0: the compiler sees no negative index and uses vector instructions (5 times faster).
    for i in range(words.size):
        words[i] = 0
    for p in range(layouts.shape[1]):
        symbols = codes[start + layouts[j, p] : start + layouts[j, p] + words.size]
        for i in range(words.size):
            words[i] = words[i] * base + symbols[i]
    # the usual case: nothing missing, every word counts, nothing to move
    if not present.size and not distinct:
        return words.size
    left_out, same = flags[0, : words.size], flags[1, : words.size]
    for t in range(words.size):
        left_out[t] = False
    # leave out the windows in which a layout before `j` reads the same word; vector instructions
    # save more time than stopping at the first difference would
    for i in range(j if distinct else 0):
        for t in range(words.size):
            same[t] = True
        for p in range(layouts.shape[1]):
            if layouts[i, p] == layouts[j, p]:
                continue
            word, other = codes[start + layouts[j, p] :], codes[start + layouts[i, p] :]
            for t in range(words.size):
                same[t] &= word[t] == other[t]
        for t in range(words.size):
            left_out[t] |= same[t]
    kept = 0
    for i in range(words.size):
        for p in range(windows.shape[1] if present.size else 0):
            left_out[i] |= not present[start + i + windows[j, p]]
        if not left_out[i]:
            words[kept] = words[i]
            kept += 1
    return kept


@bare
def emit(codes, offsets, read, base, present, level, cell, shifts, flags, out):
    """Write an entry for every word of every sequence; return how many entries there are.

    `read` is (layouts, windows, distinct), the arrays of shape (n_layouts, n_positions); `present`
    tells which positions hold a symbol (of size 0: all positions do); `shifts` are the places of
    the key and of the sequence; `flags` is memory, (2, longest sequence).
    """
    # Words are read straight into `out` and get their tag there, so no word is stored twice.
    count = 0
    base = np.uint64(base)
    key_shift, sequence_shift = np.uint64(shifts[0]), np.uint64(shifts[1])
    layouts, windows, _ = read
    for s in range(offsets.size - 1):
        for j in range(layouts.shape[0]):
            width = windows[j, -1] + 1
            first, last = segment(max(offsets[s + 1] - offsets[s] - width + 1, 0), level, cell)
            words = out[count : count + last - first]
            n = read_words(codes, offsets[s] + first, read, j, base, present, words, flags)
            # the same for all words of a sequence and a layout
            tag = (np.uint64(s) << sequence_shift) | np.uint64(j)
            for i in range(n):
                words[i] = (words[i] << key_shift) | tag
            count += n
    return count


@compiled
def sort_by_key(entries, spare, low, bits):
    """Sort by the `bits` bits above bit `low`, stably; return the array that holds the result.

    A radix sort, lowest digit first. Measured on entries with 31 key bits: a seventh of the time
    of ``np.sort``. The bits below `low` are in order already.
    """
    n_passes = (bits + DIGIT - 1) // DIGIT
    digit_bits = -(-bits // max(n_passes, 1))
    mask = np.uint64((1 << digit_bits) - 1)
    places = np.zeros((n_passes, 1 << digit_bits), dtype=np.uint64)
    for entry in entries:  # one pass counts the digits of all passes
        rest = entry >> np.uint64(low)
        for p in range(n_passes):
            places[p, rest & mask] += np.uint64(1)
            rest >>= np.uint64(digit_bits)
    for p in range(n_passes):
        place = places[p]
        total = np.uint64(0)
        for digit in range(place.size):
            total, place[digit] = total + place[digit], total  # counts become first places
        shift = np.uint64(low + p * digit_bits)
        for entry in entries:
            digit = (entry >> shift) & mask
            spare[place[digit]] = entry
            place[digit] += np.uint64(1)
        entries, spare = spare, entries
    return entries


@compiled
def count_runs(entries, shifts, weights, keys, indptr, sequence, count):
    """Add up the weights of equal (key, sequence); return the numbers of columns and counts."""
    key_shift, sequence_shift = np.uint64(shifts[0]), np.uint64(shifts[1])
    sequence_mask = (np.uint64(1) << (key_shift - sequence_shift)) - np.uint64(1)
    layout_mask = (np.uint64(1) << sequence_shift) - np.uint64(1)
    n_columns = n_counts = 0
    for i in range(entries.size):
        entry = entries[i]
        weight = weights[entry & layout_mask]
        # entries are sorted, so a new key begins a new column
        fresh = i == 0 or (entry >> key_shift) != (entries[i - 1] >> key_shift)
        if fresh:
            keys[n_columns] = entry >> key_shift
            indptr[n_columns] = n_counts
            n_columns += 1
        # compares key and sequence at once: the layout alone is shifted away
        if fresh or (entry >> sequence_shift) != (entries[i - 1] >> sequence_shift):
            sequence[n_counts] = (entry >> sequence_shift) & sequence_mask
            count[n_counts] = weight
            n_counts += 1
        else:
            count[n_counts - 1] += weight
    indptr[n_columns] = n_counts
    return n_columns, n_counts


@bare
def common_keys(left, right, first, second):
    """Write the places of the keys that both ascending arrays hold; return their number."""
    i = j = n = 0
    while i < left.size and j < right.size:
        one, other = left[i], right[j]
        first[n], second[n] = i, j
        n += one == other
        i += one <= other
        j += other <= one
    return n


@bare
def list_by_sequence(indptr, sequence, value, levels, ends, numbers, more):
    """List the columns of each sequence: first where the value is at least the second level.

    ``ends[2 * s]`` is where these values of sequence `s` end, ``ends[2 * s + 1]`` where the others
    end; `ends` holds zeros, of size 2 n + 1. `more` becomes the number of these values of each
    column, and of the values above the second level. The third level is between the others.
    """
    _, high, between = levels
    for e in range(sequence.size):
        ends[2 * sequence[e] + np.uint32(2 - (value[e] > between))] += 1
    for p in range(1, ends.size):
        ends[p] += ends[p - 1]
    for c in range(indptr.size - 1):
        n_twice = n_above = 0
        for e in range(indptr[c], indptr[c + 1]):
            is_twice = value[e] > between
            n_twice += is_twice
            n_above += value[e] > high
            place = 2 * sequence[e] + np.uint32(1 - is_twice)
            numbers[ends[place]] = c
            ends[place] += 1  # where a list begins becomes where it ends
        more[0, c], more[1, c] = n_twice, n_above


@compiled
def add_dense_counts(entries, shifts, weights, counts):
    """Add the weight of every entry to ``counts[sequence, key]``."""
    key_shift, sequence_shift = np.uint64(shifts[0]), np.uint64(shifts[1])
    sequence_mask = (np.uint64(1) << (key_shift - sequence_shift)) - np.uint64(1)
    layout_mask = (np.uint64(1) << sequence_shift) - np.uint64(1)
    for entry in entries:
        s = (entry >> sequence_shift) & sequence_mask
        counts[s, entry >> key_shift] += weights[entry & layout_mask]


@compiled
def add_squares(sequence, value, total):
    """Add the square of every value to the total of its sequence."""
    for e in range(sequence.size):
        total[sequence[e]] += float(value[e]) * float(value[e])


@compiled
def fill_dense(side, columns, out):
    """Write the given columns as rows of a dense matrix that holds zeros."""
    begin, end, sequence, value = side
    for row in range(columns.size):
        for e in range(begin[columns[row]], end[columns[row]]):
            out[row, sequence[e]] = value[e]


@compiled
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


@compiled
def add_outer_products(left, right, columns, symmetric, out):
    """Add the outer product of the left and the right part of every given column to `out`.

    A side is (begin, end, sequence, value): column ``c`` owns the entries from ``begin[c]`` to
    ``end[c]``. Within one collection (`symmetric`) both sides are the same, and an entry is
    multiplied with itself and all later entries, which fills the upper triangle. Measured: writing
    into `out` directly is 1.7 times faster than collecting one row of `out` at a time; unsigned
    sequence numbers save a third of the time, since no index can be negative.
    """
    left_begin, left_end, left_sequence, left_value = left
    right_begin, right_end, right_sequence, right_value = right
    for c in columns:
        seq = left_sequence[left_begin[c] : left_end[c]]
        counts = left_value[left_begin[c] : left_end[c]]
        other_seq = right_sequence[right_begin[c] : right_end[c]]
        other_counts = right_value[right_begin[c] : right_end[c]]
        a = 0
        while a + 4 <= seq.size:  # four rows share each read of `other_seq`: a third less time
            row0, row1, row2, row3 = out[seq[a]], out[seq[a + 1]], out[seq[a + 2]], out[seq[a + 3]]
            # counts may be float32; their products must be float64
            own0, own1 = np.float64(counts[a]), np.float64(counts[a + 1])
            own2, own3 = np.float64(counts[a + 2]), np.float64(counts[a + 3])
            # the four entries with themselves and with each other, then with all later entries
            for p in range(a, a + 4 if symmetric else a):
                for b in range(p, a + 4):
                    out[seq[p], seq[b]] += np.float64(counts[p]) * counts[b]
            for b in range(a + 4 if symmetric else 0, other_seq.size):
                place, other = other_seq[b], np.float64(other_counts[b])
                # all reads before all writes: the compiler cannot know that rows do not overlap
                # (a tenth less time)
                sum0, sum1 = row0[place] + own0 * other, row1[place] + own1 * other
                sum2, sum3 = row2[place] + own2 * other, row3[place] + own3 * other
                row0[place], row1[place], row2[place], row3[place] = sum0, sum1, sum2, sum3
            a += 4
        for p in range(a, seq.size):
            row0, own0 = out[seq[p]], np.float64(counts[p])
            for b in range(p if symmetric else 0, other_seq.size):
                row0[other_seq[b]] += own0 * other_counts[b]


@bare
def mark_columns(left, right, pairs, limits, levels, places, marks, spare, is_left, out):
    """Mark the right sequences of columns as bits, and add what bits do not say to `out`.

    A side is (indptr, sequence, value, more), see `list_by_sequence`; column ``pairs[0, c]`` of the
    left side is the same word as ``pairs[1, c]`` of the right side. Bits stand for the first two
    `levels`; what a value is above the second level is multiplied here. ``places[0, number]``
    becomes the row of `marks` for the first level of a left column, ``places[1, number]`` for what
    the second level has more (0: no such row; row 0 is empty). ``is_left[c]`` becomes True for
    columns that take fewer steps without bits: at most ``limits[0]``, and all steps are divided
    by ``limits[1]``. `spare` is memory for indices.
    """
    left_ptr, left_sequence, left_value, left_more = left
    right_ptr, right_sequence, right_value, right_more = right
    low, high, between = levels
    n_rows = 1
    for c in range(pairs.shape[1]):
        i, j = pairs[0, c], pairs[1, c]
        n_left, n_right = left_ptr[i + 1] - left_ptr[i], right_ptr[j + 1] - right_ptr[j]
        n_rest, n_above = left_more[1, i] * n_right, right_more[1, j]
        has_second = right_more[0, j] > 0
        steps = (1 + has_second) * MARK_STEPS * n_left + n_rest + n_left * n_above
        is_left[c] = limits[1] * steps >= min(n_left * n_right, limits[0])
        is_left[c] |= n_rows + 2 > marks.shape[0]
        if is_left[c]:
            continue
        first, second = marks[n_rows], marks[n_rows + has_second]
        for w in range(first.size):
            first[w] = second[w] = 0
        places[0, i], places[1, i] = n_rows, (n_rows + 1) * has_second
        n_rows += 1 + has_second
        n_spare = 0
        for b in range(right_ptr[j], right_ptr[j + 1]):
            bit = np.uint64(1) << np.uint64(right_sequence[b] & np.uint32(63))
            first[right_sequence[b] >> np.uint32(6)] |= bit
            if right_value[b] > between:
                second[right_sequence[b] >> np.uint32(6)] |= bit
                if right_value[b] > high:
                    spare[n_spare] = b
                    n_spare += 1
        for a in range(left_ptr[i], left_ptr[i + 1] if n_rest or n_spare else 0):
            row = out[left_sequence[a]]
            known = high if left_value[a] > between else low
            for k in range(n_spare):
                row[right_sequence[spare[k]]] += known * (right_value[spare[k]] - high)
            if left_value[a] > high:
                # within one block, products with later entries are enough
                for b in range(a + 1 if limits[1] > 1 else right_ptr[j], right_ptr[j + 1]):
                    row[right_sequence[b]] += (left_value[a] - high) * right_value[b]


@bare
def add_marks(ends, numbers, places, marks, rows, symmetric, n_words, counters):
    """Add the rows of `marks` of the words of every left sequence, bit by bit.

    `ends` and `numbers` are the lists of `list_by_sequence`, and `rows` is memory. A left sequence
    has three kinds of counters, with the lowest digits of all right sequences first. The first
    kind takes the first level of both sides, the second kind the first and the second level, the
    third kind the second level of both sides. The first `n_words` of a row are added; within one
    block (`symmetric`), the second half of the sequences does not need the first half.
    """
    for s in range(counters.shape[0]):
        begin = ends[2 * s - 1] if s else 0
        for kind in range(3):
            n = 0
            for i in range(begin, ends[2 * s + 1] if kind < 2 else begin):
                rows[n] = places[kind, numbers[i]]
                n += rows[n] > 0
            for i in range(begin, ends[2 * s] if kind > 0 else begin):
                rows[n] = places[kind - 1, numbers[i]]
                n += rows[n] > 0
            for i in range(n, n + 8):
                rows[i] = 0  # empty
            low, high = s // 512 * 8 if symmetric else 0, n_words
            sums = counters[s, kind, low:]
            for p in range(0, n, 8):
                a, b = marks[rows[p], low:high], marks[rows[p + 1], low:high]
                c, d = marks[rows[p + 2], low:high], marks[rows[p + 3], low:high]
                e, f = marks[rows[p + 4], low:high], marks[rows[p + 5], low:high]
                g, h = marks[rows[p + 6], low:high], marks[rows[p + 7], low:high]
                # full adders: a sum and a carry of three bits, for 64 sequences at a time
                for w in range(a.size):
                    one, two, four = sums[w], sums[WIDTH + w], sums[2 * WIDTH + w]
                    one, two0 = one ^ a[w] ^ b[w], (one & a[w]) | ((one ^ a[w]) & b[w])
                    one, two1 = one ^ c[w] ^ d[w], (one & c[w]) | ((one ^ c[w]) & d[w])
                    two, four0 = two ^ two0 ^ two1, (two & two0) | ((two ^ two0) & two1)
                    one, two0 = one ^ e[w] ^ f[w], (one & e[w]) | ((one ^ e[w]) & f[w])
                    one, two1 = one ^ g[w] ^ h[w], (one & g[w]) | ((one ^ g[w]) & h[w])
                    two, four1 = two ^ two0 ^ two1, (two & two0) | ((two ^ two0) & two1)
                    carry = (four & four0) | ((four ^ four0) & four1)
                    sums[w], sums[WIDTH + w] = one, two
                    sums[2 * WIDTH + w] = four ^ four0 ^ four1
                    for digit in range(3, DIGITS):
                        before = sums[digit * WIDTH + w]
                        sums[digit * WIDTH + w] = before ^ carry
                        carry &= before


@compiled
def add_counters(counters, n_digits, weights, numbers, out):
    """Add the counters of `add_marks`, times the weight of their kind, to `out`; make them 0.

    Digits from `n_digits` on are 0. `numbers` is memory.
    """
    for s in range(out.shape[0]):
        for w in range((out.shape[1] + 63) // 64):
            row = out[s, 64 * w : 64 * w + 64]
            for kind in range(3):
                sums, weight = counters[s, kind], weights[kind]
                for b in range(64):
                    numbers[b] = 0
                for digit in range(n_digits - 1, -1, -1):
                    bits_of_digit = sums[digit * WIDTH + w]
                    for b in range(64):
                        bit = np.int64((bits_of_digit >> np.uint64(b)) & np.uint64(1))
                        numbers[b] = 2 * numbers[b] + bit
                    sums[digit * WIDTH + w] = 0
                for b in range(row.size):
                    row[b] += weight * numbers[b]
