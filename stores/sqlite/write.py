"""How decisions are written to the embedded graph: versions first, then every row, inside the caller's transaction."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

import msgspec

from schemas import wire
from schemas.belief import Belief
from schemas.entity import Entity, entity_id
from schemas.errors import VersionConflict
from schemas.evidence import Evidence
from schemas.identity import normal_name
from schemas.slot import Decision, Slot
from stores.decisions import SlotKey, by_slot
from stores.sqlite.edge_rows import DROP_EDGE, Row, edge_rows
from stores.sqlite.erase import drop_entities, erase
from stores.sqlite.evidence_rows import (
    ADD_EVIDENCE,
    DROP_DIGESTS,
    PIECE,
    PUT_DIGEST,
    PUT_EVIDENCE,
    PUT_VOICE,
    VoiceRow,
    read_pieces,
    row_of,
)

_STORED_SLOTS = "SELECT id, no, version, body FROM slots WHERE bank = ? AND id IN (SELECT value FROM json_each(?))"
_LAST_SLOT = "SELECT coalesce(max(no), 0) FROM slots"
_BELIEF_IDS = "SELECT no, id FROM beliefs WHERE slot IN (SELECT value FROM json_each(?))"
_ADD_BANK = "INSERT INTO banks (bank) VALUES (?) ON CONFLICT (bank) DO NOTHING"
# Of two spellings of one name the smaller is kept, so that the order of arrival does not show.
_PUT_ENTITY = """
INSERT INTO entities (bank, id, name_key, name, type) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (bank, id) DO UPDATE SET name = excluded.name, type = excluded.type
WHERE (excluded.name, excluded.type) < (name, type)
"""
# Where an update may follow on a conflict, foreign keys make SQLite keep a journal for each row, at half its cost; so
# rows that are new, as most are, go without.
_ADD_SLOT = "INSERT INTO slots (no, bank, id, entity_id, version, review_at, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_PUT_SLOT = f"""{_ADD_SLOT}
ON CONFLICT (bank, id) DO UPDATE SET
    entity_id = excluded.entity_id, version = excluded.version, review_at = excluded.review_at, body = excluded.body
"""
_EVIDENCE_NAMED = f"""
SELECT {PIECE} FROM evidence
WHERE evidence.bank = ? AND evidence.id IN (SELECT value FROM json_each(?)) AND evidence.slot = ?
"""
_DROP_EVIDENCE = "DELETE FROM evidence WHERE bank = ? AND id IN (SELECT value FROM json_each(?)) AND slot = ?"
_ADD_EDGE = "INSERT INTO edge_ends (bank, node, weight, type, other, outward, slot) VALUES (?, ?, ?, ?, ?, ?, ?)"
_DROP_BELIEF = "DELETE FROM beliefs WHERE no = ?"
_NEXT_WRITE = "UPDATE meta SET value = value + 1 WHERE key = 'written' RETURNING value"
_BELIEF_ROW = "INSERT INTO beliefs (slot, written, bank, id, status, version, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_ADD_BELIEF = f"{_BELIEF_ROW} ON CONFLICT (bank, id) DO NOTHING"
_PUT_BELIEF = f"""{_BELIEF_ROW}
ON CONFLICT (bank, id) DO UPDATE SET
    slot = excluded.slot, status = excluded.status, version = excluded.version, written = excluded.written,
    body = excluded.body
"""
_PUT_ALIAS = """
INSERT INTO aliases (bank, id, target) VALUES (?, ?, ?)
ON CONFLICT (bank, id) DO UPDATE SET target = excluded.target WHERE target <> excluded.target
"""


class Batch:
    """The rows of some decisions, made before the file is locked; raises InvalidInput where parts do not fit."""

    def __init__(self, decisions: Sequence[Decision]) -> None:
        everything = by_slot(decisions)
        self.expected = {key: decision.expected_version for key, decision in everything.items()}
        self.decisions = {key: decision for key, decision in everything.items() if not decision.ends}
        self.ended: dict[str, list[str]] = {}
        for bank, id in everything.keys() - self.decisions.keys():
            self.ended.setdefault(bank, []).append(id)
        self.entities: dict[tuple[str, Entity], str] = {}
        self.slots: list[tuple[SlotKey, Row]] = []
        self.evidence: list[tuple[SlotKey, Row]] = []
        self.voices: list[tuple[SlotKey, VoiceRow]] = []
        self.beliefs: list[tuple[SlotKey, Row]] = []
        for key, decision in self.decisions.items():
            self.slots.append((key, self._slot_row(decision.slot)))
            for piece in decision.evidence:
                self._add_evidence(key, piece)
            kept = {belief.id for belief in decision.slot.beliefs}
            self.beliefs.extend((key, _belief_row(belief)) for belief in decision.beliefs if belief.id in kept)

    def _slot_row(self, slot: Slot) -> Row:
        body = wire.dump(msgspec.structs.replace(slot, beliefs=()))
        return slot.bank, slot.id, self._entity(slot.bank, slot.entity), slot.version, slot.review_at, body

    def _add_evidence(self, key: SlotKey, piece: Evidence) -> None:
        for mention in piece.mentions:
            self._entity(piece.bank, mention)
        row = row_of(piece)
        if isinstance(row, VoiceRow):
            self.voices.append((key, row))
        else:
            self.evidence.append((key, row))

    def _entity(self, bank: str, entity: Entity) -> str:
        id = self.entities.get((bank, entity))
        if id is None:
            id = self.entities[bank, entity] = entity_id(bank, entity)
        return id


class _Stored(NamedTuple):
    """What the file holds of a slot that is about to be written."""

    no: int
    version: int
    body: bytes


def write(connection: sqlite3.Connection, batch: Batch) -> None:
    """Write a batch; raises VersionConflict before the first row. The caller's transaction makes it all or none."""
    stored = _stored_slots(connection, batch)
    _check_versions(stored, batch)
    for bank, ids in batch.ended.items():
        erase(connection, bank, ids)
    stored = {key: slot for key, slot in stored.items() if key in batch.decisions}
    unnamed = _remove_evidence(connection, stored, batch)
    number = _numbers(connection, stored, batch)
    connection.executemany(_ADD_BANK, sorted({(bank,) for bank, _ in number}))
    connection.executemany(_PUT_ENTITY, _entity_rows(batch))
    connection.executemany(_ADD_SLOT, [(number[key], *row) for key, row in batch.slots if key not in stored])
    connection.executemany(_PUT_SLOT, [(number[key], *row) for key, row in batch.slots if key in stored])
    _put(connection, ADD_EVIDENCE, PUT_EVIDENCE, [(number[key], *row) for key, row in batch.evidence])
    _write_voices(connection, stored, number, batch)
    _write_edges(connection, stored, number, batch)
    _write_beliefs(connection, stored, number, batch)
    connection.executemany(_PUT_ALIAS, _alias_rows(batch))
    for bank, entities in unnamed.items():
        drop_entities(connection, bank, entities)


def _remove_evidence(
    connection: sqlite3.Connection, stored: Mapping[SlotKey, _Stored], batch: Batch
) -> dict[str, set[Entity]]:
    """Delete the evidence that leaves its slot; returns what it named, by bank, which nothing else may name."""
    named: dict[str, set[Entity]] = {}
    for key, slot in stored.items():
        removed = batch.decisions[key].removed
        if removed:
            asked = (key[0], json.dumps(removed), slot.no)
            for piece in read_pieces(connection, _EVIDENCE_NAMED, asked):
                named.setdefault(key[0], set()).update(piece.mentions)
            connection.execute(_DROP_EVIDENCE, asked)
    return named


def _write_voices(
    connection: sqlite3.Connection, stored: Mapping[SlotKey, _Stored], number: Mapping[SlotKey, int], batch: Batch
) -> None:
    """Digests before their voices; then those go of which no voice is left."""
    digests = {(number[key], voice.digest, voice.shared) for key, voice in batch.voices}
    connection.executemany(PUT_DIGEST, sorted(digests))
    connection.executemany(
        PUT_VOICE, [(number[key], *voice.row, number[key], voice.digest) for key, voice in batch.voices]
    )
    connection.execute(DROP_DIGESTS, (json.dumps([slot.no for slot in stored.values()]),))


def _belief_row(belief: Belief) -> Row:
    return belief.bank, belief.id, belief.status, belief.version, wire.dump(belief)


def _entity_rows(batch: Batch) -> Iterator[Row]:
    for (bank, entity), id in batch.entities.items():
        yield bank, id, normal_name(entity.name), entity.name, entity.type


def _alias_rows(batch: Batch) -> Iterator[Row]:
    for (bank, _), decision in batch.decisions.items():
        for id, target in decision.slot.aliases.items():
            yield bank, id, target


def _stored_slots(connection: sqlite3.Connection, batch: Batch) -> dict[SlotKey, _Stored]:
    by_bank: dict[str, list[str]] = {}
    for bank, id in batch.expected:
        by_bank.setdefault(bank, []).append(id)
    return {
        (bank, id): _Stored(*rest)
        for bank, ids in by_bank.items()
        for id, *rest in connection.execute(_STORED_SLOTS, (bank, json.dumps(ids)))
    }


def _check_versions(stored: Mapping[SlotKey, _Stored], batch: Batch) -> None:
    conflicts = [
        key[1] for key, expected in batch.expected.items() if (stored[key].version if key in stored else 0) != expected
    ]
    if conflicts:
        raise VersionConflict(conflicts)


def _numbers(connection: sqlite3.Connection, stored: Mapping[SlotKey, _Stored], batch: Batch) -> dict[SlotKey, int]:
    """The row number of each slot; new ones are numbered on, which is safe while the file is locked."""
    ((last,),) = connection.execute(_LAST_SLOT).fetchall()
    following = count(last + 1)
    return {key: stored[key].no if key in stored else next(following) for key in batch.decisions}


def _write_edges(
    connection: sqlite3.Connection, stored: Mapping[SlotKey, _Stored], number: Mapping[SlotKey, int], batch: Batch
) -> None:
    former: set[Row] = set()
    for slot in stored.values():
        former.update(edge_rows(wire.load(slot.body, Slot), slot.no))
    wanted: set[Row] = set()
    for key, decision in batch.decisions.items():
        wanted.update(edge_rows(decision.slot, number[key]))
    connection.executemany(DROP_EDGE, former - wanted)
    connection.executemany(_ADD_EDGE, wanted - former)


def _write_beliefs(
    connection: sqlite3.Connection, stored: Mapping[SlotKey, _Stored], number: Mapping[SlotKey, int], batch: Batch
) -> None:
    kept = {belief.id for key in stored for belief in batch.decisions[key].slot.beliefs}
    former = connection.execute(_BELIEF_IDS, (json.dumps([slot.no for slot in stored.values()]),)).fetchall()
    connection.executemany(_DROP_BELIEF, [(no,) for no, id in former if id not in kept])
    if batch.beliefs:
        ((written,),) = connection.execute(_NEXT_WRITE).fetchall()
        new = [(number[key], written, *row) for key, row in batch.beliefs if key not in stored]
        _put(connection, _ADD_BELIEF, _PUT_BELIEF, new)
        known = [(number[key], written, *row) for key, row in batch.beliefs if key in stored]
        connection.executemany(_PUT_BELIEF, known)


def _put(connection: sqlite3.Connection, add: str, put: str, rows: Sequence[Row]) -> None:
    """Add rows; if some were there already, which is rare, put all of them: to put a row twice changes nothing."""
    if connection.executemany(add, rows).rowcount < len(rows):
        connection.executemany(put, rows)
