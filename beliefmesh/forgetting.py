"""Forgetting on request: which observations are meant, what goes with them, and the order in which it is made to go."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec
import structlog

from beliefmesh.home import Home
from beliefmesh.narrate import NARRATOR
from beliefmesh.work import unarchived
from beliefs.amend import amend
from beliefs.narrative import ATTRIBUTE
from beliefs.resolve import judged
from jobs.usage import prune_usage
from recall.reflect import REFLECTED
from recall.summary import SUMMARISED, SUMMARY
from schemas.errors import Busy, InvalidInput, StoreUnavailable
from schemas.evidence import Evidence
from schemas.limits import check_name
from schemas.observation import Observation, Source
from schemas.slot import Amendment, belief_id
from schemas.tombstone import grave
from stores.language.record import open_record
from stores.pages import all_slots
from streams.erasure import Forgotten, erase, evidence_in, observations_in, told_in
from streams.tombstones import graves_of

_AT_ONCE = 2_000
_ROUNDS = 5
_RETELLING = {(SUMMARISED, SUMMARY), (NARRATOR, ATTRIBUTE)}
"""Source and attribute of our own texts. They may repeat any voice of a premise, so they go where one of those goes."""

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


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants forgotten: observations or beliefs by id, all of an owner, all from a source."""

    ids: frozenset[str] = frozenset()
    owner: str = ""
    source: str = ""

    def names(self, owner: str, source: Source) -> bool:
        """Whether owner or source are those meant; a source is meant by its id or its origin."""
        return bool((self.owner and owner == self.owner) or (self.source and self.source in (source.id, source.origin)))


class _Meant(msgspec.Struct):
    """The observations meant, the evidence of them that the graph holds, by slot, and letters of unreadable lines."""

    observations: set[str]
    derived: set[str]
    slots: dict[str, list[str]]
    beliefs: set[str]
    unknown: int
    letters: tuple[str, ...] = ()


class _Fallen(msgspec.Struct, frozen=True):
    """Beliefs that would be no more, would read otherwise, would stay with a voice less in their slot; its evidence."""

    gone: set[str]
    reworded: set[str]
    touched: set[str]
    slots: dict[str, list[str]]


def wanted_of(ids: object, owner: object, source: object) -> Wanted:
    """Read what is to be forgotten. Raises InvalidInput where nothing is named, or something by an empty text."""
    if ids is None and owner is None and source is None:
        raise InvalidInput("forget", "names nothing; give ids, an owner or a source")
    if isinstance(ids, str) or not isinstance(ids if ids is not None else (), Iterable):
        raise InvalidInput("ids", "must be a list of ids of observations or beliefs")
    named = frozenset(check_name(id, "ids") for id in ids) if isinstance(ids, Iterable) else frozenset()
    if ids is not None and not named and owner is None and source is None:
        raise InvalidInput("ids", "are none; give at least one id, or an owner or a source")
    return Wanted(
        ids=named,
        owner="" if owner is None else check_name(owner, "owner"),
        source="" if source is None else check_name(source, "source"),
    )


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
    meant = _meant(home, bank, wanted)
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
        evidence = _amend(home, bank, _Meant(observations, set(), slots, set(), 0), _silent) | told.keys()
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
        for some in _parts(stone.graves):
            if lacking := set(some) - home.graph.buried(stone.bank, some):
                unknown.setdefault(stone.bank, set()).update(lacking)
    return unknown


def _silent(_step: str, _done: int, _total: int) -> None:
    """Report to nobody."""


def _lies(bank: str, observation: str, of: str, graves: Collection[str]) -> bool:
    return bank == of and grave(bank, observation) in graves


def _meant(home: Home, bank: str, wanted: Wanted) -> _Meant:
    """Which observations are meant, with those that only follow from beliefs that go with them."""
    chosen, known = _of_beliefs(home, bank, wanted.ids)
    follows: dict[str, set[str]] = {}
    judging: dict[str, set[str]] = {}
    retelling: dict[str, set[str]] = {}
    logged: set[str] = set()
    for each in observations_in(home.log, home.topics):
        if each.bank == bank:
            if each.id in wanted.ids or wanted.names(each.owner, each.source):
                logged.add(each.id)
            for premise in _premises(each):
                follows.setdefault(premise, set()).add(each.id)
                if each.source.id == REFLECTED:
                    judging.setdefault(premise, set()).add(each.id)
                elif any((each.source.id, claim.attribute) in _RETELLING for claim in each.claims):
                    retelling.setdefault(premise, set()).add(each.id)
    aside, letters = _set_aside(home, bank, wanted)
    logged |= aside
    chosen |= logged
    pieces = _told_by(home, bank, wanted.ids)
    if wanted.owner or wanted.source:
        pieces = chain(pieces, _named(home, bank, wanted))
    seen = {piece.observation_id for piece in pieces}
    chosen |= seen
    known |= (logged | seen) & wanted.ids
    derived: set[str] = set()
    fallen = _fallen(home, bank, chosen)
    while (
        following := {
            *_after(fallen.gone, follows),
            *_after(fallen.reworded, judging),
            *_after(fallen.touched, retelling),
        }
        - chosen
    ):
        derived |= following
        chosen |= following
        fallen = _fallen(home, bank, chosen)
    return _Meant(chosen, derived, fallen.slots, fallen.gone, len(wanted.ids - known), letters)


def _set_aside(home: Home, bank: str, wanted: Wanted) -> tuple[set[str], tuple[str, ...]]:
    """Observations meant that lie among the dead letters, and the letters of lines that nobody could read."""
    chosen: set[str] = set()
    letters: list[str] = []
    for letter in home.letters.all():
        for told in told_in(letter):
            if told.bank == bank and (told.id in wanted.ids or wanted.names(told.owner, told.source)):
                if told.id:
                    chosen.add(told.id)
                else:
                    letters.append(letter.id)
    return chosen, tuple(letters)


def _premises(observation: Observation) -> Iterator[str]:
    return chain.from_iterable(claim.premises for claim in observation.claims)


def _of_beliefs(home: Home, bank: str, ids: Collection[str]) -> tuple[set[str], set[str]]:
    """The observations whose evidence speaks for or against the value of a belief among the ids, and those ids."""
    beliefs = {}
    for some in _parts(sorted(ids)):
        beliefs.update(home.graph.beliefs(bank, some))
    wanted = {belief.id for belief in beliefs.values()}
    policy = home.graph.policy(bank)
    now = home.clock()
    chosen: set[str] = set()
    for some in _parts(sorted({belief.slot for belief in beliefs.values()})):
        for id, stored in home.graph.load_slots(bank, some).items():
            for voice in judged(stored.evidence, policy, now)[0].voices:
                if belief_id(id, voice.evidence.scope, voice.value_key) in wanted:
                    chosen.add(voice.evidence.observation_id)
    return chosen, set(beliefs)


def _told_by(home: Home, bank: str, observations: Collection[str]) -> Iterator[Evidence]:
    for some in _parts(sorted(observations)):
        yield from home.graph.evidence_of_observations(bank, some)


def _named(home: Home, bank: str, wanted: Wanted) -> Iterator[Evidence]:
    for stored in all_slots(home.graph, bank):
        yield from (piece for piece in stored.evidence if wanted.names(piece.owner, piece.source))


def _after(beliefs: Iterable[str], follows: Mapping[str, set[str]]) -> Iterator[str]:
    return chain.from_iterable(follows.get(id, ()) for id in beliefs)


def _fallen(home: Home, bank: str, observations: Collection[str]) -> _Fallen:
    """What would become of the beliefs without these observations."""
    slots: dict[str, list[str]] = {}
    for piece in _told_by(home, bank, observations):
        slots.setdefault(piece.slot, []).append(piece.id)
    policy = home.graph.policy(bank)
    now = home.clock()
    fallen = _Fallen(set(), set(), set(), slots)
    for some in _parts(sorted(slots)):
        for id, stored in home.graph.load_slots(bank, some).items():
            revision = amend(stored, slots[id], (), policy, now)
            left = {belief.id: belief.statement for belief in revision.stored.slot.beliefs} if revision else {}
            for belief in stored.slot.beliefs:
                if belief.id not in left:
                    fallen.gone.add(belief.id)
                    continue
                fallen.touched.add(belief.id)
                if belief.statement != left[belief.id]:
                    fallen.reworded.add(belief.id)
    return fallen


def _would_go(bank: str, meant: _Meant) -> ForgetReport:
    return ForgetReport(
        bank=bank,
        observations=len(meant.observations),
        derived=len(meant.derived),
        evidence=sum(map(len, meant.slots.values())),
        beliefs=len(meant.beliefs),
        slots=len(meant.slots),
        unknown=meant.unknown,
    )


def _amend(home: Home, bank: str, meant: _Meant, progress: Progress) -> frozenset[str]:
    """Take the evidence of all of it out of its slots; returns the ids.

    Looks again until there is none: a batch may have been under way as the tombstones were set, and none is by the time
    at which an amendment returns, since a shard does one thing after the other.
    """
    removed: set[str] = set()
    slots = meant.slots
    for _ in range(_ROUNDS):
        done = 0
        for some in _parts(sorted(slots)):
            home.worker.amend([Amendment(bank=bank, slot=slot, remove=tuple(slots[slot])) for slot in some])
            done += len(some)
            progress("forgetting", done, len(slots))
        removed.update(chain.from_iterable(slots.values()))
        slots = {}
        for piece in _told_by(home, bank, meant.observations):
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


def _parts(some: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(some), _AT_ONCE):
        yield some[start : start + _AT_ONCE]
