"""The tables of the embedded graph, and how a file of an older release becomes one of this release."""

import sqlite3

from schemas.errors import NewerSchema

_META = "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID"
_SET_VERSION = "INSERT OR REPLACE INTO meta (key, value) VALUES ('schema_version', ?)"

# Ids are hashes, so every index on one costs a page write for each row: rows are joined by `no`, which grows, and an
# edge stands in one tree only, under both of its ends. Measured: twice the writes a second of text keys.
_FIRST = (
    "INSERT INTO meta (key, value) VALUES ('written', 0)",
    "CREATE TABLE banks (bank TEXT PRIMARY KEY, policy BLOB) WITHOUT ROWID",
    """
    CREATE TABLE entities (
        bank TEXT NOT NULL REFERENCES banks (bank),
        id TEXT NOT NULL,
        name_key TEXT NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        PRIMARY KEY (bank, id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX entities_by_name ON entities (bank, name_key)",
    """
    CREATE TABLE slots (
        no INTEGER PRIMARY KEY,
        bank TEXT NOT NULL,
        id TEXT NOT NULL,
        entity_id TEXT NOT NULL,
        version INTEGER NOT NULL,
        review_at INTEGER,
        body BLOB NOT NULL,
        UNIQUE (bank, id),
        FOREIGN KEY (bank, entity_id) REFERENCES entities (bank, id)
    )
    """,
    "CREATE INDEX slots_of_entity ON slots (bank, entity_id, id)",
    "CREATE INDEX slots_due ON slots (review_at) WHERE review_at IS NOT NULL",
    """
    CREATE TABLE beliefs (
        no INTEGER PRIMARY KEY,
        bank TEXT NOT NULL,
        id TEXT NOT NULL,
        slot INTEGER NOT NULL REFERENCES slots (no),
        status TEXT NOT NULL,
        version INTEGER NOT NULL,
        indexed_version INTEGER NOT NULL DEFAULT -1,
        written INTEGER NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (bank, id)
    )
    """,
    "CREATE INDEX beliefs_of_slot ON beliefs (slot)",
    "CREATE INDEX beliefs_by_status ON beliefs (bank, status)",
    "CREATE INDEX beliefs_unindexed ON beliefs (written, no, bank) WHERE indexed_version < version",
    """
    CREATE TABLE evidence (
        no INTEGER PRIMARY KEY,
        bank TEXT NOT NULL,
        id TEXT NOT NULL,
        slot INTEGER NOT NULL REFERENCES slots (no),
        observation_id TEXT NOT NULL,
        session TEXT NOT NULL,
        turn INTEGER NOT NULL,
        effective_at INTEGER NOT NULL,
        ingested_at INTEGER NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (bank, id)
    )
    """,
    "CREATE INDEX evidence_of_slot ON evidence (slot)",
    "CREATE INDEX evidence_of_observation ON evidence (bank, observation_id)",
    "CREATE INDEX evidence_of_session ON evidence (bank, session, turn, effective_at, id) WHERE session <> ''",
    """
    CREATE TABLE edge_ends (
        bank TEXT NOT NULL,
        node TEXT NOT NULL,
        weight REAL NOT NULL,
        type TEXT NOT NULL,
        other TEXT NOT NULL,
        outward INTEGER NOT NULL,
        slot INTEGER NOT NULL,
        PRIMARY KEY (bank, node, weight DESC, type, other, outward, slot)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE aliases (
        bank TEXT NOT NULL,
        id TEXT NOT NULL,
        target TEXT NOT NULL,
        PRIMARY KEY (bank, id)
    ) WITHOUT ROWID
    """,
)

_TOMBSTONES = (
    "CREATE TABLE graves (bank TEXT NOT NULL, grave TEXT NOT NULL, PRIMARY KEY (bank, grave)) WITHOUT ROWID",
    "CREATE TABLE burials (bank TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID",
)

_CONCLUSIONS = ("CREATE INDEX conclusions ON edge_ends (bank, node, slot) WHERE type = 'derived_from' AND outward = 0",)
"""Finds what rests on a belief; empty, and free, in a file without conclusions."""

# No REFERENCES: to check them, each digest that goes would have all evidence searched for its number.
_DIGESTS = (
    """
    CREATE TABLE digests (
        no INTEGER PRIMARY KEY,
        slot INTEGER NOT NULL REFERENCES slots (no),
        id TEXT NOT NULL,
        body BLOB NOT NULL,
        UNIQUE (slot, id)
    )
    """,
    "ALTER TABLE evidence ADD COLUMN digest INTEGER",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _TOMBSTONES, _CONCLUSIONS, _DIGESTS)
"""The statements that lead from each schema version to the next; only ever appended to."""


def schema_version(connection: sqlite3.Connection) -> int:
    """The version that the file has; 0 for an empty file."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    return int(row[0]) if row else 0


def refuse_newer(version: int, name: str) -> None:
    """Raise NewerSchema where a newer release wrote the file, before anything of it is touched."""
    if version > len(MIGRATIONS):
        raise NewerSchema(
            f"{name} has schema version {version}; this release knows up to {len(MIGRATIONS)}. Upgrade Beliefmesh"
        )


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest version; to be called inside one write transaction, so that it is all or none."""
    connection.execute(_META)
    reached = schema_version(connection)
    for statements in MIGRATIONS[reached:]:
        for statement in statements:
            connection.execute(statement)
        reached += 1
        connection.execute(_SET_VERSION, (reached,))
