"""Cases that several test files share: kernels, options, collections, and how they are combined.

No test file imports another test file: what two test files need lies here, or in one of the
modules beside this module whose name does not begin with `test_`.
"""

from collections import defaultdict
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp

import mvdfq
from conftest import size
from mvdfq import (
    Gapped,
    Gappy,
    Mismatch,
    MismatchPairs,
    SequenceKernel,
    Spatial,
    Spectrum,
    Subsequence,
    Wildcard,
    Words,
    preset_terms,
)
from mvdfq.terms.plain_answers import FittedKernel
from twins import as_symbols, random_sequences

# combinations ---------------------------------------------------------------------------------


def pairwise(*factors, valid=lambda *case: True):
    """Parameters for pytest: the product of `factors`, most of it marked `long`.

    The cases without the mark hold every pair of values of two factors at least once, and
    `make test` runs these alone; `make test-all` runs the whole product. A case for which
    `valid` is false is left out.
    """
    factors = [list(factor) for factor in factors]
    cases = [
        case
        for case in product(*(range(len(factor)) for factor in factors))
        if valid(*_values(factors, case))
    ]
    chosen = _cover(cases)
    return [
        pytest.param(*_values(factors, case), marks=[] if case in chosen else pytest.mark.long)
        for case in cases
    ]


def _values(factors, case):
    return [factor[i] for factor, i in zip(factors, case, strict=True)]


def _cover(cases):
    """Choose cases that hold every pair which any of the cases holds, greedily."""
    holding = defaultdict(list)
    for case in cases:
        for pair in _pairs(case):
            holding[pair].append(case)
    missing, chosen = dict.fromkeys(holding), set()
    while missing:
        pair = next(iter(missing))
        best = max(holding[pair], key=lambda case: sum(p in missing for p in _pairs(case)))
        chosen.add(best)
        for found in _pairs(best):
            missing.pop(found, None)
    return chosen


def _pairs(case):
    """Every two values of a case, each with the position of its factor."""
    return list(combinations(enumerate(case), 2))


# presets --------------------------------------------------------------------------------------


def varied_presets(leave_out=(), long=lambda name: False):
    """Parameters for pytest: presets that hold every quantizer and every kernel once.

    For laws that hold of every part for itself. The other presets combine the same parts in other
    ways and are marked `long`, as are presets for which `long` is true.
    """
    seen, found = set(), []
    for name in mvdfq.list_presets():
        parts = {repr(value) for term in preset_terms(name) for value in _parts(term)}
        brings = name not in leave_out and not long(name) and not parts <= seen
        if brings:
            seen |= parts
        if name not in leave_out:
            found.append(pytest.param(name, marks=pytest.mark.slow if brings else pytest.mark.long))
    return found


def _parts(term):
    return [
        (type(term), key, value)
        for key, value in term.get_params(deep=False).items()
        if key in ("frames", "symbols", "kernel", "manifold")
    ]


# kernels --------------------------------------------------------------------------------------

# Powers of two wherever counts are weighted: such sums are exact as well.
WITH_FEATURES = [
    Spectrum(1),
    Spectrum(3),
    Spectrum([1, 2, 4]),
    Spectrum(2, dilation=[1, 3]),
    Spatial(2, 1, 5),
    Spatial(3, 1, 3),
    Spatial(2, 2, 2),
    Spatial(3, 1, 2, dilation=2),
    Gapped(4, 2),
    Gapped(3, 2, dilation=[1, 2]),
    Gappy(4, 2),
    Gappy(4, 3, distinct=False),
    Gappy(3, 2, dilation=2),
    Wildcard(4, 2, 0.5),
    Wildcard(3, 3),
    Wildcard(3, 1, 0.25, dilation=[1, 2]),
    Subsequence(2, max_span=4),
    Subsequence(3, 0.25, max_span=5),
    Mismatch(3, 1),
    Mismatch(4, 2),
    Mismatch(2, 2),
    Mismatch(3, 1, dilation=[1, 2]),
    Mismatch(3, 1, neighbourhood="observed"),
    Mismatch(3, 2, neighbourhood="observed", dilation=[1, 2]),
    Words([(0, 4, 8), (0, 2), (0,)], weights=[1, 2, 0.5]),
]
PAIRS_ONLY = [Subsequence(2), Subsequence(3, 0.25), MismatchPairs(3, 1), MismatchPairs(4, 2)]
KERNELS = WITH_FEATURES + PAIRS_ONLY
# Weights that are not powers of two; the last kernel has no features.
UNEVEN = [
    Wildcard(4, 2, 0.7),
    Subsequence(3, 0.9, max_span=6),
    Words([(0, 1), (0, 3)], weights=[0.3, 1.7]),
    Subsequence(3, 0.9),
]

# collections ----------------------------------------------------------------------------------

N_SYMBOLS = [3, 2, 4]  # an alphabet for each row
ROW_WEIGHTS = [2, 0.5, 1]


def collections():
    """Training and new sequences of every kind, by name."""
    rng = np.random.default_rng(1409)
    make = partial(random_sequences, rng)
    constant = make([9, 5, 12, 7], [3, 1, 4])
    return {
        "random": (make(rng.integers(5, 20, 6), N_SYMBOLS), make([7, 14, 11], N_SYMBOLS)),
        "missing": (make([9, 15, 12, 4], N_SYMBOLS, 0.15), make([12, 16], N_SYMBOLS, 0.15)),
        "short": (make(range(9), N_SYMBOLS), make([5, 0, 3, 4, 1, 2], N_SYMBOLS)),
        "empty": (make([0, 0], N_SYMBOLS), make([6, 0], N_SYMBOLS)),
        "constant row": (constant, make([8, 3], [3, 2, 4])),
        "one row": (make([9, 14, 3], [3]), make([12, 2], [3])),
        "constant only row": (make([9, 6], [1]), make([7, 5], [2])),
        "unseen symbols": (make([9, 14, 11], [2, 2, 2]), make([8, 13], N_SYMBOLS)),
        "one sequence": (make([11], N_SYMBOLS), make([9], N_SYMBOLS)),
    }


COLLECTIONS = collections()


def random_profiles(rng, lengths):
    """Columns of probabilities; some columns are unknown, but never one at an end."""
    profiles = [rng.dirichlet([0.5] * 3, size=n) for n in lengths]
    for x in profiles:
        x[1:-1][rng.random(len(x[1:-1])) < 0.1] = np.nan
    return profiles


# machines -------------------------------------------------------------------------------------

N_COLUMNS = 3
TABLE_OPTIONS = [
    {},
    {"normalize": False, "row_weights": [0, 0.5, 1]},
    {"row_norm": "cosine", "pyramid": 2},
    {"manifold": True},
    {"manifold": True, "pyramid": 3, "row_weights": ROW_WEIGHTS},
    {"manifold": True, "row_norm": "cosine", "normalize": False},
]
TABLE_KERNELS = WITH_FEATURES + UNEVEN[:3]
KINDS = size(["random", "missing", "short", "constant row", "unseen symbols"], ["missing"])


def has_table(kernel, options, *_):
    """Whether words of the kernel can be looked up in a table."""
    is_listed = getattr(kernel, "neighbourhood", None) == "observed" or options.get("manifold")
    return not (isinstance(kernel, Mismatch) and is_listed)


def coefficients(n):
    return np.random.default_rng(n).normal(size=(n, N_COLUMNS))


def kernel_term(kernel, train, n_symbols, **options):
    """A term with random coefficients on a fitted kernel."""
    reader = SequenceKernel(kernel, **options).fit(as_symbols(train, n_symbols))
    return term_on(reader, coefficients(len(train)))


def term_on(reader, alpha):
    """A term on a fitted kernel."""
    result = reader.compare(reader.train_, None)[1]
    kept = {"norms": result.left, "scale": result.scale}
    return FittedKernel.of(alpha, 1.0, reader, name="words", encoders=[], **kept)


def by_kernel(term, K):
    """The margins that kernel values give."""
    return K @ term.coefficients


def as_array(values):
    """A matrix as an array, whether it is sparse or not."""
    return values.toarray() if sp.issparse(values) else values
