"""What is due, what the index lacks and how much of each there is, on NebulaGraph."""

from collections.abc import Mapping, Sequence
from typing import get_args

from schemas.belief import Status
from schemas.errors import StoreUnavailable
from schemas.instant import Instant
from stores.nebula import statements as ngql
from stores.nebula.errors import NebulaRefused
from stores.nebula.reading import rows_of, slots
from stores.nebula.rows import Row
from stores.nebula.script import Script, number, quoted
from stores.nebula.session import NebulaSessions
from stores.nebula.vid import vid
from stores.nebula.write import Clock

_ATTEMPTS = 5
_MARKS_AT_ONCE = 250


def due(sessions: NebulaSessions, now: Instant, limit: int) -> list[tuple[str, str]]:
    """(bank, slot) whose review has come, earliest first."""
    rows = sessions.read(ngql.SLOTS_DUE, now=now, limit=number(max(limit, 0)))
    return [(str(row["bank"]), str(row["id"])) for row in rows]


def unindexed(sessions: NebulaSessions, limit: int) -> list[tuple[str, str]]:
    """(bank, belief) that the index lacks, oldest write first; without those that no slot holds (yet, or any more)."""
    found: list[tuple[str, str]] = []
    skip = 0
    while limit > 0:
        rows = sessions.read(ngql.BELIEFS_PENDING, none=0, skip=number(skip), limit=number(limit))
        held = _held(sessions, rows)
        found += [key for row in rows if (key := (str(row["bank"]), str(row["id"]))) in held and _is_of(row, held[key])]
        skip += len(rows)
        if found or len(rows) < limit:
            break
    return found


def _is_of(row: Row, version: int) -> bool:
    """A row that is ahead of its slot belongs to a write that is under way, or died and comes again."""
    return int(str(row["version"])) <= version


def _held(sessions: NebulaSessions, rows: Sequence[Row]) -> dict[tuple[str, str], int]:
    """The versions of all beliefs of these rows' slots."""
    homes: dict[str, set[str]] = {}
    for row in rows:
        homes.setdefault(str(row["bank"]), set()).add(str(row["slot"]))
    return {
        (bank, belief.id): belief.version
        for bank, ids in homes.items()
        for view in slots(sessions, bank, sorted(ids)).values()
        for belief in view.beliefs
    }


def behind(sessions: NebulaSessions, bank: str, ids: Sequence[str]) -> set[str]:
    """Those of these beliefs that the index lacks as they are now."""
    return {id for id, row in rows_of(sessions, ngql.FETCH_BELIEFS, bank, ids) if row["pending"]}


def mark_indexed(sessions: NebulaSessions, bank: str, versions: Mapping[str, int]) -> None:
    """Note what is in the index; a belief that is newer by now stays behind, one that is gone is passed over."""

    def script() -> Script:
        marks = Script()
        for id, row in rows_of(sessions, ngql.FETCH_BELIEFS, bank, versions):
            if row["pending"] and int(str(row["version"])) <= versions[id]:
                marks.add(ngql.MARK_INDEXED, vid=quoted(vid(bank, id)), none=0, version=versions[id])
        return marks

    for _ in range(_ATTEMPTS):
        if _marked(sessions, script()):
            return
    raise StoreUnavailable("beliefs vanish while they are marked as indexed; try again")


def mark_unindexed(sessions: NebulaSessions, bank: str, clock: Clock) -> int:
    """Let every belief of the bank be behind; returns how many there are."""
    while rows := sessions.read(ngql.BELIEFS_INDEXED, bank=bank, none=0, limit=number(_MARKS_AT_ONCE)):
        there = [id for id, _ in rows_of(sessions, ngql.FETCH_BELIEFS, bank, (str(row["id"]) for row in rows))]
        marks = Script()
        for id in there:
            marks.add(ngql.MARK_PENDING, vid=quoted(vid(bank, id)), pending=clock.next())
        _marked(sessions, marks)
        if not there:
            break
    return sum(_statuses(sessions, bank).values())


def counts(sessions: NebulaSessions, bank: str) -> dict[str, int]:
    """How many of each the bank holds."""
    found = {
        "entities": _count(sessions, ngql.COUNT_ENTITIES, bank),
        "slots": _count(sessions, ngql.COUNT_SLOTS, bank),
        "evidence": _count(sessions, ngql.COUNT_EVIDENCE, bank),
        "unindexed": _count(sessions, ngql.COUNT_PENDING, bank),
    }
    by_status = _statuses(sessions, bank)
    found["beliefs"] = sum(by_status.values())
    return found | {f"status.{status}": by_status.get(status, 0) for status in get_args(Status)}


def banks(sessions: NebulaSessions) -> list[str]:
    """Every bank that holds a slot or has a policy, sorted."""
    rows = {str(row["name"]): row for row in sessions.read(ngql.ALL_BANKS)}
    return sorted(
        name for name, row in rows.items() if row["policy"] or sessions.read(ngql.ANY_SLOT, bank=name, limit=number(1))
    )


def _marked(sessions: NebulaSessions, marks: Script) -> bool:
    try:
        sessions.write(marks)
    except NebulaRefused:  # one of them has vanished since they were looked up
        return False
    return True


def _statuses(sessions: NebulaSessions, bank: str) -> dict[str, int]:
    return {str(row["status"]): int(str(row["n"])) for row in sessions.read(ngql.COUNT_STATUSES, bank=bank)}


def _count(sessions: NebulaSessions, statement: str, bank: str) -> int:
    rows = sessions.read(statement, bank=bank, none=0)
    return int(str(rows[0]["n"])) if rows else 0
