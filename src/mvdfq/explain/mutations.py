"""What happens to the decision value if letters of a string change: exactly, by deciding again."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mvdfq._utils.errors import ParameterError
from mvdfq._utils.short import Short, counted
from mvdfq.sequences import Sequences
from mvdfq.sequences.containers import offsets_of

# Letters of the changed strings that are decided together.
BLOCK = 2**20
# All changes of one string may have this many letters together: minutes of work.
MOST = 2**31
BASES, RESIDUES = "ACGT", "ACDEFGHIKLMNPQRSTVWY"
# Each base, or set of bases, and its complement: R = A or G pairs with Y = T or C, and so on.
PAIRS = str.maketrans("ACGTUNRYSWKMBVDHacgtunryswkmbvdh", "TGCAANYRSWMKVBHDtgcaanyrswmkvbhd")


class Change(NamedTuple):
    """A change of a string: `ref` at `position`, counted from 0, becomes `alt`.

    An empty `ref` is an insertion before the position, an empty `alt` is a deletion.
    """

    position: int
    ref: str
    alt: str


@dataclass(frozen=True)
class Strand:
    """The text of a string, and whether its reverse complement follows the string."""

    text: str
    joined: bool = False

    @classmethod
    def of(cls, x: Any) -> "Strand":
        """Read one string, or one sequence of letters, see `mvdfq.io.both_strands`."""
        if isinstance(x, str):
            return cls(x)
        codes = x.data[0] if isinstance(x, Sequences) and len(x) == 1 and x.n_rows == 1 else None
        if codes is None or not x.symbolic_mask.all():
            raise ValueError("mutate takes one string of letters, got another sequence.")
        text = "".join("-" if np.isnan(code) else chr(int(code)) for code in codes)
        half = text[: len(text) // 2]
        joined = len(text) > 2 and text == f"{half}-{reverse_strand(half)}"
        return cls(half if joined else text, joined)

    def changed(self, change: Change) -> str:
        """Return the changed text; an error names a change that does not fit."""
        a, b = change.position, change.position + len(change.ref)
        held = self.text[max(a, 0) : b]
        if a < 0 or b > len(self.text) or held.upper() != change.ref.upper():
            wanted = f"position {a + 1} must hold {change.ref!r}"
            got = f"the string of {counted(len(self.text), 'letter')} holds {held!r} there"
            raise ValueError(f"{wanted}, but {got}; positions count from 1 here.")
        return self.text[:a] + change.alt + self.text[b:]

    def collection(self, texts: Sequence[str]) -> Any:
        """Return strings as a classifier reads them, with their reverse complements if joined."""
        if not self.joined:
            return list(texts)
        return joined_strands(texts, map(reverse_strand, texts))


def reverse_strand(text: str, is_rna: bool | None = None) -> str:
    """Return the reverse complement of a text; a text with the letter U is RNA."""
    other = text.translate(PAIRS)[::-1]
    is_rna = "U" in text.upper() if is_rna is None else is_rna
    return other.replace("T", "U").replace("t", "u") if is_rna else other


def joined_strands(texts: Iterable[str], others: Iterable[str]) -> Sequences:
    """Return each text and its other strand as one sequence of letters, a gap between them."""
    rows = []
    for text, other in zip(texts, others, strict=True):
        codes = np.array([*map(ord, f"{text}-{other}")], dtype=float)
        codes[len(text)] = np.nan
        rows.append(codes if text else codes[:0])
    return Sequences(np.concatenate(rows)[np.newaxis], offsets_of(map(len, rows)), symbolic=(True,))


@dataclass(frozen=True, repr=False)
class Mutations(Short):
    """What changes of a string add to the decision value of a class.

    Parameters
    ----------
    text : str
        The string.
    label : object
        The class.
    value : float
        The decision value of the class for the string.
    changes : list of Change
        The changes: position from 0, letters before, letters after.
    effects : ndarray of shape (n_changes,)
        The decision value after each change, less `value`: positive speaks for the class.

    Examples
    --------
    >>> import numpy as np
    >>> from mvdfq import Mutations
    >>> found = Mutations("AC", "peak", 0.5, [(0, "A", "T"), (1, "C", "")], np.array([0.1, -0.3]))
    >>> found.top(1)
    [((1, 'C', ''), -0.3)]
    """

    text: str
    label: Any
    value: float
    changes: list[Change]
    effects: np.ndarray

    def top(self, n: int = 10) -> list[tuple[Change, float]]:
        """Return the `n` changes with the largest effects, and their effects."""
        order = np.argsort(-np.abs(self.effects), kind="stable")[:n]
        return [(self.changes[i], float(self.effects[i])) for i in order]

    def matrix(self) -> tuple[list[str], np.ndarray]:
        """Return the letters that are put in, and the effects of single substitutions.

        The effects are (n_letters, n_positions), NaN where nothing was changed.
        """
        sizes = [(len(change.ref), len(change.alt)) for change in self.changes]
        single = [i for i, size in enumerate(sizes) if size == (1, 1)]
        letters = sorted({self.changes[i].alt for i in single})
        effects = np.full((len(letters), len(self.text)), np.nan)
        for i in single:
            effects[letters.index(self.changes[i].alt), self.changes[i].position] = self.effects[i]
        return letters, effects


def substitutions(text: str, region: Any = None) -> list[Change]:
    """Return every single substitution of a string, or from its first to before its last position.

    Bases, residues, or the letters of `text` are put in; gaps and unknown letters stay.
    """
    n, places = len(text), np.array([0, len(text)] if region is None else region)
    is_pair = places.shape == (2,) and places.dtype.kind in "iu"
    if not is_pair or (np.diff([0, *places, n]) < 0).any():
        raise ParameterError("region", f"must be two rising positions, 0 to {n}, got {region!r}")
    first, last = places.tolist()
    letters = set(text.upper()) - set("N-.*X")
    alphabets = (BASES, BASES), ("ACGU", "ACGU"), (RESIDUES, RESIDUES + "BZJUO")
    fitting = (known for known, allowed in alphabets if letters <= set(allowed))
    known, changes = next(fitting, "".join(sorted(set(text)))), []
    for i, letter in enumerate(text[first:last], first):
        same = letter if letter in known else letter.upper()
        if same in known:
            changes += [Change(i, letter, other) for other in known if other != same]
    return changes


def mutate(
    decide: Callable[[Any], np.ndarray], strand: Strand, changes: list[Change]
) -> tuple[float, np.ndarray]:
    """Return the decision value of a string, and what each change adds to the decision value."""
    size = 2 * len(strand.text) + 1 + max((len(change.alt) for change in changes), default=0)
    if size * len(changes) > MOST:
        problem = f"{len(changes)} changes of a string of {len(strand.text)} letters"
        hint = "choose a region or fewer variants"
        raise ValueError(f"{problem} are too many to decide; {hint}.")
    value = float(decide(strand.collection([strand.text]))[0])
    texts, step = [strand.changed(change) for change in changes], max(BLOCK // size, 1)
    blocks = (texts[a : a + step] for a in range(0, len(texts), step))
    decisions = [decide(strand.collection(block)) for block in blocks]
    return value, np.concatenate([*decisions, np.empty(0)]) - value
