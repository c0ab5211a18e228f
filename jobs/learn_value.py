"""Learns from how recalled beliefs fared which features tell of use: a logistic model, held against the heuristic."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from beliefs.learned import area, chance, credit_of, expected, in_force, measured
from beliefs.worth import Features
from jobs.bank_files import BankFiles
from jobs.weigh import Scales
from schemas.identity import digest
from schemas.instant import Instant
from schemas.usage import UNUSED
from schemas.worth import LearnedValue, ValueModel
from stores.ports import GraphStore
from stores.sqlite.usage import UsageFile

LEAST = 40
"""Outcomes below which nothing is learned; of each kind there must be a quarter of that."""

_PAGE = 500
_UNJUDGED = 0.25
"""What a recall on which nobody said anything weighs, as one that was of no use."""
_RIDGE = 1.0
_STEPS = 50
_CLOSE = 1e-10
_HELD_OUT = 3
"""One belief in so many is held out."""

Numbers = NDArray[np.float64]


class Sample(msgspec.Struct, frozen=True):
    """A recalled belief: its features when it was recalled, the credit that it earned, and what that weighs."""

    belief: str
    features: Features
    credit: float
    weight: float


def learn_value(
    graph: GraphStore, bank: str, now: Instant, usage: UsageFile, files: BankFiles[ValueModel], *, apply: bool = True
) -> LearnedValue:
    """Learn a bank's value from its recalls and verdicts, and with `apply` keep it; equal outcomes give an equal model.

    The model is in force if it ranks held-out beliefs better than the heuristic. Too few outcomes leave all as it was.
    """
    samples = samples_of(graph, bank, now, usage)
    before = files.read(bank)
    credited = sum(sample.credit > 0 for sample in samples)
    lacking = _lacking(len(samples), credited)
    if lacking:
        return LearnedValue(
            bank=bank, outcomes=len(samples), credited=credited, by=in_force(before), reason=lacking, model=before
        )
    model = fitted(samples, (before.version if before else 0) + 1)
    if apply:
        files.write(bank, model)
    verdict = "better than" if model.in_force else "not better than"
    reason = (
        f"ranks {model.held_out} held-out beliefs {verdict} the heuristic: {model.auc:.3f}, {model.heuristic_auc:.3f}"
    )
    return LearnedValue(
        bank=bank,
        outcomes=len(samples),
        credited=credited,
        by=in_force(model if apply else before),
        reason=reason,
        model=model,
    )


def samples_of(graph: GraphStore, bank: str, now: Instant, usage: UsageFile) -> list[Sample]:
    """Every recalled belief of a bank that is still there, in id order."""
    credit = credit_of(usage.outcomes(bank))
    scales = Scales(graph, bank, now, usage.usage)
    samples: list[Sample] = []
    after = ""
    while recalled := usage.recalled(bank, after, _PAGE):
        samples += _samples(graph, bank, dict(recalled), scales, credit)
        after = recalled[-1][0]
    return samples


def fitted(samples: Sequence[Sample], version: int) -> ValueModel:
    """A model from two thirds of the samples, and how it does on the others."""
    held_out = [sample for sample in samples if _is_held_out(sample.belief)]
    taught = [sample for sample in samples if not _is_held_out(sample.belief)]
    names = sorted(measured(Features()))
    table = np.array([[measured(sample.features)[name] for name in names] for sample in taught])
    means, spread = table.mean(axis=0), table.std(axis=0)
    scales = np.where(spread > _CLOSE, spread, 1.0)
    solved = _regression(
        (table - means) / scales,
        np.array([sample.credit for sample in taught]),
        np.array([sample.weight for sample in taught]),
    )
    model = ValueModel(
        version=version,
        bias=float(solved[0]),
        weights=_by_name(names, solved[1:]),
        means=_by_name(names, means),
        scales=_by_name(names, scales),
        outcomes=len(samples),
        credited=sum(sample.credit > 0 for sample in samples),
        held_out=len(held_out),
        auc=0.0,
        heuristic_auc=0.0,
        in_force=False,
    )
    credit, weight = [sample.credit for sample in held_out], [sample.weight for sample in held_out]
    own = area([chance(model, sample.features) for sample in held_out], credit, weight)
    other = area([expected(sample.features) for sample in held_out], credit, weight)
    return msgspec.structs.replace(model, auc=own, heuristic_auc=other, in_force=own > other)


def _regression(table: Numbers, credit: Numbers, weight: Numbers) -> Numbers:
    """Bias and weights of the likeliest logistic model under a ridge, by Newton's method; the bias is not held back."""
    rows = np.hstack([np.ones((len(table), 1)), table])
    ridge = np.full(rows.shape[1], _RIDGE)
    ridge[0] = _CLOSE
    solved = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        likely = 1.0 / (1.0 + np.exp(-np.clip(rows @ solved, -30, 30)))
        slope = rows.T @ (weight * (credit - likely)) - ridge * solved
        bend = (rows.T * (weight * likely * (1 - likely))) @ rows + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        solved = solved + step
        if float(np.abs(step).max()) < _CLOSE:
            break
    return solved


def _samples(
    graph: GraphStore, bank: str, recalled: dict[str, Instant], scales: Scales, credit: dict[str, float]
) -> list[Sample]:
    beliefs = graph.beliefs(bank, list(recalled))
    stored = graph.load_slots(bank, sorted({belief.slot for belief in beliefs.values()}))
    edges = scales.edges([belief.id for belief in beliefs.values()])
    found = []
    for id, belief in sorted(beliefs.items()):
        slot = stored.get(belief.slot)
        if belief.id != id or slot is None or not slot.evidence:
            continue
        features = scales.features(belief, slot.evidence, UNUSED, len(edges[id]))
        then = max(0, features.age - (scales.around.now - recalled[id]))
        weight = 1.0 if id in credit else _UNJUDGED
        found.append(Sample(id, msgspec.structs.replace(features, age=then), credit.get(id, 0.0), weight))
    return found


def _lacking(outcomes: int, credited: int) -> str:
    if outcomes < LEAST:
        return f"{outcomes} recalled beliefs are too few to learn from; {LEAST} are needed"
    if min(credited, outcomes - credited) < LEAST // 4:
        return f"{credited} of {outcomes} recalled beliefs were of use; {LEAST // 4} of each kind are needed"
    return ""


def _is_held_out(belief: str) -> bool:
    return int(digest("held out", belief)[:8], 16) % _HELD_OUT == 0


def _by_name(names: Sequence[str], numbers: Numbers) -> dict[str, float]:
    return {name: float(number) for name, number in zip(names, numbers, strict=True)}
