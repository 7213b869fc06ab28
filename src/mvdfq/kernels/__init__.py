r"""The kernels: which words they read, and how often each word counts.

A *layout* reads one word at every position ``t`` of a row: the symbols at ``t + offset``. Two
layouts in one *group* share a feature space: the same symbols are the same feature, whichever
layout read the symbols. Layouts in different groups never match. A kernel is a list of groups:

.. math:: K(x, y) = \sum_{\text{groups}} w_g \sum_{\text{words } u} c_u(x) \, c_u(y)

A new kernel of layouts is one class with `groups` in one new file. Kernels that count in
another way (mismatch neighbourhoods, profiles, pairs of sequences) keep the counting beside the
class. A kernel that is exported here can be saved, and has a name on the command line.
"""

from mvdfq.kernels.base import Group as Group, Kernel as Kernel, Layout as Layout
from mvdfq.kernels.layouts import (
    Gapped as Gapped,
    Gappy as Gappy,
    Spatial as Spatial,
    Spectrum as Spectrum,
    Wildcard as Wildcard,
    Words as Words,
)
from mvdfq.kernels.mismatch import Mismatch as Mismatch, MismatchPairs as MismatchPairs
from mvdfq.kernels.neighbours import intersection_size as intersection_size
from mvdfq.kernels.profile import Profile as Profile
from mvdfq.kernels.subsequence import Subsequence as Subsequence
