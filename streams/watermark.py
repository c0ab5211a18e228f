"""The low watermark of a bank: the time up to which everything that the log accepted of it is recallable.

It errs on the early side. What a bank is waiting for is seen in the head of each backlog; where more lies beyond
that, what is not seen counts as accepted no later than it can have been:

- `observations`: records lie in the order of acceptance, so those beyond are later than the last one seen. Whose a
  record is says its key; a key that names no bank may be anybody's.
- `claims`, `changes`: their messages say when the observation behind them was accepted. Those beyond come from later
  observations than the earliest one seen, as the stages keep the order within a partition. The exception: a
  partition of `observations` that was stuck, then moved on, and whose claims lie far back in a long backlog.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from schemas.errors import InvalidInput, MalformedMessage
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.limits import check_bank
from schemas.slot import Change
from schemas.wire import unpack
from stores.ports import Record
from streams.backlog import Backlog
from streams.bundles import messages_of
from streams.topics import CHANGES, CLAIMS, OBSERVATIONS

_ANY = ""

Accepted = tuple[str, Instant]
"""A bank (`_ANY`: it may be any) and when the log accepted something of it."""


def low_watermarks(waiting: Iterable[Backlog], banks: Sequence[str], now: Instant) -> dict[str, Instant]:
    """The low watermark of each bank: `now`, which was read before the backlogs were, unless something of it waits."""
    marks = dict.fromkeys(banks, now)
    for backlog in waiting:
        seen = list(_READERS[backlog.place.source](backlog.head)) if backlog.head else []
        if not seen:
            continue
        earliest: dict[str, Instant] = {}
        for bank, at in seen:
            earliest[bank] = min(earliest.get(bank, at), at)
        beyond = _beyond(backlog, earliest) if backlog.more else now
        for bank in banks:
            marks[bank] = min(marks[bank], earliest.get(bank, beyond), earliest.get(_ANY, now))
    return {bank: max(0, at) for bank, at in marks.items()}


def _beyond(backlog: Backlog, earliest: dict[str, Instant]) -> Instant:
    """No later than what lies behind the part of a backlog that was seen."""
    return backlog.head[-1].at if backlog.place.source == OBSERVATIONS else min(earliest.values())


def _of_observations(records: Sequence[Record]) -> Iterator[Accepted]:
    for record in records:
        yield _bank_of(record.key), record.at


def _of_claims(records: Sequence[Record]) -> Iterator[Accepted]:
    for record in records:
        for message in messages_of(record):
            try:
                piece = unpack(message.value, Evidence)
            except MalformedMessage:
                continue  # it will be set aside, and never be recallable
            yield piece.bank, piece.ingested_at or record.at


def _of_changes(records: Sequence[Record]) -> Iterator[Accepted]:
    """Without those of reviews, which bring nothing that was just accepted."""
    for record in records:
        for message in messages_of(record):
            try:
                change = unpack(message.value, Change)
            except MalformedMessage:
                continue
            if change.observation_ids:
                yield change.bank, change.accepted_at or record.at


_READERS: dict[str, Callable[[Sequence[Record]], Iterator[Accepted]]] = {
    OBSERVATIONS: _of_observations,
    CLAIMS: _of_claims,
    CHANGES: _of_changes,
}


@lru_cache(maxsize=4_096)
def _bank_of(key: str) -> str:
    bank, slash, _ = key.partition("/")
    try:
        return check_bank(bank) if slash else _ANY
    except InvalidInput:
        return _ANY
