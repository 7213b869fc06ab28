"""Who is speaking? SequenceClassifier on the Japanese Vowels set, and why it decided as it did.

Everything is learned on the official training part alone; the errors are those on the official test
part. Below stand the methods of the paper, each by its name.
"""

import time

import numpy as np

import mvdfq

PRESETS = ["mvdfq-sssk", "mvdfqm-sssk", "hashingm-sssk", "vqm-spectrum-alt"]
LINE = "{:<24}{:>10}{:>12}{:>14}"


def evaluate(name, train, test):
    """Return the fitted classifier and its line of the table."""
    start = time.perf_counter()
    clf = mvdfq.SequenceClassifier(name).fit(*train)
    middle = time.perf_counter()
    error = 100 * np.mean(clf.predict(test[0]) != test[1])
    end = time.perf_counter()
    cells = f"{error:.1f}", f"{middle - start:.2f}", f"{end - middle:.2f}"
    return clf, LINE.format(name or "the default", *cells)


def show_why(clf, X, y):
    """Print what spoke for the first utterance's speaker, and which channels matter."""
    explanation = clf.explain(X[0])
    print(f"Why utterance 0 is by speaker {explanation.predicted} (truly {y[0]}):")
    for reason in explanation.top(5):
        print(f"  {reason}")
    nearest = clf.neighbours(X[0], 3)
    print("Most like it:", ", ".join(f"{n.index} (by {n.label})" for n in nearest))
    importance = clf.feature_importance_
    ranked = np.argsort(-importance)[:3]
    shares = ", ".join(f"channel {c} ({100 * importance[c]:.0f} %)" for c in ranked)
    print(f"Channels that matter most: {shares}")


def main():
    """Print the table, then one explanation."""
    train = mvdfq.load_japanese_vowels(split="train")
    test = mvdfq.load_japanese_vowels(split="test")
    n_train, n_test = len(train[0]), len(test[0])
    print(f"Japanese Vowels: {n_train} utterances to learn from, {n_test} to recognise,")
    print("9 speakers, 12 channels. The first run compiles, later ones do not.")
    print()
    print(LINE.format("classifier", "error %", "fit s", "predict s"))
    default, line = evaluate(None, train, test)
    print(line, flush=True)
    for preset in PRESETS:
        print(evaluate(preset, train, test)[1], flush=True)
    print()
    show_why(default, *test)
    print()
    print("To go on with data of your own, start from the example in README.md.")


if __name__ == "__main__":
    main()
