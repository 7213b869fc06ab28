"""Small data sets in the form of the real ones, made of noise with a little class in it."""

import csv

import numpy as np
import soundfile
from scipy.io import savemat

GENRES = ["blues", "jazz", "metal"]


def frames(random, label, n_frames, n_rows):
    """Frames of one clip: a class moves more slowly the later it stands in the alphabet."""
    steps = random.normal(size=(n_frames, n_rows))
    return np.cumsum(steps, axis=0) * 0.1 * (label + 1) + steps * (label - 1)


def write_gtzan(folder, n_per_genre=8, n_frames=60, seed=0):
    random = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(GENRES)), n_per_genre)
    lengths = random.integers(n_frames // 2, n_frames, len(codes))
    values = [frames(random, c, n, 13) for c, n in zip(codes, lengths, strict=True)]
    (folder / "gtzan").mkdir(parents=True)
    np.savez(
        folder / "gtzan" / "mfcc.npz",
        values=np.concatenate(values).astype(np.float16),
        lengths=lengths,
        labels=np.array(GENRES)[codes],
        names=np.array([f"{i}" for i in range(len(codes))]),
        artists=np.array([f"artist {i // 2}" for i in range(len(codes))]),
        fault_filtered_split=np.array(["train", "test", "train", "valid"] * len(codes))[
            : len(codes)
        ],
    )
    bands = random.integers(0, 32, (lengths.sum(), 64), dtype=np.uint8)
    np.savez(folder / "gtzan" / "fft64_32levels.npz", codes=bands, lengths=lengths)
    write_codewords(folder, lengths, random)


def write_codewords(folder, lengths, random):
    (folder / "sssk_reference").mkdir()
    clips = np.empty((len(lengths), 1), dtype=object)
    for i, n in enumerate(lengths):
        clips[i, 0] = random.integers(0, 1024, (1, n)).astype(np.uint16)
    savemat(folder / "sssk_reference" / "example_seq.mat", {"seq": clips})


def write_artist20(folder, n_artists=3, n_albums=6, n_tracks=2, seed=0):
    random = np.random.default_rng(seed)
    places = [(a, b) for a in range(n_artists) for b in range(n_albums) for _ in range(n_tracks)]
    lengths = random.integers(30, 60, len(places))
    levels = [
        np.clip(128 + 20 * frames(random, a, n, 13), 0, 255)
        for (a, _), n in zip(places, lengths, strict=True)
    ]
    (folder / "artist20").mkdir(parents=True)
    np.savez(
        folder / "artist20" / "mfcc_middle2min.npz",
        levels=np.concatenate(levels).astype(np.uint8),
        lo=np.full(13, -5, np.float32),
        hi=np.full(13, 5, np.float32),
        lengths=lengths,
        labels=np.array([f"artist {a}" for a, _ in places]),
        names=np.array([f"{i}" for i in range(len(places))]),
        groups=np.array([f"artist {a}/album {b}" for a, b in places]),
        fold=np.array([b for _, b in places]),
    )


def write_tone(path, hertz, seconds=0.6, rate=22050):
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(hertz).normal(0, 0.05, int(seconds * rate))
    soundfile.write(path, np.sin(2 * np.pi * hertz * np.arange(len(noise)) / rate) + noise, rate)


def write_ismir(folder, n_per_genre=6):
    """Write the training and the development part, with their track lists."""
    for part in ("training", "development"):
        rows = []
        for g, genre in enumerate(["classical", "jazz_blues"]):
            for i in range(n_per_genre):
                name = f"{genre}/artist_{i}/album/{i}-song.wav"
                write_tone(folder / "ismir2004" / "audio" / part / name, 200 * (g + 1) + 7 * i)
                rows.append([genre.replace("_", "-"), f"artist_{i}", "album", "song", i, name])
        path = folder / "ismir2004" / "metadata" / part / "tracklist.csv"
        path.parent.mkdir(parents=True)
        with open(path, "w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)


def write_proteins(folder, n_families=3, n_members=8, seed=0):
    """Write proteins whose families differ by a motif, and a task for each family."""
    random = np.random.default_rng(seed)
    letters, names, families = np.array([*"ACDEFGHIKLMNPQRSTVWY"]), [], []
    (folder / "proteins").mkdir(parents=True)
    with open(folder / "proteins" / "sequences.fasta", "w") as file:
        for family in range(n_families):
            motif = "".join(random.choice(letters, 6))
            for i in range(n_members):
                names.append(f"d{family}_{i}")
                families.append(family)
                rest = "".join(random.choice(letters, 30))
                file.write(f">{names[-1]} 1.{family + 1}.1.{i % 2 + 1}\n{rest}{motif}{rest[:9]}\n")
    with open(folder / "proteins" / "splits.tsv", "w") as file:
        for family in range(n_families):
            for i, name in enumerate(names):
                sign = "pos" if families[i] == family else "neg"
                part = "test" if i % 2 else "train"
                file.write(f"1.{family + 1}\t{sign}-{part}\t{name}\n")


def write_all(folder):
    """Write all sets below a folder, and return it."""
    for write in (write_gtzan, write_artist20, write_ismir, write_proteins):
        write(folder)
    return folder
