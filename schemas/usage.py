"""How a belief was used: how often it was recalled, and what agents said became of it."""

import msgspec

from schemas.instant import Instant
from schemas.recall_record import Usefulness


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Recalls of one belief, and the number of different agents behind each verdict on it.

    `last_recalled` is 0 if it never was.
    """

    recalled: int = 0
    last_recalled: Instant = 0
    right: int = 0
    wrong: int = 0
    used: int = 0


class Outcome(msgspec.Struct, frozen=True):
    """An agent's verdict on a belief, and when the belief had last been recalled before it (0: never)."""

    belief: str
    verdict: Usefulness
    at: Instant
    recalled_at: Instant


UNUSED = Usage()
