"""FASTA files with labels; the labels stand in the headers or in a table."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mvdfq._utils.checks import check_choice
from mvdfq._utils.errors import Sentence
from mvdfq.io.dataset import Case, Dataset, Strings, gather
from mvdfq.io.letters.residues import ALPHABETS, both_strands, clean, stranger
from mvdfq.io.source import Glimpse, ReadError, Source, compiled, files_in, read_lines

# Files of a folder that are looked at to find out what the folder holds.
FEW = 20
# How other files of sequences begin, and their formats, as Biopython calls them.
OTHERS = {"LOCUS ": "genbank", "# STOCKHOLM": "stockholm", "CLUSTAL": "clustal",
          "MUSCLE (": "clustal"}  # fmt: skip


class Record(NamedTuple):
    """One record of a FASTA file: the line number of its header, the header and the letters."""

    line: int
    header: str
    sequence: str

    @property
    def id(self) -> str:
        """The first word of the header, or "" if the header is empty."""
        return self.header.split(maxsplit=1)[0] if self.header else ""


def read_records(path: str | Path) -> Iterator[Record]:
    """Yield the records of a FASTA file; blank lines and comments after ``;`` are left out."""
    header, start, parts = None, 0, list[str]()
    for number, line in read_lines(path):
        line = line.strip()
        if line.startswith(">"):
            if header is not None:
                yield Record(start, header, "".join(parts))
            start, header, parts = number, line[1:].strip(), []
        elif header is not None and not line.startswith(";"):
            parts += line.split()
        elif line and not line.startswith(";"):
            problem = f"line {number}: a sequence without a header"
            raise ReadError(path, problem, "records begin with '>'")
    if header is None:
        raise ReadError(path, "holds no records", "records of a FASTA file begin with '>'")
    yield Record(start, header, "".join(parts))


def other_kind(glimpse: Glimpse) -> str | None:
    """Return the format of sequences that Biopython reads, as it calls the format; else None."""
    lines = glimpse.lines[:4]
    first = lines[0] if lines else ""
    for start, kind in OTHERS.items():
        if first.startswith(start):
            return kind
    is_fastq = len(lines) == 4 and first[:1] == "@" and lines[2][:1] == "+"
    return "fastq" if is_fastq and len(lines[1]) == len(lines[3]) else None


def records_of(path: Path) -> list[Record]:
    """Return the records of a file: FASTA, or other formats by Biopython."""
    kind = other_kind(Glimpse(path))
    if kind is None:
        return list(read_records(path))
    if kind == "clustal":  # Biopython takes forever for an empty alignment
        return _clustal(path)
    try:
        from Bio import SeqIO
    except ImportError:
        hint = "pip install biopython, or convert to FASTA"
        raise ReadError(path, f"reading {kind} needs Biopython", hint) from None
    text = StringIO("\n".join(line for _, line in read_lines(path)))
    try:
        return from_biopython(SeqIO.parse(text, kind))
    except (ValueError, TypeError, AssertionError, LookupError, AttributeError) as error:
        raise ReadError(path, f"the file is damaged ({error})"[:200]) from None


def _clustal(path: Path) -> list[Record]:
    """Return the rows of an alignment, which stand in blocks of lines: name, letters, a count."""
    rows: dict[str, tuple[int, list[str]]] = {}
    for number, line in read_lines(path):
        words = line.split()
        if number == 1 or not words or line[0].isspace():  # marks of equal letters
            continue
        if len(words) not in (2, 3):
            problem = f"line {number}: expected a name and letters, got {line[:60]!r}"
            raise ReadError(path, problem, "write one row of the alignment per line")
        rows.setdefault(words[0], (number, []))[1].append(words[1])
    records = [Record(number, name, "".join(parts)) for name, (number, parts) in rows.items()]
    if len(lengths := sorted({len(record.sequence) for record in records})) != 1:
        problem = f"the rows of the alignment have lengths {lengths[:9]}, expected one length"
        raise ReadError(path, problem, "the file may be cut short")
    return records


def from_biopython(sequences: Iterable[Any]) -> list[Record]:
    """Return Biopython's records, or its bare sequences, as records."""
    records = []
    for i, record in enumerate(sequences, 1):
        id = str(getattr(record, "id", i))
        about = str(getattr(record, "description", "")).removeprefix(id).strip()
        about = "" if about.startswith("<unknown") else about
        records.append(Record(i, f"{id} {about}".strip(), str(getattr(record, "seq", record))))
    return records


def is_fasta(glimpse: Glimpse) -> bool:
    """Is the first line a header with an id, and the first other line made of residues?"""
    if glimpse.path.is_dir():
        return any(is_fasta(Glimpse(file)) for file in files_in(glimpse.path)[:FEW])
    if other_kind(glimpse) is not None:
        return True
    lines = [line.strip() for line in glimpse.lines]
    lines = [line for line in lines if line and not line.startswith(";")]
    if not lines or not lines[0].strip("> \t") or not lines[0].startswith(">"):
        return False
    first = next((line for line in lines if not line.startswith(">")), "")
    return bool(first) and not stranger(first.replace(" ", ""), "protein")


def read_fasta(
    path: str | Path,
    *,
    label: str | int | None = None,
    group: str | int | None = None,
    alphabet: str | None = "auto",
    lower: str = "upper",
    strands: str = "one",
    skip_bad: bool = False,
) -> Dataset:
    r"""Read a FASTA or Clustal file, plain or packed; other formats need Biopython.

    Sequences may be wrapped, with any line ends. Blank lines and lines that begin with ``;`` are
    ignored. A record is bad if it has no id, no residues, a character outside the alphabet, or
    no label although labels are asked for. Ids that repeat get numbers. Headers that recur as a
    whole, such as ``>1`` and ``>0``, are labels, unless the user says where labels stand;
    `Dataset.remarks` says so.

    Parameters
    ----------
    path : str or Path
        The file.
    label : str or int, default=None
        Where the class stands in the header: a regular expression, or the number of a word (0 is
        the id). The class is the first part in parentheses, or the whole match without
        parentheses.
    group : str or int, default=None
        Where the group stands in the header, in the same form as `label`.
    alphabet : {"auto", "protein", "dna", "rna", None}, default="auto"
        Which letters may occur, with ambiguity codes and gaps (``-`` and ``.``). None allows any
        character. ``"protein"`` allows all letters and ``*``, so DNA is accepted too.
        ``"auto"`` is ``"dna"`` for both strands, ``"protein"`` otherwise.
    lower : {"upper", "mask", "keep"}, default="upper"
        ``"upper"`` turns lower case into upper case. ``"mask"`` reads lower case as masked
        residues, which become X (N in nucleic acids). ``"keep"`` changes nothing.
    strands : {"one", "both"}, default="one"
        ``"both"`` joins each nucleic acid with its reverse complement, see `both_strands`; RNA
        needs ``alphabet="rna"``.
    skip_bad : bool, default=False
        Leave out bad records and list them in `Dataset.skipped`.

    Returns
    -------
    dataset : Dataset
        `X` is a list of str, or symbolic `Sequences` if both strands are read; `names` are ids.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mvdfq.io import read_fasta
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.fasta"
    >>> _ = path.write_text(">d1 a.1.1 globin\nMVLS\npad\n>d2 b.1.1 antibody\nQVQL\n")
    >>> data = read_fasta(path, label=r" (\w)\.")
    >>> data.X, data.names, data.y.tolist()
    (['MVLSPAD', 'QVQL'], ['d1', 'd2'], ['a', 'b'])
    """
    if alphabet == "auto":
        alphabet = "dna" if strands == "both" else "protein"
    _check_options(alphabet, lower, strands)
    is_memory = isinstance(path, list)  # records of Biopython
    source = Source(Path("records" if is_memory else path), skip_bad)
    records: Any = path if is_memory else records_of(source.path)
    is_label = label is group is None and _headers_are_labels(source, records)
    find_label = _finder(source, ".+" if is_label else label, "label")
    find_group = _finder(source, group, "group")

    def read_case(record: Record) -> Case:
        residues = _residues(source, record, alphabet, lower)
        name = None if is_label else record.id
        return Case(residues, find_label(record), name, find_group(record))

    is_both = strands == "both"
    collect: Any = partial(both_strands, alphabet=str(alphabet)) if is_both else Strings
    return gather(source, ((record.line, record) for record in records), read_case, collect)


def _headers_are_labels(source: Source, records: Sequence[Record]) -> bool:
    """Do whole headers recur, as labels do? Say so, and say if only their first words recur."""
    known = Counter(record.header for record in records if record.header)
    words = Counter(record.id for record in records if record.id)
    if 2 * len(known) <= known.total():  # a header occurs twice on average
        shown = ", ".join(f"{label!r} ({n})" for label, n in known.most_common(5))
        more = "" if len(known) <= 5 else f" and {len(known) - 5} more"
        source.remark(f"the headers repeat and are read as labels: {shown}{more}")
        return True
    if 2 * len(words) <= words.total():
        first = next(iter(words))
        remark = f"the first words of headers recur, such as {first!r}; "
        source.remark(Sentence(remark, {"label": 0}, " reads labels"))
    return False


def _check_options(alphabet: str | None, lower: str, strands: str) -> None:
    if alphabet is not None:
        check_choice(alphabet, "alphabet", ("auto", *ALPHABETS))
    check_choice(lower, "lower", ("upper", "mask", "keep"))
    check_choice(strands, "strands", ("one", "both"))
    if strands == "both" and alphabet not in ("dna", "rna"):
        problem = f" needs alphabet='auto', 'dna' or 'rna', got {alphabet!r}."
        raise ValueError(Sentence({"strands": "both"}, problem))
    if lower == "mask" and alphabet is None:
        reason = "because it writes the unknown letter of the alphabet"
        raise ValueError(f"lower='mask' needs an alphabet, {reason}.")


def _residues(source: Source, record: Record, alphabet: str | None, lower: str) -> str:
    if not record.id:
        source.fail(f"line {record.line}: a record without an id", "write an id after '>'")
    where = f"line {record.line}: record {record.id!r}"
    if not record.sequence:
        without = Sentence("remove the record, or leave it out with ", {"skip_bad": True})
        source.fail(f"{where} is empty", without)
    try:
        return clean(record.sequence, alphabet, lower)
    except ValueError as error:
        hint = "mvdfq.io.read_fasta(alphabet=None) takes any letters"
        if alphabet == "dna":  # both strands are known for DNA and RNA only
            hint = "DNA has two strands, proteins have one; write T for U, or pass alphabet='rna'"
        source.fail(f"{where}: {error}", hint)


def _finder(source: Source, pattern: str | int | None, what: str) -> Callable[[Record], str | None]:
    """Return a function that finds a label in the header of a record; n stands for word n."""
    if pattern is None:
        return lambda record: None
    if not isinstance(pattern, str) and (isinstance(pattern, bool) or pattern < 0):
        raise ValueError(f"{what} must be a pattern or the number of a word, got {pattern!r}.")
    word = rf"^(?:\S++\s++){{{pattern}}}(\S++)"
    expression = compiled(pattern if isinstance(pattern, str) else word, what)

    def find(record: Record) -> str:
        match = expression.search(record.header)
        text = match and match[1 if expression.groups else 0]
        if text is None:
            problem = f"line {record.line}: no {what} in the header of {record.id!r}"
            words = f"looked for {pattern!r} in {record.header[:60]!r}, words end at spaces; "
            wish = {what: r"\|(\w+)$"}, " finds what follows the last bar"
            source.fail(problem, Sentence(words, *wish))
        return text

    return find


def read(source: Source, **options: Any) -> Dataset:
    """Read a file, several files or a folder; without other labels, files are classes."""
    listed = list(source.files) or files_in(source.path)
    files = [file for file in listed if not source.path.is_dir() or is_fasta(Glimpse(file))]
    for file in (file for file in listed if file not in files):
        source.remark(f"passed over a file without sequences: {file.name}")
    parts = [read_fasta(file, skip_bad=source.skip_bad, **options) for file in files]
    if not parts:
        source.fail("no file of sequences in the folder")
    if len(parts) == 1:
        return replace(parts[0], remarks=(*source.remarks, *parts[0].remarks))
    if all(part.y is None for part in parts):
        root, classes = source.path, [Source(file).stem for file in files]
        if root.is_dir() and all(file.parent != root for file in files):
            classes = [file.relative_to(root).parts[0] for file in files]
        source.remark(f"the files are the classes: {', '.join(dict.fromkeys(classes))[:200]}")
        pairs = zip(parts, classes, strict=True)
        parts = [replace(part, y=np.full(len(part), label)) for part, label in pairs]
    elif any(part.y is None for part in parts):
        bare = next(file for file, part in zip(files, parts, strict=True) if part.y is None)
        source.fail(f"{bare} has no labels, other files have labels in their headers")
    data, names = reduce(Dataset.joined, parts), list[str]()
    for file, part in zip(files, parts, strict=True):
        names += [f"{Source(file).stem}/{name}" for name in part.names]
    names = names if len(set(data.names)) < len(data) else data.names
    return replace(data, names=names, remarks=(*source.remarks, *data.remarks))
