"""The gate before the API: counts what is in flight and what came of it, and turns away what is too much."""

import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beliefmesh.failure import RETRY_AFTER_SECONDS
from beliefmesh.http.audit import Audit
from beliefmesh.http.meters import Meters
from beliefmesh.http.reply import refusal

_GUARDED = "/v1/"


class Gate:
    """ASGI middleware: at most `limit` requests of the API at once, the next gets 429; health is never turned away."""

    def __init__(self, app: ASGIApp, meters: Meters, limit: int, audit: Audit | None = None) -> None:
        self._app = app
        self._meters = meters
        self._limit = limit
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer that too many are in flight."""
        if scope["type"] != "http" or not scope["path"].startswith(_GUARDED):
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._note(scope, status)
            await send(message)

        full = self._meters.in_flight >= self._limit
        self._meters.in_flight += 1
        try:
            await (_full(self._limit) if full else self._app)(scope, receive, note)
        finally:
            self._meters.in_flight -= 1
            self._meters.answered(scope["method"], _route(scope), status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int) -> None:
        """Write a request to the audit log: before its answer leaves, so that none is answered unnoted."""
        if self._audit is not None:
            self._audit.note(scope, _route(scope), status)


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path", "none"))


def _full(limit: int) -> Response:
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return refusal(429, "busy", f"{limit} requests are in flight already; try again in a second", headers=headers)
