"""A body of any size as it arrives: within the limits of its bank, and claimed by a key without being held."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from beliefmesh.http.lasting import lasting
from beliefmesh.http.once import Repeated, asked_by, begun, key_of
from beliefmesh.memory import Memory
from beliefmesh.quota import BYTES, DAILY_BYTES, Quotas
from schemas.errors import Busy, KeyReused, StoreUnavailable
from stores.sqlite.replies import KEY_FIELD, HeldKey, KeptReply

_SETTLED_SECONDS = 0.25
"""Where nothing more comes for so long, what has come is kept."""

_IDLE_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 60.0


class Arriving:
    """The body of one request, read once, part by part, until it ends, breaks off, or the process drains."""

    def __init__(self, request: Request, bank: str) -> None:
        self._request = request
        self._bank = bank
        self._drain = request.app.state.drain
        self._quotas: Quotas = request.app.state.quotas
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """The digest of what has come, as text."""
        return self._hash.hexdigest()

    async def chunks(self) -> AsyncGenerator[bytes | None]:
        """The body as it arrives; None where nothing came for a moment. Raises Busy where nothing comes for long."""
        stream = self._request.stream()
        coming = asyncio.ensure_future(_next(stream))
        idle = 0.0
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=_SETTLED_SECONDS)
                if self._drain.begun:
                    raise _ending()
                if not done:
                    idle += _SETTLED_SECONDS
                    if idle >= _IDLE_SECONDS:
                        raise Busy(f"nothing came for {_IDLE_SECONDS:g} s; send the rest again")
                    yield None
                    continue
                chunk = coming.result()
                if chunk is None:
                    return
                idle = 0.0
                self._hash.update(chunk)
                self._quotas.take_bytes(self._bank, len(chunk))
                yield chunk
                await self.patient(BYTES, DAILY_BYTES)  # also where no line comes to its end, or none says anything
                coming = asyncio.ensure_future(_next(stream))
        finally:
            coming.cancel()
            with suppress(asyncio.CancelledError, ClientDisconnect):
                await coming

    async def patient(self, *measures: str) -> None:
        """Wait until the bank may go on; a limit that holds for long is told instead, as is that the process ends."""
        for measure in measures:
            while wanting := self._quotas.wanting(self._bank, measure):
                if wanting > _LONGEST_WAIT_SECONDS:
                    self._quotas.take(self._bank, measure, 1)
                if await self._drain.within(min(wanting, 1.0)):
                    raise _ending()


async def taking(request: Request, make: Callable[[HeldKey | None], Response]) -> Response:
    """A reply that lasts while it takes a body; it is made with the key that it claims, which is its to give up.

    What is kept under the key must name the body's `sha256`. Raises Repeated where it ran before, KeyReused where that
    was with another body, Busy, and as `once` does.
    """
    claimed = await _claimed(request)
    try:
        return lasting(request, make(claimed))
    except Busy:
        if claimed is not None:
            memory: Memory = request.app.state.memory
            await run_in_threadpool(memory.home.replies.release, claimed)
        raise


async def _claimed(request: Request) -> HeldKey | None:
    key = key_of(request)
    if not key:
        return None
    claimed, kept = await begun(request, key, asked_by(request, ""))
    if kept is not None:
        await _require_same(request, kept)
        raise Repeated(kept)
    return claimed


async def _require_same(request: Request, kept: KeptReply) -> None:
    """Raises KeyReused where the body is not the one that was taken under the key."""
    seen = hashlib.sha256()
    async for chunk in request.stream():
        seen.update(chunk)
    if msgspec.json.decode(kept.body).get("sha256") != seen.hexdigest():
        raise KeyReused(KEY_FIELD, "came with another body before; take a new key for each request")


def _ending() -> StoreUnavailable:
    return StoreUnavailable("this process ends; send the rest again, what was accepted stays so")


async def _next(stream: AsyncIterator[bytes]) -> bytes | None:
    return await anext(stream, None)
