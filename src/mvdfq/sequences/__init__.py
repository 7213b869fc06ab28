"""What a collection of sequences is, and how other containers become one."""

from mvdfq.sequences.containers import Ragged, Sequences, check_sequences, gather, offsets_of

__all__ = ["Ragged", "Sequences", "check_sequences", "gather", "offsets_of"]
