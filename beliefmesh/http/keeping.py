"""Routes about what is worth keeping: the value of a belief, the budget of a bank, and learning from use."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import caller, flag_of, read_object
from beliefmesh.http.described import body
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory

router = APIRouter(prefix="/v1/banks/{bank}", tags=["keeping"])

_LEARN = body({"type": "object", "properties": {"dry_run": {"type": "boolean", "default": False}}})


@router.get("/beliefs/{belief}/value")
async def value(bank: str, belief: str, request: Request) -> Response:
    """Every term of what a belief is worth keeping for, and which value is in force."""
    memory: Memory = request.app.state.memory
    found = await run_in_threadpool(memory.value_of, belief, bank=bank, principal=caller(request))
    return reply(request, found, found)


@router.get("/budget")
async def budget(bank: str, request: Request) -> Response:
    """The bounds of a bank and its use as last measured."""
    memory: Memory = request.app.state.memory
    found = await run_in_threadpool(memory.budget, bank=bank)
    return reply(request, found, found)


@router.post("/budget")
async def measure(bank: str, request: Request) -> Response:
    """The bounds of a bank and its use, measured now by going through the bank."""
    memory: Memory = request.app.state.memory
    found = await run_in_threadpool(memory.budget, bank=bank, measure=True)
    return reply(request, found, found)


@router.post("/learn-value", openapi_extra=_LEARN)
async def learn(bank: str, request: Request) -> Response:
    """Learn from recalls and verdicts what is of use; with `dry_run` say what would be learned."""
    memory: Memory = request.app.state.memory
    data = await read_object(request, "dry_run")
    dry_run = flag_of(data, "dry_run", False)
    found = await run_in_threadpool(memory.learn_value, bank=bank, dry_run=dry_run)
    return reply(request, found, found)
