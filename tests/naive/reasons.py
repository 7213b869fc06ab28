"""Evidence compared with a baseline, slowly and from the formulas; never imports mvdfq.

phi_u is the root of the share of word u in its row, w_u its weight, mu_u its mean over the
baseline. A word of a layout g and a cell k of the pyramid has the slope a_u = w_u / (phi_u + mu_u).
Every occurrence has the evidence a_u / N; every word of (g, k), whatever its symbols, has the
evidence -(sum of a_u mu_u**2 over all u of (g, k)) / n, where n counts the words of (g, k).
"""

import math
from collections import defaultdict

from naive.terms import root_shares, told, words


def means(shares):
    """The mean of every word over some sequences, given their root shares."""
    keys = {key for one in shares for key in one}
    return {key: sum(one.get(key, 0.0) for one in shares) / len(shares) for key in keys}


def weights(shares, coefficients, min_share, y):
    """The weight of every word: coefficients of sequences times words that tell of the classes."""
    found = {}
    for key, mean in means(shares).items():
        values = [one.get(key, 0.0) for one in shares]
        deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
        if sum(v > 0 for v in values) > min_share * len(values) and deviation > 1e-6:
            z = [(v - mean) / deviation for v in values]
            products = [a * one for a, one in zip(coefficients, z, strict=True)]
            weight = told([{key: one} for one in z], y)[key]
            found[key] = weight * sum(products) / deviation
    return found


def by_start(row, layouts, n_levels, weight, mean, missing=None):
    """Evidence of every word of one row, as {(layout, start): evidence}, and what has no place."""
    phi = root_shares(row, layouts, n_levels, missing)
    cells = defaultdict(list)  # the words of every layout and cell
    for g, layout in enumerate(layouts):
        for level in range(n_levels):
            for cell in range(2**level):
                cells[g, level, cell] = []
        for t, word in words(row, layout, missing):
            for level in range(n_levels):
                cell = t * 2**level // (len(row) - layout[-1])
                cells[g, level, cell].append((t, (g, word, level, cell)))
    total = sum(map(len, cells.values()))
    slope = {
        key: w / (phi.get(key, 0.0) + mean.get(key, 0.0))
        for key, w in weight.items()
        if phi.get(key, 0.0) + mean.get(key, 0.0) > 0
    }
    found, rest = defaultdict(float), 0.0
    for (g, level, cell), places in cells.items():
        mine = [key for key in slope if (key[0], *key[2:]) == (g, level, cell)]
        lost = sum(slope[key] * mean.get(key, 0.0) ** 2 for key in mine)
        rest -= 0 if places else lost
        for t, key in places:
            found[g, t] += slope.get(key, 0.0) / total - lost / len(places)
    return found, rest


def by_frame(row, layouts, n_levels, weight, mean, missing=None):
    """Evidence of every frame of one row: words share it among the frames that they read."""
    found, rest = by_start(row, layouts, n_levels, weight, mean, missing)
    frames = [rest / len(row)] * len(row)
    for (g, t), evidence in found.items():
        for offset in layouts[g]:
            frames[t + offset] += evidence / len(layouts[g])
    return frames


def by_tap(responses, dilation, n_taps=9):
    """Evidence of responses, shared among the frames inside the sequence that they read."""
    frames = [0.0] * len(responses)
    for t, evidence in enumerate(responses):
        read = [t + (j - n_taps // 2) * dilation for j in range(n_taps)]
        inside = [frame for frame in read if 0 <= frame < len(responses)]
        for frame in inside:
            frames[frame] += evidence / len(inside)
    return frames
