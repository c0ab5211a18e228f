"""The value of a memory by a learned model: its chance of being of use in place of birth, fading and links.

    value = CHANCE * sigmoid( bias + sum of weight * (feature - mean) / scale ) + the terms of use of beliefs/worth.py

What was confirmed or refuted counts as before; only what is not known from use is learned.
"""

import math
from collections.abc import Mapping, Sequence

from beliefs.confidence import decay, sigmoid
from beliefs.worth import Features, terms
from schemas.instant import DAY, Instant
from schemas.usage import Outcome
from schemas.worth import ValueModel

CHANCE = 10.0
CREDIT_FADES: Instant = 7 * DAY
"""After so long between a recall and its confirmation the recall has half the credit."""

_USE = ("recalled", "useful", "wrong")


def measured(features: Features) -> dict[str, float]:
    """The features as numbers, without those of use: from these the model learns what use is to be expected."""
    return {
        "instruction": float(features.kind == "instruction"),
        "derivation": float(features.kind == "derivation"),
        "high": float(features.tier == "high"),
        "low": float(features.tier == "low"),
        "experience": float(features.network == "experience"),
        "opinion": float(features.network == "opinion"),
        "rank": float(max(0, min(features.rank, 3))),
        "information": features.information,
        "surprise": features.surprise,
        "goals": features.relevance,
        "age": math.log2(1 + features.age / DAY),
        "links": math.log2(1 + features.degree),
    }


def chance(model: ValueModel, features: Features) -> float:
    """How likely the memory is to be of use, by the model."""
    found = measured(features)
    parts = [
        model.weights[name] * (found.get(name, 0.0) - model.means[name]) / model.scales[name]
        for name in sorted(model.weights)
    ]
    return sigmoid(model.bias + math.fsum(parts))


def learned_terms(model: ValueModel, features: Features) -> dict[str, float]:
    """Every summand of the value by name."""
    every = terms(features)
    return {"learned chance of use": CHANCE * chance(model, features)} | {name: every[name] for name in _USE}


def learned_value(model: ValueModel, features: Features) -> float:
    """What the memory is worth by the model; infinite if pinned."""
    return math.inf if features.pinned else math.fsum(learned_terms(model, features).values())


def expected(features: Features) -> float:
    """What the heuristic expects of a memory before any use; to compare the two."""
    return math.fsum(term for name, term in terms(features).items() if name not in _USE)


def credit_of(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The credit of each judged belief, 0 to 1: given back from the confirmation to the recall, fading with the delay.

    What at least as many agents call wrong as confirm has none, nor what was judged without having been recalled.
    """
    confirmed: dict[str, list[float]] = {}
    refuted: dict[str, int] = {}
    for one in outcomes:
        if one.verdict == "wrong":
            refuted[one.belief] = refuted.get(one.belief, 0) + 1
        elif one.recalled_at:
            confirmed.setdefault(one.belief, []).append(decay(one.at - one.recalled_at, CREDIT_FADES))
    judged = {one.belief for one in outcomes}
    return {belief: _credit(confirmed.get(belief, []), refuted.get(belief, 0)) for belief in judged}


def area(scores: Sequence[float], credit: Sequence[float], weights: Sequence[float]) -> float:
    """The chance that a score puts what has credit before what has none, ties counted half; 0.5 without both kinds."""
    ranked = sorted(zip(scores, credit, weights, strict=True))
    above = below_good = total_bad = total_good = 0.0
    at = 0
    while at < len(ranked):
        end = at
        good = bad = 0.0
        while end < len(ranked) and ranked[end][0] == ranked[at][0]:
            good += ranked[end][1] * ranked[end][2]
            bad += (1.0 - ranked[end][1]) * ranked[end][2]
            end += 1
        below_good += good * (above + bad / 2)
        above += bad
        total_bad += bad
        total_good += good
        at = end
    return below_good / (total_good * total_bad) if total_good and total_bad else 0.5


def in_force(model: ValueModel | None) -> str:
    """Which value is in force, in a word."""
    return "heuristic" if model is None or not model.in_force else f"learned {model.version}"


def named_terms(model: ValueModel | None, features: Features) -> Mapping[str, float]:
    """The terms of the value that is in force."""
    return terms(features) if model is None or not model.in_force else learned_terms(model, features)


def _credit(confirmed: Sequence[float], refuted: int) -> float:
    return max(confirmed) if len(confirmed) > refuted else 0.0
