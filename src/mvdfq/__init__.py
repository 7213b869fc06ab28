"""Classify multivariate sequences with string kernels, in linear time.

Every public name is an attribute of this package; the room it lives in is imported when
the name is first used, so that ``import mvdfq`` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mvdfq import io as io, reproduce as reproduce
    from mvdfq.classifier import SequenceClassifier as SequenceClassifier
    from mvdfq.converters import (
        from_long_table as from_long_table,
        from_time_first as from_time_first,
    )
    from mvdfq.datasets import (
        load_japanese_vowels as load_japanese_vowels,
        make_autoregressive as make_autoregressive,
    )
    from mvdfq.evaluation import Evaluation as Evaluation, evaluate as evaluate
    from mvdfq.explain import Explanation as Explanation, Reason as Reason
    from mvdfq.explicit import SequenceFeatures as SequenceFeatures
    from mvdfq.frames import (
        Centre as Centre,
        Delta as Delta,
        Lags as Lags,
        Rotate as Rotate,
        Smooth as Smooth,
        Stack as Stack,
        Standardize as Standardize,
    )
    from mvdfq.kernel import SequenceKernel as SequenceKernel
    from mvdfq.layouts import (
        Gapped as Gapped,
        Gappy as Gappy,
        Mismatch as Mismatch,
        MismatchPairs as MismatchPairs,
        Profile as Profile,
        Spatial as Spatial,
        Spectrum as Spectrum,
        Subsequence as Subsequence,
        Wildcard as Wildcard,
        Words as Words,
    )
    from mvdfq.model_file import ModelFileError as ModelFileError, load as load
    from mvdfq.presets import list_presets as list_presets
    from mvdfq.questions import Neighbour as Neighbour
    from mvdfq.search import SequenceClassifierCV as SequenceClassifierCV
    from mvdfq.sequences import Sequences as Sequences, check_sequences as check_sequences
    from mvdfq.stream import Stream as Stream
    from mvdfq.symbols import (
        CodebookQuantizer as CodebookQuantizer,
        DirectQuantizer as DirectQuantizer,
        HashingQuantizer as HashingQuantizer,
        JointQuantizer as JointQuantizer,
        Letters as Letters,
        Rows as Rows,
        Symbols as Symbols,
        choose_n_bins as choose_n_bins,
    )

    __version__: str

_ROOMS = {
    "classifier": ["SequenceClassifier"],
    "converters": ["from_long_table", "from_time_first"],
    "datasets": ["load_japanese_vowels", "make_autoregressive"],
    "evaluation": ["Evaluation", "evaluate"],
    "explain": ["Explanation", "Reason"],
    "explicit": ["SequenceFeatures"],
    "frames": ["Centre", "Delta", "Lags", "Rotate", "Smooth", "Stack", "Standardize"],
    "kernel": ["SequenceKernel"],
    "layouts": [
        "Gapped",
        "Gappy",
        "Mismatch",
        "MismatchPairs",
        "Profile",
        "Spatial",
        "Spectrum",
        "Subsequence",
        "Wildcard",
        "Words",
    ],
    "model_file": ["ModelFileError", "load"],
    "presets": ["list_presets"],
    "questions": ["Neighbour"],
    "search": ["SequenceClassifierCV"],
    "sequences": ["Sequences", "check_sequences"],
    "stream": ["Stream"],
    "symbols": [
        "CodebookQuantizer",
        "DirectQuantizer",
        "HashingQuantizer",
        "JointQuantizer",
        "Letters",
        "Rows",
        "Symbols",
        "choose_n_bins",
    ],
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    """Import what is asked for, once: the name is then an ordinary attribute."""
    if name in _ROOM_OF:
        value = getattr(import_module(f"mvdfq.{_ROOM_OF[name]}"), name)
    elif name in ("io", "reproduce"):  # rooms that are used under their own names
        value = import_module(f"mvdfq.{name}")
    elif name == "__version__":
        value = import_module("importlib.metadata").version("mvdfq")
    else:
        raise AttributeError(f"module 'mvdfq' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__", "io", "reproduce"})
