"""Collections of sequences, and how other containers become collections."""

from mvdfq.sequences.containers import Ragged, Sequences, check_sequences, gather, offsets_of

__all__ = ["Ragged", "Sequences", "check_sequences", "gather", "offsets_of"]
