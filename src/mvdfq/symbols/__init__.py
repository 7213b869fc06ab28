"""Quantizers turn numbers and letters into symbols: rows of small codes for the kernels.

Every quantizer is a scikit-learn transformer from sequences to `Symbols`. A quantizer that is
exported here can be saved in a model file and has a name on the command line.
"""

from mvdfq.symbols.base import Symbols as Symbols, check_symbols as check_symbols
from mvdfq.symbols.bins import ThresholdQuantizer as ThresholdQuantizer
from mvdfq.symbols.direct import DirectQuantizer as DirectQuantizer
from mvdfq.symbols.joint import JointQuantizer as JointQuantizer
from mvdfq.symbols.letters import Letters as Letters
from mvdfq.symbols.rows import PerGroup as PerGroup, Rows as Rows
from mvdfq.symbols.whole_frames import (
    CodebookQuantizer as CodebookQuantizer,
    HashingQuantizer as HashingQuantizer,
)
