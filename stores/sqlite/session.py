"""Which evidence of a session lies near some other, found without reading the whole session."""

import sqlite3
from collections.abc import Iterator, Sequence

from schemas.evidence import Evidence

Asked = dict[str, str | int]

_KEY = "turn, effective_at, id"
# An observation's place is that of its first evidence, so all its later evidence is passed over. The index is named,
# because the planner would rather read the session from its start.
_PLACES = """
SELECT observation_id FROM evidence AS here
WHERE bank = :bank AND session = :session AND session <> '' {bound} AND NOT EXISTS (
    SELECT 1 FROM evidence AS earlier INDEXED BY evidence_of_observation
    WHERE earlier.bank = here.bank AND earlier.observation_id = here.observation_id
      AND earlier.session = here.session
      AND (earlier.turn, earlier.effective_at, earlier.id) < (here.turn, here.effective_at, here.id)
)
ORDER BY {order} LIMIT :reach
"""
_BACKWARD = "turn DESC, effective_at DESC, id DESC"
_LAST = _PLACES.format(bound="", order=_BACKWARD)
_BEFORE = _PLACES.format(bound=f"AND ({_KEY}) < (:turn, :effective_at, :id)", order=_BACKWARD)
_AFTER = _PLACES.format(bound=f"AND ({_KEY}) > (:turn, :effective_at, :id)", order=_KEY)
_PLACE = f"""
SELECT {_KEY} FROM evidence
WHERE bank = ? AND observation_id = ? AND session = ? ORDER BY {_KEY} LIMIT 1
"""


def places(connection: sqlite3.Connection, bank: str, session: str, around: Sequence[Evidence], reach: int) -> set[str]:
    """The observations within `reach` places of any of `around`, or the last `reach` when there is none."""
    asked: Asked = {"bank": bank, "session": session, "reach": max(reach, 0)}
    if not around:
        return {id for (id,) in connection.execute(_LAST, asked)}
    found: set[str] = set()
    for observation in sorted({evidence.observation_id for evidence in around}):
        found.update(_near(connection, asked, observation))
    return found


def _near(connection: sqlite3.Connection, asked: Asked, observation: str) -> Iterator[str]:
    place = connection.execute(_PLACE, (asked["bank"], observation, asked["session"])).fetchone()
    if place is None:
        return
    yield observation
    key = dict(zip(("turn", "effective_at", "id"), place, strict=True))
    for statement in (_BEFORE, _AFTER):
        for (id,) in connection.execute(statement, asked | key):
            yield id
