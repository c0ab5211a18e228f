"""What to write when evidence leaves a slot for good, and other evidence may take its place: forgetting, compaction."""

from collections.abc import Collection, Sequence
from operator import attrgetter

import msgspec

from beliefs.counting import NONE_FALLEN, Fallen
from beliefs.revise import Revision, decided, replaces
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import Change, Decision, Slot, StoredSlot

_BY_ID = attrgetter("id")


def amend(
    stored: StoredSlot | None,
    remove: Sequence[str],
    add: Sequence[Evidence],
    policy: Policy,
    now: Instant,
    *,
    again: bool = False,
    fallen: Fallen = NONE_FALLEN,
    demote: bool = False,
) -> Revision | None:
    """The slot without some of its evidence and with other; None where there is no slot and nothing to make one of.

    It is as if what is removed had never been told. Ids that the slot does not hold are passed over, so that an
    amendment may be repeated; `again` removes them all the same, where a store kept them from a write that died. An id
    that is both removed and added is replaced, whichever of the two would stay otherwise. A slot without any evidence
    ends. With `demote` it is not embedded any more; one that is not stays so where nothing is added but to replace.
    """
    held = {piece.id: piece for piece in stored.evidence} if stored else {}
    there = {piece.id for piece in add if held.get(piece.id) == piece}
    dropped = {id: None for id in remove if id not in there and (id in held or again)}
    kept = {id: piece for id, piece in held.items() if id not in dropped}
    added: dict[str, Evidence] = {}
    for piece in add:
        known = added.get(piece.id) or kept.get(piece.id)
        if known is None or replaces(piece, known):
            added[piece.id] = piece
    if not kept and not added:
        return None if stored is None else _ended(stored, tuple(dropped), now)
    demote = demote or (stored is not None and stored.slot.demoted and added.keys() <= held.keys())
    evidence = sorted((kept | added).values(), key=_BY_ID)
    revision = decided(stored, evidence, add, tuple(added.values()), policy, now, tuple(dropped), fallen, demote)
    gone = [id for id in dropped if id in held]
    return msgspec.structs.replace(revision, change=_told(revision.change, gone, added))


def _ended(stored: StoredSlot, dropped: tuple[str, ...], now: Instant) -> Revision:
    before = stored.slot
    slot = Slot(
        id=before.id, bank=before.bank, entity=before.entity, attribute=before.attribute, version=before.version + 1
    )
    decision = Decision(slot=slot, expected_version=before.version, removed=dropped, ends=True)
    ids = {belief.id for belief in before.beliefs} | before.aliases.keys()
    change = Change(
        bank=slot.bank,
        slot=slot.id,
        entity=slot.entity,
        slot_version=slot.version,
        at=now,
        gone=tuple(sorted(ids)),
    )
    return Revision(StoredSlot(slot, ()), decision, msgspec.structs.replace(change, removed=len(stored.evidence)))


def _told(change: Change, gone: Sequence[str], added: Collection[str]) -> Change:
    """The change with how much left for good, and the slot to be indexed again for those who saw what is gone."""
    if not gone:
        return change
    return msgspec.structs.replace(change, removed=sum(id not in added for id in gone), refresh=(change.slot,))
