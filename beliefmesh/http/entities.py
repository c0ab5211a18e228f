"""Routes about who is who: list entities, merge and unmerge them, propose merges."""

from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, flag_of, read_object, speaker, text_of
from beliefmesh.http.described import ENTITY, body
from beliefmesh.http.page import Cursor, Limit, cursor_of, last_place, page, place_in
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from beliefmesh.merging import (
    Proposals,
    Roster,
    entity_to_builtins,
    place_of_entity,
    place_of_proposal,
    proposal_to_builtins,
    report_to_builtins,
)
from schemas.errors import InvalidInput
from schemas.fields import list_of
from schemas.limits import check_name

router = APIRouter(prefix="/v1/banks/{bank}/entities", tags=["entities"])

_TEXT = {"type": "string"}
_COMMON = {"entity": ENTITY, "reason": _TEXT, "agent": _TEXT, "wait": {"type": "boolean", "default": True}}
_MERGE = body(
    {
        "type": "object",
        "required": ["entity", "into"],
        "properties": {
            **_COMMON,
            "into": ENTITY,
            "preview": {"type": "boolean", "default": False},
            "visibility": _TEXT,
            "readers": {"type": "array", "items": _TEXT},
        },
    }
)
_UNMERGE = body({"type": "object", "required": ["entity"], "properties": _COMMON})


@router.get("")
async def entities(
    bank: str, request: Request, name: str | None = None, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """The entities that bear a name or have it as an alias, else all of which something is told."""
    memory: Memory = request.app.state.memory
    after = place_in(request, cursor)
    found = await run_in_threadpool(
        memory.entities, name, bank=bank, principal=caller(request), limit=limit, after=after
    )
    last = last_place(found, lambda one: place_of_entity(bank, one.entity, name), limit)
    plain = {"entities": [entity_to_builtins(one) for one in found]}
    return page(request, Roster(found), plain, cursor_of(request, last))


@router.get("/proposals")
async def proposals(
    bank: str,
    request: Request,
    at_least: float = 0.5,
    fresh: bool = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Pairs of entities that may be one, the likeliest first, as the job found them, or `fresh`; nothing is merged.

    What is worked out anew is so for each page: a pair whose score has changed is another row.
    """
    memory: Memory = request.app.state.memory
    after = place_in(request, cursor)
    found = await run_in_threadpool(
        memory.merge_proposals,
        bank=bank,
        principal=caller(request),
        at_least=at_least,
        limit=limit,
        fresh=fresh,
        after=after,
    )
    last = last_place(found, lambda pair: place_of_proposal(bank, pair), limit)
    plain = {"proposals": [proposal_to_builtins(pair) for pair in found]}
    return page(request, Proposals(found), plain, cursor_of(request, last))


@router.post("/merge", openapi_extra=_MERGE)
async def merge(bank: str, request: Request) -> Response:
    """Let an entity be read as another one; with `preview` only tell what that would change."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, *_MERGE_FIELDS)
    readers: tuple[str, ...] = list_of(check_name)(data.get("readers", []), "readers")
    report = await run_in_threadpool(
        memory.merge,
        _entity(data, "entity"),
        _entity(data, "into"),
        preview=flag_of(data, "preview", False),
        reason=text_of(data, "reason", ""),
        agent=speaker(request, data),
        principal=caller(request),
        bank=bank,
        wait=flag_of(data, "wait", True),
        visibility=text_of(data, "visibility", "bank"),
        readers=readers,
    )
    return reply(request, report, report_to_builtins(report))


@router.post("/unmerge", openapi_extra=_UNMERGE)
async def unmerge(bank: str, request: Request) -> Response:
    """End the merge of an entity; what is believed of both is then what it would be without it."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, *_COMMON)
    receipt = await run_in_threadpool(
        memory.unmerge,
        _entity(data, "entity"),
        reason=text_of(data, "reason", ""),
        agent=speaker(request, data),
        principal=caller(request),
        bank=bank,
        wait=flag_of(data, "wait", True),
    )
    return reply(request, receipt, receipt)


_MERGE_FIELDS = (*_COMMON, "into", "preview", "visibility", "readers")


def _entity(data: dict[str, Any], field: str) -> Any:
    if data.get(field) is None:
        raise InvalidInput(field, "is missing; name an entity, or give its name and type")
    return data[field]
