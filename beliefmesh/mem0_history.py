"""What became of a memory, as mem0 tells it: added, updated, deleted; read from the history of its slots."""

from collections.abc import Sequence
from typing import Any

from schemas.answer import History, Turn
from schemas.belief import LIVE
from schemas.instant import Instant, format_instant

Plain = dict[str, Any]


def events(memory_id: str, belief: str, told: History | None, edited: History | None) -> list[Plain]:
    """The events of a memory, oldest first: of the slot in which it was told, until it was edited, then of that one."""
    first = edited.turns[0].at if edited and edited.turns else None
    moments = [
        (turn.at, _said(turn, belief)) for turn in (told.turns if told else ()) if first is None or turn.at < first
    ]
    moments += [(turn.at, _held(turn)) for turn in (edited.turns if edited else ())]
    return _changes(memory_id, moments)


def ended_with(told: History | None, belief: str) -> list[str]:
    """A belief that an edit ended, and the beliefs that were ended by the same word: what it had replaced."""
    if told is None:
        return []
    said_in = {piece.id: piece.observation_id for turn in told.turns for piece in turn.evidence}
    ended_in = {each.id: said_in.get(each.by) for each in told.beliefs if each.status not in LIVE}
    word = ended_in.get(belief)
    return [id for id, by in ended_in.items() if id == belief or (word is not None and by == word)]


def _changes(memory_id: str, moments: Sequence[tuple[Instant, str | None]]) -> list[Plain]:
    found: list[Plain] = []
    before: str | None = None
    for at, now in moments:
        if now == before:
            continue
        event = "ADD" if before is None else "DELETE" if now is None else "UPDATE"
        begun = found[0]["created_at"] if found else format_instant(at)
        found.append(
            {
                "id": f"{memory_id}#{len(found)}",
                "memory_id": memory_id,
                "old_memory": before,
                "new_memory": now,
                "event": event,
                "created_at": begun,
                "updated_at": format_instant(at) if found else None,
                "is_deleted": int(now is None),
            }
        )
        before = now
    return found


def _said(turn: Turn, belief: str) -> str | None:
    """What a belief, or what took its place in its slot, said from a turn on; None before it was told."""
    own = next((one for one in turn.beliefs if one.id == belief), None)
    if own is None:
        return None
    if own.status in LIVE:
        return own.statement
    return next((one.statement for one in turn.beliefs if one.id == own.by and one.status in LIVE), None)


def _held(turn: Turn) -> str | None:
    return next((one.statement for one in turn.beliefs if one.status in LIVE), None)
