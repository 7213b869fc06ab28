"""What would be lost without a part, slowly and from the definition; never imports mvdfq."""

import math


def outcome(values, label):
    """Log loss and hit of one sequence, given the logits of its classes."""
    largest = max(values)
    total = sum(math.exp(v - largest) for v in values)
    return math.log(total) + largest - values[label], values.index(largest) == label


def lost(margins, parts, labels, temperature):
    """Rise of the mean log loss and fall of the accuracy without each part.

    `parts[i][c][k]` is what part k adds to the margin of class c in sequence i; without the part,
    every sequence gets the mean of the part.
    """
    n, n_classes, n_parts = len(labels), len(margins[0]), len(parts[0][0])
    found = []
    for k in range(n_parts):
        rise = fall = 0.0
        for i in range(n):
            left = []
            for c in range(n_classes):
                mean = sum(parts[j][c][k] for j in range(n)) / n
                left.append(temperature * (margins[i][c] - parts[i][c][k] + mean))
            loss, hit = outcome(left, labels[i])
            loss_before, hit_before = outcome([temperature * m for m in margins[i]], labels[i])
            rise += (loss - loss_before) / n
            fall += (hit_before - hit) / n
        found.append((rise, fall))
    return found
