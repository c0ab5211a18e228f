"""The route that follows a bank: changes as server-sent events, or page by page."""

from typing import Literal

import msgspec
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.changes import ChangePage, moved_to_builtins
from beliefmesh.http.body import caller
from beliefmesh.http.door import admit
from beliefmesh.http.events import EVENTS_TYPE, Event, EventBatch, EventStream
from beliefmesh.http.lasting import lasting
from beliefmesh.http.page import Cursor, Limit, cursor_of, place_in
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from beliefmesh.verbs.following import NOW

router = APIRouter(prefix="/v1/banks/{bank}", tags=["changes"])

_RESUME_HEADER = "Last-Event-ID"
_AT_ONCE = 100


@router.get("/changes")
async def changes(
    bank: str,
    request: Request,
    since: Literal["now", "start"] = "now",
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """What moves in a bank, as the caller may see it: a stream where it accepts `text/event-stream`, else a page.

    A stream goes on from `Last-Event-ID`, a page from its `cursor`; else from now on, or from the start of the log.
    """
    known = cursor or request.headers.get(_RESUME_HEADER)
    first = place_in(request, known) or (NOW if since == "now" else "")
    if EVENTS_TYPE in request.headers.get("accept", ""):
        return await _streamed(request, bank, first)
    page = await _page(request, bank, first, limit)
    next, places = cursor_of(request, page.next), tuple(cursor_of(request, place) for place in page.places)
    told = {"changes": [moved_to_builtins(moved) for moved in page.changes], "more": page.more, "next": next}
    return reply(request, msgspec.structs.replace(page, next=next, places=places), told)


async def _streamed(request: Request, bank: str, first: str) -> Response:
    place = (await _page(request, bank, first, 1)).next if first == NOW else first

    async def following() -> EventBatch:
        nonlocal place
        await admit(request)  # whose key was taken away hears no more
        page = await _page(request, bank, place, _AT_ONCE)
        place = page.next
        told = zip(page.changes, page.places, strict=True)
        events = [
            Event("change", msgspec.json.encode(moved_to_builtins(moved)), cursor_of(request, at)) for moved, at in told
        ]
        return EventBatch(tuple(events), cursor_of(request, place), page.more)

    return lasting(request, EventStream(following, request.app.state.drain))


async def _page(request: Request, bank: str, place: str, limit: int) -> ChangePage:
    memory: Memory = request.app.state.memory
    return await run_in_threadpool(memory.changes, bank=bank, principal=caller(request), after=place, limit=limit)
