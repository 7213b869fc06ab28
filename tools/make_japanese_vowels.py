"""Pack the Japanese Vowels set into the file that ships with the package.

The source is the pair of .ts files (the official division) inside a wheel of aeon::

    pip download aeon --no-deps
    python tools/make_japanese_vowels.py aeon-*.whl

Numbers are printed there with at most six decimals, so millionths in int32 hold them exactly;
cut into byte planes (all lowest bytes, then all second bytes, ...) they compress a quarter
better. Every number is compared with the text once more before the file is written.
"""

import argparse
import io
import zipfile
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src/mvdfq/datasets/japanese_vowels.npz"
MEMBER = "aeon/datasets/data/JapaneseVowels/JapaneseVowels_{}.ts"


def read_cases(text):
    """Yield the numbers (channels, time) and the label of each line after ``@data``."""
    for line in text.split("@data\n")[1].splitlines():
        *channels, label = line.split(":")
        yield np.array([channel.split(",") for channel in channels], dtype=float), label


def pack(cases):
    """Return the arrays to store, having checked that they give back every number."""
    values = np.concatenate([x.ravel() for x, _ in cases])
    millionths = np.rint(values * 1e6).astype("<i4")
    if not np.array_equal(millionths / 1e6, values):
        raise ValueError("Some number has more than six decimals.")
    return {
        # Contiguous, or numpy would store the transposed array in its old order.
        "planes": np.ascontiguousarray(millionths.view(np.uint8).reshape(-1, 4).T),
        "lengths": np.array([x.shape[1] for x, _ in cases], dtype=np.uint8),
        "labels": np.array([label for _, label in cases], dtype=np.uint8),
    }


def main():
    """Read the wheel named on the command line, write the package's file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", help="a wheel of aeon that holds the .ts files")
    with zipfile.ZipFile(parser.parse_args().wheel) as wheel:
        texts = [wheel.read(MEMBER.format(part)).decode() for part in ("TRAIN", "TEST")]
    packed = io.BytesIO()
    np.savez_compressed(packed, **pack([case for text in texts for case in read_cases(text)]))
    TARGET.write_bytes(packed.getvalue())
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
