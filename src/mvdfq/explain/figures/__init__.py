"""Pictures for papers, by matplotlib, which is imported only when a picture is drawn.

Every function returns a `matplotlib.figure.Figure`; ``figure.savefig("name.pdf")`` writes it.
"""

from mvdfq.explain.figures.collection import (
    confusion as confusion,
    error_by_bins as error_by_bins,
    importance as importance,
    map_of as map_of,
)
from mvdfq.explain.figures.quantization import codebook as codebook, direct as direct
from mvdfq.explain.figures.sequence import evidence as evidence, mutations as mutations
