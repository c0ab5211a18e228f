"""The `Idempotency-Key` of a write: sent again, the same request gets the same reply and has no second effect.

A key counts for one bank and one caller. A reply is kept before it leaves; one that tells of an error is not, since
what was refused may be asked again.
"""

import hashlib
from typing import Any

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beliefmesh.grant import Grant
from beliefmesh.http.body import GROUPS_HEADER, caller, read_bytes
from beliefmesh.http.door import granted
from beliefmesh.http.reply import wants_exact
from beliefmesh.memory import Memory
from beliefmesh.settings import Settings
from schemas.errors import InvalidInput, StoreUnavailable
from schemas.identity import digest
from schemas.instant import HOUR
from stores.sqlite.replies import KEY_FIELD, HeldKey, KeptReply, Replies

REPLAYED_HEADER = "Idempotency-Replayed"

_SAFE = ("GET", "HEAD", "OPTIONS")
_QUESTION = "/v1/banks/{bank}/recall"
_STREAMED = ("/v1/banks/{bank}/import", "/v1/banks/{bank}/import-backup")
"""Their bodies may be of any size, so that their routes read them, and claim the key themselves."""

_COUNTS = ("/v1/banks/{bank}/forget", *_STREAMED)
"""What replies numbers and ids alone."""

_MOST_CHARACTERS = 255
_FIRST_ERROR = 400

log_events = structlog.get_logger("http")


class Repeated(Exception):
    """No error: a request ran before under its key, and `reply` is what it got."""

    def __init__(self, reply: KeptReply) -> None:
        super().__init__("repeated")
        self.reply = reply


def repeated_reply(repeated: Repeated) -> Response:
    """The reply as it was, marked as given before."""
    kept = repeated.reply
    return Response(kept.body, kept.status, {REPLAYED_HEADER: "true"}, kept.type)


async def once(request: Request) -> None:
    """Claim the key that a write carries, if it carries one.

    Raises Repeated with the reply if it ran before, KeyReused, InFlight, and InvalidInput for what can be no key.
    """
    key = "" if request.scope["route"].path in _STREAMED else key_of(request)
    if key:
        body = await read_bytes(request)
        claimed, kept = await begun(request, key, asked_by(request, hashlib.sha256(body).hexdigest()))
        if kept is not None:
            raise Repeated(kept)
        request.state.claim = claimed


def key_of(request: Request) -> str:
    """The key of a write; empty where there is none, or where nothing is written. Raises InvalidInput."""
    key = request.headers.get(KEY_FIELD)
    if key is None or request.method in _SAFE or request.scope["route"].path == _QUESTION:
        return ""
    if not key.isascii() or not key.isprintable() or not 0 < len(key) <= _MOST_CHARACTERS:
        raise InvalidInput(KEY_FIELD, f"must have 1 to {_MOST_CHARACTERS} printable ASCII characters")
    return key


def asked_by(request: Request, body: str) -> str:
    """The digest of what a request asks: its route and parameters, for whom, how it is written, a hash of its body."""
    headers = request.headers
    told = [headers.get(name, "") for name in ("content-type", GROUPS_HEADER)]
    exact = "exact" if wants_exact(request) else ""
    return digest(request.method, request.url.path, request.url.query, exact, *told, body)


async def begun(request: Request, key: str, asked: str) -> tuple[HeldKey, KeptReply | None]:
    """Claim a key for a request; with it the reply, if it ran before. Raises as `once` does."""
    memory: Memory = request.app.state.memory
    settings: Settings = request.app.state.settings
    grant: Grant = granted(request)
    bank = request.path_params.get("bank", "")
    who = digest(bank, grant.name, caller(request).id, key)
    claimed = HeldKey(who, request.app.state.owner, wordless=request.scope["route"].path in _COUNTS)
    age = int(settings.http.idempotency_hours * HOUR)
    kept = await run_in_threadpool(memory.home.replies.begin, claimed, bank, asked, memory.home.clock(), age)
    return claimed, kept


class Remembering:
    """ASGI middleware: holds the reply to a claimed request back until it is kept; all else passes as it comes."""

    def __init__(self, app: ASGIApp, replies: Replies) -> None:
        self._app = app
        self._replies = replies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, keeping the reply where its key was claimed."""
        held: list[Message] = []

        async def keep(message: Message) -> None:
            claimed = _claim_of(scope)
            if claimed is None:
                await send(message)
                return
            held.append(message)
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                scope["state"]["claim"] = None
                await self._settle(claimed, held)
                for each in held:
                    await send(each)

        try:
            await self._app(scope, receive, keep)
        finally:
            claimed = _claim_of(scope)
            if claimed is not None:
                await self._settle(claimed, [])

    async def _settle(self, claimed: HeldKey, held: list[Message]) -> None:
        """Keep the reply, or give the claim up where it tells of an error; the caller gets it in any case."""
        try:
            status = held[0]["status"] if held else _FIRST_ERROR
            if status < _FIRST_ERROR:
                body = b"".join(message.get("body", b"") for message in held[1:])
                await run_in_threadpool(self._replies.keep, claimed, KeptReply(status, _type_of(held[0]), body))
            else:
                await run_in_threadpool(self._replies.release, claimed)
        except StoreUnavailable as error:
            log_events.error("reply.unkept", reason=str(error))


def _claim_of(scope: Scope) -> HeldKey | None:
    state: dict[str, Any] = scope.get("state", {})
    return state.get("claim")


def _type_of(start: Message) -> str:
    for name, value in start.get("headers", ()):
        if name.lower() == b"content-type":
            told: bytes = value
            return told.decode("latin-1")
    return ""
