"""Precision and recall of the slots and conflicts that the rules find in the hand-written cases."""

from typing import Any, Literal

import msgspec

from beliefmesh.evaluate.rules.cases import LANGUAGES, Half, Language, cases_in
from beliefmesh.evaluate.rules.judge import Matches, judge_case
from schemas.errors import InvalidInput

Halves = Literal["building", "scoring", "all"]
_ROW = "{:6}{:10}{:>6}{:>11}{:>8}{:>7}{:>7}{:>8}"


class Figures(msgspec.Struct):
    """What was found in a number of cases, and in words what was not, or wrongly."""

    cases: int = 0
    texts: int = 0
    slots: Matches = msgspec.field(default_factory=Matches)
    conflicts: Matches = msgspec.field(default_factory=Matches)
    misses: list[str] = msgspec.field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """The figures as they are printed."""
        return {
            "cases": self.cases,
            "texts": self.texts,
            "slots": self.slots.scores(),
            "conflicts": self.conflicts.scores(),
        }


def evaluate_rules(half: Halves, language: Language | None = None, show_misses: bool = False) -> dict[str, Any]:
    """Judge the cases of one half or all, by language and in total.

    Raises InvalidInput where misses would be shown of the scoring half without its being named: rules built on
    its misses would make its figures worthless.
    """
    if show_misses and half == "all":
        raise InvalidInput("show-misses", "would show the scoring half; name --half building, or --half scoring")
    chosen: tuple[Language, ...] = LANGUAGES if language is None else (language,)
    figures = {name: _figures(name, None if half == "all" else half) for name in chosen}
    total = Figures()
    for one in figures.values():
        _add(total, one)
    result: dict[str, Any] = {"evaluation": "rules", "half": half}
    result |= {name: one.told() for name, one in figures.items()}
    result["total"] = total.told()
    return result | {"misses": total.misses} if show_misses else result


def table_of(result: dict[str, Any]) -> list[str]:
    """The figures as lines of text, and the misses, if any, after them."""
    lines = [f"half: {result['half']}", _ROW.format("", "", "cases", "precision", "recall", "right", "wrong", "missed")]
    for name in (*LANGUAGES, "total"):
        for part in ("slots", "conflicts") if name in result else ():
            figures = result[name][part]
            shares = (f"{figures['precision']:.4f}", f"{figures['recall']:.4f}")
            counts = (figures["right"], figures["wrong"], figures["missed"])
            lines.append(_ROW.format(name, part, result[name]["cases"], *shares, *counts))
    lines += result.get("misses", ())
    return lines


def _figures(language: Language, half: Half | None) -> Figures:
    figures = Figures()
    for case in cases_in(language, half):
        judgement = judge_case(case)
        misses = [f"{language} {case.id}: {miss}" for miss in judgement.misses]
        _add(figures, Figures(1, len(case.told), judgement.slots, judgement.conflicts, misses))
    return figures


def _add(total: Figures, one: Figures) -> None:
    total.cases += one.cases
    total.texts += one.texts
    total.slots.add(one.slots)
    total.conflicts.add(one.conflicts)
    total.misses += one.misses
