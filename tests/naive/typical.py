"""Slow twins of p values: vectors of words, loops over held-out sequences."""


def squared(a, b):
    """Squared distance of two vectors."""
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def mean(vectors):
    """Mean of some vectors."""
    return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def class_spread(vectors, y, n_classes):
    """Mean squared distance in each class; one more member has the mean of all classes."""
    totals, sizes = [], []
    for c in range(n_classes):
        mine = [v for v, label in zip(vectors, y, strict=True) if label == c]
        totals.append(sum(squared(v, mean(mine)) for v in mine))
        sizes.append(len(mine))
    common = sum(totals) / sum(n - 1 for n in sizes)
    return [(total + common) / n for total, n in zip(totals, sizes, strict=True)]


def relative_distance(x, c, vectors, y, n_classes):
    """Distance of `x` to the mean of class `c`, in units of the spread, without what adds up."""
    mine = [v for v, label in zip(vectors, y, strict=True) if label == c]
    return squared(x, mean(mine)) / class_spread(vectors, y, n_classes)[c] - 1 / len(mine)


def p_value(held, score):
    """Share of held-out scores, and of the score itself, that are at least as large."""
    return (1 + sum(other >= score for other in held)) / (1 + len(held))


def typicality(scores, y, new, enough):
    """The p value of every class, given the two scores of one sequence for each class.

    `scores` are pairs of the held-out sequences for their own classes `y`.
    """
    found = []
    for c, pair in enumerate(new):
        small = [k for k in range(len(new)) if sum(label == k for label in y) < enough]
        like = small if c in small else [c]
        held = [s for s, label in zip(scores, y, strict=True) if label in like]
        firsts, seconds = [a for a, _ in held], [b for _, b in held]

        def least(one, firsts=firsts, seconds=seconds):
            return min(p_value(firsts, one[0]), p_value(seconds, one[1]))

        found.append(p_value([-least(one) for one in held], -least(pair)))
    return found
