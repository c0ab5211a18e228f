"""How evidence becomes rows of the embedded graph and comes back: whole, or as a voice beside what its digest shares.

A voice's row holds what its other columns do not; what all voices of a digest share stands once, in `digests`.
"""

import json
import sqlite3
from collections.abc import Sequence

import msgspec

from schemas import wire
from schemas.digest import Own, Shared, is_voice, joined, own, shared
from schemas.evidence import Evidence, contents
from schemas.instant import Instant
from stores.sqlite.edge_rows import Row

NO_TURN = -(2**63)
"""Stands for a missing turn, so that such evidence sorts first in its session and compares with row values."""

PIECE = "evidence.body, evidence.ingested_at, iif(evidence.digest IS NULL, NULL, evidence.no)"
"""The columns of one piece, for `read_pieces`."""

_VOICES = """
SELECT evidence.no, digests.id, digests.body, evidence.body, evidence.id, evidence.observation_id, evidence.turn,
    evidence.effective_at, evidence.ingested_at
FROM evidence JOIN digests ON digests.no = evidence.digest WHERE evidence.no IN (SELECT value FROM json_each(?))
"""
_CONTENTS = """contents({row}.body, (SELECT digests.body FROM digests WHERE digests.no = {row}.digest),
    {row}.id, {row}.observation_id, {row}.turn, {row}.effective_at)"""
_COLUMNS = "slot, bank, id, observation_id, session, turn, effective_at, ingested_at, body, digest"
# The body leaves out `ingested_at`, in which alone a repeat differs: that stays out, unless it was accepted first. Of
# two contents under one id the smaller is kept, whichever came first (`schemas.evidence.contents`, asked only where the
# id is there already).
_ADD = "INSERT INTO evidence ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, {digest}) ON CONFLICT (bank, id) "
_PUT = f"""DO UPDATE SET
    slot = excluded.slot, observation_id = excluded.observation_id, session = excluded.session, turn = excluded.turn,
    effective_at = excluded.effective_at, ingested_at = excluded.ingested_at, body = excluded.body,
    digest = excluded.digest
WHERE (excluded.effective_at, {_CONTENTS.format(row="excluded")}, excluded.ingested_at)
    < (evidence.effective_at, {_CONTENTS.format(row="evidence")}, evidence.ingested_at)
"""
_ADD_WHOLE = _ADD.format(columns=_COLUMNS, digest="NULL")
ADD_EVIDENCE = f"{_ADD_WHOLE} DO NOTHING"
PUT_EVIDENCE = f"{_ADD_WHOLE} {_PUT}"
_DIGEST = "(SELECT no FROM digests WHERE digests.slot = ? AND digests.id = ?)"
PUT_VOICE = f"{_ADD.format(columns=_COLUMNS, digest=_DIGEST)} {_PUT}"
PUT_DIGEST = "INSERT OR IGNORE INTO digests (slot, id, body) VALUES (?, ?, ?)"
DROP_DIGESTS = """
DELETE FROM digests WHERE slot IN (SELECT value FROM json_each(?))
AND NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.slot = digests.slot AND evidence.digest = digests.no)
"""
"""Those of some slots that have no voice left."""


class VoiceRow(msgspec.Struct, frozen=True, gc=False):
    """A voice: its row, and its digest's id and body."""

    row: Row
    digest: str
    shared: bytes


def row_of(piece: Evidence) -> Row | VoiceRow:
    """The row of a piece, to be led by the number of its slot."""
    if piece.digest and is_voice(piece):
        common = shared(piece)
        part = msgspec.structs.replace(own(piece), id="", observation_id="", effective_at=0, turn=None, ingested_at=0)
        return VoiceRow(_row(piece, wire.dump(part)), piece.digest, wire.dump(common))
    return _row(piece, wire.dump(msgspec.structs.replace(piece, ingested_at=0)))


def contents_of(
    body: bytes, common: bytes | None, id: str, observation_id: str, turn: int, effective_at: Instant
) -> bytes:
    """What `schemas.evidence.contents` compares of a row, `common` being its digest's body."""
    if common is None:
        return contents(wire.load(body, Evidence))[1]
    part = _own(body, id, observation_id, turn, effective_at)
    return contents(joined("digest", wire.load(common, Shared), part))[1]


def read_pieces(connection: sqlite3.Connection, statement: str, asked: Sequence[str | int]) -> list[Evidence]:
    """The evidence that a SELECT of PIECE finds, in its order; inside the caller's transaction."""
    rows = connection.execute(statement, asked).fetchall()
    numbers = [no for _, _, no in rows if no is not None]
    voices = _voices(connection, numbers) if numbers else {}
    return [
        voices[no] if no is not None else msgspec.structs.replace(wire.load(body, Evidence), ingested_at=ingested_at)
        for body, ingested_at, no in rows
    ]


def _row(piece: Evidence, body: bytes) -> Row:
    return (
        piece.bank,
        piece.id,
        piece.observation_id,
        piece.session,
        NO_TURN if piece.turn is None else piece.turn,
        piece.effective_at,
        piece.ingested_at,
        body,
    )


def _voices(connection: sqlite3.Connection, numbers: Sequence[int]) -> dict[int, Evidence]:
    """Voices by the numbers of their rows."""
    found: dict[int, Evidence] = {}
    digests: dict[str, Shared] = {}
    for no, digest, common, *row in connection.execute(_VOICES, (json.dumps(numbers),)):
        if digest not in digests:
            digests[digest] = wire.load(common, Shared)
        found[no] = joined(digest, digests[digest], _own(*row))
    return found


def _own(body: bytes, id: str, observation_id: str, turn: int, effective_at: Instant, ingested_at: Instant = 0) -> Own:
    return msgspec.structs.replace(
        wire.load(body, Own),
        id=id,
        observation_id=observation_id,
        effective_at=effective_at,
        turn=None if turn == NO_TURN else turn,
        ingested_at=ingested_at,
    )
