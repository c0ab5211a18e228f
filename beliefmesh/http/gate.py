"""The gate before the API: lets in what there is room for, counts what came of it, and turns away what is too much."""

import time

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beliefmesh.failure import RETRY_AFTER_SECONDS
from beliefmesh.http.audit import Audit
from beliefmesh.http.drain import Drain
from beliefmesh.http.meters import Meters
from beliefmesh.http.reply import refusal
from beliefmesh.http.room import Room
from schemas.trace import PARENT, STATE
from stores.tracing.spans import continued

_GUARDED = "/v1/"


class Gate:
    """ASGI middleware: a request of the API that finds no room gets 429; none is let in while the process drains.

    Health is never turned away.
    """

    def __init__(self, app: ASGIApp, meters: Meters, room: Room, drain: Drain, audit: Audit | None = None) -> None:
        self._app = app
        self._meters = meters
        self._room = room
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

        entered = not self._drain.begun and await self._room.enter()
        try:
            with continued(scope["method"], _trace(scope)) as noted:
                await (self._turned_away(entered) or self._app)(scope, receive, note)
                noted(route=_route(scope), status=status)
        finally:
            if entered:
                self._room.leave()
            self._meters.answered(scope["method"], _route(scope), status, time.perf_counter() - started)

    def _turned_away(self, entered: bool) -> Response | None:
        """The answer to a request that cannot be taken now."""
        if self._drain.begun:
            return _refused(503, "draining", "this process ends; send the request again, to another one or a new one")
        if not entered:
            flying = self._meters.in_flight
            return _refused(429, "busy", f"{flying} requests are in flight already; try again in a second")
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
