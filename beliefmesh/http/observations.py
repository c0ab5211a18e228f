"""Routes by which observations arrive."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import is_lines, read_bytes, read_json, signed, signed_lines
from beliefmesh.http.described import OBSERVATIONS_BODY
from beliefmesh.http.reply import json_reply, reply
from beliefmesh.memory import Memory
from beliefmesh.quota import OBSERVATIONS, Quotas
from schemas.errors import Busy, InvalidInput

router = APIRouter(prefix="/v1", tags=["observations"])


@router.post("/banks/{bank}/observations", status_code=202, openapi_extra=OBSERVATIONS_BODY)
async def retain(
    bank: str, request: Request, wait: bool = False, expected_version: Annotated[int | None, Query(ge=0)] = None
) -> Response:
    """Keep one observation or a list, all or none: 202 once the log has them, with `wait` 200 once recallable.

    As lines (`application/x-ndjson`) each is taken by itself, and one that cannot be used becomes a dead letter.
    An observation's id makes it safe to send again.
    """
    memory: Memory = request.app.state.memory
    if is_lines(request):
        return await _import(memory, bank, request, wait)
    told = await read_json(request)
    if not isinstance(told, dict | list | str):
        raise InvalidInput("body", f"must be an observation or a list of them, not {type(told).__name__}")
    told = signed(request, told)
    quotas: Quotas = request.app.state.quotas
    quotas.take(bank, OBSERVATIONS, len(told) if isinstance(told, list) else 1)
    receipt = await run_in_threadpool(memory.retain, told, bank=bank, wait=wait, expected_version=expected_version)
    return reply(request, receipt, receipt, 200 if wait else 202)


@router.get("/receipts/{token}")
async def recallable(token: str, request: Request, timeout: Annotated[float, Query(ge=0, le=60)] = 30.0) -> Response:
    """Wait until what a receipt's token stands for is recallable: 200 when it is, 202 when it is not yet."""
    memory: Memory = request.app.state.memory
    try:
        await run_in_threadpool(memory.wait, token, timeout)
    except Busy:
        return json_reply({"recallable": False}, 202)
    return json_reply({"recallable": True})


async def _import(memory: Memory, bank: str, request: Request, wait: bool) -> Response:
    lines = await run_in_threadpool(signed_lines, request, (await read_bytes(request)).split(b"\n"))
    quotas: Quotas = request.app.state.quotas
    quotas.take(bank, OBSERVATIONS, sum(1 for line in lines if line.strip()))
    imported = await run_in_threadpool(memory.import_lines, lines, bank=bank)
    if wait:
        await run_in_threadpool(memory.wait, imported.token)
    return reply(request, imported, imported, 200 if wait else 202)
