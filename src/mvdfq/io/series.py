"""Series from files of many formats."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mvdfq.io.base import Dataset
from mvdfq.io.reading import Report, read_path
from mvdfq.io.records import RECORDS, named_format

__all__ = ["read_series"]


def read_series(
    path: str | Path,
    format: str | None = None,
    *,
    label: str | int | None = "label",
    id: str = "id",
    time: str = "time",
    group: str = "group",
    categories: Mapping[str, Sequence[Any]] | None = None,
    time_first: bool = False,
    skip_bad: bool = False,
    progress: Report | None = None,
    max_bytes: int = 2**32,
) -> Dataset:
    r"""Read sequences from a file or folder, whatever the format.

    ====================  ======================================================================
    ``"ts"``              sktime and aeon: unequal lengths, ``?`` and NaN, evenly spaced times
    ``"arff"``            Weka: a relational attribute (rows are channels), or numbers in a row
    ``"npz"``, ``"npy"``  `write_npz`; arrays ``X`` and ``y``, or ``X_train``, ``y_train`` ...;
                          frames end to end with ``lengths``; nothing is unpickled
    ``"wide-csv"``        one series per row; label first, last or named; blanks after its end
    ``"long-csv"``        one time point per row: ``id, time, channels..., label, group``
    ``"parquet"``         the same; needs pyarrow
    ``"csv-folder"``      one series per file, one time point per row, channels by header;
                          labels from sub-folders or from ``metadata.csv`` with the columns
                          ``file_name``, ``label`` and ``group``
    ====================  ======================================================================

    Text may be compressed with gzip. Two files ``X_TRAIN`` and ``X_TEST`` are one data set: name
    their folder, or ``X`` without an ending.

    Parameters
    ----------
    path : str or Path
        The file or folder.

    format : str, default=None
        One of the names above; by default it is recognised by content.

    label : str, int or None, default="label"
        The column or attribute that holds labels. In a wide table also its number, -1 being
        the last. None: labels are not read. If the default names no column, it is the one that
        can be nothing else; in long tables, there are no labels then.

    id : str, default="id"
        The column that says which sequence a row belongs to.

    time : str, default="time"
        The column of times, numbers or ISO dates, which must increase within a sequence. They
        give the order only: frames count as evenly spaced.

    group : str, default="group"
        The column of groups, if there is one.

    categories : mapping of str to sequence, default=None
        For a column of states, in long tables and folders: its values, in the order of their
        codes. Columns of text are symbolic also without; a letter has its Unicode number then,
        a word a code of its own that is the same in all files.

    time_first : bool, default=False
        Arrays of three axes are (n_sequences, n_timepoints, n_channels).

    skip_bad : bool, default=False
        Leave out series that cannot be read, and list them in `Dataset.skipped`; by default
        the first one raises.

    progress : callable, default=None
        Called with how much is done and how much there is.

    max_bytes : int, default=2**32
        Refuse more text than this, once decompressed, or larger arrays.

    Returns
    -------
    dataset : Dataset
        The sequences in the order of the file, their labels, and names: ids, or the name of the
        file and the number of the series in it. Labels are text, except in arrays, where they
        are as stored, and where a .ts file holds targets of a regression.

    Raises
    ------
    ReadError
        If the file cannot be read: it says where and what would do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from mvdfq.io.series import read_series
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.csv"
    >>> _ = path.write_text("id,time,x,y,label\na,0,1,5,up\na,1,2,6,up\nb,0,3,7,down\n")
    >>> data = read_series(path)
    >>> data.X.lengths, data.X.channel_names, data.y
    (array([2, 1]), ('x', 'y'), array(['up', 'down'], dtype='<U4'))
    """
    options: dict[str, Any] = {"label": label, "id": id, "time": time, "group": group}
    options |= {"categories": categories or {}, "time_first": time_first}
    record = None
    if format is not None:
        record = named_format(format, [one for one in RECORDS if one.is_series])
    return read_path(Path(path), record, skip_bad, progress, options, max_bytes)
