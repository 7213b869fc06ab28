"""An explanation in the words of users: class, probability, the sum, moments or letters."""

from functools import cached_property
from typing import Any

__all__ = ["Reasons", "signed", "word_row"]


class Reasons:
    """The lines and tables that `mvdfq explain` shows about one explanation."""

    def __init__(self, clf: Any, explanation: Any, name: str, top: int) -> None:
        self.clf, self.explanation, self.name, self.top = clf, explanation, name, top
        self.column, self.sign = explanation.column()

    @cached_property
    def chances(self) -> list[tuple[str, float]]:
        """The classes and their probabilities, the most probable first."""
        decision = self.clf.problems_.decision(self.explanation.margins[None])
        chances = self.clf.probabilities(decision)[0]
        order = chances.argsort()[::-1]
        return [(str(self.clf.classes_[i]), float(chances[i])) for i in order]

    @cached_property
    def sums(self) -> dict[str, float]:
        """The decision value and its parts: evidence for, evidence against, constant."""
        over_time = self.sign * self.explanation.by_time[self.column]
        return {
            "decision_value": float(self.sign * self.explanation.margins[self.column]),
            "evidence_for": float(over_time[over_time > 0].sum()),
            "evidence_against": float(over_time[over_time < 0].sum()),
            "evidence_constant": float(self.sign * self.explanation.constant[self.column]),
        }

    def verdict(self) -> str:
        """Return class, probability, runner-up and the sum in two lines."""
        (best, p), (second, q), *_ = self.chances
        said = str(self.explanation.predicted)
        if said != best:  # votes of pairs may disagree with probabilities
            p = dict(self.chances)[said]
            second, q = best, self.chances[0][1]
        return f"class {said}, probability {p:.1%}; next is {second}, {q:.1%}\n{self._sum()}"

    def _sum(self) -> str:
        """Return the decision value as a sum, beginning with what the sequence is compared with."""
        s, title = self.sums, self.explanation.title()
        parts = f"{s['evidence_for']:+.3f} for, {s['evidence_against']:+.3f} against"
        value, constant = f"{s['decision_value']:+.3f}", f"{s['evidence_constant']:+.3f}"
        if not any(term.class_means for term in self.clf.terms_):
            return f"decision value {value} for {title} = {parts}, {constant} constant"
        what = "an average other sequence"
        if len(self.explanation.labels) > 1 and isinstance(self.explanation.labels[0], tuple):
            what = "a sequence halfway between both classes"
        return f"{what} gets {constant} for {title}; this one gets {value}, because of {parts}"

    @cached_property
    def has_letters(self) -> bool:
        """Whether the sequence is a string of letters."""
        return self.explanation.are_letters

    def tables(self) -> list[tuple[list[dict[str, Any]], str]]:
        """Return tables of `rows` that speak for the class and against it, with their headings."""
        title, found = self.explanation.title(), []
        what = "moments" if self.explanation.symbols.sampling_rate else "frames, counted from 0,"
        what, rest = ("letters", "; positions count from 1") if self.has_letters else (what, "")
        for sign, word in ((1, "for"), (-1, "against")):
            rows = [row for row in self.rows() if sign * row["evidence"] > 0]
            if rows:
                found.append((signed(rows), f"{what} that speak {word} {title}{rest}"))
        return found

    def rows(self) -> list[dict[str, Any]]:
        """Return the lines of the main table: moments, or patterns of letters."""
        from mvdfq.explain.moments import find_patterns

        if self.has_letters:
            found = find_patterns(self.explanation, self.top)
            return [self._letters_row(one) for one in found]
        return [
            {"evidence": round(one.evidence, 4), "when": one.when, "channels": one.what}
            for one in self._moments
        ]

    @cached_property
    def _moments(self) -> list[Any]:
        from mvdfq.explain.moments import find_moments

        return find_moments(self.explanation, self.top)

    def _letters_row(self, one: Any) -> dict[str, Any]:
        first, *more = one.positions
        where = self._position(first, len(one))
        where += f" and {len(more)} more" if more else ""
        return {"evidence": round(one.evidence, 4), "letters": one.text, "where": where}

    def _position(self, start: int, length: int) -> str:
        """Return a position counted from 1 on the given strand."""
        n_frames = self.explanation.by_time.shape[1]
        is_joined = getattr(self.clf, "source_", {}).get("strands") == "both"
        strand = n_frames // 2 if is_joined else n_frames
        if start < strand:
            return f"position {start + 1}"
        # the reverse complement follows the strand and a gap, and runs backwards
        end = start - strand - 1 + length
        return f"position {strand - end + 1} of the reverse strand"

    def word_rows(self) -> list[dict[str, Any]]:
        """Return the words with the most evidence, as they were counted."""
        return [word_row(reason) for reason in self.explanation.top(self.top)]

    def row_rows(self) -> list[dict[str, Any]]:
        """Return the rows of symbols with the most evidence."""
        evidence = self.sign * self.explanation.by_row[self.column]
        order = abs(evidence).argsort()[::-1][: self.top]
        return [
            {"evidence": round(float(evidence[r]), 4), "row": self.explanation.row_names[r]}
            for r in order
        ]

    def facts(self) -> dict[str, Any]:
        """Return everything for programs."""
        chances = dict(self.chances)
        return {
            "name": self.name,
            "probability": chances[str(self.explanation.predicted)],
            "probabilities": chances,
            **self.sums,
            "moments": [] if self.has_letters else [_plain(one) for one in self._moments],
            "letters": self.rows() if self.has_letters else [],
        }


def _plain(moment: Any) -> dict[str, Any]:
    first, stop = moment.frames
    return {
        "evidence": moment.evidence,
        "first_frame": first,
        "last_frame": stop - 1,
        "seconds": None if moment.seconds is None else list(moment.seconds),
        "channels": list(moment.channels),
    }


def word_row(reason: Any) -> dict[str, Any]:
    """Return one line of output: a word as text."""
    return {"evidence": round(reason.evidence, 4), "what": reason.text}


def signed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of output for people: the evidence has its sign and four decimals."""
    return [{**row, "evidence": f"{row['evidence']:+.4f}"} for row in rows]
