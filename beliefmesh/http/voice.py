"""Routes of a bank's voice: reflection, summaries of entities, its profile."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.ask import check_fields
from beliefmesh.http.body import caller, flag_of, read_object, speaker, text_of
from beliefmesh.http.described import PROFILE_BODY, REFLECT_BODY, SUMMARY_BODY
from beliefmesh.http.door import granted
from beliefmesh.http.reply import json_reply, reply
from beliefmesh.memory import Memory
from recall.outward import persona_to_builtins, reflection_to_builtins, summary_to_builtins
from schemas.errors import InvalidInput
from schemas.profile import Profile

router = APIRouter(prefix="/v1/banks/{bank}", tags=["voice"])

_TRAITS = Profile.__struct_fields__


@router.post("/reflect", openapi_extra=REFLECT_BODY)
async def reflect(bank: str, request: Request) -> Response:
    """An answer in the bank's voice: sentences that cite recalled beliefs, with their uncertainty.

    An opinion is formed only for those who may tell the bank something.
    """
    memory: Memory = request.app.state.memory
    asked = await read_object(request)
    question = text_of(asked, "text")
    token = text_of(asked, "wait_for", "")
    opinions = flag_of(asked, "opinions", True) and granted(request).has_role("writer")
    fields = {name: value for name, value in asked.items() if name not in ("text", "wait_for", "opinions")}
    for name in ("bank", "principal"):
        if name in fields:
            raise InvalidInput(name, "does not stand in the body; the path names the bank, headers name the principal")
    check_fields(fields)  # before they become the arguments of a call, which would read some names as its own
    told = await run_in_threadpool(
        memory.reflect,
        question,
        bank=bank,
        wait_for=token,
        opinions=opinions,
        **fields,
        principal=caller(request),
    )
    return reply(request, told, reflection_to_builtins(told))


@router.post("/summary", openapi_extra=SUMMARY_BODY)
async def summary(bank: str, request: Request) -> Response:
    """What is held of an `entity`; that of the whole bank is stored, and written again when it has moved."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "entity")
    if data.get("entity") is None:
        raise InvalidInput("entity", "is missing; name whom or what the summary is about")
    told = await run_in_threadpool(memory.summary, data["entity"], bank=bank, principal=caller(request))
    return reply(request, told, summary_to_builtins(told))


@router.post("/summaries/refresh")
async def refresh_summaries(bank: str, request: Request) -> Response:
    """Write every stored summary again that what lies beneath has moved away from."""
    memory: Memory = request.app.state.memory
    return json_reply({"refreshed": await run_in_threadpool(memory.refresh_summaries, bank)})


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
    agent = speaker(request, data)
    background = text_of(data, "background", "")
    persona = await run_in_threadpool(memory.set_profile, **traits, background=background, agent=agent, bank=bank)
    return reply(request, persona, persona_to_builtins(persona))
