r"""The kernels: which words they read, and how often each word counts.

A *layout* reads one word at every position ``t`` of a row: the symbols at ``t + offset``. Two
layouts in one *group* share a feature space: the same symbols are the same feature, whichever
layout read the symbols. Layouts in different groups never match. A kernel is a list of groups:

.. math:: K(x, y) = \sum_{\text{groups}} w_g \sum_{\text{words } u} c_u(x) \, c_u(y)

A new kernel of layouts is a class with `groups` in a file of its own. Kernels that count in
another way (mismatch neighbourhoods, profiles, pairs of sequences) keep the counting beside the
class.
"""

from mvdfq.kernels.base import Kernel
from mvdfq.kernels.layouts import Group, Layout
from mvdfq.kernels.mismatch import Mismatch, MismatchPairs
from mvdfq.kernels.neighbours import intersection_size
from mvdfq.kernels.profile import Profile
from mvdfq.kernels.subsequence import Subsequence
from mvdfq.kernels.windows import Gapped, Gappy, Wildcard
from mvdfq.kernels.words import Spatial, Spectrum, Words

__all__ = [
    "Gapped",
    "Gappy",
    "Group",
    "Kernel",
    "Layout",
    "Mismatch",
    "MismatchPairs",
    "Profile",
    "Spatial",
    "Spectrum",
    "Subsequence",
    "Wildcard",
    "Words",
    "intersection_size",
]
