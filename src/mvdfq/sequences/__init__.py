"""Collections of sequences, and how other containers become collections."""

from mvdfq.sequences.check import check_sequences, gather
from mvdfq.sequences.containers import Ragged, Sequences, blocks_of, offsets_of

__all__ = ["Ragged", "Sequences", "blocks_of", "check_sequences", "gather", "offsets_of"]
