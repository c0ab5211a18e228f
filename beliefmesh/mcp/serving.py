"""Runs the MCP server: for one client over standard input and output, or for many over HTTP, past the same door."""

import socket
from collections.abc import Callable
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from beliefmesh.cli.session import AnyMemory
from beliefmesh.grant import Grant
from beliefmesh.http.door import Door
from beliefmesh.http.reply import error_reply
from beliefmesh.http.serve import address_of
from beliefmesh.mcp.tools import server_of
from schemas.errors import BeliefmeshError

PATH = "/mcp"

_DRAIN_SECONDS = 10


def serve_standard(memory: AnyMemory, grant: Grant, version: str) -> None:
    """Answer one client over standard input and output until it hangs up; whoever started us is `grant`."""
    server = server_of(memory, lambda _: grant, version)
    anyio.run(server.run_stdio_async)


def serve_http(
    memory: AnyMemory, door: Door, listener: socket.socket, version: str, told: Callable[[str], None]
) -> None:
    """Answer clients over streamable HTTP until SIGINT or SIGTERM; each request says by its key who calls."""
    config = uvicorn.Config(
        http_app(memory, door, listener, version),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
    )
    told(f"{address_of(listener)}{PATH}")
    uvicorn.Server(config).run(sockets=[listener])


def http_app(memory: AnyMemory, door: Door, listener: socket.socket, version: str) -> ASGIApp:
    """The application of `serve_http`. Behind an open door only names of this machine are answered."""

    def caller(ctx: Context) -> Grant:
        request = ctx.request_context.request
        return door.grant_of(request.headers.get("authorization", "") if isinstance(request, Request) else "")

    server: MCPServer[Any] = server_of(memory, caller, version)
    port = listener.getsockname()[1]
    local = [f"{host}:{port}" for host in ("127.0.0.1", "localhost", "[::1]")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=not door.closed,
        allowed_hosts=local,
        allowed_origins=[f"http://{host}" for host in local],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True, transport_security=security
    )
    return _AtTheDoor(app, door)


class _AtTheDoor:
    """ASGI middleware: who has no key gets 401 before a session is made."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            authorization = Request(scope).headers.get("authorization", "")
            try:
                await run_in_threadpool(self._door.grant_of, authorization)
            except BeliefmeshError as error:
                await error_reply(error)(scope, receive, send)
                return
        await self._app(scope, receive, send)
