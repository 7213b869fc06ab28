"""The sets that defaults are chosen on: ten of the UEA archive, GTZAN, proteins; in MVDFQ_DATA."""

import gzip
import os
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("MVDFQ_DATA", "."))


def uea_names():
    """Names of the sets of the UEA archive that are at hand."""
    return sorted(path.stem for path in (FOLDER / "uea").glob("*.npz"))


def load_uea(name):
    """Return training and test sequences with their labels, in the official split."""
    with np.load(FOLDER / "uea" / f"{name}.npz") as file:
        parts = []
        for part in ("train", "test"):
            cuts = np.cumsum(file[f"{part}_len"])[:-1]
            frames = np.split(file[f"{part}_x"].astype(np.float64), cuts)
            parts += [[x.T for x in frames], file[f"{part}_y"]]
    return (*parts, None)


def load_gtzan():
    """Return the fault-filtered split (train and valid to learn from) and the artists."""
    with np.load(FOLDER / "gtzan" / "mfcc.npz") as file:
        cuts = np.cumsum(file["lengths"])[:-1]
        X = [x.T for x in np.split(file["values"].astype(np.float32), cuts)]
        y, split, artists = file["labels"], file["fault_filtered_split"], file["artists"]
    train, test = (
        np.flatnonzero(np.isin(split, ["train", "valid"])),
        np.flatnonzero(split == "test"),
    )
    return [X[i] for i in train], y[train], [X[i] for i in test], y[test], artists[train]


def load_proteins():
    """Return sequences, their SCOP families, and the splits: family -> role -> indices."""
    sequences, families = {}, {}
    with gzip.open(FOLDER / "proteins" / "sequences.fasta.gz", "rt") as file:
        for line in file:
            if line.startswith(">"):
                name, code = line[1:].split()[:2]
                sequences[name], families[name] = [], ".".join(code.split(".")[:4])
            else:
                sequences[name].append(line.strip())
    place = {name: i for i, name in enumerate(sequences)}
    splits = {}
    with gzip.open(FOLDER / "proteins" / "splits.tsv.gz", "rt") as file:
        for line in file.read().splitlines()[1:]:
            family, role, name = line.split("\t")
            splits.setdefault(family, {}).setdefault(role, []).append(place[name])
    return (
        ["".join(parts) for parts in sequences.values()],
        np.array(list(families.values())),
        splits,
    )
