"""Read your writes: a token says where observations lie in the log; waiting for it waits until they are recallable."""

import re
import time
from collections.abc import Callable, Mapping, Sequence

from schemas.errors import InvalidInput
from stores.ports import Log
from streams.backlog import places
from streams.topics import OBSERVATIONS, Topics
from streams.topology import STAGES

_TOKEN = re.compile(r"[0-9]{1,9}:[0-9]{1,18}(?:,[0-9]{1,9}:[0-9]{1,18})*")
_FIRST_POLL = 0.01
_LONGEST_POLL = 0.1

Offsets = Mapping[int, int]


def token_of(places: Sequence[tuple[int, int]]) -> str:
    """The token of (partition, offset) places: for each partition the offset after the last one."""
    after: dict[int, int] = {}
    for partition, offset in places:
        after[partition] = max(after.get(partition, 0), offset + 1)
    return ",".join(f"{partition}:{offset}" for partition, offset in sorted(after.items()))


def later_token(one: str, other: str) -> str:
    """The token that waits for what both of these wait for."""
    places = [*offsets_of(one).items(), *offsets_of(other).items()]
    return token_of([(partition, offset - 1) for partition, offset in places])


def offsets_of(token: str) -> dict[int, int]:
    """What a token asks for. Raises InvalidInput when it is none of ours."""
    if not token:
        return {}
    if not isinstance(token, str) or len(token) > 10_000 or not _TOKEN.fullmatch(token):
        raise InvalidInput("wait_for", f"{token!r:.80} is not a token that retain returned")
    return {int(partition): int(offset) for partition, offset in (pair.split(":") for pair in token.split(","))}


def wait_for(log: Log, topics: Topics, token: str, timeout: float) -> bool:
    """Wait until what the token names has passed all stages; False when `timeout` seconds were not enough.

    Raises InvalidInput for a token that names what this log does not have.
    """
    deadline = time.monotonic() + timeout
    wanted: Offsets = offsets_of(token)
    ends = log.ends(topics.name(OBSERVATIONS))
    if any(offset > ends.get(partition, 0) for partition, offset in wanted.items()):
        raise InvalidInput("wait_for", f"{token!r:.80} is the token of another log; use one that this mesh returned")
    for stage in STAGES:
        if not _until(lambda: _reached(log, topics.group, topics.name(stage.source), wanted), deadline):  # noqa: B023
            return False
        if stage.sink:
            wanted = log.ends(topics.name(stage.sink))
    return True


def lag(log: Log, topics: Topics) -> dict[str, dict[int, int]]:
    """By stage, how many offsets of each partition it has not passed; some may be of records that are gone."""
    waiting: dict[str, dict[int, int]] = {stage.name: {} for stage in STAGES}
    for place in places(log, topics):
        waiting[place.stage][place.partition] = place.end - place.committed
    return waiting


def _reached(log: Log, group: str, topic: str, wanted: Offsets) -> bool:
    committed = log.committed(group, topic)
    return all(committed.get(partition, 0) >= offset for partition, offset in wanted.items())


def _until(condition: Callable[[], bool], deadline: float) -> bool:
    pause = _FIRST_POLL
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_POLL)
    return True
