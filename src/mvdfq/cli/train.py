"""``mvdfq train``: data -> model file; ``mvdfq gram``: data -> kernel matrix, tile by tile."""

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from functools import reduce
from pathlib import Path
from typing import Any

from mvdfq._utils.files import replace_file
from mvdfq.cli import options as o
from mvdfq.cli.errors import CANNOT_WRITE, Refused, check_output
from mvdfq.cli.inspect import inner_facts, is_model
from mvdfq.cli.output import Format, note, printable, progress_bar, show_facts, working

# Types of the stored values.
Number = StrEnum("Number", ["float64", "float32"])


def train(
    data: list[Path],
    output: Path,
    parts: o.Parts,
    reading: o.DataOptions,
    format: Format = Format.human,
) -> None:
    """Train a classifier on a data set and write a model file.

    Example: mvdfq train recordings/ -o digits.mvdfq
    """
    from mvdfq.evaluation import useful_groups

    for path in data:
        check_output(output, path)
    _tell_replaced(output, reading.quiet)
    clf = parts.classifier(verbose=not reading.quiet)
    reading = parts.reading(replace(reading, as_=reading.kind(data)))
    read = reading.labelled(o.one_or_all(data))
    if read.split is not None:
        note("Training on the training part that the data name.", reading.quiet)
        read = read.take(read.split == "train")
    groups = useful_groups(read.groups, read.y)
    if groups is not None:
        note(f"The inner folds hold {len(set(groups.tolist()))} groups apart.", reading.quiet)
    elif read.groups is not None:
        note("The inner folds mix groups: fewer than two classes have sequences of two groups.",
             reading.quiet)  # fmt: skip
    clf.fit(read.X, read.y, groups=groups)
    clf.source_ = read.source | {"names": read.names}
    clf.verbose = False  # how this run showed progress is not part of the model
    clf.save(output)
    facts = {"model": str(output), "sequences": len(read), "classes": len(clf.classes_)}
    facts |= {"skipped": len(read.skipped), "C": clf.C_, **inner_facts(clf, format)}
    show_facts(facts | {"bytes": output.stat().st_size}, format)
    if format is Format.human:
        note("The inner accuracy comes from cross-validation on these data; mvdfq evaluate "
             "measures the accuracy by a protocol.", reading.quiet)  # fmt: skip


def _tell_replaced(path: Path, quiet: bool) -> None:
    """Say that a model will be replaced; refuse to replace a file that is no model."""
    if not path.exists() or not path.stat().st_size:
        return
    if not is_model(path):
        message = f"{path} exists and is not a model file, so it is not replaced."
        raise Refused(message, "name another output, or remove the file first", CANNOT_WRITE)
    note(f"{path} exists and will be replaced.", quiet)


def gram(
    data: Path,
    output: Path,
    parts: o.Parts,
    reading: o.DataOptions,
    format: Format = Format.human,
    dtype: Number = Number.float64,
) -> None:
    """Compute the kernel matrix of all pairs of sequences.

    Tiles of the matrix are written to a hidden file beside the output, so the same command
    goes on where an interrupted run stopped. Bins and codebooks are learned on all sequences,
    or, if a folder does not fit into the memory limit, on as many sequences as fit.
    Example: mvdfq gram recordings/ -o K.npy
    """
    from mvdfq.gram.checkpoint import store_gram

    check_output(output, data, [".npy"])
    fitted, names = _fitted(parts.classifier(verbose=False), data, reading, output)
    try:
        with progress_bar("kernel", reading.quiet) as progress:
            stored = store_gram(fitted, output, dtype.value, progress)
    except OSError as error:  # the output cannot be written
        message = str(error) if error.strerror is None else f"{output}: {error.strerror}."
        raise Refused(message, "", CANNOT_WRITE) from None
    lines = "".join(f"{printable(name)}\n" for name in names)
    replace_file(output.with_suffix(".names.txt"), lines)
    if stored.n_found:
        note(f"{stored.n_found} of {stored.n_tiles} tiles come from an earlier run.", reading.quiet)
    facts = {"matrix": str(output), "sequences": len(names), "dtype": dtype.value}
    show_facts(facts | {"kernel": " ".join(repr(fitted.kernel_).split())}, format)


def _fitted(clf: Any, data: Path, options: o.DataOptions, output: Path) -> tuple[Any, list[str]]:
    """Return the fitted kernel and the names of the sequences; read a large folder in parts."""
    from mvdfq._utils.checks import parse_memory
    from mvdfq.classifier.similarity import fitted_kernel, lazily_fitted_kernel
    from mvdfq.io import Dataset

    parts = options.parts(data, parse_memory(clf.memory_limit))
    if parts is None:
        data_set = options.read(data)
        with working("symbols", options.quiet):
            return fitted_kernel(clf, data_set.X), list(data_set.names)
    read: list[Any] = []

    def reading() -> Iterator[Any]:
        read.clear()  # the folder may be read twice
        with progress_bar("reading", options.quiet) as progress:
            for i, part in enumerate(parts, 1):
                block = part()
                yield block.X
                read.append(replace(block, X=block.X[:0]))  # all but the numbers
                progress(i, len(parts))

    kernel, n, n_learned = lazily_fitted_kernel(clf, reading, output.parent)
    facts = reduce(Dataset.joined, read)
    options.tell(facts)
    if n_learned < n:
        shares = f"{n_learned} of {n} sequences"
        note(f"Bins and codebooks are learned on {shares}, which fit into the memory limit.")
    return kernel, list(facts.names)
