"""Linear machines with a squared hinge, slowly: a general solver on centred dense features."""

import numpy as np
from scipy.optimize import minimize


def squared_hinge(features, targets, weights, penalty):
    """Weights and intercept of one problem; targets are 1 and -1, 0 for a sequence left out."""
    centre = features.mean(axis=0)

    def objective(x):
        margins = (features - centre) @ x[:-1] + x[-1]
        losses = [
            w * max(0.0, 1 - t * m) ** 2
            for w, t, m in zip(weights, targets, margins, strict=True)
            if t != 0
        ]
        return 0.5 * x[:-1] @ x[:-1] + penalty * sum(losses)

    start = np.zeros(features.shape[1] + 1)
    found = minimize(objective, start, method="BFGS", options={"gtol": 1e-8, "maxiter": 500}).x
    return found[:-1], found[-1] - centre @ found[:-1]
