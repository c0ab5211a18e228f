"""Gathers the turns of a session that somebody may see and that hold, and for whom a narrative of them may be."""

from collections.abc import Iterable, Sequence

import msgspec

from beliefs.access import visible
from beliefs.narrative import MOST_TURNS, SessionTurn
from beliefs.resolve import judged
from recall.seen import Seen, SeenSlot, Sight
from schemas.belief import LIVE, Belief
from schemas.entity import Entity
from schemas.errors import InvalidInput, NotFound
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.query import Principal
from stores.ports import GraphStore

NARRATOR = "narrator"
"""The source, and the one origin, of every narrative."""

_MOST_MENTIONS = 20


class Narrative(msgspec.Struct, frozen=True, omit_defaults=True):
    """A narrative that was kept: its text, the beliefs of the turns it tells, and who worded it (`template` or `llm`).

    `left_out` counts turns that no longer hold, are chatter, or are beyond the newest hundred. `kept` is false where
    the same turns had been told already; then nothing was added.
    """

    session: str
    text: str
    turns: tuple[str, ...]
    observation: str
    by: str
    token: str = ""
    left_out: int = 0
    kept: bool = True


class Gathered(msgspec.Struct, frozen=True):
    """What a session holds for one principal: its turns, what else they name, and everything that was looked at."""

    turns: tuple[SessionTurn, ...]
    mentions: tuple[Entity, ...]
    seen: tuple[Evidence, ...]
    left_out: int


def gather(graph: GraphStore, bank: str, session: str, principal: Principal, now: Instant) -> Gathered:
    """The turns in their order. Raises NotFound where the principal sees none that holds."""
    pieces = visible(graph.session(bank, session, MOST_TURNS), principal)
    policy = graph.policy(bank)
    seen = Seen(graph, policy, Sight(bank=bank, principal=principal, moment=now))
    slots = seen.slots(piece.slot for piece in pieces)
    holding = _holding(slots.values(), policy, now)
    by_observation: dict[str, list[Evidence]] = {}
    for piece in pieces:
        by_observation.setdefault(piece.observation_id, []).append(piece)
    turns: dict[str, SessionTurn] = {}
    mentions: dict[Entity, None] = {}
    for told in by_observation.values():
        for piece in _words_of(told):
            if piece.id in holding and piece.tier != "low":
                belief = holding[piece.id]
                turns.setdefault(belief.id, _turn(piece, belief))
                mentions |= dict.fromkeys((piece.entity, *piece.mentions))
    if not turns:
        raise NotFound(f"session {session!r} has no turn that holds and that you may see")
    everything = tuple(piece for slot in slots.values() for piece in slot.evidence)
    told_of = {piece.observation_id for piece in pieces if piece.id in holding and holding[piece.id].id in turns}
    left_out = len(by_observation) - len(told_of)
    return Gathered(tuple(turns.values()), tuple(mentions)[:_MOST_MENTIONS], everything, left_out)


def audience_of_all(pieces: Iterable[Evidence], principal: Principal) -> dict[str, object]:
    """The narrowest audience: those who may see every one of the pieces, which the principal may.

    Raises InvalidInput where nobody but an unnamed member of several groups may see all.
    """
    narrow = [piece for piece in pieces if piece.visibility != "bank"]
    if not narrow:
        return {}
    common: set[str] | None = None
    for piece in narrow:
        names = {piece.owner} - {""} if piece.visibility == "private" else {piece.owner, *piece.readers} - {""}
        common = names if common is None else common & names
    shared = sorted((common or set()) - {principal.id})
    if shared and all(piece.visibility == "group" for piece in narrow):
        return {"visibility": "group", "readers": shared, "owner": principal.id}
    if not principal.id:
        raise InvalidInput("principal", "is unnamed, and no one group may see all turns; name who the narrative is for")
    return {"visibility": "private", "owner": principal.id}


def _words_of(told: Sequence[Evidence]) -> Sequence[Evidence]:
    """The evidence that bears a turn's words: its free statement, else, where rules read all of it, its values."""
    free = [piece for piece in told if piece.attribute is None]
    return free or [piece for piece in told if piece.stance == "supports"]


def _holding(slots: Iterable[SeenSlot], policy: Policy, now: Instant) -> dict[str, Belief]:
    """For each piece of evidence that supports a live belief: that belief."""
    found = {}
    for slot in slots:
        live = {belief.id: belief for belief in slot.slot.beliefs if belief.status in LIVE}
        _, candidates = judged(slot.evidence, policy, now)
        for id, candidate in candidates.items():
            if id in live:
                found.update({voice.evidence.id: live[id] for voice in candidate.supporters})
    return found


def _turn(piece: Evidence, belief: Belief) -> SessionTurn:
    speaker = piece.agent or piece.origin
    return SessionTurn(speaker, piece.effective_at, piece.statement, belief.id, piece.kind, piece.tier)
