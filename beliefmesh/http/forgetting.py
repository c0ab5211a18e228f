"""The route that forgets on request."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.forgetting import ForgetReport
from beliefmesh.http.body import flag_of, read_object
from beliefmesh.http.described import FORGET_BODY
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from schemas.limits import check_bank

router = APIRouter(prefix="/v1", tags=["forgetting"])


@router.post("/banks/{bank}/forget", openapi_extra=FORGET_BODY)
async def forget(bank: str, request: Request) -> Response:
    """Forget observations for good: by `ids` (of observations or beliefs), by `owner`, by `source`.

    With `dry_run` it counts what would go, and changes nothing.
    """
    memory: Memory = request.app.state.memory
    data = await read_object(request, "ids", "owner", "source", "dry_run")
    dry_run = flag_of(data, "dry_run", False)
    ids, owner, source = data.get("ids"), data.get("owner"), data.get("source")

    def done() -> ForgetReport:
        return memory.forget(ids=ids, owner=owner, source=source, bank=check_bank(bank), dry_run=dry_run)

    report = await run_in_threadpool(done)
    return reply(request, report, report)
