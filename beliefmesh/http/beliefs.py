"""Routes about single beliefs and slots: read, explain, history, revoke, feedback."""

from typing import Annotated, cast

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, flag_of, read_object, speaker, text_of, version_of
from beliefmesh.http.described import FEEDBACK_BODY, REVOKE_BODY
from beliefmesh.http.page import Cursor, Limit, cursor_of, page, place_in
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from recall.outward import belief_to_builtins, explanation_to_builtins, history_to_builtins
from schemas.answer import NEWEST_TURNS
from schemas.entity import DEFAULT_TYPE
from schemas.recall_record import Usefulness

router = APIRouter(prefix="/v1/banks/{bank}", tags=["beliefs"])


@router.get("/beliefs")
async def beliefs(
    bank: str,
    request: Request,
    entity: str | None = None,
    type: str = DEFAULT_TYPE,
    attribute: str = "",
    network: Annotated[list[str], Query()] = [],  # noqa: B006 - FastAPI reads it, nobody writes it
    status: Annotated[list[str], Query()] = [],  # noqa: B006
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """The beliefs of a bank that the caller may see, in a fixed order; of an `entity` by its name and `type`.

    A page may hold fewer than `limit` rows, even none, before the end; `next` is null at the end alone.
    """
    memory: Memory = request.app.state.memory
    subject = None if entity is None else {"name": entity, "type": type}
    found = await run_in_threadpool(
        memory.beliefs,
        bank=bank,
        principal=caller(request),
        entity=subject,
        attribute=attribute,
        networks=network,
        statuses=status,
        limit=limit,
        after=place_in(request, cursor),
    )
    plain = {"beliefs": [belief_to_builtins(belief) for belief in found.beliefs]}
    return page(request, found, plain, cursor_of(request, found.next))


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
    limit: Limit = NEWEST_TURNS,
    cursor: Cursor = None,
    oldest_first: bool = False,
) -> Response:
    """The turns of a slot: by `belief` (its id or the slot's), or by `entity`, `type` and `attribute`.

    The newest `limit` of them, and `earlier` says whether there are others; with `oldest_first` all, page by page.
    """
    memory: Memory = request.app.state.memory
    subject = None if entity is None else {"name": entity, "type": type}
    found = await run_in_threadpool(
        memory.history,
        belief,
        entity=subject,
        attribute=attribute,
        bank=bank,
        principal=caller(request),
        oldest_first=oldest_first,
        limit=limit,
        after=place_in(request, cursor),
    )
    return page(request, found, history_to_builtins(found), cursor_of(request, found.next))


@router.post("/beliefs/{belief}/revoke", openapi_extra=REVOKE_BODY)
async def revoke(bank: str, belief: str, request: Request) -> Response:
    """End a belief from now on; its history stays. With `expected_version`, 409 if it has moved on."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "reason", "agent", "expected_version", "wait")
    reason, agent = text_of(data, "reason"), speaker(request, data)
    receipt = await run_in_threadpool(
        memory.revoke,
        belief,
        reason=reason,
        agent=agent,
        principal=caller(request),
        bank=bank,
        expected_version=version_of(data),
        wait=flag_of(data, "wait", True),
    )
    return reply(request, receipt, receipt)


@router.post("/beliefs/{belief}/feedback", openapi_extra=FEEDBACK_BODY)
async def feedback(bank: str, belief: str, request: Request) -> Response:
    """Say how a belief, or an answer (by its id), did: right, wrong or used."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "verdict", "agent", "wait")
    agent = speaker(request, data)
    verdict = cast(Usefulness, text_of(data, "verdict"))
    receipt = await run_in_threadpool(
        memory.feedback,
        belief,
        verdict,
        agent=agent,
        principal=caller(request),
        bank=bank,
        wait=flag_of(data, "wait", True),
    )
    return reply(request, receipt, receipt)
