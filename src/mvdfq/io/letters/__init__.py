"""FASTA and profiles -> sequences of letters, or of numbers per residue."""
