"""Every turn of a slot: what was believed after each time at which evidence came in or expired (design 3.6)."""

from collections.abc import Sequence
from operator import attrgetter

from beliefs.resolve import resolve
from schemas.answer import History, Turn
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy


def history(evidence: Sequence[Evidence], policy: Policy, now: Instant, limit: int = 200) -> History:
    """The slot's turns, oldest first, at most the newest `limit`, and its state at `now`.

    A turn is a time at which evidence takes effect or expires; what decay alone changes between them is no turn.
    """
    begins = {piece.effective_at for piece in evidence}
    ends = {
        piece.valid_until for piece in evidence if piece.valid_until is not None and min(begins) < piece.valid_until
    }
    times = sorted(at for at in begins | ends if at <= now)
    turns = []
    for at in times[-limit:]:
        until_then = [piece for piece in evidence if piece.effective_at <= at]
        new = tuple(sorted((piece for piece in until_then if piece.effective_at == at), key=attrgetter("id")))
        turns.append(Turn(at=at, beliefs=resolve(until_then, policy, at).beliefs, evidence=new))
    return History(slot=evidence[0].slot, turns=tuple(turns), beliefs=resolve(evidence, policy, now).beliefs)
