"""
Images as sequences
===================

Handwritten digits, read column by column or patch by patch.

An image becomes a sequence when one walks over it: each step gives a column of pixels, or a
patch, whose values are the channels. The images are the 8 x 8 digits that scikit-learn brings.
"""

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score

import mvdfq

N_IMAGES = 500
LINE = "{:<26}{:>10}{:>10}{:>14}{:>8}"


def columns(image):
    """From left to right; the channels are the rows of the image."""
    return image


def columns_then_rows(image):
    """The columns, then the rows; a missing value between them, which no word spans."""
    return np.hstack([image, np.full((len(image), 1), np.nan), image.T])


def patches(image, side=3):
    """All patches along a path that turns at the edges; the channels are their pixels."""
    windows = np.lib.stride_tricks.sliding_window_view(image, (side, side)).copy()
    windows[1::2] = windows[1::2, ::-1]
    return windows.reshape(-1, side * side).T


def line_of(reading, images, y):
    """Read the images as sequences, cross-validate, and return the line of the table."""
    start = time.perf_counter()
    X = [reading(image) for image in images]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(mvdfq.SequenceClassifier(), X, y, cv=folds)
    n_channels, n_steps = X[0].shape
    accuracy = f"{100 * scores.mean():.1f} ± {100 * scores.std():.1f}"
    name = reading.__name__.replace("_", " ")
    return LINE.format(name, n_channels, n_steps, accuracy, f"{time.perf_counter() - start:.1f}")


def main():
    """Print a line for each way to walk over an image."""
    images, y = load_digits(return_X_y=True)
    images, y = images[:N_IMAGES].reshape(-1, 8, 8), y[:N_IMAGES]
    print(f"{len(y)} images of handwritten digits, three-fold cross-validation. Chance: 10 %.")
    print()
    print(LINE.format("walk", "channels", "steps", "accuracy %", "s"))
    for reading in [columns, columns_then_rows, patches]:
        print(line_of(reading, images, y), flush=True)


if __name__ == "__main__":
    main()
