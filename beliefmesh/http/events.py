"""Server-sent events: a reply that lasts, with heartbeats, which ends when told to and lets go of a reader that stalls.

Nothing is queued for a reader: what it has not read lies in the log, and it goes on from the last id that it got.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import msgspec
import structlog
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from beliefmesh.failure import error_to_builtins
from beliefmesh.http.drain import Drain
from schemas.errors import BeliefmeshError

EVENTS_TYPE = "text/event-stream"

_HEARTBEAT_SECONDS = 15.0
_PAUSE_SECONDS = 0.25
_PATIENCE_SECONDS = 10.0
"""A reader that takes longer for one part of the stream is slow; after three times as long it is let go."""

log_events = structlog.get_logger("http")


class Event(msgspec.Struct, frozen=True):
    """One event: its kind, its data as JSON, and the id to resume from ("" for an event that has none)."""

    kind: str
    data: bytes
    id: str = ""

    def written(self) -> bytes:
        """The event as it travels."""
        id = f"id: {self.id}\n" if self.id else ""
        return f"event: {self.kind}\n{id}data: ".encode() + self.data + b"\n\n"


class EventBatch(msgspec.Struct, frozen=True):
    """Events, the id up to which all was looked at, and whether there are more to be had at once."""

    events: tuple[Event, ...]
    id: str
    more: bool


Next = Callable[[], Awaitable[EventBatch]]


class EventStream(Response):
    """Tells what `following` gives until the reader leaves, the process drains, or it raises.

    It ends with the event `end`, whose data says why; a reader that comes again with `Last-Event-ID` misses nothing.
    """

    media_type = EVENTS_TYPE

    def __init__(
        self,
        following: Next,
        drain: Drain,
        *,
        pause: float = _PAUSE_SECONDS,
        heartbeat: float = _HEARTBEAT_SECONDS,
        patience: float = _PATIENCE_SECONDS,
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._following = following
        self._drain = drain
        self._pause = pause
        self._heartbeat = heartbeat
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI calls it
        """Send until one of the ends."""
        gone = asyncio.create_task(_left(receive))
        telling = asyncio.create_task(self._tell(send))
        try:
            await asyncio.wait({gone, telling}, return_when=asyncio.FIRST_COMPLETED)
            if telling.done():
                telling.result()
        finally:
            for task in (gone, telling):
                task.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await task

    async def _tell(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for part in self._parts():
            pace = await self._sent(send, part)
            if pace == "lost":
                return
            if pace == "slow":
                await self._sent(send, _end("slow", "you read too slowly; come again with Last-Event-ID"))
                break
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _parts(self) -> AsyncIterator[bytes]:
        """What is sent, part by part; the first is sent at once, so that the reader knows that it is heard."""
        yield b": welcome\n\n"
        silent = 0.0
        while not self._drain.begun:
            try:
                batch = await self._following()
            except BeliefmeshError as error:
                yield Event("end", msgspec.json.encode(error_to_builtins(error))).written()
                return
            if batch.events:
                yield b"".join(event.written() for event in batch.events)
                silent = 0.0
            elif silent >= self._heartbeat:
                yield f": alive\nid: {batch.id}\n\n".encode()
                silent = 0.0
            if not batch.more:
                silent += self._pause
                await self._drain.within(self._pause)
        yield _end("draining", "this process ends; come again with Last-Event-ID")

    async def _sent(self, send: Send, part: bytes) -> str:
        """How a part went: `well`, `slow`, or `lost` where it could not be sent at all."""
        message: Message = {"type": "http.response.body", "body": part, "more_body": True}
        sending = asyncio.ensure_future(_awaited(send(message)))
        for pace, patience in (("well", self._patience), ("slow", 2 * self._patience)):
            done, _ = await asyncio.wait({sending}, timeout=patience)
            if done:
                sending.result()
                return pace
        sending.cancel()
        log_events.warning("events.dropped", reason="the reader stalls")
        return "lost"


async def _awaited(some: Awaitable[None]) -> None:
    await some


async def _left(receive: Receive) -> None:
    """Return once the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _end(code: str, message: str) -> bytes:
    return Event("end", msgspec.json.encode({"error": {"code": code, "message": message, "field": ""}})).written()
