"""The public parts: their names on the command line, and the classes that a model file may hold.

Both follow from the exports of the rooms `frames`, `symbols` and `kernels`: a new part is exported
once and is then known everywhere.
"""

from types import ModuleType

from mvdfq import frames, kernels, symbols
from mvdfq.frames.base import SequenceTransformer
from mvdfq.kernels import Kernel


def _exported(room: ModuleType, base: type) -> dict[str, type]:
    """Return the parts that a room exports, by the names of their classes."""
    classes = {name: value for name, value in vars(room).items() if isinstance(value, type)}
    return {name: cls for name, cls in classes.items() if issubclass(cls, base) and cls is not base}


# The parts by the parameter of `SequenceClassifier` that takes them.
EXPORTED = {
    "frames": _exported(frames, SequenceTransformer),
    "symbols": _exported(symbols, SequenceTransformer),
    "kernel": _exported(kernels, Kernel),
}

# Parts without a name on the command line, and why.
UNNAMED = {
    "Select": "its channels must be given",
    "Stack": "its views must be given",
    "Rows": "its quantizers must be given",
    "PerGroup": "its quantizer must be given",
    "Words": "its layouts must be given",
    "MismatchPairs": "it is not positive semi-definite; Mismatch is the kernel to use",
}

# Second names: the paper calls the kernel SSSK.
ALSO = {"frames": {}, "symbols": {}, "kernel": {"sssk": kernels.Spatial}}


def _short(name: str) -> str:
    return name.removesuffix("Quantizer").lower()


# Name on the command line -> class, by parameter: "direct" is DirectQuantizer.
NAMED: dict[str, dict[str, type]] = {
    kind: {_short(name): cls for name, cls in classes.items() if name not in UNNAMED} | ALSO[kind]
    for kind, classes in EXPORTED.items()
}
