"""Rows of vertices by their vids, in pages."""

from collections.abc import Iterable, Sequence

from stores.decisions import SlotKey
from stores.nebula import statements as ngql
from stores.nebula.plan import Head
from stores.nebula.rows import Row
from stores.nebula.script import vids
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import vid

_AT_ONCE = 500


def fetch(sessions: NebulaSessions, statement: str, some: Sequence[str]) -> dict[str, Row]:
    """What a FETCH finds of these vids."""
    found: dict[str, Row] = {}
    for start in range(0, len(some), _AT_ONCE):
        found |= by_vid(sessions.read(statement, vids=vids(some[start : start + _AT_ONCE])))
    return found


def read_heads(sessions: NebulaSessions, slots: Sequence[SlotKey]) -> list[Head]:
    """The rows of these slots as a writer needs them, one each, in order."""
    ends = [vid(*key) for key in slots]
    rows = fetch(sessions, ngql.FETCH_SLOTS, ends)
    return [Head.of(rows[end]) if end in rows else Head(end) for end in ends]


def by_vid(rows: Iterable[Row]) -> dict[str, Row]:
    """Rows of a FETCH by their vid."""
    return {str(row["vid"]): row for row in rows}
