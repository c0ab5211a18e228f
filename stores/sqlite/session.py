"""Which evidence of a session lies near some other, found without reading more of the session than that is worth."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence

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
# Beginning with the first piece of each observation, which is its place.
_IN_ORDER = f"""
SELECT observation_id FROM evidence WHERE bank = ? AND session = ? AND session <> '' ORDER BY {_KEY} LIMIT ?
"""
_ROWS_FOR_ONE = 8
"""To find what is near one observation costs as much as to read so many rows of a session in order."""

_PLACE = f"""
SELECT {_KEY} FROM evidence
WHERE bank = ? AND observation_id = ? AND session = ? ORDER BY {_KEY} LIMIT 1
"""


def last_places(connection: sqlite3.Connection, bank: str, session: str, places: int) -> set[str]:
    """The observations of the last places of a session."""
    asked: Asked = {"bank": bank, "session": session, "reach": max(places, 0)}
    return {id for (id,) in connection.execute(_LAST, asked)}


def places_near(
    connection: sqlite3.Connection, bank: str, session: str, observations: Collection[str], reach: int
) -> set[str]:
    """The observations of a session within `reach` places of any of these."""
    reach = max(reach, 0)
    order = _in_order(connection, bank, session, _ROWS_FOR_ONE * len(observations))
    if order is not None:
        return _within(order, observations, reach)
    asked: Asked = {"bank": bank, "session": session, "reach": reach}
    return {id for observation in sorted(observations) for id in _near(connection, asked, observation)}


def _in_order(connection: sqlite3.Connection, bank: str, session: str, most: int) -> list[str] | None:
    """The observations of a session in the order of their places; None where it has more rows than that."""
    rows = connection.execute(_IN_ORDER, (bank, session, most + 1)).fetchall()
    return list(dict.fromkeys(id for (id,) in rows)) if len(rows) <= most else None


def _within(order: Sequence[str], wanted: Collection[str], reach: int) -> set[str]:
    near = (order[max(0, at - reach) : at + reach + 1] for at, id in enumerate(order) if id in wanted)
    return {id for some in near for id in some}


def _near(connection: sqlite3.Connection, asked: Asked, observation: str) -> Iterator[str]:
    place = connection.execute(_PLACE, (asked["bank"], observation, asked["session"])).fetchone()
    if place is None:
        return
    yield observation
    key = dict(zip(("turn", "effective_at", "id"), place, strict=True))
    for statement in (_BEFORE, _AFTER):
        for (id,) in connection.execute(statement, asked | key):
            yield id
