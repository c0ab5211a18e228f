"""How slots are erased from the embedded graph, inside the caller's transaction; SQLite overwrites what it deletes."""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from schemas import wire
from schemas.entity import Entity, entity_id
from schemas.slot import Slot
from stores.sqlite.edge_rows import DROP_EDGE, edge_rows
from stores.sqlite.evidence_rows import PIECE, read_pieces

_AMONG = "(SELECT value FROM json_each(?))"
_SLOTS = f"SELECT no, body FROM slots WHERE bank = ? AND id IN {_AMONG}"
_EVIDENCE = f"SELECT {PIECE} FROM evidence WHERE evidence.slot IN {_AMONG}"
_DROP_ALIASES = f"DELETE FROM aliases WHERE bank = ? AND id IN {_AMONG}"
_DROP_ALIASES_OF_BELIEFS = f"""
DELETE FROM aliases WHERE bank = ? AND id IN (SELECT id FROM beliefs WHERE slot IN {_AMONG})
"""
_DROP_EVIDENCE = f"DELETE FROM evidence WHERE slot IN {_AMONG}"
_DROP_DIGESTS = f"DELETE FROM digests WHERE slot IN {_AMONG}"
_DROP_BELIEFS = f"DELETE FROM beliefs WHERE slot IN {_AMONG}"
_DROP_SLOTS = f"DELETE FROM slots WHERE no IN {_AMONG}"
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
    ended = {no: wire.load(body, Slot) for no, body in found}
    numbers = json.dumps(list(ended))
    entities = {slot.entity for slot in ended.values()}
    for piece in read_pieces(connection, _EVIDENCE, (numbers,)):
        entities.update(piece.mentions)
    # In the order in which the file keeps them, so that each of its pages is written once.
    connection.executemany(DROP_EDGE, sorted({row for no, slot in ended.items() for row in edge_rows(slot, no)}))
    connection.execute(_DROP_ALIASES, (bank, json.dumps([id for slot in ended.values() for id in slot.aliases])))
    connection.execute(_DROP_ALIASES_OF_BELIEFS, (bank, numbers))
    for statement in (_DROP_EVIDENCE, _DROP_DIGESTS, _DROP_BELIEFS, _DROP_SLOTS):
        connection.execute(statement, (numbers,))
    drop_entities(connection, bank, entities)
    return len(found)


def drop_entities(connection: sqlite3.Connection, bank: str, entities: Iterable[Entity]) -> None:
    """Delete those that no slot is about and no edge touches, and the bank where nothing is left of it."""
    for entity in entities:
        connection.execute(_DROP_ENTITY, {"bank": bank, "id": entity_id(bank, entity)})
    connection.execute(_DROP_BANK, {"bank": bank})
