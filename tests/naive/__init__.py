"""Slow, obvious twins of what is fast; nothing here imports mvdfq."""
