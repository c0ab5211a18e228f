"""What moved in a bank, for one principal: the changes that the log holds, each told as they may see it.

A change says how the beliefs of a slot stand now. Where only evidence came that the principal may not see, they hear
nothing; where a slot is gone they hear nothing either, since nobody can tell any more who might have seen it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from beliefmesh.home import Home
from beliefmesh.merging import seen_by
from beliefs.access import visible
from recall.outward import belief_to_builtins
from recall.seen import Seen, SeenSlot
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.errors import InvalidInput, MalformedMessage
from schemas.instant import Instant, format_instant
from schemas.query import Principal
from schemas.slot import Change
from schemas.wire import unpack
from streams.bundles import messages_of
from streams.freshness import offsets_of, token_of
from streams.topics import CHANGES

_AT_ONCE = 100
"""So many records are read of a partition before it is the next one's turn."""

_BEGINNING = "0:0"

Position = Mapping[int, int]
"""For each partition of the changes the offset from which they are still to be told."""


class ToldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A slot that moved: how its beliefs stand now, which of them moved, and by which observations.

    `observations` is empty where time, a policy or other beliefs brought the change.
    """

    bank: str
    slot: str
    entity: Entity
    attribute: str | None
    at: Instant
    changed: tuple[str, ...]
    observations: tuple[str, ...]
    beliefs: tuple[Belief, ...]


class ChangePage(msgspec.Struct, frozen=True):
    """Changes, oldest first within an entity; `next` is the place to go on from, `more` whether there are others now.

    `places` are those after each of the changes.
    """

    changes: tuple[ToldChange, ...]
    places: tuple[str, ...]
    next: str
    more: bool


def changes_after(home: Home, bank: str, who: Principal, after: str, limit: int) -> ChangePage:
    """At least `limit` of the changes after a place, if there are so many; those of one record come together.

    A place names a partition that is not in it from its beginning. Raises InvalidInput for one of another log.
    """
    position = dict(position_of(home, after))
    topic = home.topics.name(CHANGES)
    ends = home.log.ends(topic)
    found: list[ToldChange] = []
    places: list[str] = []
    for partition in _in_turn(position, ends):
        if len(found) >= limit:
            break
        records = home.log.read(topic, partition, position.get(partition, 0), _AT_ONCE)
        for record in records:
            told = _told(home, bank, who, [_change(each.value) for each in messages_of(record)])
            position[partition] = record.offset + 1
            found += told
            places += [""] * (len(told) - 1) + [_place(position)] if told else []
            if len(found) >= limit:
                break
        if not records:
            position[partition] = ends[partition]
    more = any(position.get(partition, 0) < end for partition, end in ends.items())
    return ChangePage(tuple(found), tuple(places), _place(position), more)


def place_now(home: Home) -> str:
    """The place after everything that was decided so far."""
    return _place(home.log.ends(home.topics.name(CHANGES)))


def position_of(home: Home, after: str) -> Position:
    """A place as offsets; the beginning for an empty one. Raises InvalidInput for one of another log."""
    try:
        wanted = offsets_of(after)
    except InvalidInput as error:
        raise _elsewhere(after) from error
    ends = home.log.ends(home.topics.name(CHANGES))
    if any(offset > ends.get(partition, -1) for partition, offset in wanted.items()):
        raise _elsewhere(after)
    return wanted


def moved_to_builtins(moved: ToldChange) -> dict[str, Any]:
    """A change as plain data."""
    return {
        "bank": moved.bank,
        "slot": moved.slot,
        "entity": {"name": moved.entity.name, "type": moved.entity.type},
        "attribute": moved.attribute,
        "at": format_instant(moved.at),
        "changed": list(moved.changed),
        "observations": list(moved.observations),
        "beliefs": [belief_to_builtins(belief) for belief in moved.beliefs],
    }


def _in_turn(position: Position, ends: Position) -> Sequence[int]:
    """The partitions that have something to read, beginning with another one each time."""
    waiting = sorted(partition for partition, end in ends.items() if position.get(partition, 0) < end)
    first = sum(position.values()) % len(waiting) if waiting else 0
    return waiting[first:] + waiting[:first]


def _change(message: bytes) -> Change | None:
    """A change, if the message is one; what is none was set aside by the stage that indexes."""
    try:
        return unpack(message, Change)
    except MalformedMessage:
        return None


def _told(home: Home, bank: str, who: Principal, changes: Sequence[Change | None]) -> list[ToldChange]:
    """What of these changes a principal may hear."""
    own = [change for change in changes if change is not None and change.bank == bank]
    if not own:
        return []
    seen = seen_by(home.graph, bank, who, home.clock())
    slots = seen.slots(change.slot for change in own)
    told = [_moved(seen, change, slots[change.slot]) for change in own if change.slot in slots]
    return [moved for moved in told if moved is not None]


def _moved(seen: Seen, change: Change, slot: SeenSlot) -> ToldChange | None:
    """A change as it is told; None where it came of evidence that may not be seen."""
    pieces = seen.graph.evidence_of_observations(change.bank, change.observation_ids) if change.observation_ids else []
    shown = {piece.observation_id for piece in visible(pieces, seen.sight.principal)}
    if change.added and pieces and not shown:
        return None
    there = {belief.id for belief in slot.slot.beliefs}
    moved = [slot.now(one.id) for one in change.beliefs]
    return ToldChange(
        bank=change.bank,
        slot=slot.slot.id,
        entity=slot.slot.entity,
        attribute=slot.slot.attribute,
        at=change.at,
        changed=tuple(id for id in dict.fromkeys(moved) if id in there),
        observations=tuple(id for id in change.observation_ids if id in shown),
        beliefs=slot.slot.beliefs,
    )


def _place(position: Position) -> str:
    return token_of([(partition, offset - 1) for partition, offset in position.items() if offset]) or _BEGINNING


def _elsewhere(after: str) -> InvalidInput:
    return InvalidInput("after", f"is {after!r:.80}, no place in the changes of this mesh; take the `next` of a page")
