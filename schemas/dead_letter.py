"""A dead letter: a message that could not be used, kept with its original bytes and the reason."""

import msgspec

from schemas.instant import Instant


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong with which message at which stage; `partition` and `offset` are -1 where it never had a place."""

    id: str
    stage: str
    error: str
    reason: str
    at: Instant
    original: bytes
    attempts: int = 1
    topic: str = ""
    partition: int = -1
    offset: int = -1
    key: str = ""
    headers: dict[str, str] = {}
