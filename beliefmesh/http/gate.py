"""The gate before the API: counts what is in flight and what came of it, and turns away what is too much."""

import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beliefmesh.failure import RETRY_AFTER_SECONDS
from beliefmesh.http.audit import Audit
from beliefmesh.http.drain import Drain
from beliefmesh.http.meters import Meters
from beliefmesh.http.reply import refusal
from schemas.trace import PARENT, STATE
from stores.tracing.spans import continued

_GUARDED = "/v1/"


class Gate:
    """ASGI middleware: at most `limit` requests of the API at once, the next gets 429; none while the process drains.

    Health is never turned away.
    """

    def __init__(self, app: ASGIApp, meters: Meters, limit: int, drain: Drain, audit: Audit | None = None) -> None:
        self._app = app
        self._meters = meters
        self._limit = limit
        self._drain = drain
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer that it cannot be taken now."""
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

        turned_away = self._turned_away()
        self._meters.in_flight += 1
        try:
            with continued(scope["method"], _trace(scope)) as noted:
                await (turned_away or self._app)(scope, receive, note)
                noted(route=_route(scope), status=status)
        finally:
            self._meters.in_flight -= 1
            self._meters.answered(scope["method"], _route(scope), status, time.perf_counter() - started)

    def _turned_away(self) -> Response | None:
        """The answer to a request that cannot be taken now."""
        if self._drain.begun:
            return _refused(503, "draining", "this process ends; send the request again, to another one or a new one")
        if self._meters.in_flight >= self._limit:
            return _refused(429, "busy", f"{self._limit} requests are in flight already; try again in a second")
        return None

    def _note(self, scope: Scope, status: int) -> None:
        """Write a request to the audit log: before its answer leaves, so that none is answered unnoted."""
        if self._audit is not None:
            self._audit.note(scope, _route(scope), status)


def _trace(scope: Scope) -> dict[str, str]:
    """The headers by which a caller says in which trace this is."""
    wanted = (PARENT.encode(), STATE.encode())
    return {name.decode(): value.decode("latin-1") for name, value in scope["headers"] if name in wanted}


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path", "none"))


def _refused(status: int, code: str, message: str) -> Response:
    return refusal(status, code, message, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})
