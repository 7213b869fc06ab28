"""Numbers and letters become symbols: rows of small codes, which the kernels compare.

Every quantizer is a scikit-learn transformer from sequences to `Symbols`.
"""

from mvdfq.symbols.base import Symbols, check_symbols
from mvdfq.symbols.choice import choose_n_bins
from mvdfq.symbols.codebook import CodebookQuantizer
from mvdfq.symbols.direct import DirectQuantizer
from mvdfq.symbols.hashing import HashingQuantizer
from mvdfq.symbols.joint import JointQuantizer
from mvdfq.symbols.letters import Letters
from mvdfq.symbols.rows import Rows

__all__ = [
    "CodebookQuantizer",
    "DirectQuantizer",
    "HashingQuantizer",
    "JointQuantizer",
    "Letters",
    "Rows",
    "Symbols",
    "check_symbols",
    "choose_n_bins",
]
