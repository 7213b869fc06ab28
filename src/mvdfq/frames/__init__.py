"""Rows of numbers before quantization: other views of the same sequences.

Every class is a scikit-learn transformer from sequences to `Sequences`; put the transformer
before a quantizer in a pipeline. A class that is exported here can be saved in a model file and
has a name on the command line.
"""

from mvdfq.frames.filters import Filters as Filters
from mvdfq.frames.linear import Centre as Centre, Rotate as Rotate, Standardize as Standardize
from mvdfq.frames.stack import Select as Select, Stack as Stack
from mvdfq.frames.time import Delta as Delta, Lags as Lags, Smooth as Smooth
