"""Who is speaking? Several string kernels on the Japanese Vowels set, with and without the root.

The bins and the classifier are learned on the official training part alone, `C` chosen by
cross-validation inside it; the errors are those on the official test part.
"""

import time

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

import mvdfq

KERNELS = {
    "Spectrum(k=3)": mvdfq.Spectrum(k=3),
    "Mismatch(k=3, m=1)": mvdfq.Mismatch(k=3, m=1),
    "Gapped(g=4, k=3)": mvdfq.Gapped(g=4, k=3),
    "Spatial(t=2, k=1, d=5)": mvdfq.Spatial(t=2, k=1, d=5),
    "Spatial(t=3, k=1, d=5)": mvdfq.Spatial(t=3, k=1, d=5),
}
COLUMNS = ["kernel", "error %", "seconds", "root: error %", "seconds"]
LINE = "{:<24}{:>10}{:>10}{:>16}{:>10}"


def classify(K_train, y_train, K_test):
    """Predict by an SVM whose `C` is chosen on the training part."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1, 10, 100]}, cv=folds)
    return search.fit(K_train, y_train).predict(K_test)


def evaluate(kernel, train, test):
    """Return the error in percent and the seconds both kernel matrices took."""
    (train_symbols, y_train), (test_symbols, y_test) = train, test
    start = time.perf_counter()
    K_train = kernel.fit_transform(train_symbols)
    K_test = kernel.transform(test_symbols)
    seconds = time.perf_counter() - start
    error = 100 * np.mean(classify(K_train, y_train, K_test) != y_test)
    return f"{error:.1f}", f"{seconds:.2f}"


def main():
    """Print the table."""
    X_train, y_train = mvdfq.load_japanese_vowels(split="train")
    X_test, y_test = mvdfq.load_japanese_vowels(split="test")
    quantizer = mvdfq.DirectQuantizer(n_bins=8, strategy="quantile").fit(X_train)
    train = quantizer.transform(X_train), y_train
    test = quantizer.transform(X_test), y_test

    print(f"Japanese Vowels: {len(X_train)} utterances to learn from, {len(X_test)} to recognise,")
    print("9 speakers, 12 channels of 8 bins each. The first run compiles, later ones do not.")
    print()
    print(LINE.format(*COLUMNS))
    for name, kernel in KERNELS.items():
        cells = [
            cell
            for manifold in (False, True)
            for cell in evaluate(mvdfq.SequenceKernel(kernel, manifold=manifold), train, test)
        ]
        print(LINE.format(name, *cells), flush=True)
    print()
    print("To go on with data of your own, start from the example in README.md.")


if __name__ == "__main__":
    main()
