"""What a merge of two entities would change, and what it is told as; a merge is evidence, so it is told like any other.

The report compares two readings of the same evidence: as it is, and with the merge supposed.
"""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from beliefs.likeness import Proposal
from beliefs.sameness import Link, link_of, merge_in
from recall.identity import NOTHING_SUPPOSED, Supposed
from recall.outward import belief_to_builtins
from recall.roster import Listed, is_visible, known_by
from recall.seen import Seen, Sight
from schemas.belief import LIVE, Belief, Status
from schemas.entity import Entity, entity_id
from schemas.errors import InvalidInput, NotFound
from schemas.fields import read_entity
from schemas.identity import normal_name
from schemas.instant import Instant
from schemas.limits import check_name
from schemas.query import Principal
from schemas.reserved import ALIAS_TYPE, SAME_AS, is_same_as
from schemas.slot import slot_of
from stores.ports import GraphStore

_MOST_SLOTS = 1_000
_HELD: tuple[Status, ...] = (*LIVE, "stale")
"""What is held by a slot, surely or not."""


class JoinedSlot(msgspec.Struct, frozen=True, omit_defaults=True):
    """An attribute that more than one of the entities has: what each held before, and what holds of them together.

    `conflict` says that the values contradict each other: something that held before does not hold alone after.
    """

    attribute: str
    before: tuple[Belief, ...]
    after: tuple[Belief, ...]
    conflict: bool = False


class MergeReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a merge does, or (not `applied`) would do: the canonical entity, and the slots that join.

    `moves` counts the slots and free statements that only one of the entities has; they are read as the canonical
    one's. `instead_of` is the entity that `entity` was merged into until now, if into another one.
    """

    entity: Entity
    into: Entity
    canonical: Entity
    joins: tuple[JoinedSlot, ...] = ()
    moves: int = 0
    instead_of: Entity | None = None
    applied: bool = False
    ids: tuple[str, ...] = ()
    token: str = ""

    @property
    def conflicts(self) -> tuple[JoinedSlot, ...]:
        """The joined slots whose values contradict each other."""
        return tuple(joined for joined in self.joins if joined.conflict)


class Roster(msgspec.Struct, frozen=True):
    """Entities, as they travel; `next` is the place to go on from, if there may be more."""

    entities: tuple[Listed, ...]
    next: str = ""


class Proposals(msgspec.Struct, frozen=True):
    """Proposed merges, as they travel; `next` is the place to go on from, if there may be more."""

    proposals: tuple[Proposal, ...]
    next: str = ""


def place_of_entity(bank: str, entity: Entity, name: str | None) -> str:
    """Where an entity stands among those listed: by its id; of those that a name finds, first who bears it."""
    id = entity_id(bank, entity)
    return id if name is None else f"{int(normal_name(name) != normal_name(entity.name))}{id}"


def place_of_proposal(bank: str, pair: Proposal) -> str:
    """Where a proposed merge stands among those listed: the likeliest first."""
    return f"{1 - pair.score:.4f}/{entity_id(bank, pair.entity)}/{entity_id(bank, pair.into)}"


def entity_to_builtins(one: Listed) -> dict[str, Any]:
    """An entity with its names and group as plain data."""
    return {
        "id": one.id,
        **_named(one.entity),
        "canonical": _named(one.canonical),
        "aliases": list(one.aliases),
        "same_as": [_named(other) for other in one.same_as],
    }


def proposal_to_builtins(pair: Proposal) -> dict[str, Any]:
    """A proposed merge as plain data."""
    return {
        "entity": _named(pair.entity),
        "into": _named(pair.into),
        "score": pair.score,
        "reasons": list(pair.reasons),
    }


def report_to_builtins(report: MergeReport) -> dict[str, Any]:
    """A report as plain data."""
    return {
        "entity": _named(report.entity),
        "into": _named(report.into),
        "canonical": _named(report.canonical),
        "applied": report.applied,
        "instead_of": None if report.instead_of is None else _named(report.instead_of),
        "joins": [
            {
                "attribute": joined.attribute,
                "conflict": joined.conflict,
                "before": [belief_to_builtins(belief) for belief in joined.before],
                "after": [belief_to_builtins(belief) for belief in joined.after],
            }
            for joined in report.joins
        ],
        "moves": report.moves,
        "ids": list(report.ids),
        "token": report.token,
    }


def seen_by(graph: GraphStore, bank: str, who: Principal, now: Instant, supposed: Supposed = NOTHING_SUPPOSED) -> Seen:
    """A bank as a principal sees it now."""
    return Seen(graph, graph.policy(bank), Sight(bank=bank, principal=who, moment=now), supposed)


def entity_meant(seen: Seen, asked: object, field: str) -> Entity:
    """The entity that a caller names, alone by its name where only one bears it. Raises NotFound, InvalidInput."""
    if isinstance(asked, Mapping) and "bank" in asked:
        raise InvalidInput(f"{field}.bank", "does not apply: entities of two banks are never one; name the bank once")
    if isinstance(asked, str):
        found = known_by(seen, check_name(asked, field))
        if len(found) > 1:
            types = ", ".join(sorted(entity.type for _, entity in found))
            raise InvalidInput(field, f"{asked!r:.80} may be one of several ({types}); name its type too")
        if found:
            return found[0][1]
        raise _unknown(asked)
    named: Entity = asked if isinstance(asked, Entity) else read_entity(asked, field)
    id = entity_id(seen.sight.bank, named)
    if named.type == ALIAS_TYPE or not is_visible(seen, id):
        raise _unknown(f"{named.name} of type {named.type}")
    spelled = dict(seen.graph.entities(seen.sight.bank, [named.name]))
    return spelled.get(id, named)


def is_open(seen: Seen, proposal: Proposal) -> bool:
    """Whether both entities of a proposal are still there, and two."""
    one, other = (entity_id(seen.sight.bank, entity) for entity in (proposal.entity, proposal.into))
    group = seen.identity.groups([one]).get(one)
    apart = group is None or other not in group.members
    return apart and is_visible(seen, one) and is_visible(seen, other)


def merged_into(seen: Seen, entity: Entity) -> Belief | None:
    """The merge of an entity that holds, as a belief."""
    place = slot_of(entity_id(seen.sight.bank, entity), SAME_AS)
    slot = seen.slots([place]).get(place)
    return None if slot is None else merge_in(slot.slot)


def repeated(seen: Seen, entity: Entity, into: Entity, visibility: str, readers: Collection[str]) -> MergeReport | None:
    """The report of just this merge, where it holds already and was told for the same readers: it changes nothing."""
    bank = seen.sight.bank
    id = entity_id(bank, entity)
    place = slot_of(id, SAME_AS)
    found = seen.slots([place]).get(place)
    link, held = (None, None) if found is None else (link_of(found.slot), merge_in(found.slot))
    if found is None or link is None or held is None or entity_id(bank, link.into) != entity_id(bank, into):
        return None
    words = [
        piece
        for piece in found.evidence
        if (piece.value, piece.stance, piece.kind) == (held.value, "supports", "instruction")
        and (piece.visibility, set(piece.readers)) == (visibility, set(readers))
    ]
    if not words:
        return None
    newest = max(words, key=lambda piece: (piece.effective_at, piece.id))
    canonical = seen.identity.groups([id])[id].canonical
    return MergeReport(entity=entity, into=into, canonical=canonical, applied=True, ids=(newest.observation_id,))


def after_all_said(seen: Seen, entity: Entity) -> Instant:
    """A time at which a word on an entity's merges is newer than all earlier ones: now, or just after the last."""
    place = slot_of(entity_id(seen.sight.bank, entity), SAME_AS)
    slot = seen.slots([place]).get(place)
    said = [] if slot is None else [piece.effective_at + 1 for piece in slot.evidence if not piece.scheduled]
    return max([seen.sight.moment, *said])


def preview_of(before: Seen, entity: Entity, into: Entity) -> MergeReport:
    """What merging an entity into another one would change. Raises InvalidInput where the two are one already."""
    bank = before.sight.bank
    id, target = entity_id(bank, entity), entity_id(bank, into)
    if id == target:
        raise InvalidInput("into", f"is {into.name!r:.80} itself; name another entity to merge it into")
    group = before.identity.groups([id]).get(id)
    if group is not None and target in group.members:
        raise InvalidInput(
            "into", f"{into.name!r:.80} and {entity.name!r:.80} are one already; unmerge first to merge them anew"
        )
    link = Link(entity, into)
    after = seen_by(before.graph, bank, before.sight.principal, before.sight.moment, {id: link})
    joins, moves = _joins(before, after, id)
    former = before.identity.link(id)
    return MergeReport(
        entity=entity,
        into=into,
        canonical=after.identity.groups([id])[id].canonical,
        joins=joins,
        moves=moves,
        instead_of=None if former is None else former.into,
    )


def _joins(before: Seen, after: Seen, id: str) -> tuple[tuple[JoinedSlot, ...], int]:
    bank = before.sight.bank
    members = after.identity.members([id])
    ids = [slot for member in members for slot in before.graph.slots_of_entity(bank, member, _MOST_SLOTS)]
    apart, together = before.slots(ids), after.slots(ids)
    joined: dict[str, list[str]] = {}
    for slot, seen in together.items():
        if slot in apart and not is_same_as(seen.slot.attribute):
            joined.setdefault(seen.slot.id, []).append(slot)
    joins = [
        _joined(
            [belief for slot in some for belief in apart[slot].slot.beliefs if belief.status in _HELD],
            [belief for belief in together[some[0]].slot.beliefs if belief.status in _HELD],
            together[some[0]].slot.attribute,
        )
        for some in joined.values()
        if len({apart[slot].slot.id for slot in some}) > 1
    ]
    return tuple(sorted(joins, key=lambda one: one.attribute)), len(joined) - len(joins)


def _joined(before: list[Belief], after: list[Belief], attribute: str | None) -> JoinedSlot:
    alive = {(belief.scope, str(belief.value)) for belief in after}
    fell = any((belief.scope, str(belief.value)) not in alive for belief in before)
    conflict = fell or any(belief.status == "contested" for belief in after)
    return JoinedSlot(attribute or "", tuple(before), tuple(after), conflict)


def _named(entity: Entity) -> dict[str, str]:
    return {"name": entity.name, "type": entity.type}


def _unknown(named: str) -> NotFound:
    return NotFound(f"there is no entity {named!r:.80} in this bank that you may see; check name and type")
