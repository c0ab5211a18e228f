"""Every turn of a slot: what was believed after each time at which evidence came in or expired (design 3.6)."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from operator import attrgetter

from beliefs.counting import NONE_FALLEN, Fallen
from beliefs.resolve import resolve
from schemas.answer import NEWEST_TURNS, History, Turn
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
    limit: int = NEWEST_TURNS,
    *,
    after: Instant | None = None,
    grounds: Grounds | None = None,
    moves: Collection[Instant] = (),
) -> History:
    """The slot's turns, oldest first: the newest `limit`, or the next `limit` ones `after` a time; and its state.

    A turn is a time at which evidence takes effect or expires; what decay alone changes between them is no turn.
    `moves` are the times at which a premise may have moved: those are turns where what is believed differs.
    """
    fallen_at = grounds or _nothing_fallen
    own = _own_times(evidence)
    times = sorted(at for at in own | {at for at in moves if at > min(own)} if at <= now)
    turns: list[Turn] = []
    told = _told_before(times, after, limit)
    before: Sequence[Belief] | None = None
    for place, at in enumerate(times[told:], told):
        if len(turns) == limit:
            break
        until_then = [piece for piece in evidence if piece.effective_at <= at]
        new = tuple(sorted((piece for piece in until_then if piece.effective_at == at), key=attrgetter("id")))
        beliefs = resolve(until_then, policy, at, fallen_at(at)).beliefs
        if at in own or before is None or _statuses(beliefs) != _statuses(before):
            if after is None or at > after:
                turns.append(Turn(at=at, beliefs=beliefs, evidence=new))
            before = beliefs
        told = place + 1
    state = resolve(evidence, policy, now, fallen_at(now)).beliefs
    return History(
        slot=evidence[0].slot,
        turns=tuple(turns),
        beliefs=state,
        earlier=bool(turns) and turns[0].at > times[0],
        next=str(turns[-1].at) if turns and told < len(times) else "",
    )


def _own_times(evidence: Sequence[Evidence]) -> set[Instant]:
    """When evidence takes effect or expires; the first of them is a beginning."""
    begins = {piece.effective_at for piece in evidence}
    first = min(begins)
    ends = {piece.valid_until for piece in evidence if piece.valid_until is not None and first < piece.valid_until}
    return begins | ends


def _told_before(times: Sequence[Instant], after: Instant | None, limit: int) -> int:
    """From which time on the turns are made; where they go on, from the one before, which tells what had changed."""
    if after is None:
        return max(0, len(times) - limit)
    return max(0, bisect_right(times, after) - 1)


def _nothing_fallen(_: Instant) -> Fallen:
    return NONE_FALLEN


def _statuses(beliefs: Sequence[Belief]) -> list[tuple[str, str]]:
    return [(belief.id, belief.status) for belief in beliefs]
