"""The embedded graph: entities, beliefs, evidence and slots of every bank in one SQLite file."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar, get_args

import msgspec

from schemas import wire
from schemas.belief import Belief, Status
from schemas.edge import Edge
from schemas.entity import Entity
from schemas.evidence import Evidence, observations_by_session
from schemas.identity import normal_name
from schemas.instant import Instant
from schemas.policy import DEFAULT_POLICY, Policy
from schemas.slot import Decision, Slot, StoredSlot
from stores.sqlite.erase import erase
from stores.sqlite.evidence_rows import PIECE, read_pieces
from stores.sqlite.file import SqliteFile
from stores.sqlite.session import last_places, places_near
from stores.sqlite.write import Batch, write

Kept = TypeVar("Kept", Belief, Evidence)

_AMONG = "(SELECT value FROM json_each(?))"

_BANKS = """
SELECT bank FROM banks
WHERE policy IS NOT NULL OR EXISTS (SELECT 1 FROM slots WHERE slots.bank = banks.bank) ORDER BY bank
"""
_POLICY = "SELECT policy FROM banks WHERE bank = ? AND policy IS NOT NULL"
_SET_POLICY = "INSERT INTO banks (bank, policy) VALUES (?, ?) ON CONFLICT (bank) DO UPDATE SET policy = excluded.policy"
_SLOTS = f"SELECT id, body FROM slots WHERE bank = ? AND id IN {_AMONG}"
_BELIEFS_OF_SLOTS = f"""
SELECT beliefs.body FROM slots JOIN beliefs ON beliefs.slot = slots.no
WHERE slots.bank = ? AND slots.id IN {_AMONG}
"""
_EVIDENCE_OF_SLOTS = f"""
SELECT {PIECE} FROM slots JOIN evidence ON evidence.slot = slots.no
WHERE slots.bank = ? AND slots.id IN {_AMONG}
"""
_BELIEFS = f"SELECT id, body FROM beliefs WHERE bank = ? AND id IN {_AMONG}"
# Follows ids that were merged away, step by step; UNION keeps a circle from running for ever.
_MERGED_BELIEFS = """
WITH RECURSIVE lead (asked, id) AS (
    SELECT value, value FROM json_each(:ids)
    UNION
    SELECT lead.asked, aliases.target FROM lead JOIN aliases ON aliases.bank = :bank AND aliases.id = lead.id
    WHERE NOT EXISTS (SELECT 1 FROM beliefs WHERE beliefs.bank = :bank AND beliefs.id = lead.id)
)
SELECT lead.asked, beliefs.body FROM lead JOIN beliefs ON beliefs.bank = :bank AND beliefs.id = lead.id
"""
_SLOTS_OF_ENTITY = "SELECT id FROM slots WHERE bank = ? AND entity_id = ? ORDER BY id LIMIT ?"
_EVIDENCE = f"SELECT {PIECE} FROM evidence WHERE evidence.bank = ? AND evidence.id IN {_AMONG}"
_EVIDENCE_OF_OBSERVATIONS = f"""
SELECT {PIECE} FROM evidence INDEXED BY evidence_of_observation
WHERE bank = ? AND observation_id IN {_AMONG} ORDER BY evidence.id
"""
# A place is [session, observation].
_EVIDENCE_OF_PLACES = f"""
SELECT {PIECE} FROM json_each(?) AS place CROSS JOIN evidence INDEXED BY evidence_of_observation
    ON evidence.bank = ? AND evidence.observation_id = json_extract(place.value, '$[1]')
WHERE session = json_extract(place.value, '$[0]') ORDER BY turn, effective_at, evidence.id
"""
_ENTITIES = f"SELECT id, name, type FROM entities WHERE bank = ? AND name_key IN {_AMONG} ORDER BY name_key, type, id"
_EDGES = """
SELECT node, type, other, weight, outward FROM edge_ends
WHERE bank = ? AND node = ? ORDER BY weight DESC, type, other, outward
"""
_CONCLUDES = """
SELECT 1 FROM edge_ends INDEXED BY conclusions WHERE bank = ? AND type = 'derived_from' AND outward = 0 LIMIT 1
"""
_DEPENDENTS = f"""
SELECT DISTINCT slots.id FROM edge_ends INDEXED BY conclusions JOIN slots ON slots.no = edge_ends.slot
WHERE edge_ends.bank = ? AND node IN {_AMONG} AND type = 'derived_from' AND outward = 0 ORDER BY slots.id
"""
_DUE = "SELECT bank, id FROM slots WHERE review_at <= ? ORDER BY review_at, no LIMIT ?"
_UNINDEXED = "SELECT bank, id FROM beliefs WHERE indexed_version < version ORDER BY written, no LIMIT ?"
_BEHIND = f"SELECT id FROM beliefs WHERE bank = ? AND id IN {_AMONG} AND indexed_version < version"
_MARK_INDEXED = "UPDATE beliefs SET indexed_version = ? WHERE bank = ? AND id = ? AND indexed_version < ?"
_MARK_UNINDEXED = "UPDATE beliefs SET indexed_version = -1 WHERE bank = ?"
_SCAN_ENTITIES = "SELECT id, name, type FROM entities WHERE bank = ? AND id > ? ORDER BY id LIMIT ?"
_SCAN = "SELECT id FROM slots WHERE bank = ? AND id > ? ORDER BY id LIMIT ?"
_COUNTS = """
SELECT 'entities', count(*) FROM entities WHERE bank = :bank
UNION ALL SELECT 'slots', count(*) FROM slots WHERE bank = :bank
UNION ALL SELECT 'beliefs', count(*) FROM beliefs WHERE bank = :bank
UNION ALL SELECT 'evidence', count(*) FROM evidence WHERE bank = :bank
UNION ALL SELECT 'unindexed', count(*) FROM beliefs INDEXED BY beliefs_unindexed
    WHERE bank = :bank AND indexed_version < version
UNION ALL SELECT 'status.' || status, count(*) FROM beliefs WHERE bank = :bank GROUP BY status
"""
_BURY = "INSERT OR IGNORE INTO graves (bank, grave) VALUES (?, ?)"
_COUNT_BURIAL = """
INSERT INTO burials (bank, times) VALUES (?, 1) ON CONFLICT (bank) DO UPDATE SET times = times + 1
"""
_BURIED = f"SELECT grave FROM graves WHERE bank = ? AND grave IN {_AMONG}"
_BURIALS = "SELECT times FROM burials WHERE bank = ?"


class SqliteGraph:
    """A graph store in one SQLite file (WAL), for any number of threads and of processes on one machine."""

    def __init__(self, path: Path | str) -> None:
        self._file = SqliteFile(Path(path))

    def banks(self) -> list[str]:
        """Every bank that holds anything or has a policy, sorted."""
        with self._file.reading() as connection:
            return [bank for (bank,) in connection.execute(_BANKS)]

    def policy(self, bank: str) -> Policy:
        """The bank's policy, else the default one."""
        with self._file.reading() as connection:
            row = connection.execute(_POLICY, (bank,)).fetchone()
        return wire.load(row[0], Policy) if row else DEFAULT_POLICY

    def set_policy(self, bank: str, policy: Policy) -> None:
        """Keep a policy for the bank, making the bank if needed."""
        with self._file.writing() as connection:
            connection.execute(_SET_POLICY, (bank, wire.dump(policy)))

    def load_slots(self, bank: str, ids: Sequence[str]) -> dict[str, StoredSlot]:
        """The slots that exist, each with its beliefs and all its evidence in id order."""
        asked = (bank, json.dumps(ids))
        with self._file.reading() as connection:
            slots = _slots(connection, asked)
            pieces = read_pieces(connection, _EVIDENCE_OF_SLOTS, asked)
        evidence: dict[str, list[Evidence]] = {id: [] for id in slots}
        for item in pieces:
            evidence[item.slot].append(item)
        return {id: StoredSlot(slot, _by_id(evidence[id])) for id, slot in slots.items()}

    def apply(self, decisions: Sequence[Decision]) -> None:
        """Write decisions in one transaction, durable on return; raises VersionConflict with nothing written."""
        if decisions:
            batch = Batch(decisions)
            with self._file.writing() as connection:
                write(connection, batch)

    def beliefs(self, bank: str, ids: Sequence[str]) -> dict[str, Belief]:
        """Beliefs by the id asked for; an id that was merged away leads to the belief that bears its value now."""
        with self._file.reading() as connection:
            found = dict(connection.execute(_BELIEFS, (bank, json.dumps(ids))))
            missing = [id for id in ids if id not in found]
            if missing:
                found.update(connection.execute(_MERGED_BELIEFS, {"bank": bank, "ids": json.dumps(missing)}))
        return {id: wire.load(body, Belief) for id, body in found.items()}

    def slots(self, bank: str, ids: Sequence[str]) -> dict[str, Slot]:
        """The slots that exist, with their beliefs, without evidence."""
        with self._file.reading() as connection:
            return _slots(connection, (bank, json.dumps(ids)))

    def slots_of_entity(self, bank: str, entity_id: str, limit: int = 1000) -> list[str]:
        """Ids of the slots of an entity, in id order."""
        with self._file.reading() as connection:
            return [id for (id,) in connection.execute(_SLOTS_OF_ENTITY, (bank, entity_id, limit))]

    def evidence(self, bank: str, ids: Sequence[str]) -> dict[str, Evidence]:
        """Evidence by id."""
        return {item.id: item for item in self._evidence_rows(_EVIDENCE, bank, ids)}

    def evidence_of_observations(self, bank: str, observation_ids: Sequence[str]) -> list[Evidence]:
        """All evidence that these observations gave, in id order."""
        return self._evidence_rows(_EVIDENCE_OF_OBSERVATIONS, bank, observation_ids)

    def session(self, bank: str, session: str, places: int) -> list[Evidence]:
        """The evidence of the session's last `places`, in session order."""
        with self._file.reading() as connection:
            last = [(session, observation) for observation in last_places(connection, bank, session, places)]
            return read_pieces(connection, _EVIDENCE_OF_PLACES, (json.dumps(last), bank))

    def windows(self, bank: str, around: Sequence[Evidence], reach: int) -> dict[str, list[Evidence]]:
        """By session, its evidence within `reach` places of any of `around` that stands there, in session order."""
        asked = observations_by_session(around)
        found: dict[str, list[Evidence]] = {}
        if not asked:
            return found
        with self._file.reading() as connection:
            near = [
                (session, observation)
                for session, observations in asked.items()
                for observation in places_near(connection, bank, session, observations, reach)
            ]
            for piece in read_pieces(connection, _EVIDENCE_OF_PLACES, (json.dumps(near), bank)):
                found.setdefault(piece.session, []).append(piece)
        return found

    def entities(self, bank: str, names: Sequence[str]) -> list[tuple[str, Entity]]:
        """(id, entity) for every entity, of any type, whose normalised name is among the normalised `names`."""
        keys = json.dumps(sorted({normal_name(name) for name in names}))
        with self._file.reading() as connection:
            return [(id, Entity(name, type)) for id, name, type in connection.execute(_ENTITIES, (bank, keys))]

    def neighbours(self, bank: str, nodes: Sequence[str], limit: int) -> list[Edge]:
        """Edges that touch these nodes in either direction, at most `limit` for each node, strongest first."""
        with self._file.reading() as connection:
            found: dict[tuple[str, str, str], Edge] = {}
            for node in nodes:
                found.update(_edges(connection, bank, node, limit))
        return sorted(found.values(), key=_strength)

    def dependents(self, bank: str, premises: Sequence[str]) -> list[str]:
        """Ids of the slots that state a `derived_from` edge to any of these beliefs, sorted; cheap where none do."""
        with self._file.reading() as connection:
            if connection.execute(_CONCLUDES, (bank,)).fetchone() is None:
                return []
            return [id for (id,) in connection.execute(_DEPENDENTS, (bank, json.dumps(list(premises))))]

    def due(self, now: Instant, limit: int) -> list[tuple[str, str]]:
        """(bank, slot) whose `review_at` has come, earliest first."""
        with self._file.reading() as connection:
            return connection.execute(_DUE, (now, limit)).fetchall()

    def unindexed(self, limit: int) -> list[tuple[str, str]]:
        """(bank, belief) whose rows in the index are older than the belief, oldest write first."""
        with self._file.reading() as connection:
            return connection.execute(_UNINDEXED, (limit,)).fetchall()

    def behind(self, bank: str, ids: Sequence[str]) -> set[str]:
        """Those of these beliefs whose rows in the index are older than the belief."""
        with self._file.reading() as connection:
            return {id for (id,) in connection.execute(_BEHIND, (bank, json.dumps(list(ids))))}

    def mark_indexed(self, bank: str, versions: Mapping[str, int]) -> None:
        """Note that these beliefs are in the index at these versions; never lowers a mark."""
        rows = [(version, bank, id, version) for id, version in versions.items()]
        with self._file.writing() as connection:
            connection.executemany(_MARK_INDEXED, rows)

    def mark_unindexed(self, bank: str) -> int:
        """Forget every mark of the bank, so that the index is rebuilt; returns how many beliefs that are."""
        with self._file.writing() as connection:
            return connection.execute(_MARK_UNINDEXED, (bank,)).rowcount

    def scan(self, bank: str, after: str, limit: int) -> list[str]:
        """Slot ids greater than `after`, in order."""
        with self._file.reading() as connection:
            return [id for (id,) in connection.execute(_SCAN, (bank, after, limit))]

    def scan_entities(self, bank: str, after: str, limit: int) -> list[tuple[str, Entity]]:
        """(id, entity) of ids greater than `after`, in order."""
        with self._file.reading() as connection:
            return [(id, Entity(*rest)) for id, *rest in connection.execute(_SCAN_ENTITIES, (bank, after, limit))]

    def erase(self, bank: str, slots: Sequence[str]) -> int:
        """Remove slots for good, with all that came with them, in one transaction; returns how many there were."""
        with self._file.writing() as connection:
            return erase(connection, bank, slots)

    def bury(self, bank: str, graves: Sequence[str]) -> None:
        """Note for good what was forgotten, durable on return."""
        with self._file.writing() as connection:
            connection.executemany(_BURY, [(bank, each) for each in graves])
            connection.execute(_COUNT_BURIAL, (bank,))

    def buried(self, bank: str, graves: Sequence[str]) -> set[str]:
        """Those of these graves that were noted."""
        with self._file.reading() as connection:
            return {each for (each,) in connection.execute(_BURIED, (bank, json.dumps(list(graves))))}

    def burials(self, bank: str) -> int:
        """A number that grows with every `bury` of the bank; 0 while there was none."""
        with self._file.reading() as connection:
            row = connection.execute(_BURIALS, (bank,)).fetchone()
        return row[0] if row else 0

    def wipe(self) -> None:
        """Write the file anew, since SQLite leaves copies of rows that it moved, and empty the write-ahead log."""
        self._file.wipe()

    def counts(self, bank: str) -> dict[str, int]:
        """Numbers of entities, slots, beliefs, evidence, unindexed beliefs, and of beliefs by every status."""
        counts = {f"status.{status}": 0 for status in get_args(Status)}
        with self._file.reading() as connection:
            counts.update(connection.execute(_COUNTS, {"bank": bank}))
        return counts

    def close(self) -> None:
        """Release every connection; later calls raise StoreUnavailable."""
        self._file.close()

    def _evidence_rows(self, statement: str, bank: str, ids: Sequence[str]) -> list[Evidence]:
        with self._file.reading() as connection:
            return read_pieces(connection, statement, (bank, json.dumps(ids)))


def _slots(connection: sqlite3.Connection, asked: tuple[str, str]) -> dict[str, Slot]:
    slots = connection.execute(_SLOTS, asked).fetchall()
    beliefs: dict[str, list[Belief]] = {id: [] for id, _ in slots}
    for (body,) in connection.execute(_BELIEFS_OF_SLOTS, asked):
        belief = wire.load(body, Belief)
        beliefs[belief.slot].append(belief)
    return {id: msgspec.structs.replace(wire.load(body, Slot), beliefs=_by_id(beliefs[id])) for id, body in slots}


def _by_id(items: Sequence[Kept]) -> tuple[Kept, ...]:
    return tuple(items if len(items) < 2 else sorted(items, key=_id))


def _id(item: Belief | Evidence) -> str:
    return item.id


def _edges(connection: sqlite3.Connection, bank: str, node: str, limit: int) -> dict[tuple[str, str, str], Edge]:
    """The strongest edges of a node by what they join, read no further than needed: a hub may have millions."""
    found: dict[tuple[str, str, str], Edge] = {}
    with closing(connection.execute(_EDGES, (bank, node))) as rows:
        while len(found) < limit and (page := rows.fetchmany(limit - len(found))):
            for here, type, other, weight, outward in page:
                src, dst = (here, other) if outward else (other, here)
                found.setdefault((src, type, dst), Edge(src, type, dst, weight))
    return found


def _strength(edge: Edge) -> tuple[float, str, str, str]:
    return -edge.weight, edge.type, edge.src, edge.dst
