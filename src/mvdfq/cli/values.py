"""Values that options take, for help and for the tab key; a test compares them with the library.

The values are written out here because the tab key must answer before the library is imported.
"""

from collections.abc import Callable, Iterable
from itertools import product

FRAMES = ("centre", "delta", "filters", "lags", "rotate", "smooth", "standardize")
SYMBOLS = ("codebook", "direct", "hashing", "joint", "letters", "threshold")
KERNELS = (
    "gapped", "gappy", "mismatch", "profile", "spatial", "spectrum", "sssk", "subsequence",
    "wildcard", "words",
)  # fmt: skip
FORMATS = (
    "audio", "fasta", "profiles", "ts", "arff", "npz", "npy", "mat", "parquet", "feather",
    "xlsx", "json", "long-csv", "wide-csv", "csv-folder",
)  # fmt: skip
RECIPES = ("default", "gtzan", "librosa", "telephone")
PROTOCOLS = ("group", "leave-group-out", "group-per-class", "split", "homology")
READINGS = ("text", "comment", "tuned", "inferred")
TABLES = (
    "datasets", "genre", "genre-compare", "genre-draft", "ismir", "ismir-compare", "artist",
    "homology", "runtime", "bins", "settings", "text",
)  # fmt: skip

METHODS = ("mvdfq", "mvdfqm", "vq", "vqm", "hashing", "hashingm")
OWN_PRESETS = ("numbers", "fast", "music", "letters")
OTHER_PRESETS = ("multi-vq", "multi-vq-alt", "mvdfq-1d", "mvdfqm-1d")
PRESETS = (
    *OWN_PRESETS,
    *(
        f"{method}-{kernel}{ending}"
        for method, kernel, ending in product(
            METHODS, ("spectrum", "mismatch", "sssk"), ("", "-alt")
        )
    ),
    *OTHER_PRESETS,
)


def completed(values: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the function that the tab key calls with the beginning of a value."""

    def begin_with(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return begin_with


def in_words(values: Iterable[str]) -> str:
    """Return values as text: ``a, b or c``."""
    *first, last = values
    return f"{', '.join(first)} or {last}" if first else last
