"""Write the stored models and their answers: `python tests/stored_models.py`."""

import warnings
from pathlib import Path

import numpy as np

from model_cases import CASES, MORE, fitted

FOLDER = Path(__file__).parent / "models"


def write(name):
    """Write the model of a case, the sequences that it was fitted to, and its answers."""
    model, X = fitted(name), (CASES | MORE)[name][1]
    path = FOLDER / f"{name.replace(' ', '_')}.mvdfq"
    model.save(path)
    rows = list(X)
    if isinstance(rows[0], str):
        data = {"letters": np.array(rows)}
    else:
        lengths = [row.shape[1] for row in rows]
        data = {"data": np.concatenate(rows, axis=1), "lengths": lengths}
    labels = np.asarray(model.predict(X)).astype(str)
    decision = model.decision_function(X)
    np.savez_compressed(path.with_suffix(".npz"), **data, decision=decision, labels=labels)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for case in CASES | MORE:
        write(case)
