"""Routes about single beliefs and slots: read, explain, history, revoke, feedback."""

from typing import cast

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, read_object, speaker, text_of, version_of
from beliefmesh.http.described import FEEDBACK_BODY, REVOKE_BODY
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from recall.outward import belief_to_builtins, explanation_to_builtins, history_to_builtins
from schemas.entity import DEFAULT_TYPE
from schemas.recall_record import Usefulness

router = APIRouter(prefix="/v1/banks/{bank}", tags=["beliefs"])


@router.get("/beliefs/{belief}")
async def read(bank: str, belief: str, request: Request) -> Response:
    """One belief as it is now; an id once returned stays valid."""
    memory: Memory = request.app.state.memory
    found = await run_in_threadpool(memory.belief, belief, bank=bank, principal=caller(request))
    return reply(request, found, belief_to_builtins(found))


@router.get("/beliefs/{belief}/explain")
async def explain(bank: str, belief: str, request: Request, as_of: str | None = None) -> Response:
    """Every term of a belief's confidence, now or as of a time."""
    memory: Memory = request.app.state.memory
    found = await run_in_threadpool(memory.explain, belief, bank=bank, principal=caller(request), as_of=as_of)
    return reply(request, found, explanation_to_builtins(found))


@router.get("/slots/history")
async def history(
    bank: str,
    request: Request,
    belief: str | None = None,
    entity: str | None = None,
    type: str = DEFAULT_TYPE,
    attribute: str | None = None,
) -> Response:
    """Every turn of a slot: by `belief` (its id or the slot's), or by `entity`, `type` and `attribute`."""
    memory: Memory = request.app.state.memory
    subject = None if entity is None else {"name": entity, "type": type}
    found = await run_in_threadpool(
        memory.history, belief, entity=subject, attribute=attribute, bank=bank, principal=caller(request)
    )
    return reply(request, found, history_to_builtins(found))


@router.post("/beliefs/{belief}/revoke", openapi_extra=REVOKE_BODY)
async def revoke(bank: str, belief: str, request: Request) -> Response:
    """End a belief from now on; its history stays. With `expected_version`, 409 if it has moved on."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "reason", "agent", "expected_version")
    reason, agent = text_of(data, "reason"), speaker(request, data)
    receipt = await run_in_threadpool(
        memory.revoke,
        belief,
        reason=reason,
        agent=agent,
        principal=caller(request),
        bank=bank,
        expected_version=version_of(data),
    )
    return reply(request, receipt, receipt)


@router.post("/beliefs/{belief}/feedback", openapi_extra=FEEDBACK_BODY)
async def feedback(bank: str, belief: str, request: Request) -> Response:
    """Say how a belief, or an answer (by its id), did: right, wrong or used."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "verdict", "agent")
    agent = speaker(request, data)
    verdict = cast(Usefulness, text_of(data, "verdict"))
    receipt = await run_in_threadpool(
        memory.feedback, belief, verdict, agent=agent, principal=caller(request), bank=bank
    )
    return reply(request, receipt, receipt)
