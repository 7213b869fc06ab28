"""An explanation in sentences and tables: what `mvdfq explain` and `mvdfq demo` show."""

from functools import cached_property
from itertools import product
from typing import Any

from mvdfq.cli.output import show_text, table
from mvdfq.explain.moments import Moment, find_moments, find_patterns, has_both_strands

# Evidence below this share of the strongest is not worth a line.
LEAST = 0.05
# Moments that speak for the runner-up.
FOR_OTHER = 2


class Reasons:
    """The lines and tables about one explanation: of a class, or of one class against another."""

    def __init__(
        self, clf: Any, whole: Any, name: str, top: int, label: Any = None, against: Any = None
    ) -> None:
        self.clf, self.whole, self.name, self.top = clf, whole, name, top
        self.label = whole.predicted if label is None else label
        if against is None and len(clf.classes_) == 2 and self.label != whole.predicted:
            against = whole.predicted  # two classes are one question
        self.against = against
        self.explanation = whole if against is None else whole.between(self.label, against)
        self.about = self.label if against is None else (self.label, against)
        self.title = self.explanation.title(self.about)
        self.column, self.sign = self.explanation.column(self.about)

    @cached_property
    def chances(self) -> dict[Any, float]:
        """The probabilities of the classes, the most probable first."""
        decision = self.clf.problems_.decision(self.whole.margins[None])
        chances = self.clf.probabilities(decision)[0].tolist()
        pairs = zip(self.clf.classes_.tolist(), chances, strict=True)
        return dict(sorted(pairs, key=lambda pair: -pair[1]))

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

    def show(self) -> None:
        """Print the verdict and the tables."""
        show_text(self.verdict())
        for rows, heading in self.tables():
            (table(rows, f"\n{heading}") if rows else show_text(f"\n{heading}"))

    def verdict(self) -> str:
        """Return the class, its probability, and what it is compared with, in one sentence each."""
        value = f"{self.sums['decision_value']:+.2f}"
        constant, predicted = f"{self.sums['evidence_constant']:+.2f}", self.whole.predicted
        asked = "" if self.label == predicted else f" (predicted: {predicted})"
        rather = "" if self.title == str(self.label) else f" for {self.title}"
        is_pair = isinstance(self.explanation.labels[0], tuple) and len(self.clf.classes_) > 2
        gets = f"It gets {value}{rather}: {constant} like every sequence, and the rest"
        if any(term.class_means for term in self.clf.terms_):
            compared = "An average other sequence"
            if self.against is not None or is_pair:
                compared = "A sequence halfway between both classes"
            gets = f"{compared} gets {constant}{rather}; this one gets {value},"
        return f"{self.label}, {self._chance(self.label)}{asked}. {gets} because of:"

    def _chance(self, label: Any) -> str:
        return f"{self.chances[label]:.0%}".replace("%", " %")

    def tables(self) -> list[tuple[list[dict[str, Any]], str]]:
        """Return tables of what speaks for the class, against it, and for the runner-up."""
        places = "moments" if self.whole.symbols.sampling_rate else "frames, counted from 0,"
        shown = [(self.rows(), places)]
        if self.whole.are_letters:
            strands = ", both strands together" * has_both_strands(self.whole)
            places = f"regions, positions from 1{strands},"
            shown = [(self.rows(), places), (self.letter_rows(), "words, with positions from 1,")]
        result = []
        for (rows, named), (sign, word) in product(shown, ((1, "for"), (-1, "against"))):
            strongest = [row for row in rows if sign * row["evidence"] > 0][: self.top]
            if strongest:
                result.append((signed(strongest), f"{named} that speak {word} {self.title}"))
        if self.against is not None or len(self.clf.classes_) == 2:
            return result
        # the most probable class beside the class in question
        runner_up = next(label for label in self.chances if label != self.label)
        other = Reasons(self.clf, self.whole, self.name, self.top, runner_up, self.label)
        rows = [row for row in other.rows() if row["evidence"] > 0][:FOR_OTHER]
        speak = f"{places} that speak" if rows else "nothing speaks"
        about = f"next is {runner_up}, {self._chance(runner_up)}"
        return [*result, (signed(rows), f"{about}; {speak} for it rather than for {self.label}")]

    def rows(self) -> list[dict[str, Any]]:
        """Return moments, or regions of letters, of either sign, the strongest first."""
        rows = []
        for moment in self._found:
            about = {"when": moment.when, "channels": moment.what}
            if moment.letters:
                about = {"letters": moment.letters, "where": moment.when}
            rows.append({"evidence": round(moment.evidence, 4), **about})
        return rows

    def flat_rows(self) -> list[dict[str, Any]]:
        """Return numbers for programs: where a moment starts and ends, and each channel in it."""
        if self.whole.are_letters:
            return self._regions("start", "end", "letters", "evidence")
        return [
            {"start": start, "end": end, "channel": channel, "evidence": evidence}
            for moment in self._found
            for start, end in [moment.seconds or moment.frames]
            for channel, evidence in moment.by_channel.items()
        ]

    def _regions(self, *keys: str) -> list[dict[str, Any]]:
        """Return first and last position, letters and evidence of each region, by these keys."""
        regions = [moment for moment in self._found if moment.letters]
        facts = [(m.frames[0] + 1, m.frames[1], m.letters, m.evidence) for m in regions]
        return [dict(zip(keys, values, strict=True)) for values in facts]

    @cached_property
    def _found(self) -> list[Moment]:
        """The strongest moments or regions of either sign, none weak beside the strongest."""
        moments = find_moments(self.explanation, 10**6, self.about, self.top)
        least = LEAST * max((abs(moment.evidence) for moment in moments), default=0)
        kept = [moment for moment in moments if abs(moment.evidence) > least]
        for_it = [moment for moment in kept if moment.evidence > 0][: self.top]
        against = [moment for moment in kept if moment.evidence < 0][: self.top]
        return sorted(for_it + against, key=lambda moment: -abs(moment.evidence))

    def letter_rows(self) -> list[dict[str, Any]]:
        """Return the words of a string with the most evidence, and their positions."""
        n_frames, rows = self.explanation.by_time.shape[1], []
        strand = n_frames // 2 if has_both_strands(self.whole) else n_frames
        for pattern in find_patterns(self.explanation, self.top, self.about):
            start, *others = pattern.positions
            where = f"position {start + 1}"
            if start >= strand:
                # the reverse complement follows the strand and a gap, and runs backwards
                end = start - strand - 1 + pattern.length
                where = f"position {strand - end + 1} of the reverse strand"
            where += f" and {len(others)} more" if others else ""
            evidence = round(pattern.evidence, 4)
            rows.append({"evidence": evidence, "letters": pattern.text, "where": where})
        return rows

    def word_rows(self) -> list[dict[str, Any]]:
        """Return the words with the most evidence, as they were counted."""
        reasons = self.explanation.top(self.top, self.about)
        return [{"evidence": round(reason.evidence, 4), "what": reason.text} for reason in reasons]

    def row_rows(self) -> list[dict[str, Any]]:
        """Return the rows of symbols with the most evidence."""
        evidence, names = self.explanation.by_row[self.column], self.explanation.row_names
        evidence = self.sign * evidence
        order = abs(evidence).argsort()[::-1][: self.top]
        return [{"evidence": round(float(evidence[r]), 4), "row": names[r]} for r in order]

    def facts(self) -> dict[str, Any]:
        """Return everything for programs."""
        return {
            "name": self.name,
            "class": str(self.label),
            "against": None if self.against is None else str(self.against),
            "probability": self.chances[self.label],
            "probabilities": {str(label): chance for label, chance in self.chances.items()},
            **self.sums,
            "moments": [
                {
                    "evidence": moment.evidence,
                    "first_frame": moment.frames[0],
                    "last_frame": moment.frames[1] - 1,
                    "seconds": None if moment.seconds is None else list(moment.seconds),
                    "channels": list(moment.channels),
                    "shapes": list(moment.shapes),
                    "by_channel": moment.by_channel,
                }
                for moment in self._found
                if not moment.letters
            ],
            "regions": self._regions("first", "last", "text", "evidence"),
            "letters": self.letter_rows() if self.whole.are_letters else [],
        }


def signed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of output for people: the evidence has its sign and four decimals."""
    return [{**row, "evidence": f"{row['evidence']:+.4f}"} for row in rows]
