"""Compares log, graph and index, and repairs what differs (field case 21)."""

from collections.abc import Iterator
from itertools import chain

import msgspec

from beliefmesh.home import Home
from beliefmesh.state import all_slots
from beliefs.revise import fingerprint, view
from schemas.dead_letter import DeadLetter
from schemas.errors import InvalidInput, MalformedMessage
from schemas.evidence import Evidence
from schemas.observation import Observation, observation_key
from schemas.tombstone import grave
from schemas.wire import pack, unpack
from stores.ports import Entry, Record
from streams.bundles import messages_of
from streams.erasure import Forgotten, erase
from streams.freshness import lag
from streams.topics import OBSERVATIONS

_PAGE = 500


class DoctorReport(msgspec.Struct, frozen=True):
    """What was looked at, what differs, and what was repaired."""

    observations: int
    slots: int
    beliefs: int
    differences: tuple[str, ...]
    fixed: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether nothing differs, or all of it was repaired."""
        return len(self.fixed) == len(self.differences)


def examine(home: Home, *, fix: bool) -> DoctorReport:
    """Look for observations without effect, slots that do not follow from their evidence, and index rows amiss.

    Needs the index in this process: a mesh that runs with Ray is examined after it was stopped.
    """
    if home.index is None:
        raise InvalidInput("doctor", "needs the folder to itself; stop the running mesh first")
    if fix:
        home.worker.drain()
    waiting = {stage: sum(partitions.values()) for stage, partitions in lag(home.log, home.topics).items()}
    differences = [f"{count} records wait for the stage {stage}" for stage, count in waiting.items() if count]
    fixed: list[str] = []
    observations, lost, returned = _lost_observations(home)
    for observation in lost if not any(waiting.values()) else ():
        difference = f"observation {observation.id} of bank {observation.bank} has no evidence"
        differences.append(difference)
        if fix:
            entry = Entry(observation_key(observation), pack(observation, observation.id))
            home.log.append(home.topics.name(OBSERVATIONS), [entry], home.clock())
            fixed.append(difference)
    for bank, graves in returned.items():
        difference = f"{len(graves)} observations of bank {bank} were forgotten and lie in the log again"
        differences.append(difference)
        if fix:
            erase(home.log, home.topics, home.graph, Forgotten(bank, frozenset(graves), frozenset()))
            home.log.wipe()
            fixed.append(difference)
    slots = beliefs = 0
    for bank in home.graph.banks():
        wrong, seen, held = _wrong_slots(home, bank)
        slots, beliefs = slots + seen, beliefs + held
        for slot in wrong:
            difference = f"slot {slot} of bank {bank} does not follow from its evidence"
            differences.append(difference)
            if fix:
                home.mesh.review([(bank, slot)], home.clock())
                fixed.append(difference)
    if fix:
        home.worker.drain()
    for bank in home.graph.banks():
        differing = _wrong_rows(home, bank)
        differences += differing
        if fix and differing:
            _reindex(home, bank)
            fixed += differing
    return DoctorReport(observations, slots, beliefs, tuple(differences), tuple(fixed))


def _lost_observations(home: Home) -> tuple[int, list[Observation], dict[str, set[str]]]:
    """How many observations there are, those without effect, and by bank the graves of those that were forgotten."""
    letters = home.letters.all()
    aside = {(letter.topic, letter.partition, letter.offset, letter.original) for letter in letters}
    undecided = {_told_by(letter) for letter in letters}
    count = 0
    lost = []
    returned: dict[str, set[str]] = {}
    for page in _pages(home):
        told: dict[str, dict[str, Observation]] = {}
        for record in chain.from_iterable(map(messages_of, page)):
            if (record.topic, record.partition, record.offset, record.value) in aside:
                continue
            try:
                observation = unpack(record.value, Observation)
            except MalformedMessage:
                continue
            count += 1
            told.setdefault(observation.bank, {})[observation.id] = observation
        for bank, by_id in told.items():
            kept = {piece.observation_id for piece in home.graph.evidence_of_observations(bank, list(by_id))}
            graves = {id: grave(bank, id) for id in by_id} if home.graph.burials(bank) else {}
            buried = home.graph.buried(bank, sorted(graves.values())) if graves else set()
            if buried:
                returned.setdefault(bank, set()).update(buried)
            lost += [
                observation
                for id, observation in by_id.items()
                if id not in kept and (bank, id) not in undecided and graves.get(id) not in buried
            ]
    return count, lost, returned


def _told_by(letter: DeadLetter) -> tuple[str, str] | None:
    """(bank, id) of the observation whose evidence a dead letter holds; None where it holds none."""
    try:
        evidence = unpack(letter.original, Evidence)
    except MalformedMessage:
        return None
    return evidence.bank, evidence.observation_id


def _pages(home: Home) -> Iterator[list[Record]]:
    topic = home.topics.name(OBSERVATIONS)
    for partition in range(home.log.partitions(topic)):
        offset = 0
        while records := home.log.read(topic, partition, offset, _PAGE):
            yield records
            offset = records[-1].offset + 1


def _wrong_slots(home: Home, bank: str) -> tuple[list[str], int, int]:
    policy = home.graph.policy(bank)
    wrong = []
    slots = beliefs = 0
    for stored in all_slots(home.graph, bank):
        slots += 1
        beliefs += len(stored.slot.beliefs)
        expected = view(stored.evidence, policy, stored.slot.resolved_at)
        if fingerprint(expected) != fingerprint(stored.slot):
            wrong.append(stored.slot.id)
    return wrong, slots, beliefs


def _wrong_rows(home: Home, bank: str) -> list[str]:
    indexed = home.index.versions(bank) if home.index else {}
    held = {belief.id: belief.version for stored in all_slots(home.graph, bank) for belief in stored.slot.beliefs}
    missing = [f"belief {id} of bank {bank} is not in the index" for id in sorted(held.keys() - indexed.keys())]
    behind = [
        f"belief {id} of bank {bank} is in the index at version {indexed[id]}, not {held[id]}"
        for id in sorted(held.keys() & indexed.keys())
        if indexed[id] != held[id]
    ]
    orphans = [f"the index holds {id}, which bank {bank} does not" for id in sorted(indexed.keys() - held.keys())]
    return missing + behind + orphans


def _reindex(home: Home, bank: str) -> None:
    if home.index is not None:
        home.index.drop(bank)
    home.graph.mark_unindexed(bank)
    home.mesh.catch_up(home.clock())
