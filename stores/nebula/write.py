"""How decisions are written to NebulaGraph, which has no transactions: in an order of which every step may be repeated.

1. Read the slots; one at another version is a conflict, and nothing is written.
2. Claim all of them, noting in each what is going to be added beside it (stores/nebula/claim.py).
3. Evidence: its edges, the digests of voices, then itself, so that evidence that is there can be found and read.
4. Entities, edges, then where beliefs are.
5. Commit each slot: its view, with its beliefs, becomes visible at once, and the claim ends.
6. Where a slot no longer states something, its claim ends only when that is removed; where that fails, the next
   writer of the slot does it.
7. Slots that end are erased (stores/nebula/erase.py).

A writer that dies before 5 has changed nothing that a reader counts as the slot's. Whoever writes the slot next removes
what was left, and the stream brings the observation again: the slot is resolved anew from its evidence.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from schemas.belief import Belief
from schemas.entity import Entity, entity_id
from schemas.errors import StoreUnavailable, VersionConflict
from schemas.evidence import Evidence
from schemas.slot import Decision
from stores.decisions import SlotKey, by_slot
from stores.nebula import statements as ngql
from stores.nebula.claim import Claims, batches
from stores.nebula.edges import add_edges, delete_edges, name_edge
from stores.nebula.erase import Eraser, Erasure
from stores.nebula.errors import NebulaRefused
from stores.nebula.fetch import by_vid, fetch, read_heads
from stores.nebula.pieces import pieces_in
from stores.nebula.plan import NOTHING, Head, Loose, Plan, delete_loose, digests_touched, plan, to_write
from stores.nebula.rows import Row, written
from stores.nebula.script import Fill, Line, Script, quoted, vids
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import bank_vid, vid
from stores.nebula.voices import digest_bodies, voice_in


class Clock:
    """Times of writes in microseconds, each once: they order what the index has yet to see."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def next(self) -> int:
        """Now, or just after the last one given."""
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1_000)
            return self._last


class Writer:
    """Applies decisions, from any number of threads."""

    def __init__(self, sessions: NebulaSessions, clock: Clock, claims: Claims, eraser: Eraser) -> None:
        self._sessions = sessions
        self._clock = clock
        self._claims = claims
        self._eraser = eraser
        self._banks: set[str] = set()

    def apply(self, decisions: Sequence[Decision]) -> None:
        """Write decisions, durable on return; raises VersionConflict with nothing written."""
        asked = by_slot(decisions)
        with self._claims.token() as token:
            held = self._claims.hold(token, lambda: self._heads(asked), lambda heads: self._work(asked, heads))
            plans = [one for one in held if isinstance(one, Plan)]
            try:
                self._add(plans)
                lost = self._commit(plans, token)
            except BaseException:
                self._claims.release(held, token)
                raise
            self._remove([one for one in plans if one.removed != NOTHING and one.slot.id not in lost], token)
            self._erase([key for key, decision in asked.items() if decision.ends], held, token)
        if lost:
            raise VersionConflict(lost)

    def _heads(self, asked: dict[SlotKey, Decision]) -> list[Head]:
        heads = read_heads(self._sessions, list(asked))
        expected = zip(asked.items(), heads, strict=True)
        conflicts = [id for ((_, id), decision), head in expected if head.version != decision.expected_version]
        if conflicts:
            raise VersionConflict(conflicts)
        return heads

    def _work(self, asked: dict[SlotKey, Decision], heads: Sequence[Head]) -> list[Plan | Erasure]:
        by_key = dict(zip(asked, heads, strict=True))
        living = {key: decision for key, decision in asked.items() if not decision.ends}
        ending = [self._eraser.erasure(head) for key, head in by_key.items() if asked[key].ends]
        return [*self._plans(living, [by_key[key] for key in living]), *ending]

    def _erase(self, ended: Sequence[SlotKey], held: Sequence[Plan | Erasure], token: str) -> None:
        erasures = {one.head.vid: one for one in held if isinstance(one, Erasure)}
        by_bank: dict[str, list[Erasure]] = {}
        for bank, id in ended:
            by_bank.setdefault(bank, []).append(erasures[vid(bank, id)])
        for bank, some in by_bank.items():
            try:
                self._eraser.finish(bank, some, token)
            except BaseException:
                self._claims.release(some, token)
                raise

    def _plans(self, asked: dict[SlotKey, Decision], heads: Sequence[Head]) -> list[Plan]:
        stored = self._stored(asked)
        for key, head in zip(asked, heads, strict=True):
            for id in head.loose.evidence:  # what a dead writer left half-written
                piece = stored.get(vid(key[0], id))
                if piece is not None and (piece.bank, piece.slot) == key and id not in asked[key].removed:
                    del stored[vid(key[0], id)]
        pieces = to_write(asked.values(), stored)
        return [
            plan(decision, head, adds, stored, self._in_use(decision, head, adds, stored))
            for decision, head in zip(asked.values(), heads, strict=True)
            for adds in [pieces.get(head.vid, ())]
        ]

    def _stored(self, asked: dict[SlotKey, Decision]) -> dict[str, Evidence]:
        """The evidence that is there of what is written and removed, by its vid."""
        by_bank: dict[str, dict[str, None]] = {}
        for (bank, _), decision in asked.items():
            for id in (*(piece.id for piece in decision.evidence), *decision.removed):
                by_bank.setdefault(bank, {})[vid(bank, id)] = None
        stored: dict[str, Evidence] = {}
        for bank, ends in by_bank.items():
            rows = fetch(self._sessions, ngql.FETCH_EVIDENCE, list(ends))
            pieces = pieces_in(self._sessions, bank, [row["body"] for row in rows.values()])
            stored.update((end, piece) for end, piece in zip(rows, pieces, strict=True) if piece is not None)
        return stored

    def _in_use(
        self, decision: Decision, head: Head, pieces: Sequence[Evidence], stored: dict[str, Evidence]
    ) -> set[str]:
        """The digests of a slot that a voice is left of; looked for only where one may be left without."""
        coming = {piece.digest for piece in pieces if piece.digest}
        if not digests_touched(head, stored.values()) - coming:
            return coming
        leaving = {*decision.removed, *(piece.id for piece in pieces)}
        rows = self._sessions.read(ngql.HELD_EVIDENCE, vids=quoted(head.vid))
        voices = [voice for row in rows if (voice := voice_in(row["body"])) is not None]
        return coming | {voice.digest for voice in voices if voice.own.id not in leaving}

    def _add(self, plans: Sequence[Plan]) -> None:
        script = Script()
        self._add_evidence(script, plans)
        self._add_entities(script, plans)
        self._add_beliefs(script, plans)
        self._sessions.write(script)
        self._banks.update(plan.slot.bank for plan in plans)

    def _add_evidence(self, script: Script, plans: Sequence[Plan]) -> None:
        _delete(script, [(one.slot.bank, one.undone) for one in plans])
        delete_edges(script, [key for one in plans for key in one.replaced])
        add_edges(script, {key: values for one in plans for key, values in one.edges.items()})
        digests = {end: body for one in plans for end, body in digest_bodies(one.evidence).items()}
        rows = [Line(ngql.DIGEST_ROW, {"vid": quoted(end), "body": body}) for end, body in digests.items()]
        script.add_rows(ngql.INSERT_DIGESTS, rows)
        lines = [
            Line(
                ngql.EVIDENCE_ROW,
                {
                    "vid": quoted(vid(piece.bank, piece.id)),
                    "bank": piece.bank,
                    "id": piece.id,
                    "body": body,
                },
            )
            for one in plans
            for piece, body in zip(one.evidence, one.bodies, strict=True)
        ]
        script.add_rows(ngql.INSERT_EVIDENCE, lines)

    def _add_entities(self, script: Script, plans: Sequence[Plan]) -> None:
        for bank in sorted({one.slot.bank for one in plans} - self._banks):
            script.add(ngql.PUT_BANK, vid=quoted(bank_vid(bank)), name=bank)
        smallest = _entities(plans)
        rows = fetch(self._sessions, ngql.FETCH_ENTITIES, [vid(*key) for key in smallest])
        missing = {key: entity for key, entity in smallest.items() if vid(*key) not in rows}
        edges = {
            key: values for (bank, id), entity in missing.items() for key, values in name_edge(bank, id, entity).items()
        }
        add_edges(script, edges)
        for (bank, id), entity in smallest.items():
            row = rows.get(vid(bank, id))
            if row is None or (entity.name, entity.type) < (str(row["name"]), str(row["type"])):
                script.add(
                    ngql.PUT_ENTITY, vid=quoted(vid(bank, id)), bank=bank, id=id, name=entity.name, type=entity.type
                )

    def _add_beliefs(self, script: Script, plans: Sequence[Plan]) -> None:
        lines = [Line(ngql.BELIEF_ROW, self._belief(belief)) for one in plans for belief in one.new]
        script.add_rows(ngql.INSERT_BELIEFS, lines)
        for belief in (belief for one in plans for belief in one.changed):
            script.add(ngql.PUT_BELIEF, **self._belief(belief))
        aliases = [
            Line(ngql.ALIAS_ROW, {"vid": quoted(vid(one.slot.bank, id)), "target": target})
            for one in plans
            for id, target in one.aliases.items()
        ]
        script.add_rows(ngql.INSERT_ALIASES, aliases)

    def _belief(self, belief: Belief) -> dict[str, Fill]:
        return {
            "vid": quoted(vid(belief.bank, belief.id)),
            "bank": belief.bank,
            "id": belief.id,
            "slot": belief.slot,
            "status": belief.status,
            "version": belief.version,
            "pending": self._clock.next(),
        }

    def _commit(self, plans: Sequence[Plan], token: str) -> list[str]:
        """Let every slot move on; returns those that were taken from us meanwhile, since we were thought dead."""
        lost: list[str] = []
        for some in batches(plans):
            found = self._committed(some, token)
            for one in some:
                row = found.get(one.head.vid)
                if row is None or row["token"] != token:
                    lost.append(one.slot.id)
        return lost

    def _committed(self, plans: Sequence[Plan], token: str) -> dict[str, Row]:
        script = Script()
        for one in plans:
            script.add(
                ngql.COMMIT_SLOT,
                vid=quoted(one.head.vid),
                bank=one.slot.bank,
                id=one.slot.id,
                version=one.slot.version,
                review_at=one.review_at,
                body=one.body,
                token=token,
                loose="" if one.removed == NOTHING else written(one.removed),
                claim="" if one.removed == NOTHING else token,
            )
        rows = vids(one.head.vid for one in plans)
        script.add(ngql.FETCH_TOKENS, vids=rows)
        try:
            return by_vid(self._sessions.write(script))
        except NebulaRefused:  # one of them is gone: somebody erased it
            there = by_vid(self._sessions.read(ngql.FETCH_TOKENS, vids=rows))
            return self._committed([one for one in plans if one.head.vid in there], token) if there else {}

    def _remove(self, plans: Sequence[Plan], token: str) -> None:
        """What was decided is durable by now, so that a failure is nobody's but the next writer's."""
        script = Script()
        _delete(script, [(one.slot.bank, one.removed) for one in plans])
        for one in plans:
            script.add(ngql.TIDY_SLOT, vid=quoted(one.head.vid), token=token)
        with suppress(StoreUnavailable, NebulaRefused):
            self._sessions.write(script)
            for one in plans:
                self._eraser.delete_entities(one.slot.bank, one.removed.entities)


def _entities(plans: Sequence[Plan]) -> dict[tuple[str, str], Entity]:
    """Every entity of these slots by bank and id, in the smaller of two spellings."""
    found: dict[tuple[str, str], Entity] = {}
    for one in plans:
        bank = one.slot.bank
        for entity in (one.slot.entity, *(mention for piece in one.evidence for mention in piece.mentions)):
            key = (bank, entity_id(bank, entity))
            other = found.get(key)
            if other is None or (entity.name, entity.type) < (other.name, other.type):
                found[key] = entity
    return found


def _delete(script: Script, some: Sequence[tuple[str, Loose]]) -> None:
    """Delete what is loose, by bank and all at once."""
    by_bank: dict[str, Loose] = {}
    for bank, loose in some:
        by_bank[bank] = by_bank.get(bank, NOTHING).with_all(loose)
    for bank, loose in by_bank.items():
        delete_loose(script, bank, loose)
