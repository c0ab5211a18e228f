"""What to write when evidence comes in or time has passed: a slot as stored becomes a decision (design 3.12)."""

from collections.abc import Mapping, Sequence
from operator import attrgetter

import msgspec

from beliefs.access import public
from beliefs.counting import NONE_FALLEN, Fallen
from beliefs.merge_edges import strongest
from beliefs.resolve import judged, resolve
from schemas.belief import Belief
from schemas.digest import wordless
from schemas.edge import Edge
from schemas.evidence import Evidence, contents
from schemas.identity import digest
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import BeliefChange, Change, Decision, Slot, StoredSlot, belief_id
from schemas.wire import dump

_BY_ID = attrgetter("id")
_ACCEPTED = attrgetter("ingested_at")


class Revision(msgspec.Struct, frozen=True):
    """The slot after revising, what to write (None: nothing new), and the change to announce either way.

    A change is announced even when nothing is new, since the first announcement may have been lost after the write.
    """

    stored: StoredSlot
    decision: Decision | None
    change: Change


def revise(
    stored: StoredSlot | None,
    incoming: Sequence[Evidence],
    policy: Policy,
    now: Instant,
    fallen: Fallen = NONE_FALLEN,
) -> Revision:
    """Add evidence to a slot (or none, to review it) and decide it anew from all its evidence.

    `fallen` are those of its premises that are not held.
    """
    held = {piece.id: piece for piece in stored.evidence} if stored else {}
    added: dict[str, Evidence] = {}
    for piece in incoming:
        known = added.get(piece.id) or held.get(piece.id)
        if known is None:
            added[piece.id] = piece
        elif replaces(piece, known):
            added[piece.id] = _since(piece, known)
    evidence = sorted((held | added).values(), key=_BY_ID) if added else list(stored.evidence if stored else ())
    return decided(stored, evidence, incoming, tuple(added.values()), policy, now, fallen=fallen)


def decided(
    stored: StoredSlot | None,
    evidence: Sequence[Evidence],
    incoming: Sequence[Evidence],
    added: tuple[Evidence, ...],
    policy: Policy,
    now: Instant,
    removed: tuple[str, ...] = (),
    fallen: Fallen = NONE_FALLEN,
    demote: bool = False,
) -> Revision:
    """A slot as `evidence`, which is not empty, makes it, `added` being new in it and `removed` gone from it."""
    before = stored.slot if stored else None
    after = view(evidence, policy, now, fallen)
    version = (before.version if before else 0) + 1
    demoted = demote or (before is not None and before.demoted and not added)
    beliefs, changed = _versions(before, after, version, anew=before is not None and before.demoted != demoted)
    slot = msgspec.structs.replace(
        after,
        beliefs=beliefs,
        version=version,
        aliases=_aliases(before, after, evidence, policy, now),
        demoted=demoted,
    )
    if before is not None and not added and not removed and not changed and _same(before, slot):
        return Revision(stored or StoredSlot(slot, ()), None, _nothing_moved(before, now, incoming))
    former = {belief.id: belief.status for belief in before.beliefs} if before else {}
    gone = tuple(sorted((former.keys() - {belief.id for belief in beliefs}) | slot.aliases.keys()))
    moves = tuple(BeliefChange(belief.id, version, belief.status, former.get(belief.id)) for belief in changed)
    decision = Decision(
        slot=slot, expected_version=version - 1, evidence=added, beliefs=tuple(changed), removed=removed
    )
    change = _change(slot, now, moves, gone, incoming, added)
    return Revision(StoredSlot(slot, tuple(evidence)), decision, change)


def _nothing_moved(before: Slot, now: Instant, incoming: Sequence[Evidence]) -> Change:
    """What is told of a slot that evidence left as it was."""
    current = tuple(BeliefChange(belief.id, belief.version, belief.status, belief.status) for belief in before.beliefs)
    return _change(before, now, current, tuple(sorted(before.aliases)), incoming, ())


def view(evidence: Sequence[Evidence], policy: Policy, now: Instant, fallen: Fallen = NONE_FALLEN) -> Slot:
    """The slot as stored: the whole bank's state, and beside it the beliefs that only restricted evidence makes.

    The latter are there to be found, with the edges that lead to them; whoever may see them gets them resolved again
    from what they may see.
    """
    shared = public(evidence)
    if len(shared) == len(evidence):
        return resolve(evidence, policy, now, fallen)
    everything = resolve(evidence, policy, now, fallen)
    if not shared:
        return everything
    bank = resolve(shared, policy, now, fallen)
    known = {belief.id for belief in bank.beliefs}
    hidden = {belief.id: belief for belief in everything.beliefs if belief.id not in known}
    reviews = [at for at in (bank.review_at, everything.review_at) if at is not None]
    return msgspec.structs.replace(
        everything,
        beliefs=tuple(sorted((*bank.beliefs, *hidden.values()), key=_BY_ID)),
        review_at=min(reviews, default=None),
        edges=_joined(bank.edges, everything.edges, hidden),
    )


def _joined(shared: Sequence[Edge], all_edges: Sequence[Edge], hidden: Mapping[str, Belief]) -> tuple[Edge, ...]:
    """The bank's edges, and those of the whole that lead to hidden beliefs or that merges are found by."""
    edges = (*shared, *(edge for edge in all_edges if _leads_to(edge, hidden) or edge.type == "same_as"))
    return strongest(edges) if any(edge.type == "same_as" for edge in edges) else edges


def _leads_to(edge: Edge, hidden: Mapping[str, Belief]) -> bool:
    return (edge.src if edge.type == "derived_from" else edge.dst) in hidden


def fingerprint(slot: Slot) -> str:
    """A hash of a slot's state without what depends on the way there: versions, aliases, tier, times."""
    beliefs = tuple(msgspec.structs.replace(belief, version=0) for belief in slot.beliefs)
    bare = msgspec.structs.replace(
        slot, beliefs=beliefs, version=0, aliases={}, resolved_at=0, demoted=False, settled_by=""
    )
    return digest(dump(bare).hex())


def _versions(before: Slot | None, after: Slot, version: int, *, anew: bool) -> tuple[tuple[Belief, ...], list[Belief]]:
    """Beliefs that are as they were keep their version, unless all are to be indexed anew; the others get a new one."""
    former = {belief.id: belief for belief in before.beliefs} if before else {}
    beliefs = []
    changed = []
    for belief in after.beliefs:
        old = former.get(belief.id)
        if old is not None and not anew and msgspec.structs.replace(belief, version=old.version) == old:
            beliefs.append(old)
        else:
            new = msgspec.structs.replace(belief, version=version)
            beliefs.append(new)
            changed.append(new)
    return tuple(beliefs), changed


def _same(before: Slot, after: Slot) -> bool:
    """Whether two views of the same evidence whose beliefs are as they were are one."""
    same_beliefs = len(before.beliefs) == len(after.beliefs)
    same_dates = before.review_at == after.review_at and before.settled_by == after.settled_by
    return same_beliefs and same_dates and before.edges == after.edges


def _change(
    slot: Slot,
    now: Instant,
    moves: tuple[BeliefChange, ...],
    gone: tuple[str, ...],
    incoming: Sequence[Evidence],
    added: Sequence[Evidence],
) -> Change:
    return Change(
        bank=slot.bank,
        slot=slot.id,
        entity=slot.entity,
        slot_version=slot.version,
        at=now,
        beliefs=moves,
        gone=gone,
        observation_ids=tuple(sorted({piece.observation_id for piece in incoming})),
        added=len(added),
        repeated=len(incoming) - len(added),
        accepted_at=min(map(_ACCEPTED, added or incoming), default=0),
    )


def _aliases(
    before: Slot | None, after: Slot, evidence: Sequence[Evidence], policy: Policy, now: Instant
) -> dict[str, str]:
    """Where ids lead that the slot once issued and no longer bears: to the belief that bears their value now."""
    if before is None:
        return {}
    alive = {belief.id for belief in after.beliefs}
    gone = [belief for belief in before.beliefs if belief.id not in alive]
    if not gone:
        return {id: target for id, target in before.aliases.items() if id not in alive}
    hearing, _ = judged(evidence, policy, now)
    moved = {}
    for belief in gone:
        for voice in hearing.voices:
            piece = voice.evidence
            if piece.scope == belief.scope and piece.value == belief.value:
                moved[belief.id] = belief_id(after.id, piece.scope, voice.value_key)
    former = {id: moved.get(target, target) for id, target in before.aliases.items() if id not in alive}
    return former | moved


def _since(piece: Evidence, known: Evidence) -> Evidence:
    """The piece that takes the place of another; told again, a voice has been known since it was told first."""
    first = msgspec.structs.replace(piece, ingested_at=known.ingested_at)
    return first if known.digest and wordless(first) == known else piece


def replaces(piece: Evidence, known: Evidence) -> bool:
    """One id told with two contents: the smaller stays, whichever came first, and of two alike the one with words."""
    return contents(piece) < contents(known)
