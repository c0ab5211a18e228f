"""Compares log, graph and index, and repairs what differs (field case 21)."""

from collections.abc import Sequence
from contextlib import closing

import msgspec

from actors.choose import inline_mesh
from actors.extractor import Extractor
from actors.mesh import Mesh
from actors.recaller import NO_EXTENSION
from beliefmesh.forgetting import complete, unknown_graves
from beliefmesh.gaps import Gaps, find_gaps, read_again
from beliefmesh.home import Home
from beliefmesh.state import founded_slots
from beliefs.revise import fingerprint, view
from recall.tell import counted
from schemas.errors import InvalidInput
from stores.pages import all_slots
from streams.erasure import Forgotten, erase
from streams.freshness import lag

_NOTHING_INDEXED = (
    "the index has none of the {count} beliefs of bank {bank}: its files are new, or stores.embedder names another "
    "model or dimension than before. Until they are indexed again, which `beliefmesh doctor --fix` does at once, "
    "keyword search, graph and time answer as far as they can"
)


class DoctorReport(msgspec.Struct, frozen=True):
    """What was looked at, what differs, what was repaired; notes are of what no repair is needed for, or explain."""

    observations: int
    slots: int
    beliefs: int
    differences: tuple[str, ...]
    fixed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

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
    cache_mb = home.settings.mesh.shard_cache_mb
    with closing(inline_mesh(home.graph, home.index, None, NO_EXTENSION, Extractor(), cache_mb)) as shards:
        return _examined(home, shards, fix)


class _Findings:
    """What differs, and what of that was repaired."""

    def __init__(self) -> None:
        self.differences: list[str] = []
        self.fixed: list[str] = []

    def add(self, found: Sequence[str], *, fixed: bool) -> None:
        """Take differences in, in the order in which they are told."""
        self.differences += found
        if fixed:
            self.fixed += found


def _examined(home: Home, shards: Mesh, fix: bool) -> DoctorReport:
    """The report; `shards` remember nothing, where those at work may remember what the graph has lost."""
    if fix:
        home.worker.drain()
    findings = _Findings()
    waiting = {stage: sum(partitions.values()) for stage, partitions in lag(home.log, home.topics).items()}
    findings.add(
        [
            f"{counted(count, 'record waits', 'records wait')} for the stage {stage}"
            for stage, count in waiting.items()
            if count
        ],
        fixed=False,
    )
    _look_for_graves(home, findings, fix)
    gaps = find_gaps(home)
    lost = [] if any(waiting.values()) else list(gaps.differences())
    if fix and lost:
        read_again(home, gaps, shards)
        home.worker.drain()
    findings.add(lost, fixed=fix)
    _look_for_returned(home, gaps, findings, fix)
    slots, beliefs = _look_at_slots(home, shards, findings, fix)
    if fix:
        home.worker.drain()
    notes = [*gaps.notes(), *_look_at_rows(home, findings, fix)]
    return DoctorReport(
        gaps.observations, slots, beliefs, tuple(findings.differences), tuple(findings.fixed), tuple(notes)
    )


def _look_for_graves(home: Home, findings: _Findings, fix: bool) -> None:
    unknown = unknown_graves(home)
    again = [
        f"{_forgotten(len(graves), bank)} unknown to the graph, which is an older copy"
        for bank, graves in unknown.items()
    ]
    if fix and again:
        complete(home, unknown)
    findings.add(again, fixed=fix)


def _look_for_returned(home: Home, gaps: Gaps, findings: _Findings, fix: bool) -> None:
    for bank, graves in gaps.returned.items():
        if fix:
            erase(home.log, home.topics, home.graph, Forgotten(bank, frozenset(graves), frozenset()))
            home.log.wipe()
        findings.add([f"{_forgotten(len(graves), bank)} in the log again"], fixed=fix)


def _forgotten(count: int, bank: str) -> str:
    return counted(count, f"forgotten observation of bank {bank} is", f"forgotten observations of bank {bank} are")


def _look_at_slots(home: Home, shards: Mesh, findings: _Findings, fix: bool) -> tuple[int, int]:
    """How many slots and beliefs there are."""
    slots = beliefs = 0
    for bank in home.graph.banks():
        wrong, seen, held = _wrong_slots(home, bank)
        slots, beliefs = slots + seen, beliefs + held
        for slot in wrong:
            if fix:
                shards.review([(bank, slot)], home.clock())
            findings.add([f"slot {slot} of bank {bank} does not follow from its evidence"], fixed=fix)
    return slots, beliefs


def _look_at_rows(home: Home, findings: _Findings, fix: bool) -> list[str]:
    """What is to be known of the index beside what differs."""
    notes: list[str] = []
    for bank in home.graph.banks():
        differing, unindexed = _wrong_rows(home, bank)
        notes += unindexed
        if fix and differing:
            _reindex(home, bank)
        findings.add(differing, fixed=fix)
    return notes


def _wrong_slots(home: Home, bank: str) -> tuple[list[str], int, int]:
    policy = home.graph.policy(bank)
    wrong = []
    slots = beliefs = 0
    for stored, fallen in founded_slots(home.graph, bank, home.clock()):
        slots += 1
        beliefs += len(stored.slot.beliefs)
        expected = view(stored.evidence, policy, stored.slot.resolved_at, fallen)
        if fingerprint(expected) != fingerprint(stored.slot):
            wrong.append(stored.slot.id)
    return wrong, slots, beliefs


def _wrong_rows(home: Home, bank: str) -> tuple[list[str], list[str]]:
    """What differs between the index and the graph, and what is to be known of it."""
    indexed = home.index.versions(bank) if home.index else {}
    held = {belief.id: belief.version for stored in all_slots(home.graph, bank) for belief in stored.slot.beliefs}
    missing = [f"belief {id} of bank {bank} is not in the index" for id in sorted(held.keys() - indexed.keys())]
    behind = [
        f"belief {id} of bank {bank} is in the index at version {indexed[id]}, not {held[id]}"
        for id in sorted(held.keys() & indexed.keys())
        if indexed[id] != held[id]
    ]
    orphans = [f"the index holds {id}, which bank {bank} does not" for id in sorted(indexed.keys() - held.keys())]
    whole = [_NOTHING_INDEXED.format(bank=bank, count=len(held))] if held and len(missing) == len(held) else []
    return missing + behind + orphans, whole


def _reindex(home: Home, bank: str) -> None:
    if home.index is not None:
        home.index.drop(bank)
    home.graph.mark_unindexed(bank)
    home.mesh.catch_up(home.clock())
