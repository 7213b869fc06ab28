"""Helpers that know nothing of sequences: threads, progress, checks, memory, files."""
