"""Settings changes: is every setting right, now and at every time of which the truth is known, jobs or no jobs?"""

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from beliefmesh.evaluate.place import IN_FOLDER, NO_EMBEDDER, Report, memory_in
from beliefmesh.evaluate.reading import read_json, read_json_lines
from beliefmesh.memory import Memory
from beliefmesh.settings import StoreSettings
from schemas.claim import Value
from schemas.entity import Entity
from schemas.instant import SECOND, Instant
from schemas.policy import Policy
from schemas.slot import slot_id

BANK = "config"
ENTITY_TYPE = "file"
EMPTY = '""'
"""How an empty text is stated; a claim's value is never empty."""
ONE_VOICE = "repository"
LASTING = Policy(state_half_life_days=100_000.0)
"""Sightings of years ago are to be believed as those of today."""
_FORGETTING: Mapping[str, Mapping[str, str]] = {"compaction": {}, "archive": {"after_days": "0"}}
"""Jobs and what they are told."""


class SettingChange(msgspec.Struct, frozen=True):
    """One change of one setting; the value None takes it away."""

    id: str
    at: int
    agent: str
    entity: str
    attribute: str
    value: Value | None


class Key(msgspec.Struct, frozen=True):
    """A setting: file and key path."""

    entity: str
    attribute: str


class Held(Key, frozen=True):
    """A setting and its true value."""

    value: Value


class TruthAt(msgspec.Struct, frozen=True):
    """All settings as they truly were at a time (Unix seconds), and those that did not exist then."""

    as_of: int
    state: list[Held]
    absent: list[Key] = []


class Accuracy(msgspec.Struct):
    """How many readings were right, of how many."""

    right: int = 0
    total: int = 0

    def add(self, right: int, total: int) -> None:
        """Count some readings."""
        self.right += right
        self.total += total

    def share(self) -> float:
        """The part that is right."""
        return self.right / self.total if self.total else 0.0


def evaluate_config(
    observations: Path,
    truth: Path,
    *,
    shuffle: int | None = None,
    duplicate: float = 0.0,
    batch: int = 500,
    sightings: bool = False,
    forgetting: bool = False,
    folder: Path | None = None,
    stores: StoreSettings = IN_FOLDER,
    report: Report,
) -> dict[str, Any]:
    """Feed every change, in any order and some twice, then compare all settings at all known times and now.

    Changes are instructions of their authors, or `sightings` by one voice, the repository. With `forgetting` they are
    compared once more before, while all that compaction and archive take away is away.
    """
    changes = read_json_lines(observations, "observations", SettingChange)
    known = sorted(read_json(truth, "truth", list[TruthAt]), key=lambda one: one.as_of)
    told = arranged([(sighting_of if sightings else observation_of)(change) for change in changes], shuffle, duplicate)
    with memory_in(folder, BANK, NO_EMBEDDER, stores) as memory:
        if sightings:
            memory.set_policy(LASTING)
        seconds = _feed(memory, told, batch, report)
        archived = _compare_archived(memory, known, report) if forgetting else {}
        past, current, wrong = _compare(memory, known, report)
        counts = memory.home.graph.counts(BANK)
    return {
        "evaluation": "config",
        "accuracy_current": current.share(),
        "accuracy_as_of": past.share(),
        "observations_per_second": round(len(told) / seconds, 1),
        "observations": len(told),
        "distinct": len(changes),
        "times": len(known),
        "checked_current": current.total,
        "checked_as_of": past.total,
        "wrong": wrong[:10],
        "slots": counts["slots"],
        "evidence": counts["evidence"],
        "seconds": round(seconds, 3),
        **archived,
    }


def observation_of(change: SettingChange) -> dict[str, object]:
    """A change as an instruction to the memory: the new value, or that there is none any more."""
    claim: dict[str, object] = {
        "entity": {"name": change.entity, "type": ENTITY_TYPE},
        "attribute": change.attribute,
    }
    claim |= {"stance": "retracts"} if change.value is None else {"value": stated(change.value)}
    return {
        "id": change.id,
        "agent": change.agent,
        "source": {"id": change.agent, "origin": change.agent, "type": "document"},
        "observed_at": change.at,
        "kind": "instruction",
        "tier": "high",
        "claims": [claim],
    }


def sighting_of(change: SettingChange) -> dict[str, object]:
    """A change as something seen in the repository, whoever made it."""
    seen = observation_of(change) | {"source": {"id": ONE_VOICE, "type": "tool"}, "kind": "observation"}
    return {name: value for name, value in seen.items() if name != "agent"}


def stated(value: Value) -> Value:
    """A setting's value as a claim states it."""
    return EMPTY if isinstance(value, str) and not value.strip() else value


def arranged(told: Sequence[dict[str, object]], shuffle: int | None, duplicate: float) -> list[dict[str, object]]:
    """The observations in the order in which they are sent: a share of them twice, all shuffled by the seed."""
    chance = random.Random(0 if shuffle is None else shuffle)  # noqa: S311 (an order that can be repeated, no secret)
    order = list(told)
    if duplicate > 0:
        for extra in chance.sample(order, round(duplicate * len(order))):
            order.insert(chance.randrange(len(order) + 1), extra)
    if shuffle is not None:
        chance.shuffle(order)
    return order


def misread(truth: TruthAt, believed: Mapping[str, Sequence[Value | None]]) -> Iterator[str]:
    """Every setting that is believed otherwise than it truly was; `believed` are the live values by slot."""
    for held in truth.state:
        values = believed.get(slot_of(held), ())
        if list(values) != [stated(held.value)]:
            yield f"{held.entity} {held.attribute}: {list(values)!r} instead of {held.value!r}"
    for key in truth.absent:
        if values := believed.get(slot_of(key), ()):
            yield f"{key.entity} {key.attribute}: {list(values)!r} instead of nothing"


def slot_of(key: Key) -> str:
    """The slot of a setting."""
    return slot_id(BANK, Entity(key.entity, ENTITY_TYPE), key.attribute)


def _feed(memory: Memory, told: Sequence[dict[str, object]], batch: int, report: Report) -> float:
    started = time.perf_counter()
    for at in range(0, len(told), batch):
        memory.retain(told[at : at + batch])
        report(f"{min(at + batch, len(told)):,} of {len(told):,} observations")
    return time.perf_counter() - started


def _compare_archived(memory: Memory, known: Sequence[TruthAt], report: Report) -> dict[str, Any]:
    """Compare while what jobs took away is away; then it comes back.

    `unsaid_archived` counts what was misread of a time of which the memory did not say that its past is archived.
    """
    pieces = 0
    for job, arguments in _FORGETTING.items():
        pieces += memory.run_job(job, arguments=arguments).counts.get("archived", 0)
    past, current, wrong = _compare(memory, known, report)
    unsaid = 0
    for truth in known:
        if not memory.home.archive.lacking(BANK, truth.as_of * SECOND, None):
            tally = Accuracy()
            _check(memory, truth, truth.as_of * SECOND, tally, [])
            unsaid += tally.total - tally.right
    memory.run_job("restore")
    return {
        "archived": pieces,
        "accuracy_current_archived": current.share(),
        "accuracy_as_of_archived": past.share(),
        "unsaid_archived": unsaid,
        "wrong_archived": wrong[:10],
    }


def _compare(memory: Memory, known: Iterable[TruthAt], report: Report) -> tuple[Accuracy, Accuracy, list[str]]:
    past, current = Accuracy(), Accuracy()
    wrong: list[str] = []
    last: TruthAt | None = None
    for truth in known:
        last = truth
        _check(memory, truth, truth.as_of * SECOND, past, wrong)
        report(f"as of {truth.as_of}: {past.right:,} of {past.total:,} right so far")
    if last is not None:
        _check(memory, last, last.as_of * SECOND, current, wrong)
        _check(memory, last, None, current, wrong)
    return past, current, wrong


def _check(memory: Memory, truth: TruthAt, as_of: Instant | None, tally: Accuracy, wrong: list[str]) -> None:
    """Compare the whole state; what is believed of a setting that the truth does not name at all is wrong too."""
    believed: dict[str, list[Value | None]] = {}
    for belief in memory.holders(as_of=as_of):
        believed.setdefault(belief.slot, []).append(belief.value)
    named = {slot_of(key) for key in (*truth.state, *truth.absent)}
    problems = [
        *misread(truth, believed),
        *(f"slot {slot}: not in the truth" for slot in sorted(believed.keys() - named)),
    ]
    total = len(named | believed.keys())
    tally.add(total - len(problems), total)
    wrong += problems
