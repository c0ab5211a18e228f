"""Routes for those who run the mesh: banks, statistics, dead letters, doctor, state hash."""

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.door import granted
from beliefmesh.http.page import Cursor, Limit, cursor_of, page, place_in, rows_after
from beliefmesh.http.reply import json_reply, reply
from beliefmesh.letters import letter_to_builtins
from beliefmesh.memory import Memory
from beliefmesh.verbs.listing import MOST_LISTED
from schemas.errors import UnknownBank
from schemas.instant import parse_instant
from schemas.limits import check_bank

router = APIRouter(prefix="/v1", tags=["operations"])


@router.get("/banks")
async def banks(request: Request, limit: Limit = MOST_LISTED, cursor: Cursor = None) -> Response:
    """The banks that hold anything, of those that the caller has access to."""
    memory: Memory = request.app.state.memory
    after = place_in(request, cursor)
    found = [bank for bank in await run_in_threadpool(memory.banks) if granted(request).reaches(bank)]
    rows, last = rows_after(found, str, after, limit)
    return json_reply({"banks": rows, "next": cursor_of(request, last) or None})


@router.get("/banks/{bank}/stats")
async def stats(bank: str, request: Request) -> Response:
    """Counts of a bank, what waits at each stage, and dead letters."""
    memory: Memory = request.app.state.memory
    if check_bank(bank) not in await run_in_threadpool(memory.banks):
        raise UnknownBank(f"there is no bank {bank!r}; retain something into it first")
    return json_reply(await run_in_threadpool(memory.stats, bank))


@router.get("/banks/{bank}/state-hash")
async def state_hash(bank: str, request: Request, now: str | None = None) -> Response:
    """A hash of all that the bank believes at a time; equal for equal evidence."""
    memory: Memory = request.app.state.memory
    moment = None if now is None else parse_instant(now, "now")
    return json_reply({"state_hash": await run_in_threadpool(memory.state_hash, bank, moment)})


@router.get("/stats")
async def all_stats(request: Request) -> Response:
    """Counts of every bank."""
    memory: Memory = request.app.state.memory
    return json_reply(await run_in_threadpool(memory.stats))


@router.post("/doctor")
async def doctor(request: Request, fix: bool = False) -> Response:
    """Compare log, graph and index, and with `fix` repair what differs."""
    memory: Memory = request.app.state.memory
    report = await run_in_threadpool(memory.doctor, fix)
    return reply(request, report, report)


@router.get("/dead-letters")
async def dead_letters(request: Request, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """What could not be used, oldest first."""
    memory: Memory = request.app.state.memory
    after = place_in(request, cursor)
    found = await run_in_threadpool(memory.letters, limit=limit, after=after)
    plain = {"dead_letters": [letter_to_builtins(letter) for letter in found.letters]}
    return page(request, found, plain, cursor_of(request, found.next))


@router.get("/dead-letters/{id}")
async def dead_letter(id: str, request: Request) -> Response:
    """One dead letter with its original bytes."""
    memory: Memory = request.app.state.memory
    letter = await run_in_threadpool(memory.dead_letter, id)
    return reply(request, letter, letter_to_builtins(letter))


@router.post("/dead-letters/{id}/replay")
async def replay(id: str, request: Request) -> Response:
    """Send a dead letter's message through again; safe to repeat."""
    memory: Memory = request.app.state.memory
    await run_in_threadpool(memory.replay_dead_letter, id)
    return json_reply({"replayed": id})


@router.post("/dead-letters/{id}/drop")
async def drop(id: str, request: Request) -> Response:
    """Take a dead letter out for good."""
    memory: Memory = request.app.state.memory
    await run_in_threadpool(memory.drop_dead_letter, id)
    return json_reply({"dropped": id})
