"""Every turn of a slot: what was believed after each time at which evidence came in or expired (design 3.6)."""

from collections.abc import Callable, Collection, Sequence
from operator import attrgetter

from beliefs.counting import NONE_FALLEN, Fallen
from beliefs.resolve import resolve
from schemas.answer import History, Turn
from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy

Grounds = Callable[[Instant], Fallen]
"""The premises that were not held at a time."""


def history(
    evidence: Sequence[Evidence],
    policy: Policy,
    now: Instant,
    limit: int = 200,
    *,
    grounds: Grounds | None = None,
    moves: Collection[Instant] = (),
) -> History:
    """The slot's turns, oldest first, at most the newest `limit`, and its state at `now`.

    A turn is a time at which evidence takes effect or expires; what decay alone changes between them is no turn.
    `moves` are the times at which a premise may have moved: those are turns where what is believed differs.
    """
    fallen_at = grounds or _nothing_fallen
    begins = {piece.effective_at for piece in evidence}
    ends = {
        piece.valid_until for piece in evidence if piece.valid_until is not None and min(begins) < piece.valid_until
    }
    own = begins | ends
    times = sorted(at for at in own | {at for at in moves if at > min(begins)} if at <= now)
    turns: list[Turn] = []
    for at in times[-limit:]:
        until_then = [piece for piece in evidence if piece.effective_at <= at]
        new = tuple(sorted((piece for piece in until_then if piece.effective_at == at), key=attrgetter("id")))
        beliefs = resolve(until_then, policy, at, fallen_at(at)).beliefs
        if at in own or not turns or _statuses(beliefs) != _statuses(turns[-1].beliefs):
            turns.append(Turn(at=at, beliefs=beliefs, evidence=new))
    state = resolve(evidence, policy, now, fallen_at(now)).beliefs
    return History(slot=evidence[0].slot, turns=tuple(turns), beliefs=state)


def _nothing_fallen(_: Instant) -> Fallen:
    return NONE_FALLEN


def _statuses(beliefs: Sequence[Belief]) -> list[tuple[str, str]]:
    return [(belief.id, belief.status) for belief in beliefs]
