"""The four steps (symbols, keys, counts, sums of products) on one kind of machine each."""
