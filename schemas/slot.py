"""A slot: the place (bank, entity, attribute) where values compete, its state, and a decision about it."""

from functools import lru_cache
from itertools import chain

import msgspec

from schemas.belief import Belief, Status
from schemas.claim import Network, Scope
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.identity import digest, normal_name
from schemas.instant import Instant

APART: tuple[Network, ...] = ("opinion", "observation")
"""Networks whose beliefs have slots apart from those of the world."""


class Slot(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The view of a slot as of `resolved_at`: its beliefs, and when time alone next changes a status.

    `restricted` says that some evidence is not for the whole bank, so that a reader's own view may differ;
    `in_session` that some of it stands in a session. `settled_by` names the rules that decided it (`Rulebook.name`),
    where no date of it lies ahead: while they are in force, until `review_at`, nothing but the decay of masses moves.
    `aliases` maps ids that this slot once issued to the belief that now bears their value. `edges` are those
    that follow from its state; a store replaces the slot's former edges by them. `demoted` says that it is not
    embedded, for want of room, until something new is told of it.
    """

    id: str
    bank: str
    entity: Entity
    attribute: str | None = None
    beliefs: tuple[Belief, ...] = ()
    version: int = 0
    resolved_at: Instant = 0
    review_at: Instant | None = None
    restricted: bool = False
    in_session: bool = False
    settled_by: str = ""
    aliases: dict[str, str] = {}
    edges: tuple[Edge, ...] = ()
    demoted: bool = False


class StoredSlot(msgspec.Struct, frozen=True, gc=False):
    """What a store holds of a slot: its view and all its evidence."""

    slot: Slot
    evidence: tuple[Evidence, ...]


class Decision(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A write, as data: new evidence, the slot at `expected_version + 1`, and the beliefs that changed.

    `removed` are ids of evidence that leaves the slot for good; one that is in `evidence` as well is replaced by that,
    whichever of the two a store would keep otherwise. `ends` says that none is left: the slot goes too, with all that
    came with it.
    """

    slot: Slot
    expected_version: int
    evidence: tuple[Evidence, ...] = ()
    beliefs: tuple[Belief, ...] = ()
    removed: tuple[str, ...] = ()
    ends: bool = False


class Amendment(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What is to leave a slot for good (ids of its evidence), and what comes in its place, with the same ids or others.

    With a `version` it is for the slot as it was then: nothing is done, and no change told, if it has moved on.
    `demote` takes the slot out of the vectors.
    """

    bank: str
    slot: str
    remove: tuple[str, ...] = ()
    add: tuple[Evidence, ...] = ()
    version: int | None = None
    demote: bool = False


class BeliefChange(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One belief's move from a status (empty when it is new) to another, at a version."""

    id: str
    version: int
    status: Status
    before: Status | None = None


class Change(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What was decided about a slot; for indexers, dependents and subscribers. Safe to receive twice.

    `gone` are ids that the slot once issued and no longer bears. `added` counts the evidence that was new, `repeated`
    what had been there already. `accepted_at` is when the log accepted the earliest of the new evidence, where none is
    new of what was told again; 0 where time or policy alone brought the change. `removed` counts the evidence that left
    for good; `refresh` names the slots whose rows in the index are to be made again, since words of it stand in them.
    """

    bank: str
    slot: str
    entity: Entity
    slot_version: int
    at: Instant
    beliefs: tuple[BeliefChange, ...] = ()
    gone: tuple[str, ...] = ()
    observation_ids: tuple[str, ...] = ()
    added: int = 0
    repeated: int = 0
    accepted_at: Instant = 0
    removed: int = 0
    refresh: tuple[str, ...] = ()


def slot_id(bank: str, entity: Entity, attribute: str | None, statement: str = "", network: Network = "world") -> str:
    """Identity of a slot; each free statement (attribute None) about an entity is a slot of its own.

    Opinions and summaries never compete with facts: they have slots of their own. What was lived is a fact.
    """
    if attribute is None or network in APART:
        return slot_of(entity_id(bank, entity), attribute, statement, network)
    return _attribute_slot(bank, entity, attribute)


def belief_id(slot: str, scope: Scope, value_key: str) -> str:
    """Identity of a belief: its slot, its scope and the normal form of its value."""
    return "b" + digest(slot, *chain.from_iterable(scope), "=", value_key)


@lru_cache(maxsize=65_536)
def _attribute_slot(bank: str, entity: Entity, attribute: str) -> str:
    return slot_of(entity_id(bank, entity), attribute)


def slot_of(entity: str, attribute: str | None, statement: str = "", network: Network = "world") -> str:
    """The same identity for who knows the entity's id."""
    apart = (network,) if network in APART else ()
    if attribute is None:
        return "s" + digest(entity, "free", normal_name(statement), *apart)
    return "s" + digest(entity, "attribute", normal_name(attribute), *apart)
