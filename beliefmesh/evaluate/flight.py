"""Flights as many web sites tell them: is what the mesh believes true, and as sure as it should be?"""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import msgspec

from beliefmesh.evaluate.flight_cells import (
    COLUMNS,
    GATE_WORDS,
    GATES,
    SAME_TIME_MINUTES,
    TIMES,
    Row,
    instant_in,
    read_claims,
    read_gold,
    same,
    value_of,
)
from beliefmesh.evaluate.flight_trust import ENTITY_TYPE, Cell, Labels, TrueCell, divided, gold_of_cell, told_of
from beliefmesh.evaluate.place import IN_FOLDER, NO_EMBEDDER, Report, memory_in
from beliefmesh.evaluate.reading import files_in
from beliefmesh.memory import Memory
from beliefmesh.settings import StoreSettings
from beliefs.reliability import brier, calibration_error
from beliefs.verified import leading
from recall.seen import Seen, Sight
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.instant import Instant, instant_of
from schemas.policy import DEFAULT_POLICY, AttributeRule, Policy
from schemas.query import Principal
from schemas.slot import slot_id

BANK = "flight"
_PAGE = 500
_REPORT_EVERY = 20_000


class Judged(msgspec.Struct, frozen=True):
    """One gold cell: whether the mesh's answer is right and how sure it is, and whether plain votes are right."""

    column: str
    right: bool
    confidence: float
    vote: bool
    exact_vote: bool


class _Said:
    """What the sources that are not `left_out` say: how much, in how many seconds it was kept, and of which cells.

    `told` has what each source says of the cells whose truth is known, for the votes.
    """

    def __init__(self, truth: Mapping[str, Row], left_out: Collection[str], only_gold: bool) -> None:
        self.told: dict[Cell, dict[str, str]] = {}
        self.rows = 0
        self.claims = 0
        self.seconds = 0.0
        self._truth = truth
        self._left_out = left_out
        self._only_gold = only_gold

    def observations(self, path: Path) -> list[dict[str, object]]:
        """Those of a file of claims, counted."""
        read = [row for row in read_claims(path) if row.source.casefold() not in self._left_out]
        chosen = [row for row in read if row.entity in self._truth] if self._only_gold else read
        found = [one for one in (observation_of(row, n) for n, row in enumerate(chosen)) if one is not None]
        self.rows += len(found)
        self.claims += sum(len(claims_of(row)) for row in chosen)
        self._note(chosen)
        return found

    def _note(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row.entity in self._truth:
                for column, value in claims_of(row).items():
                    self.told.setdefault((row.entity, column), {})[row.source] = value


def evaluate_flight(
    claims: Path,
    gold: Path,
    *,
    exclude: Sequence[str] = ("aa", "ua", "co"),
    only_gold: bool = False,
    batch: int = 2_000,
    labels: Labels | None = None,
    folder: Path | None = None,
    stores: StoreSettings = IN_FOLDER,
    report: Report,
) -> dict[str, Any]:
    """Feed every cell as its source's claim, day by day, then compare what is believed on each day with the truth.

    With `labels` trust is learned from answers of the first days, and only the other days are judged.
    """
    truth = {row.entity: row for path in files_in(gold, "gold-*.tsv*", "gold") for row in read_gold(path)}
    said = _Said(truth, {name.casefold() for name in exclude}, only_gold)
    with memory_in(folder, BANK, NO_EMBEDDER, stores) as memory:
        memory.home.graph.set_policy(BANK, policy())
        for path in files_in(claims, "claims-*.tsv*", "claims"):
            said.seconds += _feed(memory, said.observations(path), batch, report, path.name)
        known = _true_cells(truth, said.told)
        calibration: dict[str, Any] = {}
        if labels is not None:
            learned, known = divided(known, labels)
            before = list(_judge(memory, said.told, known))
            report(f"learning from {len(learned)} cells")
            done = memory.calibrate([gold_of_cell(one) for one in learned], feedback=False)
            calibration = {"calibration": told_of(labels, learned, known, done) | {"before": _scores(before)}}
        judged = list(_judge(memory, said.told, known))
    return {
        "evaluation": "flight",
        **_scores(judged),
        "vote_precision": _share(one.vote for one in judged),
        "exact_vote_precision": _share(one.exact_vote for one in judged),
        "columns": {column: _share(one.right for one in judged if one.column == column) for column in COLUMNS},
        "cells": len(judged),
        "observations": said.rows,
        "claims": said.claims,
        "claims_per_second": round(said.claims / said.seconds, 1) if said.seconds else 0.0,
        "seconds": round(said.seconds, 3),
        **calibration,
    }


def policy() -> Policy:
    """Times are one within ten minutes; gates are codes in which the words gate and terminal do not count."""
    rules = (
        *(AttributeRule(pattern=column, type="time", tolerance=SAME_TIME_MINUTES * 60.0) for column in TIMES),
        *(AttributeRule(pattern=column, type="code", ignore=GATE_WORDS) for column in GATES),
    )
    return msgspec.structs.replace(DEFAULT_POLICY, attributes=rules)


def claims_of(row: Row) -> dict[str, str]:
    """What a row claims, by column."""
    values = ((column, value_of(column, cell, row.day)) for column, cell in row.cells.items())
    return {column: value for column, value in values if value is not None}


def observation_of(row: Row, number: int) -> dict[str, object] | None:
    """A row as its source's sighting of a flight on that day; None if it states nothing."""
    claims = claims_of(row)
    if not claims:
        return None
    return {
        "id": f"{row.day.isoformat()}/{row.source}/{row.flight}/{number}",
        "agent": row.source,
        "source": {"id": row.source, "origin": row.source, "type": "other"},
        "entity": {"name": row.entity, "type": ENTITY_TYPE},
        "observed_at": row.day,
        "kind": "observation",
        "claims": [{"attribute": column, "value": value} for column, value in claims.items()],
    }


def plain_vote(column: str, votes: Iterable[str], tolerant: bool) -> str:
    """The value that most sources state; `tolerant` takes for one what is equal to the most frequent value left."""
    counts = Counter(votes)
    order = sorted(counts, key=lambda value: (-counts[value], value))
    if not tolerant:
        return order[0]
    groups: dict[str, int] = {}
    left = dict(counts)
    for value in order:
        if value in left:
            groups[value] = sum(left.pop(other) for other in [other for other in left if same(column, value, other)])
    return max(groups, key=lambda value: groups[value])


def _feed(memory: Memory, observations: Sequence[dict[str, object]], batch: int, report: Report, name: str) -> float:
    started = time.perf_counter()
    for at in range(0, len(observations), batch):
        memory.retain(observations[at : at + batch])
        done = min(at + batch, len(observations))
        if done == len(observations) or done % _REPORT_EVERY < batch:
            report(f"{name}: {done:,} of {len(observations):,} rows, {time.perf_counter() - started:.0f} s")
    return time.perf_counter() - started


def _true_cells(truth: Mapping[str, Row], told: Mapping[Cell, Mapping[str, str]]) -> dict[Cell, TrueCell]:
    """The cells whose truth is known and of which some source says something."""
    return {
        (row.entity, column): TrueCell(row.entity, column, true, row.day)
        for row in truth.values()
        for column, cell in row.cells.items()
        if (true := _true_value(column, cell, row.day)) is not None and (row.entity, column) in told
    }


def _judge(memory: Memory, told: Mapping[Cell, Mapping[str, str]], cells: Mapping[Cell, TrueCell]) -> Iterator[Judged]:
    by_day: dict[date, list[Cell]] = {}
    for cell, known in cells.items():
        by_day.setdefault(known.day, []).append(cell)
    for day, asked in sorted(by_day.items()):
        for cell, belief, sure in _answers(memory, asked, instant_of(datetime(day.year, day.month, day.day))):
            column, true, votes = cell[1], cells[cell].value, told[cell].values()
            yield Judged(
                column=column,
                right=same(column, str(belief.value), true),
                confidence=sure,
                vote=same(column, plain_vote(column, votes, tolerant=True), true),
                exact_vote=same(column, plain_vote(column, votes, tolerant=False), true),
            )


def _true_value(column: str, cell: str, day: date) -> str | None:
    """A gold cell's value; None where it is empty, or no time."""
    value = value_of(column, cell, day)
    if value is None or (column in TIMES and instant_in(value) is None):
        return None
    return value


def _answers(memory: Memory, asked: Sequence[Cell], moment: Instant) -> Iterator[tuple[Cell, Belief, float]]:
    """What the mesh believed of each cell as of a moment, and how surely, as recall would judge it."""
    graph = memory.home.graph
    bank_policy = graph.policy(BANK)
    seen = Seen(graph, bank_policy, Sight(bank=BANK, principal=Principal(), moment=moment, as_of=moment))
    slots = {slot_id(BANK, Entity(entity, ENTITY_TYPE), column): (entity, column) for entity, column in asked}
    ids = list(slots)
    for at in range(0, len(ids), _PAGE):
        for id, slot in seen.slots(ids[at : at + _PAGE]).items():
            yield slots[id], *leading(slot.slot.beliefs, moment, bank_policy.base)


def _scores(judged: Sequence[Judged]) -> dict[str, float]:
    """The share right, and how far confidence is from it."""
    pairs = [(one.confidence, one.right) for one in judged]
    return {
        "precision": _share(right for _, right in pairs),
        "brier": round(brier(pairs), 6),
        "ece": round(calibration_error(pairs), 6),
    }


def _share(right: Iterable[bool]) -> float:
    values = list(right)
    return round(sum(values) / len(values), 6) if values else 0.0
