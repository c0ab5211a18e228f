"""What is meant by a wish to forget: which observations, and which conclusions and texts of ours go with them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from beliefmesh.home import Home
from beliefmesh.narrate import NARRATOR
from beliefs.amend import amend
from beliefs.narrative import ATTRIBUTE
from beliefs.resolve import judged
from recall.reflect import REFLECTED
from recall.summary import SUMMARISED, SUMMARY
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.limits import check_name
from schemas.observation import Observation, Source
from schemas.slot import belief_id
from stores.pages import all_slots
from streams.erasure import observations_in, told_in

_AT_ONCE = 2_000
_RETELLING = {(SUMMARISED, SUMMARY), (NARRATOR, ATTRIBUTE)}
"""Source and attribute of our own texts. They may repeat any voice of a premise, so they go where one of those goes."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants forgotten: observations or beliefs by id, all of an owner, all from a source."""

    ids: frozenset[str] = frozenset()
    owner: str = ""
    source: str = ""

    def names(self, owner: str, source: Source) -> bool:
        """Whether owner or source are those meant; a source is meant by its id or its origin."""
        return bool((self.owner and owner == self.owner) or (self.source and self.source in (source.id, source.origin)))


class Meant(msgspec.Struct):
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


def meant_by(home: Home, bank: str, wanted: Wanted) -> Meant:
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
    pieces = told_by(home, bank, wanted.ids)
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
    return Meant(chosen, derived, fallen.slots, fallen.gone, len(wanted.ids - known), letters)


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
    for some in parts(sorted(ids)):
        beliefs.update(home.graph.beliefs(bank, some))
    wanted = {belief.id for belief in beliefs.values()}
    policy = home.graph.policy(bank)
    now = home.clock()
    chosen: set[str] = set()
    for some in parts(sorted({belief.slot for belief in beliefs.values()})):
        for id, stored in home.graph.load_slots(bank, some).items():
            for voice in judged(stored.evidence, policy, now)[0].voices:
                if belief_id(id, voice.evidence.scope, voice.value_key) in wanted:
                    chosen.add(voice.evidence.observation_id)
    return chosen, set(beliefs)


def told_by(home: Home, bank: str, observations: Collection[str]) -> Iterator[Evidence]:
    """The evidence that these observations gave, as far as the graph holds it."""
    for some in parts(sorted(observations)):
        yield from home.graph.evidence_of_observations(bank, some)


def _named(home: Home, bank: str, wanted: Wanted) -> Iterator[Evidence]:
    for stored in all_slots(home.graph, bank):
        yield from (piece for piece in stored.evidence if wanted.names(piece.owner, piece.source))


def _after(beliefs: Iterable[str], follows: Mapping[str, set[str]]) -> Iterator[str]:
    return chain.from_iterable(follows.get(id, ()) for id in beliefs)


def _fallen(home: Home, bank: str, observations: Collection[str]) -> _Fallen:
    """What would become of the beliefs without these observations."""
    slots: dict[str, list[str]] = {}
    for piece in told_by(home, bank, observations):
        slots.setdefault(piece.slot, []).append(piece.id)
    policy = home.graph.policy(bank)
    now = home.clock()
    fallen = _Fallen(set(), set(), set(), slots)
    for some in parts(sorted(slots)):
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


def parts(some: Sequence[str]) -> Iterator[Sequence[str]]:
    """Ids in parts of a bearable size."""
    for start in range(0, len(some), _AT_ONCE):
        yield some[start : start + _AT_ONCE]
