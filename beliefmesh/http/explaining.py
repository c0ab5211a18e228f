"""The route that explains several beliefs at once."""

from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, read_object
from beliefmesh.http.described import body
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from beliefmesh.verbs.explaining import Explanations
from recall.outward import explanation_to_builtins

router = APIRouter(prefix="/v1/banks/{bank}", tags=["beliefs"])

_IDS: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "maxItems": 1_000}
_BODY = body({"type": "object", "properties": {"beliefs": _IDS, "observations": _IDS}})


@router.post("/explanations", openapi_extra=_BODY)
async def explanations(bank: str, request: Request) -> Response:
    """Every term of several beliefs: of those named, then of those that the observations named speak for.

    What is unknown, or not for the caller to see, is left out.
    """
    memory: Memory = request.app.state.memory
    data = await read_object(request, "beliefs", "observations")
    found = await run_in_threadpool(
        memory.explanations,
        data.get("beliefs", ()),
        observations=data.get("observations", ()),
        bank=bank,
        principal=caller(request),
    )
    plain = {"explanations": [explanation_to_builtins(one) for one in found]}
    return reply(request, Explanations(found), plain)
