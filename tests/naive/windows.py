"""Slow twins of windows and events."""


def starts(n, size, step):
    """Where windows begin: all that fit; a shorter sequence is one window."""
    if 0 < n < size:
        return [0]
    return [a for a in range(n) if a % step == 0 and a + size <= n]


def events(begins, window, step, length, labels):
    """Start, end, label and number of windows of each run of equal labels."""
    found = []
    for i, label in enumerate(labels):
        middle = begins[i] + window / 2
        end = length if i == len(labels) - 1 else middle + step / 2
        if i and labels[i - 1] == label:
            if label is not None:
                start, _, _, n = found.pop()
                found.append((start, end, label, n + 1))
        elif label is not None:
            found.append((0.0 if i == 0 else middle - step / 2, end, label, 1))
    return found
