"""The beliefs of a bank as one principal may see them, one after the other in an order that no write changes."""

from collections.abc import Iterator, Sequence

import msgspec

from beliefs.sameness import Group
from recall.identity import mates_of
from recall.roster import asked_about
from recall.seen import Seen
from schemas.belief import Belief, Status
from schemas.claim import Network
from schemas.entity import Entity, entity_id
from schemas.identity import normal_name
from schemas.reserved import is_same_as
from schemas.slot import StoredSlot

_PAGE = 100
_MOST_LOOKED_AT = 2_000
"""So many slots are gone through for one page, however few of them hold what is wanted."""

_EVERY_SLOT = 1_000_000
_PAST_ALL = "~"
"""Sorts after the id of every belief."""

Place = tuple[str, str]
"""A slot and a belief in it, up to which a list was told."""

BEGINNING: Place = ("", "")


class BeliefFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which beliefs are listed; an empty field does not filter."""

    entity: Entity | None = None
    attribute: str = ""
    networks: tuple[Network, ...] = ()
    statuses: tuple[Status, ...] = ()

    def admits(self, belief: Belief) -> bool:
        """Whether a belief is among them; its entity is not looked at."""
        if self.attribute and normal_name(belief.attribute or "") != normal_name(self.attribute):
            return False
        if self.networks and belief.network not in self.networks:
            return False
        return not self.statuses or belief.status in self.statuses


def beliefs_after(seen: Seen, wanted: BeliefFilter, after: Place, limit: int) -> tuple[list[Belief], Place | None]:
    """Up to `limit` of the wanted beliefs after a place, and the place to go on from; None at the end.

    There may be fewer than `limit` of them, even none, before the end.
    """
    found: list[Belief] = []
    for looked_at, slot in enumerate(_slots(seen, wanted, after[0]), 1):
        for belief in _told_at(seen, slot):
            if (slot, belief.id) > after and wanted.admits(belief):
                found.append(belief)
                if len(found) == limit:
                    return found, (slot, belief.id)
        if looked_at == _MOST_LOOKED_AT:
            return found, (slot, _PAST_ALL)
    return found, None


def _slots(seen: Seen, wanted: BeliefFilter, first: str) -> Iterator[str]:
    """Slot ids from `first` on, in order, loaded into sight page by page."""
    for page in _pages(seen, wanted, first):
        seen.slots(page)
        yield from page


def _pages(seen: Seen, wanted: BeliefFilter, first: str) -> Iterator[Sequence[str]]:
    bank, graph = seen.sight.bank, seen.graph
    if wanted.entity is not None:
        members = asked_about(seen, wanted.entity)
        every = sorted({slot for id in members for slot in graph.slots_of_entity(bank, id, _EVERY_SLOT)})
        rest = [slot for slot in every if slot >= first]
        yield from (rest[start : start + _PAGE] for start in range(0, len(rest), _PAGE))
        return
    if first and graph.slots(bank, [first]):
        yield [first]
    while page := graph.scan(bank, first, _PAGE):
        yield page
        first = page[-1]


def _told_at(seen: Seen, slot: str) -> list[Belief]:
    """The beliefs of a slot in id order; where several entities are one, theirs stand at the first of their slots."""
    found = seen.slots([slot]).get(slot)
    if found is None or (seen.identity.any() and not _is_first(seen, slot)):
        return []
    return sorted(found.slot.beliefs, key=lambda belief: belief.id)


def _is_first(seen: Seen, slot: str) -> bool:
    bank = seen.sight.bank
    stored = seen.graph.load_slots(bank, [slot]).get(slot)
    if stored is None or not stored.evidence or is_same_as(stored.slot.attribute):
        return stored is not None
    group = _group_of(seen, stored)
    mates = [] if group is None else mates_of(group, stored)
    return slot == min(seen.graph.slots(bank, mates), default=slot)


def _group_of(seen: Seen, stored: StoredSlot) -> Group | None:
    id = entity_id(seen.sight.bank, stored.slot.entity)
    return seen.identity.groups([id]).get(id)
