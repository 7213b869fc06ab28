"""The inner accuracy of a model, or in words why it is not known."""

from typing import Any

from mvdfq.cli.output import Format

__all__ = ["class_counts", "inner_facts"]


def _inner_accuracy(clf: Any) -> dict[str, Any]:
    """Return `inner_accuracy`, and `inner_accuracy_remark` if it is None or not of all classes."""
    score, counts = float(clf.validation_score_), class_counts(clf)
    single = [label for label, n in counts.items() if n == 1]
    is_known = score == score and len(counts) - len(single) > 1  # NaN is not equal to itself
    facts: dict[str, Any] = {"inner_accuracy": score if is_known else None}
    if single:
        names = ", ".join(single[:3]) + (" ..." if len(single) > 3 else "")
        who = f"class {names} has" if len(single) == 1 else f"classes {names} have"
        facts["inner_accuracy_remark"] = f"{who} one training sequence, which cannot be tested"
    elif not is_known:
        facts["inner_accuracy_remark"] = "the groups do not allow two inner folds"
    return facts


def inner_facts(clf: Any, format: Format) -> dict[str, Any]:
    """Return the inner accuracy as facts; for people, the remark stands beside the number."""
    facts = _inner_accuracy(clf)
    if format is not Format.human or "inner_accuracy_remark" not in facts:
        return facts
    score, remark = facts.values()
    return {"inner_accuracy": f"{'unknown' if score is None else f'{score:.4f}'}: {remark}"}


def class_counts(clf: Any) -> dict[str, int]:
    """Return the number of training sequences of every class."""
    codes = clf.train_y_.tolist()
    return {str(label): codes.count(i) for i, label in enumerate(clf.classes_.tolist())}
