"""Slow, obvious twins of the kernels, written from their definitions; the tests compare with them.

A row is a list of symbols, None where one is missing; a sequence is a list of rows. A kernel
is a generator: it lists the occurrences of its features in one row, each as

    group, (t, n_starts), word, weight

that is, the feature space the word belongs to, the place where it was read (position `t` out of
`n_starts` possible ones), what was read, and how much it counts. All the rest (the sum over
rows, the pyramid, the root, the norms) is the same for every kernel.

Nothing here imports mvdfq: a reference that leans on the code it checks proves nothing.
"""

from collections import Counter
from functools import partial
from itertools import accumulate, combinations, permutations, product
from math import exp, isnan, log, prod, sqrt
from operator import ne

# kernels --------------------------------------------------------------------------------------


def spectrum(row, k=3, dilation=1):
    for group, (step, length) in enumerate(product(several(dilation), several(k))):
        for place, word in read(row, window(length, step)):
            yield group, place, word, 1


def spatial(row, t=3, k=1, d=5, dilation=1):
    all_gaps = product(range(d), repeat=t - 1)
    for group, (step, gaps) in enumerate(product(several(dilation), all_gaps)):
        starts = accumulate((k + gap for gap in gaps), initial=0)
        offsets = [step * (start + i) for start in starts for i in range(k)]
        for place, word in read(row, offsets):
            yield group, place, word, 1


def gapped(row, g=5, k=3, dilation=1):
    kept_sets = combinations(range(g), k)
    for group, (step, kept) in enumerate(product(several(dilation), kept_sets)):
        for place, word in read(row, window(g, step)):
            yield group, place, tuple(word[i] for i in kept), 1


def gappy(row, g=5, k=3, distinct=True, dilation=1):
    for group, step in enumerate(several(dilation)):
        for place, word in read(row, window(g, step)):
            inside = list(combinations(word, k))
            for part in set(inside) if distinct else inside:
                yield group, place, part, 1


def wildcard(row, k=5, m=1, decay=1.0, dilation=1):
    kept_sets = [kept for n_stars in range(m + 1) for kept in combinations(range(k), k - n_stars)]
    for group, (step, kept) in enumerate(product(several(dilation), kept_sets)):
        for place, word in read(row, window(k, step)):
            pattern = tuple(word[i] if i in kept else "*" for i in range(k))
            yield group, place, pattern, decay ** pattern.count("*")


def subsequence(row, k=2, decay=0.5, max_span=None):
    n = len(row)
    for t in range(n):
        for rest in combinations(range(t + 1, min(t + (max_span or n), n)), k - 1):
            word = tuple(row[i] for i in (t, *rest))
            span = max((t, *rest)) - t + 1
            if None not in word:
                yield 0, (t, n - span + 1), word, decay**span


def mismatch(row, k=5, m=1, dilation=1, n_symbols=None):
    """Every word over the alphabet is a feature: count the windows near it."""
    for group, step in enumerate(several(dilation)):
        for place, seen in read(row, window(k, step)):
            for word in product(range(n_symbols), repeat=k):
                if distance(seen, word) <= m:
                    yield group, place, word, 1


def profile(columns, k=5, sigma=7.5):
    """`columns` are the probabilities of the letters, position by position."""
    letters = range(len(columns[0]) if columns else 0)
    known = [None if any(map(isnan, column)) else column for column in columns]
    for place, chances in read(known, window(k, 1)):
        for word in product(letters, repeat=k):
            if surprise(chances, word) < sigma:
                yield 0, place, word, 1


def words(row, layouts=((0, 4, 8),), weights=None):
    for group, offsets in enumerate(layouts):
        for place, word in read(row, offsets):
            yield group, place, word, weights[group] if weights is not None else 1


def window(length, step):
    return range(0, length * step, step)


def read(row, offsets):
    """What stands at `offsets` from each position; nothing where a symbol is missing."""
    n_starts = len(row) - max(offsets)
    for t in range(n_starts):
        word = tuple(row[t + offset] for offset in offsets)
        if None not in word:
            yield (t, n_starts), word


def several(value):
    return [value] if isinstance(value, int) else list(value)


def distance(a, b):
    return sum(map(ne, a, b))


def surprise(chances, word):
    picked = [column[letter] for column, letter in zip(chances, word, strict=True)]
    return -sum(map(log, picked)) if all(picked) else float("inf")


# kernels that know pairs of windows only ------------------------------------------------------


def pairs_at_distance(a, b, k):
    """M_0 .. M_k: how many pairs of windows differ in exactly so many positions."""
    pairs = product(read(a, window(k, 1)), read(b, window(k, 1)))
    found = Counter(distance(x, y) for (_, x), (_, y) in pairs)
    return [found[i] for i in range(k + 1)]


def mismatch_pairs(a, b, k=5, m=1):
    return sum(pairs_at_distance(a, b, k)[: m + 1])


def mismatch_closed_form(a, b, k, m, n_symbols):
    sizes = intersection_sizes(k, m, n_symbols)
    return sum(size * n for size, n in zip(sizes, pairs_at_distance(a, b, k), strict=True))


def intersection_sizes(k, m, n_symbols):
    """I_0 .. I_k: how many words lie within `m` of both of two words that differ so much.

    At every position a third word has a few kinds of symbols to choose from: how many there
    are of a kind, and whether they differ from the one word and from the other.
    """
    agree = [(1, 0, 0), (n_symbols - 1, 1, 1)]
    differ = [(1, 0, 1), (1, 1, 0), (n_symbols - 2, 1, 1)]
    sizes = []
    for d in range(k + 1):
        choices = (zip(*kinds, strict=True) for kinds in product(*[agree] * (k - d), *[differ] * d))
        near = (prod(ways) for ways, one, other in choices if max(sum(one), sum(other)) <= m)
        sizes.append(sum(near))
    return sizes


# from words to numbers ------------------------------------------------------------------------


def features(row, kernel, pyramid=1):
    counts = Counter()
    for group, (t, n_starts), word, weight in kernel(row):
        for level in range(pyramid):
            counts[group, level, part_of(t, n_starts, level), word] += weight
    return counts


def part_of(t, n_starts, level):
    """Which of ``2**level`` equal parts of the stretch of possible starts holds the start `t`."""
    # A part ends at n_starts * part / 2**level. Both sides are whole numbers: nothing is rounded.
    return sum(n_starts * part <= t * 2**level for part in range(1, 2**level + 1))


def observed(rows, k, dilation=1):
    """Words, with their groups, that occur in any of `rows`."""
    found = (features(row, partial(spectrum, k=k, dilation=dilation)) for row in rows)
    return {(group, word) for counts in found for group, _, _, word in counts}


def restrict(counts, vocabulary):
    return {key: n for key, n in counts.items() if (key[0], key[3]) in vocabulary}


def rooted(counts):
    total = sum(counts.values())
    return {key: sqrt(n / total) for key, n in counts.items()}


def dot(a, b, group_weights=None):
    shared = [key for key in a if key in b]
    weights = [1 if group_weights is None else group_weights[group] for group, *_ in shared]
    return sum(w * a[key] * b[key] for w, key in zip(weights, shared, strict=True))


def cosine(ab, aa, bb):
    return ab / sqrt(aa * bb) if aa and bb else 0


# the Gram -------------------------------------------------------------------------------------


def gram(
    A,
    B,
    kernels,
    *,
    vocabularies=None,
    manifold=False,
    pyramid=1,
    group_weights=None,
    **options,
):
    """K(A, B) from one kernel for each row and, if not all words count, those that do."""

    def describe(row, r):
        counts = features(row, kernels[r], pyramid)
        if vocabularies is not None:
            counts = restrict(counts, vocabularies[r])
        return rooted(counts) if manifold else counts

    A, B = ([[describe(row, r) for r, row in enumerate(x)] for x in X] for X in (A, B))
    return gram_of_rows(A, B, partial(dot, group_weights=group_weights), mean=manifold, **options)


def gram_of_rows(
    A, B, compare, *, mean=False, normalize=True, row_norm="none", row_weights=None, gamma=None
):
    """K(A, B) from `compare`, which says how alike two rows are."""

    def kernel(x, y):
        values = [compare(a, b) for a, b in zip(x, y, strict=True)]
        if row_norm == "cosine":
            norms = [(compare(a, a), compare(b, b)) for a, b in zip(x, y, strict=True)]
            values = [cosine(value, *norm) for value, norm in zip(values, norms, strict=True)]
        weights = [1] * len(values) if row_weights is None else row_weights
        total = sum(w * value for w, value in zip(weights, values, strict=True))
        return total / sum(weights) if mean or row_norm == "cosine" else total

    K = [[kernel(x, y) for y in B] for x in A]
    if normalize:
        own_A, own_B = ([kernel(x, x) for x in X] for X in (A, B))
        K = [[cosine(K[i][j], a, b) for j, b in enumerate(own_B)] for i, a in enumerate(own_A)]
    if gamma is not None:
        K = [[exp(-gamma * (2 - 2 * value)) for value in line] for line in K]
    return K


def varying_rows(train):
    """Rows with more than one symbol in the training sequences; all rows if there is none."""
    symbols = [
        {value for row in rows for value in row} - {None} for rows in zip(*train, strict=True)
    ]
    return [r for r, found in enumerate(symbols) if len(found) > 1] or list(range(len(symbols)))


# machines -------------------------------------------------------------------------------------


def evidence(x, train, coefficients, kernels, *, manifold=False, pyramid=1):
    """What each word start of `x` adds to ``sum_i a_i cosine(x, x_i)``: (row, t) -> evidence."""

    def unit(sequence):
        """Row and feature -> value; the whole sequence has length 1."""
        found = {}
        for r, row in enumerate(sequence):
            counts = features(row, kernels[r], pyramid)
            values = rooted(counts) if manifold else counts
            found.update({(r, key): value for key, value in values.items()})
        norm = sqrt(sum(value**2 for value in found.values()))
        return {key: value / norm for key, value in found.items()}

    learned = Counter()
    for a, sequence in zip(coefficients, train, strict=True):
        for key, value in unit(sequence).items():
            learned[key] += a * value
    shares = {key: value * learned[key] for key, value in unit(x).items()}
    by_start = Counter()
    for r, row in enumerate(x):
        counts = features(row, kernels[r], pyramid)
        for group, (t, n_starts), word, weight in kernels[r](row):
            for level in range(pyramid):
                key = group, level, part_of(t, n_starts, level), word
                by_start[r, t] += shares[r, key] * weight / counts[key]
    return by_start


# metrics --------------------------------------------------------------------------------------


def roc(truth, scores, n):
    """Walk down the ranking to the n-th negative; the mean over all orders of equal scores."""
    items = list(zip(scores, truth, strict=True))
    falling = sorted(scores, reverse=True)
    orders = (order for order in permutations(items) if [s for s, _ in order] == falling)
    areas = [walk([positive for _, positive in order], n) for order in orders]
    return sum(areas) / len(areas)


def walk(ranked, n):
    """At each of the first `n` negatives the share of the positives found so far; their mean."""
    above = [sum(ranked[:i]) for i, positive in enumerate(ranked) if not positive][:n]
    return sum(above) / (len(above) * sum(ranked))


# The 97.5 % quantile of the t distribution, by degrees of freedom, from a table.
T_TABLE = {1: 12.70620474, 2: 4.30265273, 3: 3.18244631, 4: 2.77644511, 5: 2.57058184,
           6: 2.44691185, 7: 2.36462425}  # fmt: skip
NORMAL = 1.95996398


def share_interval(right, groups, repeats):
    """Look for the shares q at which (p - q)^2 = z^2 q (1 - q) / n, on both sides of p."""
    p, n, z = sum(right) / len(right), len(right) / repeats, NORMAL
    names = sorted(set(groups or []))
    if len(names) > 1:
        z = T_TABLE[len(names) - 1]
        surplus = [
            sum(hit - p for hit, group in zip(right, groups, strict=True) if group == name)
            for name in names
        ]
        variance = sum(s * s for s in surplus) * len(names) / (len(names) - 1) / len(right) ** 2
        if variance and 0 < p < 1:
            n = min(n, p * (1 - p) / variance)

    def is_far(q):
        return (p - q) ** 2 > z * z * q * (1 - q) / n

    return tuple(_edge(is_far, p, end) for end in (0.0, 1.0))


def _edge(is_far, near, far):
    """Halve the way between a share that is near and the end until the edge is found."""
    if not is_far(far):
        return far
    for _ in range(60):
        middle = (near + far) / 2
        near, far = (near, middle) if is_far(middle) else (middle, far)
    return near


def moments(by_frame, shares, width, n):
    """Take the window with the largest sum again and again; leave out windows that overlap."""
    n_rows, n_frames = len(by_frame), len(by_frame[0])
    rows_of = [[r for r in range(n_rows) if shares[r][c]] for c in range(len(shares[0]))]
    evidence = [
        [sum(by_frame[r][t] * shares[r][c] for r in rows) for t in range(n_frames)]
        for c, rows in enumerate(rows_of)
    ]
    windows = {
        start: [sum(row[start : start + width]) for row in evidence]
        for start in range(n_frames - width + 1)
    }
    found = []
    while windows and len(found) < n:
        start = max(windows, key=lambda one: abs(sum(windows[one])))
        by_channel = windows[start]
        total = sum(by_channel)
        mine = [max(value if total > 0 else -value, 0) for value in by_channel]
        ranked = sorted(range(len(mine)), key=lambda c: -mine[c])
        named = []
        while sum(mine[c] for c in named) < sum(mine) / 2 and len(named) < 3:
            named.append(ranked[len(named)])
        found.append((start, total, named))
        windows = {other: w for other, w in windows.items() if abs(other - start) >= width}
    return found


def products(left, right, unit, root):
    """Inner products of the rows of two tables of counts, each times `unit`, or of their roots."""
    f = sqrt if root else float
    K = [[0.0] * len(right) for _ in left]
    for i, x in enumerate(left):
        for word in [word for word, count in enumerate(x) if count]:
            for j, y in enumerate(right):
                K[i][j] += f(x[word] * unit) * f(y[word] * unit)
    return K
