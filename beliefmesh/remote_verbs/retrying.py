"""When a request is sent again and after which pause: what failed on the way, or was refused for the moment."""

import http.client
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from random import SystemRandom
from typing import NamedTuple

import msgspec

from beliefmesh.failure import error_from_builtins
from schemas.errors import BeliefmeshError, StoreUnavailable

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_MOST_DOUBLINGS = 10

_LATER = (http.client.TOO_MANY_REQUESTS, http.client.SERVICE_UNAVAILABLE)
_BETWEEN = (http.client.BAD_GATEWAY, http.client.GATEWAY_TIMEOUT)
_RANDOM = SystemRandom()


class Replied(NamedTuple):
    """The reply to one request; `retry_after` as the header has it."""

    status: int
    body: bytes
    retry_after: str | None = None


class Failed(NamedTuple):
    """A request that came to nothing: why, and after how many seconds it may be sent again, if ever."""

    error: BeliefmeshError
    advice: float | None


def patiently(ask: Callable[[], Replied], patience: float) -> bytes:
    """The body of a reply, asked for again after a pause for as long as that may help.

    No pause begins that would end after `patience` seconds. Raises the last failure.
    """
    until = time.monotonic() + patience
    tries = 0
    while True:
        outcome = _outcome(ask)
        if isinstance(outcome, Replied):
            return outcome.body
        if outcome.advice is None:
            raise outcome.error
        pause = pause_after(tries, outcome.advice, _RANDOM.random())
        if time.monotonic() + pause > until:
            raise outcome.error
        time.sleep(pause)
        tries += 1


def failure_in(replied: Replied) -> Failed | None:
    """What a reply says that went wrong, if anything did.

    It helps to come again where the mesh is busy or a store is down (429, 503), where the same request is still
    running (409 that says when), and where something between here and the mesh had no answer (502, 504).
    """
    if replied.status < http.client.BAD_REQUEST:
        return None
    told = _decoded(replied.body)
    error = error_from_builtins(told, replied.status)
    between = replied.status in _BETWEEN and told is None
    running = replied.status == http.client.CONFLICT and replied.retry_after is not None
    passes = replied.status in _LATER or between or running
    return Failed(error, seconds_in(replied.retry_after) if passes else None)


def pause_after(tries: int, advice: float, chance: float) -> float:
    """The pause before the next try: as advised, and a part by chance (0..1) of a step that doubles up to a bound."""
    step = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(tries, _MOST_DOUBLINGS))
    return advice + chance * step


def seconds_in(retry_after: str | None) -> float:
    """The seconds that a Retry-After header asks for, by number or by date; none where it is neither."""
    if retry_after is None:
        return 0.0
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return 0.0


def _outcome(ask: Callable[[], Replied]) -> Replied | Failed:
    try:
        replied = ask()
    except StoreUnavailable as error:
        return Failed(error, 0.0)
    return failure_in(replied) or replied


def _decoded(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
