"""Routes of backups: a bank as lines that go out as they are read, and lines that bring it back as they arrive."""

import io
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

import msgspec
import structlog
from anyio import CapacityLimiter, from_thread, to_thread
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from beliefmesh.backup import Restored, joined
from beliefmesh.http.arriving import Arriving, taking
from beliefmesh.http.body import LINES_TYPE, MEGABYTE
from beliefmesh.http.described import BACKUP_BODY
from beliefmesh.http.lasting import lasting
from beliefmesh.http.lines import Lines
from beliefmesh.http.reply import JSON_TYPE
from beliefmesh.memory import Memory
from beliefmesh.packed import Packing, packed, packings, unpacking
from beliefmesh.quota import OBSERVATIONS, Quotas
from schemas.errors import BeliefmeshError, Busy, InvalidInput, MissingExtra, TooLarge, UnknownBank
from schemas.limits import check_bank
from stores.sqlite.replies import HeldKey, KeptReply

router = APIRouter(prefix="/v1/banks/{bank}", tags=["backup"])

AT_ONCE = 4
"""So many backups come in at a time; each takes a thread while it does."""

_READ_BYTES = 65_536
_LINE_SHARE = 2
"""A line of a backup is an observation as it is kept, so it may be larger than the body in which that came."""

_REFUSED = re.compile(r"q=0(?:\.0*)?")

log_events = structlog.get_logger("http")


@router.get("/export")
async def export(bank: str, request: Request) -> Response:
    """The backup of a bank, one JSON value a line, packed with zstd or gzip where `Accept-Encoding` has it.

    Its last line says how many observations there are; without that line it was cut off.
    """
    memory: Memory = request.app.state.memory
    if not await run_in_threadpool(memory.is_known, bank):
        raise UnknownBank(f"there is no bank {bank!r}; retain something into it first")
    packing = _accepted(request.headers.get("accept-encoding", ""))
    parts = packed(joined(memory.export(bank)), packing)
    first = await run_in_threadpool(next, parts, b"")
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"} | (
        {"Content-Encoding": packing} if packing else {}
    )
    return lasting(request, _Export(_after(first, parts), headers=headers))


@router.post("/import-backup", openapi_extra=BACKUP_BODY)
async def import_backup(bank: str, request: Request) -> Response:
    """Bring a bank back from its backup, of any size, as it arrives; its `Content-Encoding` may be zstd or gzip.

    To send it again, or over what is there, changes nothing. What was read of one that breaks off is kept. The token
    of the reply says when all of it is recallable (`GET /v1/receipts/{token}`).
    """
    check_bank(bank)
    packing = _packing(request.headers.get("content-encoding", ""))
    return await taking(request, lambda claimed: _Restore(request, bank, packing, claimed))


class _Export(StreamingResponse):
    """Sends a backup; where it fails on the way the connection breaks, so that nobody takes a part for the whole."""

    media_type = LINES_TYPE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except BeliefmeshError as error:
            log_events.error("export.broken", path=scope["path"], reason=str(error))


class _Restore(Response):
    """Takes a backup to its end and says what it did; what fails is an error like any other."""

    def __init__(self, request: Request, bank: str, packing: Packing, claimed: HeldKey | None) -> None:
        super().__init__()
        state = request.app.state
        self._memory: Memory = state.memory
        self._bank = bank
        self._packing = packing
        self._claimed = claimed
        self._arriving = Arriving(request, bank)
        self._limiter: CapacityLimiter = state.restores
        self._quotas: Quotas = state.quotas
        self._megabytes: int = _LINE_SHARE * state.settings.http.max_body_mb

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take it and tell."""
        try:
            told = await self._taken()
        finally:
            if self._claimed is not None:
                await run_in_threadpool(self._memory.home.replies.release, self._claimed)
        await Response(told, media_type=JSON_TYPE)(scope, receive, send)

    async def _taken(self) -> bytes:
        if self._limiter.available_tokens < 1:
            raise Busy(f"{AT_ONCE} backups come in already; try again in a second")
        body = _Body(self._arriving)
        try:
            done = await to_thread.run_sync(self._restored, body, limiter=self._limiter)
        finally:
            await body.chunks.aclose()
        told = msgspec.json.encode({**msgspec.to_builtins(done), "sha256": self._arriving.sha256})
        if self._claimed is not None:
            await run_in_threadpool(self._memory.home.replies.keep, self._claimed, KeptReply(200, JSON_TYPE, told))
            self._claimed = None
        return told

    def _restored(self, body: "_Body") -> Restored:
        """In a thread: read the body as a file, and have the memory take its lines."""
        with unpacking(io.BufferedReader(body), self._packing, "what was sent", "body") as stream:
            return self._memory.import_backup(self._lines(stream), bank=self._bank, wait=False)

    def _lines(self, stream: IO[bytes]) -> Iterator[bytes]:
        lines = Lines(self._megabytes * MEGABYTE)
        while data := stream.read(_READ_BYTES):
            yield from self._admitted(lines.feed(data))
        yield from self._admitted(lines.last())

    def _admitted(self, lines: list[bytes | None]) -> Iterator[bytes]:
        """Lines that say something, counted among what the bank may take; it waits where that is used up."""
        self._quotas.charge(self._bank, OBSERVATIONS, len(lines))
        from_thread.run(self._arriving.patient, OBSERVATIONS)
        for line in lines:
            if line is None:
                raise TooLarge("body", f"has a line over {self._megabytes} MB; raise http.max_body_mb")
            if line.strip():
                yield line


class _Body(io.RawIOBase):
    """A body that arrives, for a thread that reads it as a file."""

    def __init__(self, arriving: Arriving) -> None:
        self.chunks = arriving.chunks()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or from_thread.run(self._next)
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    async def _next(self) -> bytes:
        """What comes next; empty at the end."""
        async for chunk in self.chunks:
            if chunk:
                return chunk
        return b""


def _after(first: bytes, parts: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from parts


def _accepted(header: str) -> Packing:
    """How a caller takes a reply packed, by its Accept-Encoding; plain where it says nothing of what we can."""
    taken = set()
    for part in header.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if not any(map(_REFUSED.fullmatch, parameters)):
            taken.add(name)
    return next((packing for packing in packings() if packing in taken), "")


def _packing(header: str) -> Packing:
    """How a body is packed, by its Content-Encoding. Raises InvalidInput, and MissingExtra for zstd."""
    named = header.strip().lower()
    if named in ("", "identity"):
        return ""
    if named not in ("zstd", "gzip"):
        raise InvalidInput("Content-Encoding", "is none that is taken; use zstd or gzip, or send it plain")
    if named not in packings():
        raise MissingExtra("zstandard is not installed where the mesh runs; install beliefmesh[zstd], or send gzip")
    return named
