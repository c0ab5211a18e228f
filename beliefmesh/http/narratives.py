"""Routes of narratives: several turns of one session kept as one memory."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, flag_of, read_object, text_of
from beliefmesh.http.described import body
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory

router = APIRouter(prefix="/v1/banks/{bank}", tags=["narratives"])

_BODY = body(
    {
        "type": "object",
        "required": ["session"],
        "properties": {"session": {"type": "string"}, "wait": {"type": "boolean", "default": True}},
    }
)


@router.post("/narratives", openapi_extra=_BODY)
async def narrate(bank: str, request: Request) -> Response:
    """Keep the turns of a session that hold, and that the caller may see, as one narrative for those who may."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "session", "wait")
    session, wait = text_of(data, "session"), flag_of(data, "wait", True)
    done = await run_in_threadpool(memory.narrate, session, bank=bank, principal=caller(request), wait=wait)
    return reply(request, done, done)
