"""How slots are erased from the embedded graph, inside the caller's transaction; SQLite overwrites what it deletes."""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from schemas import wire
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.slot import Slot
from stores.sqlite.edge_rows import DROP_EDGE, edge_rows

_SLOTS = "SELECT no, body FROM slots WHERE bank = ? AND id IN (SELECT value FROM json_each(?))"
_EVIDENCE = "SELECT body FROM evidence WHERE slot = ?"
_DROP_EVIDENCE = "DELETE FROM evidence WHERE slot = ?"
_DROP_BELIEFS = "DELETE FROM beliefs WHERE slot = ?"
_DROP_ALIAS = "DELETE FROM aliases WHERE bank = ? AND id = ?"
_DROP_ALIASES_OF_BELIEFS = "DELETE FROM aliases WHERE bank = ? AND id IN (SELECT id FROM beliefs WHERE slot = ?)"
_DROP_SLOT = "DELETE FROM slots WHERE no = ?"
_DROP_ENTITY = """
DELETE FROM entities WHERE bank = :bank AND id = :id
AND NOT EXISTS (SELECT 1 FROM slots WHERE slots.bank = :bank AND slots.entity_id = :id)
AND NOT EXISTS (SELECT 1 FROM edge_ends WHERE edge_ends.bank = :bank AND edge_ends.node = :id)
"""
_DROP_BANK = """
DELETE FROM banks WHERE bank = :bank AND policy IS NULL
AND NOT EXISTS (SELECT 1 FROM entities WHERE entities.bank = :bank)
"""


def erase(connection: sqlite3.Connection, bank: str, slots: Sequence[str]) -> int:
    """Delete slots with all that came with them; returns how many there were."""
    found = connection.execute(_SLOTS, (bank, json.dumps(list(slots)))).fetchall()
    entities: set[Entity] = set()
    for no, body in found:
        slot = wire.load(body, Slot)
        entities.add(slot.entity)
        for (piece,) in connection.execute(_EVIDENCE, (no,)):
            entities.update(wire.load(piece, Evidence).mentions)
        connection.executemany(DROP_EDGE, set(edge_rows(slot, no)))
        connection.executemany(_DROP_ALIAS, [(bank, id) for id in slot.aliases])
        connection.execute(_DROP_ALIASES_OF_BELIEFS, (bank, no))
        for statement in (_DROP_EVIDENCE, _DROP_BELIEFS, _DROP_SLOT):
            connection.execute(statement, (no,))
    drop_entities(connection, bank, entities)
    return len(found)


def drop_entities(connection: sqlite3.Connection, bank: str, entities: Iterable[Entity]) -> None:
    """Delete those that no slot is about and no edge touches, and the bank where nothing is left of it."""
    for entity in entities:
        connection.execute(_DROP_ENTITY, {"bank": bank, "id": entity_id(bank, entity)})
    connection.execute(_DROP_BANK, {"bank": bank})
