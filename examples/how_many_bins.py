"""
How many bins?
==============

Many bins make words precise but rare; few bins make words common but vague.

Cross-validation on the training sequences tells how many bins a data set needs. The largest mean
score is often a matter of luck, so we take the fewest bins whose score lies within one standard
error of the best score.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import mvdfq

# %%
# Bins, a kernel on the symbols, and a support vector machine on the kernel values. Speakers say the
# same vowels; `n_bins` is a parameter of the pipeline like any other.

X, y = mvdfq.load_japanese_vowels(split="train")
X_test, y_test = mvdfq.load_japanese_vowels(split="test")
model = make_pipeline(
    mvdfq.DirectQuantizer(),
    mvdfq.SequenceKernel(mvdfq.Spectrum(k=3), manifold=True),
    SVC(kernel="precomputed", C=10),
)

# %%
# `GridSearchCV` takes a function that chooses among the scores of all candidates.


def fewest_bins(results):
    """Return the place of the fewest bins within one standard error of the best score."""
    names = [name for name in results if name.startswith("split")]
    scores = np.array([results[name] for name in names])  # folds x candidates
    best = scores[:, scores.mean(axis=0).argmax()]
    enough = scores.mean(axis=0) >= best.mean() - best.std(ddof=1) / np.sqrt(len(best))
    bins = np.array(results["param_directquantizer__n_bins"], dtype=int)
    return int(np.argmin(np.where(enough, bins, bins.max() + 1)))


search = GridSearchCV(
    model,
    {"directquantizer__n_bins": [2, 4, 8, 16, 32]},
    cv=StratifiedKFold(3, shuffle=True, random_state=0),
    refit=fewest_bins,
).fit(X, y)

# %%
# The scores of all candidates, and the accuracy of the choice on new utterances.

for bins, score in zip(
    search.cv_results_["param_directquantizer__n_bins"],
    search.cv_results_["mean_test_score"],
    strict=True,
):
    print(f"{bins:3} bins: {score:.3f}")
print(search.best_params_, f"accuracy on the test part {search.score(X_test, y_test):.3f}")
