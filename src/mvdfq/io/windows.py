"""Long recordings, cut into windows to learn from."""

from dataclasses import replace
from typing import Any

import numpy as np

from mvdfq.io.dataset import Dataset
from mvdfq.sequences import check_sequences
from mvdfq.sequences.windows import cut, frames_of


def windows(
    data: Any,
    window: int | str,
    step: int | str | None = None,
    *,
    y: Any = None,
    groups: Any = None,
) -> Dataset:
    """Cut recordings into windows of the same length, to learn from or to predict.

    A window lies in one recording, so it has one label and one group. Windows of one recording
    are one group, so that no recording stands on both sides of a fold; if the recordings have
    groups (speakers, users), the windows keep them. A recording that is shorter than a window is
    one window.

    Parameters
    ----------
    data : Dataset or list of array-like of shape (n_channels, n_timepoints)
        Recordings, as `mvdfq.io.read` reads them, or any other input of `mvdfq.check_sequences`.

    window : int or str
        Length of a window: frames, or a duration such as ``"5s"``, ``"500ms"`` or ``"2min"``.

    step : int or str, default=None
        From the start of a window to the start of the next; None means `window`.

    y, groups : array-like of shape (n_recordings,), default=None
        Labels and groups of the recordings, if `data` is not a Dataset.

    Returns
    -------
    windows : Dataset
        The windows with their labels and groups. A name is that of the recording and the time of
        the first frame, in seconds if the sampling rate is known.

    Examples
    --------
    >>> import mvdfq, numpy as np
    >>> cut = mvdfq.windows([np.zeros((2, 100)), np.ones((2, 70))], 40, 20, y=np.array(["a", "b"]))
    >>> cut.y.tolist(), cut.names[1], cut.groups.tolist()
    (['a', 'a', 'a', 'a', 'b', 'b'], '0@20', ['0', '0', '0', '0', '1', '1'])
    """
    if not isinstance(data, Dataset):
        X = check_sequences(data)
        known = [None if one is None else np.asarray(one) for one in (y, groups)]
        data = Dataset(X, known[0], [str(i) for i in range(len(X))], known[1])
    X = check_sequences(data.X)
    rate = X.sampling_rate
    size = frames_of(window, rate, "window")
    step = size if step is None else frames_of(step, rate, "step")
    parts, owners, starts = cut(X, size, step)
    whole = replace(data, X=X, groups=np.array(data.names) if data.groups is None else data.groups)
    times = starts / rate if rate else starts
    names = [f"{whole.names[i]}@{t:g}" for i, t in zip(owners, times, strict=True)]
    told = f"cut {len(X)} recordings into {len(parts)} windows of {size} frames, {step} apart"
    remarks = (*whole.remarks, told)
    columns: Any = {name: values[owners] for name, values in whole._columns().items()}
    return replace(whole, X=parts, names=names, remarks=remarks, **columns)
