"""The scores of an evaluation, for people and for programs."""

from typing import Any

from mvdfq._utils.short import counted
from mvdfq.cli import output
from mvdfq.cli.output import Format, show_facts, show_json, show_rows, table

# A terminal shows no more groups than these.
MOST_GROUPS = 20
# Measures of two classes: name in the table, key in the result.
TWO_CLASSES = {
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ROC area (AUC)": "roc_auc",
    "average precision": "average_precision",
    "ROC50": "roc50",
}
# Measures that rank all predictions: whether they are means over folds must be said.
POOLED = ("roc_auc", "average_precision", "roc50")


def show_scores(result: Any, settings: dict[str, Any], format: Format) -> None:
    """Print the scores of an evaluation in the given format."""
    plain = result.to_dict()
    if format is Format.json:
        show_json(settings | plain)
        return
    if format is Format.csv:
        show_rows(result.per_sequence, format)
        return
    show_facts(_measures(plain, settings), format)
    table(plain["classes"], "\nclasses")
    _show_groups(plain["groups"])
    output.show_confusion([row["label"] for row in plain["classes"]], plain["confusion"])


def _show_groups(groups: list[dict[str, Any]]) -> None:
    """Print the accuracy of each group; a terminal shows the lowest of many groups."""
    if not groups:
        return
    if output.screen_width() is None or len(groups) <= MOST_GROUPS:
        table(groups, "\ngroups")
        return
    title = f"the {MOST_GROUPS} of {len(groups)} groups with the lowest accuracy"
    lowest = sorted(groups, key=lambda row: float(row["accuracy"]))
    table(lowest[:MOST_GROUPS], f"\n{title}; --format json has all groups")


def _measures(plain: dict[str, Any], settings: dict[str, Any]) -> dict[str, str]:
    """Return the measures of an evaluation as text, by name."""
    low, high = plain["interval_95"]
    seeds = f"seed{'s' * (len(plain['seeds']) > 1)} {', '.join(map(str, plain['seeds']))}"
    facts = {
        "protocol": f"{plain['protocol']}, {counted(len(plain['folds']), 'fold')}, "
        f"{counted(plain['n'], 'prediction')}, {seeds}",
        "accuracy": f"{plain['accuracy']:.2%} ({plain['right']} of {plain['n']} right)",
        "95 % interval": f"{low:.2%} to {high:.2%}, {plain['interval_name']}",
        "error": f"{plain['error']:.2%}",
        "mean over folds": f"{plain['mean_over_folds']:.2%} (std {plain['std_over_folds']:.2%})",
        "balanced accuracy": f"{plain['balanced_accuracy']:.2%}",
        "F1": f"{plain['f1_mean_of_classes']:.4f}, mean of classes; "
        f"{plain['f1_of_mean_precision_and_recall']:.4f}, of mean precision and recall",
    }
    if "model" in settings:
        facts["protocol"] = f"model {settings['model']}, {counted(plain['n'], 'test sequence')}"
    if len(plain["folds"]) == 1:
        del facts["mean over folds"]
    if "positive_class" in plain:
        facts["positive class"] = plain["positive_class"]
        for name, key in TWO_CLASSES.items():
            is_pooled = key in POOLED and len(plain["folds"]) > 1
            how = ", pooled over the test parts" if is_pooled else ""
            known = None if plain[key] is None else f"{plain[key]:.4f}{how}"
            facts[name] = known or "unknown: the test parts lack a class"
    return facts
