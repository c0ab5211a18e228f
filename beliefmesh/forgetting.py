"""Forgetting on request: the order in which what is meant, and all that goes with it, is made to go."""

from collections.abc import Callable, Collection, Mapping
from itertools import chain

import msgspec
import structlog

from beliefmesh.forgettable import Meant, Wanted, meant_by, parts, told_by
from beliefmesh.home import Home
from beliefmesh.work import unarchived
from jobs.usage import prune_usage
from schemas.errors import Busy, StoreUnavailable
from schemas.slot import Amendment
from schemas.tombstone import grave
from stores.language.record import open_record
from stores.pages import all_slots
from streams.erasure import Forgotten, erase, evidence_in, observations_in
from streams.tombstones import graves_of

_ROUNDS = 5

log_events = structlog.get_logger("forgetting")

Progress = Callable[[str, int, int], None]
"""Takes the name of a step, how much of it is done, and how much there is."""


class ForgetReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was forgotten, or with `dry_run` would be.

    `derived` counts those of the observations that only follow from beliefs that went. `beliefs` are gone, `slots`
    were decided again or are gone. `records` went from the log. `unknown` ids are of nothing that is there.
    """

    bank: str
    observations: int
    derived: int
    evidence: int
    beliefs: int
    slots: int
    records: int = 0
    unknown: int = 0
    dry_run: bool = False


def forget(home: Home, bank: str, wanted: Wanted, progress: Progress, *, dry_run: bool = False) -> ForgetReport:
    """Forget observations of a bank for good, and all that is known only from them.

    The order of durable writes; each step is safe to repeat, and what a crash cuts short is completed by the next call
    or the next start (`complete`):
    1. what waits in the log is applied, so that all evidence of what is meant can be found;
    2. tombstones into the log: from here on it is forgotten, whatever happens;
    3. tombstones into the graph: shards refuse the same observations from here on;
    4. evidence out of its slots, which are decided anew without it, and the changes for the index;
    5. the records out of the log: recalls, dead letters, changes, claims, last observations;
    6. the index follows the changes; what a language model said of the observations goes, how the beliefs that
       are no more were used, and the replies that were kept to be given again;
    7. what the stores' files still hold of all that is overwritten;
    8. the tombstones are noted as done, unless another bank has some that are not.
    """
    home.worker.drain()
    cut_short = home.tombstones.unfinished()
    meant = meant_by(home, bank, wanted)
    report = _would_go(bank, meant)
    if dry_run:
        return msgspec.structs.replace(report, dry_run=True)
    for letter in meant.letters:
        home.letters.drop(letter)
    if not meant.observations:
        if meant.letters:
            home.log.wipe()
        return msgspec.structs.replace(report, records=len(meant.letters))
    graves = frozenset(grave(bank, id) for id in meant.observations)
    home.tombstones.add(bank, graves, home.clock())
    upto = home.tombstones.end()
    home.graph.bury(bank, sorted(graves))
    evidence = _amend(home, bank, meant, progress)
    what = Forgotten(bank, graves, evidence, frozenset(meant.observations))
    records = _clear(home, what, meant.observations, progress)
    if not cut_short:
        home.tombstones.finish(upto)
    return msgspec.structs.replace(report, records=records + len(meant.letters))


def complete(home: Home, unknown: Mapping[str, Collection[str]] | None = None) -> None:
    """Give tombstones the rest of their effect in this space: of a call that was cut short, of all if it is new.

    `unknown` are graves, by bank, that are to have it again (`unknown_graves`). Where an archive may hold words of what
    is forgotten and cannot be brought back, the tombstones are left for the next call or start.
    """
    for bank, again in (unknown or {}).items():
        home.tombstones.add(bank, again, home.clock())
    upto = home.tombstones.end()
    by_bank = graves_of(home.tombstones.unfinished())
    if not by_bank:
        return
    for bank, graves in by_bank.items():
        home.graph.bury(bank, sorted(graves))
    home.worker.drain()
    for bank, graves in by_bank.items():
        logged = observations_in(home.log, home.topics)
        observations = {each.id for each in logged if _lies(each.bank, each.id, bank, graves)}
        slots: dict[str, list[str]] = {}
        for stored in all_slots(home.graph, bank):
            for piece in stored.evidence:
                if _lies(bank, piece.observation_id, bank, graves):
                    observations.add(piece.observation_id)
                    slots.setdefault(stored.slot.id, []).append(piece.id)
        told = {
            piece.id: piece.observation_id
            for piece in evidence_in(home.log, home.topics)
            if _lies(piece.bank, piece.observation_id, bank, graves)
        }
        observations.update(told.values())
        evidence = _amend(home, bank, Meant(observations, set(), slots, set(), 0), _silent) | told.keys()
        _clear(home, Forgotten(bank, frozenset(graves), frozenset(evidence)), observations, _silent)
        home.mesh.reindex(bank, home.clock())
        home.mesh.wipe()
    full = [bank for bank in by_bank if not _emptied(home, bank)]
    if not full:
        home.tombstones.finish(upto)


def _emptied(home: Home, bank: str) -> bool:
    """Whether nothing of the bank is in the archive, into which a job may have moved what was to be forgotten."""
    if not home.archive.size(bank) and not home.archive.takes(bank):
        return True
    try:
        with unarchived(home, bank):
            return True
    except (Busy, StoreUnavailable) as error:
        log_events.warning("forgetting.unfinished", bank=bank, reason=str(error))
        return False


def unknown_graves(home: Home) -> dict[str, set[str]]:
    """The graves of tombstones that the graph lacks, by bank: it is a copy from before, and may hold what lies there.

    Costs a look at every tombstone; nothing where there is none.
    """
    unknown: dict[str, set[str]] = {}
    for stone in home.tombstones.all():
        for some in parts(stone.graves):
            if lacking := set(some) - home.graph.buried(stone.bank, some):
                unknown.setdefault(stone.bank, set()).update(lacking)
    return unknown


def _silent(_step: str, _done: int, _total: int) -> None:
    """Report to nobody."""


def _lies(bank: str, observation: str, of: str, graves: Collection[str]) -> bool:
    return bank == of and grave(bank, observation) in graves


def _would_go(bank: str, meant: Meant) -> ForgetReport:
    return ForgetReport(
        bank=bank,
        observations=len(meant.observations),
        derived=len(meant.derived),
        evidence=sum(map(len, meant.slots.values())),
        beliefs=len(meant.beliefs),
        slots=len(meant.slots),
        unknown=meant.unknown,
    )


def _amend(home: Home, bank: str, meant: Meant, progress: Progress) -> frozenset[str]:
    """Take the evidence of all of it out of its slots; returns the ids.

    Looks again until there is none: a batch may have been under way as the tombstones were set, and none is by the time
    at which an amendment returns, since a shard does one thing after the other.
    """
    removed: set[str] = set()
    slots = meant.slots
    for _ in range(_ROUNDS):
        done = 0
        for some in parts(sorted(slots)):
            home.worker.amend([Amendment(bank=bank, slot=slot, remove=tuple(slots[slot])) for slot in some])
            done += len(some)
            progress("forgetting", done, len(slots))
        removed.update(chain.from_iterable(slots.values()))
        slots = {}
        for piece in told_by(home, bank, meant.observations):
            slots.setdefault(piece.slot, []).append(piece.id)
        if not slots:
            break
    return frozenset(removed)


def _clear(home: Home, what: Forgotten, observations: Collection[str], progress: Progress) -> int:
    """Take it out of the log, the index, the record of a language model, and their files; returns records gone."""
    progress("clearing the log", 0, 3)
    home.worker.drain()
    home.recalls.flush()
    records = erase(home.log, home.topics, home.graph, what)
    progress("clearing the log", 1, 3)
    home.worker.drain()
    record = open_record(home.urls.record, wanted=False)
    if record is not None:
        record.forget(what.bank, sorted(observations))
        record.close()
    progress("clearing the files", 2, 3)
    prune_usage(home.graph, what.bank, home.usage)
    home.replies.erase(what.bank, home.clock())
    home.log.wipe()
    home.graph.wipe()
    home.mesh.wipe()
    progress("clearing the files", 3, 3)
    return records
