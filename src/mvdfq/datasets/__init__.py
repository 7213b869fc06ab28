"""Data sets to try things on: a small real data set, and synthetic data with a seed."""

from mvdfq.datasets.japanese_vowels import load_japanese_vowels
from mvdfq.datasets.synthetic import make_autoregressive

__all__ = ["load_japanese_vowels", "make_autoregressive"]
