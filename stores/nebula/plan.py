"""What a decision changes in the graph on NebulaGraph: rows and edges to add before its slot moves on, and to remove.

Rows and edges stand outside of the slot's own row, so a writer that dies leaves some about. What it is going to add
is therefore noted in the slot (`loose`) when the slot is claimed, and what is to be removed when it is committed; the
next writer of the slot removes whatever of it is not wanted. Nothing is ever found by searching.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from schemas.belief import Belief
from schemas.digest import is_voice
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence, contents
from schemas.slot import Decision, Slot
from stores.nebula import statements as ngql
from stores.nebula.edges import EdgeKey, Edges, delete_edges, evidence_edges, slot_edges
from stores.nebula.rows import Row, read, written
from stores.nebula.schema import NEVER
from stores.nebula.script import ROWS_AT_ONCE, Script, name, vids
from stores.nebula.vid import vid
from stores.nebula.voices import body_of


class Loose(msgspec.Struct, frozen=True, omit_defaults=True):
    """Rows and edges that may be there and are not (or no longer) the slot's.

    `entities` are those that what is gone named; they go only if nothing else names them. `digests` may have no voice.
    """

    edges: tuple[EdgeKey, ...] = ()
    evidence: tuple[str, ...] = ()
    beliefs: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    entities: dict[str, Entity] = {}
    digests: tuple[str, ...] = ()

    def with_all(self, other: "Loose") -> "Loose":
        """What is in either."""
        return Loose(
            tuple(sorted({*self.edges, *other.edges})),
            tuple(sorted({*self.evidence, *other.evidence})),
            tuple(sorted({*self.beliefs, *other.beliefs})),
            tuple(sorted({*self.aliases, *other.aliases})),
            self.entities | other.entities,
            tuple(sorted({*self.digests, *other.digests})),
        )


NOTHING = Loose()


class Head(msgspec.Struct, frozen=True):
    """A slot's row as it was read before it is written; version 0 where there is none."""

    vid: str
    version: int = 0
    claim: str = ""
    claimed: str = ""
    body: str = ""
    loose: Loose = NOTHING

    @classmethod
    def of(cls, row: Row) -> "Head":
        """A row of FETCH_SLOTS."""
        loose = read(row["loose"], Loose) if row["loose"] else NOTHING
        return cls(
            vid=str(row["vid"]),
            version=int(str(row["version"])),
            claim=str(row["claim"]),
            claimed=str(row["claimed"]),
            body=str(row["body"]),
            loose=loose,
        )

    def slot(self) -> Slot | None:
        """The view that stands in it."""
        return read(self.body, Slot) if self.version else None


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A slot to be claimed, as it was read, and what is noted in it meanwhile."""

    head: Head
    intent: Loose


class Plan(Wanted, frozen=True, kw_only=True):
    """One decision's changes; `body` and `bodies` are the slot's view and the evidence as they are kept.

    `undone` is what a dead writer left, `removed` what the slot no longer states; `new` and `changed` are beliefs
    that were not and that were in the slot before.
    """

    slot: Slot
    body: str
    evidence: tuple[Evidence, ...]
    bodies: tuple[str, ...]
    edges: Edges
    replaced: tuple[EdgeKey, ...]
    new: tuple[Belief, ...]
    changed: tuple[Belief, ...]
    aliases: dict[str, str]
    undone: Loose
    removed: Loose

    @property
    def review_at(self) -> int:
        """When the slot is due."""
        return NEVER if self.slot.review_at is None else self.slot.review_at


def plan(
    decision: Decision,
    head: Head,
    pieces: Iterable[Evidence],
    stored: Mapping[str, Evidence],
    in_use: Collection[str] = (),
) -> Plan:
    """The changes of a decision, of which `pieces` are the evidence that is to be written.

    `stored` is the evidence that is there, by vid; `in_use` the digests of which a voice will be left. Raises
    InvalidInput for text that cannot be kept.
    """
    before = head.slot()
    slot = msgspec.structs.replace(
        decision.slot, beliefs=tuple(sorted(decision.slot.beliefs, key=lambda belief: belief.id))
    )
    had = {belief.id for belief in before.beliefs} if before else set()
    touched = {belief.id for belief in decision.beliefs} | set(head.loose.beliefs)
    new = tuple(belief for belief in slot.beliefs if belief.id not in had)
    changed = tuple(belief for belief in slot.beliefs if belief.id in had & touched)
    evidence = tuple(pieces)
    former: Edges = slot_edges(before) if before else {}
    wanted = slot_edges(slot)
    edges, replaced = _edges_to_write(slot, evidence, stored)
    edges = {key: values for key, values in wanted.items() if key not in former} | edges
    fresh = {piece.id for piece in evidence if vid(piece.bank, piece.id) not in stored}
    leaving = _leaving(decision, evidence, stored)
    spare = digests_touched(head, stored.values()) - set(in_use)
    return Plan(
        head=head,
        slot=slot,
        body=written(slot),
        evidence=evidence,
        bodies=tuple(map(body_of, evidence)),
        edges=edges,
        replaced=replaced,
        new=new,
        changed=changed,
        aliases={id: to for id, to in slot.aliases.items() if before is None or before.aliases.get(id) != to},
        intent=_coming(edges, evidence, fresh, (*new, *changed)).with_all(head.loose),
        undone=_undone(head.loose, slot, wanted.keys() | edges.keys(), fresh, had),
        removed=_left(slot, leaving, former.keys() - wanted.keys(), had, spare),
    )


def _edges_to_write(
    slot: Slot, evidence: Iterable[Evidence], stored: Mapping[str, Evidence]
) -> tuple[Edges, tuple[EdgeKey, ...]]:
    """The edges of evidence that are not there, and those of what stood in its place that go."""
    edges: Edges = {}
    replaced: list[EdgeKey] = []
    for piece in evidence:
        there = stored.get(vid(piece.bank, piece.id))
        old = evidence_edges(there, 0) if there else {}
        mine = evidence_edges(piece, slot.version)
        edges.update((key, values) for key, values in mine.items() if key not in old or key.edge == "said")
        replaced += old.keys() - mine.keys()
    return edges, tuple(replaced)


def _coming(edges: Edges, evidence: Iterable[Evidence], fresh: Collection[str], beliefs: Iterable[Belief]) -> Loose:
    """What a write that dies may leave beside the slot."""
    return Loose(
        edges=tuple(sorted(edges)),
        evidence=tuple(sorted(fresh)),
        beliefs=tuple(belief.id for belief in beliefs),
        digests=tuple(sorted({piece.digest for piece in evidence if is_voice(piece)})),
    )


def _leaving(decision: Decision, evidence: Iterable[Evidence], stored: Mapping[str, Evidence]) -> list[Evidence]:
    """What the decision takes out of its slot and puts nothing in the place of."""
    slot, stay = decision.slot, {piece.id for piece in evidence}
    there = (stored.get(vid(slot.bank, id)) for id in decision.removed if id not in stay)
    return [piece for piece in there if piece is not None and piece.slot == slot.id]


def _left(
    slot: Slot,
    leaving: Sequence[Evidence],
    edges: Collection[EdgeKey],
    had: Collection[str],
    digests: Collection[str],
) -> Loose:
    """What the slot no longer states: evidence with its edges, other edges, beliefs that it had, and digests."""
    return Loose(
        edges=tuple(sorted({*edges, *(key for piece in leaving for key in evidence_edges(piece, 0))})),
        evidence=tuple(sorted(piece.id for piece in leaving)),
        beliefs=tuple(sorted({*had} - {belief.id for belief in slot.beliefs})),
        entities={
            entity_id(slot.bank, entity): entity for piece in leaving for entity in {*piece.mentions} - {slot.entity}
        },
        digests=tuple(sorted(digests)),
    )


def _undone(
    loose: Loose, slot: Slot, edges: Collection[EdgeKey], fresh: Collection[str], had: Collection[str]
) -> Loose:
    """What a dead writer left and the slot does not state."""
    beliefs = {*had, *(belief.id for belief in slot.beliefs)}
    return Loose(
        edges=tuple(key for key in loose.edges if key not in edges),
        evidence=tuple(id for id in loose.evidence if id not in fresh),
        beliefs=tuple(id for id in loose.beliefs if id not in beliefs),
        aliases=tuple(id for id in loose.aliases if id not in slot.aliases),
    )


def digests_touched(head: Head, stored: Iterable[Evidence]) -> set[str]:
    """The digests of a slot that a write may leave without a voice; `stored` is the evidence that it touches."""
    return {*head.loose.digests, *(piece.digest for piece in stored if piece.digest and _end(piece) == head.vid)}


def to_write(decisions: Iterable[Decision], stored: Mapping[str, Evidence]) -> dict[str, list[Evidence]]:
    """The evidence that is to be written, by the vid of its slot: what is not there, or stays before what is."""
    smallest: dict[str, Evidence] = {}
    replaced: set[str] = set()
    for decision in decisions:
        removed = (stored.get(vid(decision.slot.bank, id)) for id in decision.removed)
        replaced.update(vid(one.bank, one.id) for one in removed if one and one.slot == decision.slot.id)
        for piece in decision.evidence:
            end = vid(piece.bank, piece.id)
            other = smallest.get(end)
            if other is None or contents(piece) < contents(other):
                smallest[end] = piece
    found: dict[str, list[Evidence]] = {}
    for end, piece in smallest.items():
        there = stored.get(end)
        if there is None or end in replaced or contents(piece) < contents(there):
            found.setdefault(_end(piece), []).append(piece)
    return found


def _end(piece: Evidence) -> str:
    return vid(piece.bank, piece.slot)


def delete_loose(script: Script, bank: str, loose: Loose) -> None:
    """Delete rows and edges. Evidence goes before its edges, what is there can be found; and before its digests."""
    rows = {"evidence": loose.evidence, "digest": loose.digests, "belief": loose.beliefs, "alias": loose.aliases}
    for tag, ids in rows.items():
        for start in range(0, len(ids), ROWS_AT_ONCE):
            some = vids(vid(bank, id) for id in ids[start : start + ROWS_AT_ONCE])
            script.add(ngql.DELETE_ROWS, tag=name(tag), vids=some)
    delete_edges(script, loose.edges)
