"""Terms that read rows of symbols: margins and evidence by a word table, if there is one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mvdfq.frames.base import steps_of
from mvdfq.gram.features import SequenceFeatures
from mvdfq.gram.kernel import SequenceKernel
from mvdfq.symbols.base import names_of
from mvdfq.terms.base import FittedTerm, TermRows, encode
from mvdfq.terms.baseline import View
from mvdfq.terms.evidence import find_evidence
from mvdfq.terms.evidence_words import Evidence
from mvdfq.terms.word_table import WordTable

__all__ = ["FIRST_NAME", "ReadingTerm"]

# Explanations show the rows of a term of this name without the name of the term.
FIRST_NAME = "words"


@dataclass(repr=False, kw_only=True)
class ReadingTerm(FittedTerm):
    """A term whose `reader` reads the symbols that the encoders make.

    The word table is made when it is first needed, if it fits into the memory limit.
    """

    reader: SequenceKernel | SequenceFeatures

    @property
    def table(self) -> WordTable | None:
        """The word table; None if the table does not fit or the kernel is not a sum over words."""
        return self.once("table", self._build)

    def _build(self) -> WordTable | None:
        raise NotImplementedError

    @property
    def n_channels_in(self) -> int:
        """Number of rows that the reader reads."""
        return self.reader.n_rows_in_

    def read(self, X: Any) -> Any:
        """Encode sequences; return the rows in use."""
        return self.reader.read_new(encode(self.encoders, X))

    def evidence(self, read: Any, view: View) -> list[Evidence]:
        """Return the evidence in each sequence; it adds up to `sums`, whatever the view."""
        return find_evidence(self, read)

    def channel_shares(self, n_channels: int) -> np.ndarray:
        """Return the share of each channel in each row in use."""
        reads_symbols = self.reader.kernel_.reads_symbols
        shares = super().channel_shares(n_channels) if reads_symbols else np.eye(n_channels)
        return shares[self.reader.rows_]

    def rows(self, read: Any, i: int, channels: list[str]) -> TermRows:
        """Return what an explanation says about the rows of sequence `i`."""
        reader, names = self.reader, self.once("names", self._symbol_names)
        row_names = self._row_names(channels)
        return TermRows(
            read[i : i + 1],
            [row_names[r] for r in reader.rows_],
            [[layout.offsets for layout in group.layouts] for group in reader.plan_.groups(0)],
            [names[r] for r in reader.rows_],
            lambda: self.channel_shares(len(channels)),
        )

    def _symbol_names(self) -> list[Any]:
        """Return the names of the symbols of all rows."""
        last = (steps_of(*self.encoders) or [self.reader.letters_])[-1]
        return names_of(last, self.reader.n_symbols_.tolist())

    def _row_names(self, channels: list[str]) -> list[str]:
        """Return the names of all rows; unnamed rows, one per channel, take the channels' names."""
        names = list(self.reader.row_names_)
        # names that a quantizer made up say less than the names of channels
        is_unnamed = names == [f"row {r}" for r in range(len(names))]
        names = channels if is_unnamed and len(channels) == len(names) else names
        return names if self.name == FIRST_NAME else [f"{self.name}: {name}" for name in names]
