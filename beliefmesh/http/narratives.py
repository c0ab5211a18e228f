"""Routes of narratives: several turns of one session kept as one memory."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, flag_of, read_object, text_of
from beliefmesh.http.described import body
from beliefmesh.http.page import Cursor, Limit, cursor_of, page, place_in
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from beliefs.narrative import ATTRIBUTE
from recall.outward import belief_to_builtins

router = APIRouter(prefix="/v1/banks/{bank}", tags=["narratives"])

_BODY = body(
    {
        "type": "object",
        "required": ["session"],
        "properties": {"session": {"type": "string"}, "wait": {"type": "boolean", "default": True}},
    }
)


@router.get("/narratives")
async def narratives(bank: str, request: Request, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """The narratives of a bank that the caller may see, as beliefs."""
    memory: Memory = request.app.state.memory
    found = await run_in_threadpool(
        memory.beliefs,
        bank=bank,
        principal=caller(request),
        attribute=ATTRIBUTE,
        limit=limit,
        after=place_in(request, cursor),
    )
    plain = {"narratives": [belief_to_builtins(belief) for belief in found.beliefs]}
    return page(request, found, plain, cursor_of(request, found.next))


@router.post("/narratives", openapi_extra=_BODY)
async def narrate(bank: str, request: Request) -> Response:
    """Keep the turns of a session that hold, and that the caller may see, as one narrative for those who may."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "session", "wait")
    session, wait = text_of(data, "session"), flag_of(data, "wait", True)
    done = await run_in_threadpool(memory.narrate, session, bank=bank, principal=caller(request), wait=wait)
    return reply(request, done, done)
