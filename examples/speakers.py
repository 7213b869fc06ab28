"""
Pictures for a paper
====================

Who is speaking, by two vowels? One classifier, and the figures that explain it.

`mvdfq.figures` draws with matplotlib. Every function returns a figure, and
``figure.savefig("name.pdf")`` writes the figure.
"""

import numpy as np

import mvdfq

# %%
# 270 utterances to learn from, and 370 others by the same nine speakers.

X, y = mvdfq.load_japanese_vowels(split="train")
X_test, y_test = mvdfq.load_japanese_vowels(split="test")
clf = mvdfq.SequenceClassifier()
split = np.repeat(["train", "test"], [len(X), len(X_test)])
result = mvdfq.evaluate(clf, [*X, *X_test], [*y, *y_test], protocol="split", split=split)
print(f"{result.accuracy:.1%} of the test utterances are recognised.")

# %%
# Which speaker is taken for which?

confusions = mvdfq.figures.confusion(result)

# %%
# Near means alike: kernel PCA of the test utterances, from the numbers of a report.

clf.fit(X, y)
collection = mvdfq.figures.map_of(mvdfq.report(clf, X_test, y_test, path=None, details=1))

# %%
# One utterance: every channel as a curve, and behind it the exact evidence of the channel at this
# moment. Blue speaks for the predicted speaker, orange against.

utterance = mvdfq.figures.evidence(clf.explain(X_test[0]), X_test[0])

# %%
# The share of every channel in what was learned.

channels = mvdfq.figures.importance(clf)

# %%
# The two ways to turn frames into symbols that the paper compares: the nearest codeword of a whole
# frame, and the bin of every value.

codewords = mvdfq.figures.codebook(mvdfq.CodebookQuantizer(32).fit(X), X_test[0])
bins = mvdfq.figures.direct(mvdfq.DirectQuantizer(8).fit(X), X_test[0])
