"""Counts -> Gram matrix and explicit features: plan, tiles, products."""
