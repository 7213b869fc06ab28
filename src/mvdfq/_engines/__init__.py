"""Compiled loops: counting words (cpu) and looking words up (lookup)."""
