"""How what was forgotten is taken out of every topic of the log, and nothing else with it.

A record may be a bundle of several messages: the others take its place, under their own ids and with the time at which
they were first accepted. A log that cannot write in place appends them, and readers count them as duplicates.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import msgspec

from schemas.dead_letter import DeadLetter
from schemas.errors import MalformedMessage
from schemas.evidence import Evidence
from schemas.observation import Observation, Source, observation_key
from schemas.recall_record import Feedback, RecallRecord
from schemas.slot import Change
from schemas.tombstone import grave
from schemas.wire import bundle, unbundle, unpack
from stores.ports import GraphStore, Log, Record
from streams.topics import CHANGES, CLAIMS, DEAD_LETTERS, OBSERVATIONS, RECALL_LOG, Topics

_PAGE = 500
_PAGE_BYTES = 8 * 1_048_576

_Messages = list[tuple[int, bytes, msgspec.Struct]]
"""Messages of a page that could be read: the place of the record, the message, what it carries."""


class Forgotten(msgspec.Struct, frozen=True):
    """What is to go: the graves of a bank's observations, and the ids of the evidence that they gave.

    Where the observations of all graves are known, their ids spare a digest for each that is looked at.
    """

    bank: str
    graves: frozenset[str]
    evidence: frozenset[str]
    observations: frozenset[str] | None = None

    def covers(self, bank: str, observation_id: str) -> bool:
        """Whether an observation is among it."""
        if bank != self.bank:
            return False
        if self.observations is not None:
            return observation_id in self.observations
        return grave(bank, observation_id) in self.graves


class Provenance(NamedTuple):
    """Whose a message is: bank and id of the observation, owner and source, as far as they are known."""

    bank: str
    id: str
    owner: str
    source: Source


def observations_in(log: Log, topics: Topics) -> Iterator[Observation]:
    """Every observation that the log holds and that can be read."""
    for body in _bodies(_records(log, topics.name(OBSERVATIONS)), Observation):
        if isinstance(body, Observation):
            yield body


def evidence_in(log: Log, topics: Topics) -> Iterator[Evidence]:
    """Every piece of evidence in the claims that the log still holds."""
    for body in _bodies(_records(log, topics.name(CLAIMS)), Evidence):
        if isinstance(body, Evidence):
            yield body


def erase(log: Log, topics: Topics, graph: GraphStore, what: Forgotten) -> int:
    """Take it out of every topic; returns how many records went. Safe to repeat.

    What names it goes first, what it was made from last: recalls, dead letters, changes, claims, observations. A write
    that is cut short therefore leaves what is needed to find the rest again. Changes and recalls go that name what the
    graph no longer holds, so it is to be up to date by then.
    """
    done = _erase(log, topics, RECALL_LOG, lambda page: _stale_recalls(page, graph, what))
    done += _erase(log, topics, DEAD_LETTERS, lambda page: _hits(_read(page, DeadLetter), partial(_letter_of, what)))
    done += _erase(log, topics, CHANGES, lambda page: _stale_changes(page, graph, what))
    done += _erase(log, topics, CLAIMS, lambda page: _hits(_read(page, Evidence), partial(_is_of, what)))
    return done + _erase(log, topics, OBSERVATIONS, lambda page: _hits(_read(page, Observation), partial(_is_of, what)))


def _erase(log: Log, topics: Topics, topic: str, stale: Callable[[Sequence[Record]], dict[int, set[bytes]]]) -> int:
    """Take messages out of a topic; `stale` gives them by the place of their record in the page."""
    name = topics.name(topic)
    read_to = log.committed(topics.group, name) if topic in (CLAIMS, CHANGES) else {}
    done = 0
    for partition, end in log.ends(name).items():
        for page in _pages(log, name, partition, end):
            hits = stale(page)
            shortened = [
                short
                for place, messages in hits.items()
                if page[place].offset >= read_to.get(partition, 0) and (short := _without(page[place], messages))
            ]
            if shortened:
                log.replace(shortened)
            gone = {page[place].offset for place in hits} - {record.offset for record in shortened}
            if gone:
                log.forget(name, partition, sorted(gone))
            done += len(hits)
    return done


def _without(record: Record, stale: set[bytes]) -> Record | None:
    """The record with what else it holds, if anything."""
    others = [message for message in unbundle(record.value) if message not in stale]
    return msgspec.structs.replace(record, key=_key_of(others[0], record), value=bundle(others)) if others else None


def _key_of(message: bytes, record: Record) -> str:
    """The key under which a message shares a partition with its record, whose own key may name what is forgotten."""
    body = _body(message, Observation)
    return observation_key(body) if isinstance(body, Observation) else record.key


def _read(page: Sequence[Record], *kinds: type[msgspec.Struct]) -> _Messages:
    return [
        (place, message, body)
        for place, record in enumerate(page)
        for message in unbundle(record.value)
        if (body := _body(message, *kinds)) is not None
    ]


def _hits(read: _Messages, is_stale: Callable[[msgspec.Struct], bool]) -> dict[int, set[bytes]]:
    found: dict[int, set[bytes]] = {}
    for place, message, body in read:
        if is_stale(body):
            found.setdefault(place, set()).add(message)
    return found


def _is_of(what: Forgotten, body: msgspec.Struct) -> bool:
    match body:
        case Observation():
            return what.covers(body.bank, body.id)
        case Evidence():
            return what.covers(body.bank, body.observation_id)
    return False


def told_in(letter: DeadLetter) -> Iterator[Provenance]:
    """Whose the messages in a dead letter are; of a line that nobody could read, what it says itself."""
    for message in unbundle(letter.original):
        match _body(message, Observation, Evidence):
            case Observation() as body:
                yield Provenance(body.bank, body.id, body.owner, body.source)
            case Evidence() as body:
                yield Provenance(body.bank, body.observation_id, body.owner, body.source)
            case _:
                yield from _told_on_line(message, letter.headers.get("bank", ""))


def _told_on_line(line: bytes, bank: str) -> Iterator[Provenance]:
    try:
        said = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return
    if isinstance(said, dict):
        source = said.get("source")
        named = source if isinstance(source, dict) else {"id": source}
        yield Provenance(
            _text(said.get("bank")) or bank,
            _text(said.get("id")),
            _text(said.get("owner")),
            Source(_text(named.get("id")), _text(named.get("origin"))),
        )


def _text(said: object) -> str:
    return said if isinstance(said, str) else ""


def _letter_of(what: Forgotten, body: msgspec.Struct) -> bool:
    return isinstance(body, DeadLetter) and any(what.covers(told.bank, told.id) for told in told_in(body) if told.id)


def _stale_changes(page: Sequence[Record], graph: GraphStore, what: Forgotten) -> dict[int, set[bytes]]:
    read = _read(page, Change)
    slots = {body.slot for _, _, body in read if isinstance(body, Change) and body.bank == what.bank}
    gone = slots - graph.slots(what.bank, sorted(slots)).keys() if slots else set()

    def is_stale(body: msgspec.Struct) -> bool:
        if not isinstance(body, Change) or body.bank != what.bank:
            return False
        return body.slot in gone or any(what.covers(body.bank, id) for id in body.observation_ids)

    return _hits(read, is_stale)


def _stale_recalls(page: Sequence[Record], graph: GraphStore, what: Forgotten) -> dict[int, set[bytes]]:
    read = _read(page, RecallRecord, Feedback)
    asked: set[str] = set()
    for _, _, body in read:
        if isinstance(body, RecallRecord) and body.bank == what.bank:
            asked.update(used.id for used in body.beliefs)
        elif isinstance(body, Feedback) and body.bank == what.bank:
            asked.add(body.belief)
    gone = asked - graph.beliefs(what.bank, sorted(asked)).keys() if asked else set()

    def is_stale(body: msgspec.Struct) -> bool:
        match body:
            case RecallRecord(bank=what.bank):
                return any(used.id in gone or what.evidence.intersection(used.evidence) for used in body.beliefs)
            case Feedback(bank=what.bank):
                return body.belief in gone
        return False

    return _hits(read, is_stale)


def _bodies(records: Iterable[Record], *kinds: type[msgspec.Struct]) -> Iterator[msgspec.Struct]:
    for record in records:
        for message in unbundle(record.value):
            body = _body(message, *kinds)
            if body is not None:
                yield body


def _records(log: Log, topic: str) -> Iterator[Record]:
    for partition, end in log.ends(topic).items():
        for page in _pages(log, topic, partition, end):
            yield from page


def _pages(log: Log, topic: str, partition: int, end: int) -> Iterator[list[Record]]:
    """A partition's records up to where it ended when it was looked at first, as many at once as fit into memory."""
    page: list[Record] = []
    size = offset = 0
    while offset < end and (some := log.read(topic, partition, offset, _PAGE)):
        page += some
        size += sum(len(record.value) for record in some)
        offset = some[-1].offset + 1
        if size > _PAGE_BYTES:
            yield page
            page, size = [], 0
    if page:
        yield page


def _body(message: bytes, *kinds: type[msgspec.Struct]) -> msgspec.Struct | None:
    """What a message of one of these kinds carries; None for another, or what cannot be read."""
    for kind in kinds:
        with suppress(MalformedMessage):
            return unpack(message, kind)
    return None
