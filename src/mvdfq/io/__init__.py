"""Files -> sequences: audio, series and proteins."""

from mvdfq.io.base import Dataset, ReadError

__all__ = ["Dataset", "ReadError"]
