"""Routes of a bank's voice: its profile."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, read_object, text_of
from beliefmesh.http.described import PROFILE_BODY
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from recall.outward import persona_to_builtins
from schemas.profile import Profile

router = APIRouter(prefix="/v1/banks/{bank}", tags=["voice"])

_TRAITS = Profile.__struct_fields__


@router.get("/profile")
async def profile(bank: str, request: Request) -> Response:
    """The bank's traits and background."""
    memory: Memory = request.app.state.memory
    persona = await run_in_threadpool(memory.profile, bank)
    return reply(request, persona, persona_to_builtins(persona))


@router.post("/profile", openapi_extra=PROFILE_BODY)
async def set_profile(bank: str, request: Request) -> Response:
    """Change the traits that are given, and add to the background; the rest stays."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, *_TRAITS, "background", "agent")
    traits = {name: data[name] for name in _TRAITS if data.get(name) is not None}
    agent = text_of(data, "agent", caller(request).id)
    background = text_of(data, "background", "")
    persona = await run_in_threadpool(memory.set_profile, **traits, background=background, agent=agent, bank=bank)
    return reply(request, persona, persona_to_builtins(persona))
