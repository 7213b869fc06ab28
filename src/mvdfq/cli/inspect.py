"""``mvdfq inspect``: the contents of a data set; what a model expects and was trained on."""

import re
import shlex
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from mvdfq._utils.errors import ParameterError
from mvdfq.classifier.saving import DESCRIPTION
from mvdfq.cli import options as o, output
from mvdfq.cli.errors import USAGE, Refused, in_options
from mvdfq.cli.output import Format, key_of, note, progress_bar, show_facts, show_json, show_text
from mvdfq.cli.predict import load

# Limits of the output for people; --format json and csv show everything.
MOST_ROWS = 40
MOST_NAMES = 6
# Letters of a kernel that people see: a kernel of many layouts would fill the screen.
MOST_LETTERS = 150
# Facts that hold one number per class.
IDLE = ("digital silence %", "frames without change %")


def inspect(
    data: list[Path],
    reading: o.DataOptions,
    deep: bool = False,
    card: bool = False,
    format: Format = Format.human,
) -> None:
    """Count sequences, lengths, channels, gaps, classes, groups, duplicates and bad files.

    For audio, reads only the headers, and the content of files of equal size; --deep finds every
    file that mvdfq train would refuse, copies with the same samples in other formats, and the
    share of digital silence in each class. For a model file, shows what the model expects and what
    it was trained on.
    Example: mvdfq inspect recordings/
    """
    if is_model(data[0]):
        if card:
            show_text(model_card(data[0]))
        else:
            inspect_model(data[0], format)
        return
    if card:
        raise Refused("--card needs a model file.", "mvdfq train writes model files", USAGE)
    from mvdfq.io.dataset import check_kept
    from mvdfq.io.inspection import facts_of

    kind, where = reading.kind(data), o.one_or_all(data)
    if kind == "audio":
        facts = _facts_of_audio(where, reading, deep)
    else:
        # bad sequences are what inspecting is for: they are listed, not raised
        facts = facts_of(replace(reading, as_=kind, skip_bad=True, n_jobs=1).dataset(where))
    facts = {"data": o.shown_paths(where), "format": kind, **facts}
    _show(facts, format, reading.quiet)
    check_kept(o.shown_paths(where), facts["sequences"], facts["bad"])


def _facts_of_audio(data: Any, reading: o.DataOptions, deep: bool) -> dict[str, Any]:
    """Return the facts of sound files; refuse options that sound files do not have."""
    from mvdfq.io.sound.audio import facts_of_audio
    from mvdfq.io.sound.recipes import audio_recipe

    given = reading.columns | {"label": reading.label, "silence": None}
    kept = ("label", "group") if reading.labels else ()
    for name in (name for name, value in given.items() if value is not None and name not in kept):
        raise ParameterError(name, "has no meaning for the format audio; remove it")
    with progress_bar("looking", reading.quiet) as progress:
        recipe = audio_recipe(reading.recipe, reading.silence)
        facts = facts_of_audio(data, reading.elsewhere, progress, recipe, deep, o.processes(data))
    if not deep:
        facts["remarks"] += ["only the headers of sound files are read; --deep decodes them"]
    if len(facts["classes"]) > 1:
        where = shlex.join(map(str, data if isinstance(data, list) else [data]))
        advice = "for sound, speech too, the preset music is usually more accurate than the default"
        facts["remarks"] += [f"{advice}: mvdfq train {where} -o MODEL --preset music"]
    return facts


def _show(facts: dict[str, Any], format: Format, quiet: bool) -> None:
    if format is not Format.human:
        show_facts(facts, format)
        return
    shown = _with_units(facts)
    short = {k: v for k, v in shown.items() if not isinstance(v, list | dict) and v != ""}
    show_facts(short, format)
    for key in ("classes", "groups"):
        # a class has a share of silence, if there is any
        shares = [fact for fact in IDLE if fact in facts and key == "classes"]
        rows = [
            {key: name, "sequences": n} | {fact: facts[fact].get(name, "") for fact in shares}
            for name, n in (facts.get(key) or {}).items()
        ]
        if rows:
            show_text("")
            output.table(rows[:MOST_ROWS])
        if len(rows) > MOST_ROWS:
            note(f"... and {len(rows) - MOST_ROWS} more {key}; --format json shows all")
    if not facts["classes"]:
        from mvdfq.io.labelling import how_to_label

        hint = in_options(how_to_label(facts["format"]))
        note(f"the data have no labels, which mvdfq train needs: {hint}", quiet)
    for remark in facts["remarks"]:
        note(in_options(remark), quiet)
    for key in ("duplicates", "bad"):
        output.note_some(key, facts[key])


def _with_units(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts for people: every length has its unit, names are listed as text."""
    unit = facts.get("unit of lengths", "letters" if "letters" in facts else "frames")
    lengths = [key for key in ("shortest", "median length", "longest") if key in facts]
    shown: dict[str, str] = {key: f"{round(facts[key], 3):.12g} {unit}" for key in lengths}
    if "constant channels" in facts:
        # a name that could be read as two names stands in quotes
        names = [f'"{n}"' if "," in n or n == "none" else n for n in facts["constant channels"]]
        shown["constant channels"] = ", ".join(names) or "none"
    return facts | shown | {"unit of lengths": ""}


def is_model(path: Path) -> bool:
    """Tell whether a file is a model file; arrays in an .npz file are a zip file too."""
    try:
        with zipfile.ZipFile(path) as archive:
            return DESCRIPTION in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def inspect_model(path: Path, format: Format) -> None:
    """Show the facts of a model file."""
    facts = _facts(path, format)
    if format is Format.json:
        show_json({key_of(name): value for name, value in facts.items()})
        return
    training, classes = facts.pop("training"), facts.pop("classes")
    names, kernel = facts["channel_names"] or [], facts["kernel"]
    rest = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    if format is Format.human and len(kernel or "") > MOST_LETTERS:
        kernel = f"{kernel[:MOST_LETTERS]} ... (--format json)"
    facts |= {
        "channel_names": ", ".join(names[:MOST_NAMES]) + rest if names else None,
        "recipe": _in_words(facts["recipe"]),
        "terms": ", ".join(facts["terms"]),
        "kernel": kernel,
        "training sequences": sum(classes.values()),
        "training lengths": _lengths(training, "letters" if facts["letters"] else "frames"),
        "training data": f"SHA-256 {training['digest'][:16]}",
        "versions": _in_words(training["versions"]),
    }
    show_facts({k.replace("_", " "): v for k, v in facts.items() if v is not None}, format)
    if format is Format.human:
        show_text("")
        output.table([{"class": k, "training sequences": n} for k, n in classes.items()])


def model_card(path: Path) -> str:
    """Return a model card in Markdown: data, classes, accuracy, settings and limits."""
    facts = _facts(path, Format.human)
    training, score = facts["training"], facts["inner_accuracy"]
    shown = {key: facts[key] for key in ("settings", "C", "channel_names", "recipe", "strands")}
    shown["versions"] = _in_words(training["versions"])
    rows = [
        # signs that have a meaning in Markdown are escaped
        (re.sub(r"([\\|`*_<>\[\]])", r"\\\1", " ".join(label.split())), n)
        for label, n in facts["classes"].items()
    ]
    card = Path(__file__).with_name("card.md").read_text(encoding="utf-8")
    return card.format(
        model=path.name,
        n=sum(facts["classes"].values()),
        lengths=_lengths(training, "letters" if facts["letters"] else "frames"),
        format=facts["format"] or "arrays",
        digest=training["digest"],
        rows="\n".join(f"| {label} | {n} |" for label, n in rows),
        score=score if isinstance(score, str) else f"{score:.1%}",
        settings="\n".join(
            f"- {key}: `{str(value).replace('`', '')}`" for key, value in shown.items() if value
        ),
    )


def _facts(path: Path, format: Format) -> dict[str, Any]:
    clf = load(path)
    source = clf.source_
    steps = [step for term in clf.terms_ for step in term.encoders]
    alphabets = next((a for step in steps if (a := getattr(step, "alphabets_", None))), None)
    # the kernel of the first term that reads symbols
    kernels = [term.reader.kernel for term in clf.terms_ if hasattr(term, "reader")]
    return {
        "model": str(path),
        "bytes": path.stat().st_size,
        "format": source.get("format"),
        "strands": source.get("strands") if alphabets else None,
        "recipe": source.get("recipe"),
        "letters": ", ".join(alphabets) if alphabets else None,
        "channels": clf.n_channels_in_,
        "channel_names": list(clf.channel_names_in_ or []) or None,
        "classes": class_counts(clf),
        "settings": " ".join(repr(clf).split()),
        "terms": [term.name for term in clf.terms_],
        "kernel": " ".join(repr(kernels[0]).split()) if kernels else None,
        "C": clf.C_,
        **inner_facts(clf, format),
        "training": dict(clf.training_),
    }


def _in_words(values: dict[str, Any] | None) -> str | None:
    return None if values is None else ", ".join(f"{key} {v}" for key, v in values.items())


def _lengths(training: dict[str, Any], unit: str) -> str:
    """Return the lengths of the training sequences as text, in seconds if the rate is known."""
    low, middle, high = (training[key] for key in ("shortest", "median_length", "longest"))
    shown = f"{low} to {high} {unit}, median {middle:g}"
    rate = training["sampling_rate"]
    if rate is None:
        return shown
    seconds = f"{low / rate:.2f} to {high / rate:.2f} s, median {middle / rate:.2f} s"
    return f"{seconds} ({shown}, {rate:g} frames per second)"


def inner_facts(clf: Any, format: Format) -> dict[str, Any]:
    """Return the inner accuracy, None if it is not known, and a remark if classes are left out."""
    score, counts = float(clf.validation_score_), class_counts(clf)
    single = [label for label, n in counts.items() if n == 1]
    is_known = score == score and len(counts) - len(single) > 1  # NaN is not equal to itself
    if is_known and not single:
        return {"inner_accuracy": score}
    remark = "the groups do not allow two inner folds"
    if single:
        names = ", ".join(single[:3]) + (" ..." if len(single) > 3 else "")
        who = f"class {names} has" if len(single) == 1 else f"classes {names} have"
        remark = f"{who} one training sequence, which cannot be tested"
    if format is Format.human:
        return {"inner_accuracy": f"{f'{score:.4f}' if is_known else 'unknown'}: {remark}"}
    return {"inner_accuracy": score if is_known else None, "inner_accuracy_remark": remark}


def class_counts(clf: Any) -> dict[str, int]:
    """Return the number of training sequences of every class."""
    codes = clf.train_y_.tolist()
    return {str(label): codes.count(i) for i, label in enumerate(clf.classes_.tolist())}
