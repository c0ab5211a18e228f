"""Routes of trust: learn from known answers how far each source is to be trusted."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import flag_of, read_object
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from jobs.calibrating import Calibration
from schemas.errors import InvalidInput
from schemas.limits import check_bank

router = APIRouter(prefix="/v1", tags=["trust"])

_BODY = {"requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}}


@router.post("/banks/{bank}/calibrate", openapi_extra=_BODY)
async def calibrate(bank: str, request: Request) -> Response:
    """Learn from `gold`, a list of {entity, attribute, value[, as_of, type]}, and from feedback, unless it is false.

    With `dry_run` it says what would be learned, and changes nothing.
    """
    memory: Memory = request.app.state.memory
    data = await read_object(request, "gold", "feedback", "dry_run")
    gold = data.get("gold", [])
    if not isinstance(gold, list):
        raise InvalidInput("gold", "must be a list of answers")
    feedback, dry_run = flag_of(data, "feedback", True), flag_of(data, "dry_run", False)

    def learned() -> Calibration:
        return memory.calibrate(gold, bank=check_bank(bank), feedback=feedback, dry_run=dry_run)

    done = await run_in_threadpool(learned)
    return reply(request, done, done)
