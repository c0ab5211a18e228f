"""A bank as a file and back: its policy and every observation that the log still has, each with its time of acceptance.

What is believed is a function of these, so they are all that a backup needs. One JSON value a line: a head with the
bank's name and policy, the observations, and a foot with their number, by which a file that was cut off is known.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Literal

import msgspec

from beliefmesh.again import decide_again
from beliefmesh.home import Home
from beliefmesh.verbs.telling import entry_of, without_forgotten
from schemas.errors import InvalidInput
from schemas.instant import Instant, format_instant
from schemas.limits import check_bank
from schemas.observation import Observation
from schemas.policy import DEFAULT_POLICY, Policy, check_policy
from schemas.wire import unpack
from stores.ports import Record
from streams.bundles import bundled_by_bank, messages_of
from streams.freshness import later_token, token_of
from streams.screen import screen
from streams.topics import OBSERVATIONS

VERSION = 1

_PAGE = 500
_LINES_AT_ONCE = 1_000
_PART_BYTES = 65_536


PolicyFate = Literal["taken", "kept"]


class Head(msgspec.Struct, frozen=True, tag_field="beliefmesh", tag="backup"):
    """What a backup begins with."""

    version: int
    bank: str
    at: str
    policy: Policy


class Kept(msgspec.Struct, frozen=True, tag_field="beliefmesh", tag="observation", gc=False):
    """An observation as it stands in the log, and when the log accepted it."""

    at: Instant
    observation: Observation


class Foot(msgspec.Struct, frozen=True, tag_field="beliefmesh", tag="end"):
    """What a whole backup ends with."""

    observations: int


class Restored(msgspec.Struct, frozen=True):
    """What a restore did: the token is of all that it appended; the policy is `kept` where the bank had its own."""

    bank: str
    observations: int
    policy: PolicyFate
    token: str


_LINE = msgspec.json.Decoder(Head | Kept | Foot)


def exported(home: Home, bank: str) -> Iterator[bytes]:
    """The lines of a bank's backup. What was forgotten, or could not be read, is not in it."""
    yield msgspec.json.encode(Head(VERSION, bank, format_instant(home.clock()), home.graph.policy(bank)))
    count = 0
    for record in _records(home):
        for message in messages_of(record):
            observation = _observation(message)
            if observation is not None and observation.bank == bank:
                count += 1
                yield msgspec.json.encode(Kept(record.at, observation))
    yield msgspec.json.encode(Foot(count))


def joined(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines in parts of a bearable size, each line with its end."""
    part: list[bytes] = []
    size = 0
    for line in lines:
        part.append(line.rstrip(b"\n") + b"\n")
        size += len(line)
        if size >= _PART_BYTES:
            yield b"".join(part)
            part, size = [], 0
    yield b"".join(part)


def bank_in(line: bytes) -> str:
    """The bank that a backup's first line names. Raises InvalidInput."""
    if not line:
        raise _empty()
    head = _read(line, 1)
    if not isinstance(head, Head):
        raise _misplaced(1)
    return _checked(head, None).bank


def observation_in(line: bytes) -> Observation | None:
    """What a backup's line tells; None for its head and foot."""
    read = _read(line, 0)
    return read.observation if isinstance(read, Kept) else None


def is_end(line: bytes) -> bool:
    """Whether a line is the last one of a whole backup."""
    try:
        return isinstance(_read(line, 0), Foot)
    except InvalidInput:
        return False


def restored(home: Home, lines: Iterable[bytes], bank: str | None = None) -> Restored:
    """Append what a backup holds; to do it again, or over what is there, changes nothing that is believed.

    Raises InvalidInput for a line that is not a backup's, for one of another bank than `bank`, and for a file that
    ends before its foot: what was read until then is kept.
    """
    head: Head | None = None
    policy: PolicyFate = "kept"
    count = 0
    token = ""
    waiting: list[Kept] = []
    whole = False
    for number, line in enumerate(lines, 1):
        read = _read(line, number)
        if isinstance(read, Head) != (head is None) or whole:
            raise _misplaced(number)
        if isinstance(read, Head):
            head = _checked(read, bank)
            policy = _policy(home, head)
        elif isinstance(read, Foot):
            whole = read.observations == count
        else:
            waiting.append(read)
            count += 1
        if len(waiting) >= _LINES_AT_ONCE:
            token = later_token(token, _appended(home, head, waiting))
            waiting = []
    if head is None:
        raise _empty()
    token = later_token(token, _appended(home, head, waiting))
    if not whole:
        raise InvalidInput("backup", f"ends early: {count} observations were kept, more are missing; take a whole one")
    return Restored(head.bank, count, policy, token)


def _records(home: Home) -> Iterator[Record]:
    topic = home.topics.name(OBSERVATIONS)
    for partition, end in sorted(home.log.ends(topic).items()):
        offset = 0
        while offset < end and (page := home.log.read(topic, partition, offset, _PAGE)):
            yield from page
            offset = page[-1].offset + 1


def _observation(message: Record) -> Observation | None:
    """What a message says; None for one that no stage could use, which is a dead letter."""
    try:
        observation = unpack(message.value, Observation)
        screen(observation)
    except InvalidInput:
        return None
    return observation


def _read(line: bytes, number: int) -> Head | Kept | Foot:
    try:
        read: Head | Kept | Foot = _LINE.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("backup", f"line {number} is not a backup's ({error})") from error
    return read


def _empty() -> InvalidInput:
    return InvalidInput("backup", "is empty; `beliefmesh export` writes one")


def _misplaced(number: int) -> InvalidInput:
    return InvalidInput("backup", f"line {number} is out of place: a backup has one head, observations, and one foot")


def _checked(head: Head, bank: str | None) -> Head:
    if head.version > VERSION:
        raise InvalidInput("backup", f"has version {head.version}; this release knows {VERSION}. Upgrade Beliefmesh")
    if check_bank(head.bank) != (bank or head.bank):
        raise InvalidInput("backup", f"is of the bank {head.bank}, not of {bank}; a bank comes back by its own name")
    check_policy(head.policy)
    return head


def _appended(home: Home, head: Head | None, kept: Sequence[Kept]) -> str:
    """Append observations at the times at which they were accepted, those of one time together; gives a token."""
    topic = home.topics.name(OBSERVATIONS)
    partitions = home.log.partitions(topic)
    places: list[tuple[int, int]] = []
    for one in kept:
        if head is None or one.observation.bank != head.bank:
            raise InvalidInput("backup", f"holds an observation of another bank, {one.observation.bank!r:.80}")
        screen(one.observation)
    for at, together in groupby(sorted(kept, key=attrgetter("at")), key=attrgetter("at")):
        told = without_forgotten(home.graph, [one.observation for one in together])
        entries = bundled_by_bank(map(entry_of, told), partitions)
        places += home.log.append(topic, entries, at)
    return token_of(places)


def _policy(home: Home, head: Head) -> PolicyFate:
    """Give the bank the backup's policy, unless it has one of its own."""
    held = home.graph.policy(head.bank)
    if held not in (DEFAULT_POLICY, head.policy):
        return "kept"
    if held != head.policy:
        home.graph.set_policy(head.bank, head.policy)
        decide_again(home, head.bank)
    return "taken"
