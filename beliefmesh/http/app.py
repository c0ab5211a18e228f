"""The application: a memory behind its routes, every error in the one shape."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

import structlog
from anyio import CapacityLimiter
from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from beliefmesh.ending import Ending
from beliefmesh.http import (
    backups,
    beliefs,
    changes,
    entities,
    explaining,
    forgetting,
    health,
    imports,
    jobs,
    keeping,
    narratives,
    observations,
    operations,
    recall,
    sources,
    trust,
    voice,
)
from beliefmesh.http.audit import Audit
from beliefmesh.http.document import complete
from beliefmesh.http.door import door_of
from beliefmesh.http.drain import Drain
from beliefmesh.http.entry import enter
from beliefmesh.http.gate import Gate
from beliefmesh.http.meters import Meters
from beliefmesh.http.once import Remembering, Repeated, repeated_reply
from beliefmesh.http.reply import error_reply, refusal
from beliefmesh.http.room import Room
from beliefmesh.memory import Memory
from beliefmesh.movement import Movement
from beliefmesh.progress import CatchingUp, Hydration
from beliefmesh.quota import Quotas
from beliefmesh.settings import Settings
from schemas.errors import BeliefmeshError
from schemas.trace import trace_id
from stores.owner import new_owner

FAMILIES = (
    observations,
    imports,
    backups,
    changes,
    narratives,
    sources,
    recall,
    beliefs,
    explaining,
    keeping,
    entities,
    voice,
    trust,
    forgetting,
    operations,
    jobs,
)
"""The routes of the API, each of which passes the door."""

_SPARE_THREADS = 12
"""Threads beyond those of the API: readiness is answered while the API is full, and streams go on."""

_GONE = 499
"""What is counted for a caller that went away, as many servers do; it is no status of HTTP."""

log_events = structlog.get_logger("http")


def create_app(memory: Memory, settings: Settings) -> FastAPI:
    """The API over an open memory, which stays its owner's to close."""
    app = FastAPI(
        title="Beliefmesh",
        description="A belief memory: what is worth believing about every entity, how surely, and why.",
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.settings = settings
    app.state.owner = new_owner()
    app.state.quotas = Quotas(settings.limits)
    app.state.restores = CapacityLimiter(backups.AT_ONCE)
    app.state.door = door_of(settings.access, settings.mesh.folder, memory.home.clock)
    audit = Audit(settings.access.audit) if settings.access.audit else None
    for family in FAMILIES:
        app.include_router(family.router, dependencies=[Depends(enter)])
    _watched(app, memory)
    app.add_exception_handler(Repeated, _of_before)
    app.add_middleware(Remembering, replies=memory.home.replies)
    meters: Meters = app.state.meters
    app.state.room = Room(meters, settings.http.max_in_flight, settings.http.max_waiting)
    app.add_middleware(Gate, meters=meters, room=app.state.room, drain=app.state.drain, audit=audit)
    complete(app)
    return app


def create_health_app(memory: Memory) -> FastAPI:
    """Health and metrics alone, for a process that answers no questions."""
    app = FastAPI(title="Beliefmesh worker", openapi_url=None, docs_url=None, redoc_url=None)
    _watched(app, memory)
    return app


def _watched(app: FastAPI, memory: Memory) -> None:
    """What every application has: health and metrics of its memory, and errors in the one shape."""
    app.state.memory = memory
    app.state.meters = Meters()
    app.state.movement = Movement()
    app.state.catching_up = CatchingUp()
    app.state.hydration = Hydration()
    app.state.ending = Ending()
    app.state.drain = Drain()
    app.include_router(health.router)
    app.add_exception_handler(BeliefmeshError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_parameters)
    app.add_exception_handler(HTTPException, _of_protocol)
    app.add_exception_handler(ClientDisconnect, _of_nobody)
    app.add_exception_handler(Exception, _unforeseen)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    current_default_thread_limiter().total_tokens = app.state.settings.http.max_in_flight + _SPARE_THREADS
    yield


async def _of_ours(_: Request, error: Exception) -> Response:
    if not isinstance(error, BeliefmeshError):
        raise error
    return error_reply(error)


async def _of_before(_: Request, repeated: Exception) -> Response:
    if not isinstance(repeated, Repeated):
        raise repeated
    return repeated_reply(repeated)


async def _of_parameters(_: Request, error: Exception) -> Response:
    """A query parameter that is missing or of the wrong type."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    field = str((first.get("loc") or ("",))[-1])
    return refusal(422, "invalid_input", f"{field}: {first.get('msg', 'is not valid')}", field)


async def _of_protocol(request: Request, error: Exception) -> Response:
    """No such route, no such method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    code = HTTPStatus(status).name.lower()
    headers = error.headers if isinstance(error, HTTPException) else None
    return refusal(status, code, f"{request.method} {request.url.path}: {HTTPStatus(status).phrase}", headers=headers)


async def _of_nobody(_: Request, __: Exception) -> Response:
    """A caller that went away before its request was whole: no fault of ours, and nobody reads the reply."""
    return refusal(_GONE, "client_gone", "the connection ended before the request was whole")


async def _unforeseen(request: Request, error: Exception) -> Response:
    """A fault of ours: the log has the reason, the caller does not."""
    trace = {"trace_id": found} if (found := trace_id(request.headers)) else {}
    log_events.error("request.failed", method=request.method, path=request.url.path, error=repr(error), **trace)
    return refusal(500, "internal", "something went wrong inside; the log of the mesh has the reason")
