"""The data that speed is measured on: real music where it is at hand, a stand-in elsewhere."""

import os
from pathlib import Path

import numpy as np

import mvdfq


def music(n_sequences=1000, n_frames=1293):
    """Return sequences of 13 MFCC and what they are.

    The real ones are clips of GTZAN in the folder MVDFQ_DATA; the stand-in is autoregressive
    noise of the same shape.
    """
    folder = os.environ.get("MVDFQ_DATA")
    if folder is None:
        X, _ = mvdfq.make_autoregressive(
            n_sequences=n_sequences, n_channels=13, n_timepoints=n_frames, random_state=0
        )
        return X, "autoregressive stand-in"
    with np.load(Path(folder) / "gtzan" / "mfcc.npz") as file:
        values, lengths = file["values"], file["lengths"]
    starts = np.concatenate([[0], np.cumsum(lengths)])[:n_sequences]
    shortest = min(n_frames, int(lengths.min()))
    return [values[a : a + shortest].T.astype(np.float32) for a in starts], "GTZAN"
