"""Write one small model file per preset family and quantizer, and what each model answers.

    python tools/store_models.py

`tests/harm/test_stored_models.py` loads every file, so a change that breaks the model file format,
or an answer, turns the suite red.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "tests" / "models"
sys.path.insert(0, str(ROOT / "tests"))

from model_cases import CASES, MORE, fitted  # noqa: E402


def main() -> None:
    """Fit every case; write the model and its answers."""
    MODELS.mkdir(exist_ok=True)
    for name, (_, X, _) in (CASES | MORE).items():
        path = MODELS / f"{name.replace(' ', '_')}.mvdfq"
        with warnings.catch_warnings(action="ignore"):
            model = fitted(name)
            model.save(path)
            np.savez_compressed(
                path.with_suffix(".npz"),
                decision=model.decision_function(X),
                labels=np.asarray(model.predict(X)).astype(str),
                **_input(X),
            )


def _input(X) -> dict[str, np.ndarray]:
    """The sequences side by side, so that a test needs no generator to make them again."""
    if isinstance(X[0], str):
        return {"letters": np.array(list(X))}
    arrays = list(X)
    return {"data": np.concatenate(arrays, axis=1), "lengths": [x.shape[1] for x in arrays]}


if __name__ == "__main__":
    main()
