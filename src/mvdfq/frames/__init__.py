"""Rows of numbers before quantization: other views of the same sequences.

Every class is a scikit-learn transformer from sequences to `Sequences`; put them before a
quantizer in a pipeline.
"""

from mvdfq.frames.rotate import Rotate
from mvdfq.frames.scale import Centre, Standardize
from mvdfq.frames.stack import Stack
from mvdfq.frames.time import Delta, Lags, Smooth

__all__ = ["Centre", "Delta", "Lags", "Rotate", "Smooth", "Stack", "Standardize"]
