r"""Evidence: what each word of a sequence adds to the margin of each class, exactly.

A term is a sum over words, :math:`\sum_u w_u \phi_u(x)`. The
share of a word is divided equally among its occurrences, and the share of an occurrence among the
frames that the word reads. Shares added up by row, by time or by layout give the margin.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from mvdfq.gram.plan import Plan
from mvdfq.kernels.counting import GroupTask
from mvdfq.symbols.base import Symbols
from mvdfq.terms.dense_evidence import dense_evidence, is_dense
from mvdfq.terms.evidence_words import Evidence, WordBlock, joined
from mvdfq.terms.occurrences import Norms, Read, by_word, shares_of, spread
from mvdfq.terms.word_weights import weights_of_words


def find_evidence(term: Any, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence of `symbols`, which hold the rows in use.

    All sequences are read at once: the time for one row of one sequence is mostly overhead.
    """
    _check_traceable(term.reader.plan_)
    if getattr(term.reader, "gamma", None) is not None and len(symbols) > 1:
        # the RBF gives each sequence its own weights of words
        return [find_evidence(term, symbols[[i]])[0] for i in range(len(symbols))]
    if is_dense(term, symbols):
        return dense_evidence(term, symbols)
    return _listed_evidence(term, symbols)


# The words that one group of layouts reads in one row: row, group, occurrences, evidence of each.
Found = tuple[int, int, Read, np.ndarray]


def _listed_evidence(term: Any, symbols: Symbols) -> list[Evidence]:
    """Return the evidence in each sequence, by a list of all occurrences of words."""
    plan, offsets, n = term.reader.plan_, symbols.offsets, len(symbols)
    weigh = weights_of_words(term, symbols)
    found, norms = _listed_words(plan, symbols, weigh)
    scale = norms.scales(term, symbols)
    n_columns, n_rows = len(term.intercepts), len(plan.row_weights)
    by_frame = np.zeros((n_columns, n_rows, symbols.data.shape[1]))
    by_layout = np.zeros((n, n_columns, n_rows, len(plan.groups(0))))
    words: list[dict[int, list[WordBlock]]] = [{} for _ in range(n)]
    for r, g, read, shares in found:
        # norms are known when all groups were read, so they come last
        shares *= scale[r][read.all.sequence][:, None]
        # a sequence occurs many times in this index, and `+=` would add once only
        np.add.at(by_layout[:, :, r, g], read.all.sequence, shares)
        spread(read.all, plan.groups(r)[g], shares, by_frame[:, r])
        for i, (owners, *rest) in by_word(read, offsets, shares):
            words[i].setdefault(g, []).append(WordBlock(g, np.full_like(owners, r), *rest))
    pieces = (by_frame[:, :, a:b] for a, b in pairwise(offsets.tolist()))
    return [
        Evidence(piece, by_layout[i], partial(_all_joined, words[i]))
        for i, piece in enumerate(pieces)
    ]


def _listed_words(plan: Plan, symbols: Symbols, weigh: Any) -> tuple[list[Found], Norms]:
    """Return the words of all groups and rows with their evidence before norms, and the norms."""
    found, norms = [], Norms(plan, symbols)
    for g in range(len(plan.groups(0))):
        weights_of = weigh(g)
        for p, r in enumerate(np.flatnonzero(plan.row_weights).tolist()):
            row, group = plan.row([symbols], r), plan.groups(r)[g]
            read = Read.of(GroupTask(group).occurrences(row))
            shares, squares = shares_of(read, row, group, plan, partial(weights_of, p))
            norms.add(r, group, squares)
            found.append((r, g, read, shares))
    return found, norms


def _all_joined(blocks: dict[int, list[WordBlock]]) -> list[WordBlock]:
    return [joined(mine) for mine in blocks.values()]


def _check_traceable(plan: Plan) -> None:
    """Raise an error for a kernel that does not count the words of the sequence."""
    if plan.counts_groups:
        return
    hint = "use a kernel of layouts, such as mvdfq.Spatial() or mvdfq.Gapped()"
    if plan.kernel.counts_groups(needs_counts=False):
        hint = f"pass solver='kernel' and manifold=False, or {hint}"
    options = f"manifold={plan.root}, solver={'linear' if plan.listed else 'kernel'!r}"
    raise ValueError(
        f"The evidence of {plan.kernel!r} with {options} cannot be traced to frames: this "
        f"kernel does not count the words of the sequence; {hint}."
    )
