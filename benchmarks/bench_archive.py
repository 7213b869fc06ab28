"""Any folder of the UEA archive (.ts files) -> results in the layout of tsml-eval.

    python benchmarks/bench_archive.py ARCHIVE RESULTS
    python benchmarks/bench_archive.py ARCHIVE RESULTS --methods default fast --resamples 30
    python benchmarks/bench_archive.py ARCHIVE RESULTS --problems Libras NATOPS

ARCHIVE holds ``Name/Name_TRAIN.ts`` and ``Name/Name_TEST.ts`` for each problem, or the files
themselves. Methods are ``default`` and presets of mvdfq. Every problem, method and resample becomes
one file, ``RESULTS/mvdfq-default/Predictions/Libras/testResample0.csv``: three lines about the run,
then the true class, the predicted class and the probabilities of each test case. Resample 0 is the
split of the archive. Resample ``i`` redraws both parts with seed ``i`` as tsml-eval does, so its
programs can compare the files with published files of other classifiers. A run that was broken off
goes on: files that are there are not computed again. Problems of the archive that are not in the
folder are named.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
from accuracy_methods import ours

from mvdfq.io import read

# The 30 multivariate problems of the archive, as published in 2018.
PROBLEMS = """
ArticularyWordRecognition AtrialFibrillation BasicMotions CharacterTrajectories Cricket
DuckDuckGeese ERing EigenWorms Epilepsy EthanolConcentration FaceDetection FingerMovements
HandMovementDirection Handwriting Heartbeat InsectWingbeat JapaneseVowels LSST Libras
MotorImagery NATOPS PEMS-SF PenDigits PhonemeSpectra RacketSports SelfRegulationSCP1
SelfRegulationSCP2 SpokenArabicDigits StandWalkJump UWaveGestureLibrary
""".split()


def problems(archive):
    """Return name -> training and test file of every problem that has both."""
    by_name = {}
    for train in sorted([*archive.glob("*_TRAIN.ts"), *archive.glob("*/*_TRAIN.ts")]):
        name = train.name.removesuffix("_TRAIN.ts")
        test = train.with_name(f"{name}_TEST.ts")
        if test.exists():
            by_name[name] = train, test
    return by_name


def load(files):
    """Return the sequences of both parts, their labels as codes, the classes and the train size."""
    parts = [read(file) for file in files]
    classes, codes = np.unique(np.concatenate([part.y for part in parts]), return_inverse=True)
    return [x for part in parts for x in part.X], codes, classes, len(parts[0].y)


def drawn(codes, n_train, resample):
    """Return the places of the training and of the test cases of a resample.

    The draw of tsml-eval: one generator per resample, class after class, and as many training
    cases of each class as in the split of the archive.
    """
    if resample == 0:
        return np.split(np.arange(len(codes)), [n_train])
    random = np.random.RandomState(resample)
    train, test = [], []
    for code, size in enumerate(np.bincount(codes[:n_train], minlength=codes.max() + 1)):
        members = np.flatnonzero(codes == code)
        random.shuffle(members)
        train.append(members[:size])
        test.append(members[size:])
    return np.concatenate(train), np.concatenate(test)


def measure(name, X, codes, train, test):
    """Fit and predict once; return the probabilities and the milliseconds of both."""
    model = ours(name)
    begin = perf_counter()
    model.fit([X[i] for i in train], codes[train])
    middle = perf_counter()
    probabilities = model.predict_proba([X[i] for i in test])
    seconds = middle - begin, perf_counter() - middle
    return probabilities, [round(1000 * s) for s in seconds]


def write(path, head, y, probabilities, milliseconds):
    """Write one file of results; a file that is there is complete."""
    predicted, n_classes = probabilities.argmax(axis=1), probabilities.shape[1]
    # accuracy, times of fit and prediction, then what is not measured (-1), as tsml-eval writes it
    third = [np.mean(predicted == y), *milliseconds, -1, -1, n_classes, "", -1, -1]
    lines = [",".join(map(str, third))]
    for true, guess, row in zip(y, predicted, probabilities, strict=True):
        lines.append(f"{true},{guess},," + ",".join(f"{p:.6g}" for p in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text("\n".join([*head, *lines]) + "\n")
    unfinished.replace(path)


def run(archive, results, methods, resamples, names):
    """Compute every file that is missing; name the problems that are not in the folder."""
    known = problems(archive)
    for name in (name for name in names or known if name in known):
        files = {(method, i): results / f"mvdfq-{method}/Predictions/{name}/testResample{i}.csv"
                 for i in range(resamples) for method in methods}  # fmt: skip
        missing = {key: path for key, path in files.items() if not path.exists()}
        if not missing:
            continue
        X, codes, classes, n_train = load(known[name])
        for (method, i), path in missing.items():
            train, test = drawn(codes, n_train, i)
            probabilities, milliseconds = measure(method, X, codes, train, test)
            comment = f"Classes: {' '.join(f'{c}={k}' for k, c in enumerate(classes))}"
            head = [f"{name},mvdfq-{method},TEST,{i},MILLISECONDS,{comment}", f"mvdfq {method}"]
            write(path, head, codes[test], probabilities, milliseconds)
            accuracy = np.mean(probabilities.argmax(axis=1) == codes[test])
            print(f"{name} {method} resample {i}: accuracy {accuracy:.4f}", flush=True)
    lacking = [name for name in names or PROBLEMS if name not in known]
    print(f"{len(known)} problems in {archive}; not there: {', '.join(lacking) or 'none'}")


def main():
    """Read the command line; without a folder, say what is needed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", nargs="?", type=Path)
    parser.add_argument("results", nargs="?", type=Path, default=Path("archive_results"))
    parser.add_argument("--methods", nargs="+", default=["default"])
    parser.add_argument("--resamples", type=int, default=1)
    parser.add_argument("--problems", nargs="*", default=[])
    given = parser.parse_args()
    if given.archive is None or not given.archive.is_dir():
        print("bench_archive.py needs a folder of .ts files of the UEA archive: pass its path.")
    else:
        run(given.archive, given.results, given.methods, given.resamples, given.problems)


if __name__ == "__main__":
    main()
