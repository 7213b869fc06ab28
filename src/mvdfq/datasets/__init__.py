"""Data to try things on: one small real set that ships with the package, seeded synthetic ones."""

from mvdfq.datasets.japanese_vowels import load_japanese_vowels
from mvdfq.datasets.synthetic import make_autoregressive

__all__ = ["load_japanese_vowels", "make_autoregressive"]
