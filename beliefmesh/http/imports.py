"""The route of imports of any size: lines are kept as they arrive, and what became of them is told meanwhile."""

import time
from collections.abc import AsyncIterator

import msgspec
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from beliefmesh.failure import error_to_builtins
from beliefmesh.http.arriving import Arriving, taking
from beliefmesh.http.body import LINES_TYPE, MEGABYTE, signed_lines
from beliefmesh.http.described import LINES_BODY
from beliefmesh.http.lines import Lines
from beliefmesh.memory import Memory
from beliefmesh.quota import BYTES, DAILY_BYTES, OBSERVATIONS, Quotas
from schemas.errors import BeliefmeshError, Busy
from schemas.limits import check_bank
from stores.sqlite.replies import HeldKey, KeptReply
from streams.freshness import later_token

router = APIRouter(prefix="/v1/banks/{bank}", tags=["observations"])

_LINES_AT_ONCE = 1_000
_BYTES_AT_ONCE = 2 * MEGABYTE
_TOLD_EVERY_SECONDS = 1.0


class ImportedSoFar(msgspec.Struct, kw_only=True):
    """What became of the lines so far: `refused` ones were over the limit of a line, `dead` ones are dead letters."""

    lines: int = 0
    accepted: int = 0
    dead: int = 0
    unclear: int = 0
    refused: int = 0
    token: str = ""


@router.post("/import", openapi_extra=LINES_BODY)
async def import_lines(bank: str, request: Request, wait: bool = False) -> Response:
    """Keep observations written as JSON, one a line, of any number: each as it arrives, by itself.

    The reply is lines of JSON, too: how much was kept so far, at most once a second, and at last the totals with
    `ended`, or an `error`. What was told as accepted stays so, whatever becomes of the connection. The limit of a
    body is here that of a line.
    """
    check_bank(bank)
    memory: Memory = request.app.state.memory
    return await taking(request, lambda claimed: Import(request, memory, bank, claimed, wait=wait))


class Import(Response):
    """Reads a request's lines and answers for them, until it ends, breaks off, or the process drains."""

    media_type = LINES_TYPE

    def __init__(self, request: Request, memory: Memory, bank: str, claimed: HeldKey | None, *, wait: bool) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        state = request.app.state
        self._request = request
        self._memory = memory
        self._bank = bank
        self._claimed = claimed
        self._wait = wait
        self._quotas: Quotas = state.quotas
        self._limit: int = state.settings.http.max_body_mb * MEGABYTE
        self._arriving = Arriving(request, bank)
        self._so_far = ImportedSoFar()
        self._told_at = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI calls it
        """Keep what arrives, and tell of it. What fails before anything was told is an error like any other."""
        try:
            last = await self._run(send)
            await self._tell(send, last, more=False)
        except ClientDisconnect:
            if not self._told_at:
                raise
        finally:
            await self._give_up()

    async def _run(self, send: Send) -> bytes:
        """Keep all of it; returns the last line of the reply."""
        try:
            async for batch in self._batches():
                await self._keep(batch)
                if time.monotonic() >= self._told_at + _TOLD_EVERY_SECONDS:
                    await self._tell(send, msgspec.json.encode(self._so_far), more=True)
            last = await self._ended()
        except BeliefmeshError as error:
            if not self._told_at and not self._so_far.accepted:
                raise
            return msgspec.json.encode({**msgspec.to_builtins(self._so_far), **error_to_builtins(error)})
        if self._claimed is not None:
            kept = KeptReply(self.status_code, LINES_TYPE, last + b"\n")
            await run_in_threadpool(self._memory.home.replies.keep, self._claimed, kept)
            self._claimed = None
        return last

    async def _batches(self) -> AsyncIterator[list[bytes]]:
        """The lines in parts: full ones, and what there is where nothing more comes for a moment."""
        batch: list[bytes] = []
        size = 0
        async for line in self._lines():
            if line:
                batch.append(line)
                size += len(line)
            if batch and (line is None or len(batch) == _LINES_AT_ONCE or size >= _BYTES_AT_ONCE):
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    async def _lines(self) -> AsyncIterator[bytes | None]:
        """The lines that say something, counting all of them; None where nothing came for a moment."""
        lines = Lines(self._limit)
        async for chunk in self._arriving.chunks():
            if chunk is None:
                yield None
                continue
            for line in lines.feed(chunk):
                yield self._counted(line)
        for line in lines.last():
            yield self._counted(line)

    def _counted(self, line: bytes | None) -> bytes:
        """A line, noted; empty where it says nothing, or is over the limit."""
        self._so_far.lines += 1
        self._so_far.refused += line is None
        return line if line is not None and line.strip() else b""

    async def _keep(self, batch: list[bytes]) -> None:
        """Put a batch into the log, once the bank's limits let it."""
        await self._arriving.patient(BYTES, DAILY_BYTES, OBSERVATIONS)
        self._quotas.take(self._bank, OBSERVATIONS, len(batch))
        signed = await run_in_threadpool(signed_lines, self._request, batch)
        done = await run_in_threadpool(self._memory.import_lines, signed, bank=self._bank)
        so_far = self._so_far
        so_far.accepted += done.accepted
        so_far.dead += done.dead
        so_far.unclear += done.unclear
        so_far.token = later_token(so_far.token, done.token)

    async def _ended(self) -> bytes:
        """The totals, once all is recallable if that was asked for."""
        told = {**msgspec.to_builtins(self._so_far), "sha256": self._arriving.sha256, "ended": True}
        if self._wait:
            try:
                await run_in_threadpool(self._memory.wait, self._so_far.token)
            except Busy:
                return msgspec.json.encode({**told, "recallable": False})
            told["recallable"] = True
        return msgspec.json.encode(told)

    async def _tell(self, send: Send, line: bytes, *, more: bool) -> None:
        if not self._told_at:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._told_at = time.monotonic()
        await send({"type": "http.response.body", "body": line + b"\n", "more_body": more})

    async def _give_up(self) -> None:
        if self._claimed is not None:
            await run_in_threadpool(self._memory.home.replies.release, self._claimed)
