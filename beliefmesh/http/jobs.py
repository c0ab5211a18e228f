"""Routes for jobs: which there are, running one, what the runs did."""

import time
from collections.abc import Callable

import msgspec
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import read_object
from beliefmesh.http.described import body
from beliefmesh.http.page import Cursor, Limit, cursor_of, last_place, page, place_in, rows_after
from beliefmesh.http.reply import reply
from beliefmesh.memory import Memory
from beliefmesh.verbs.listing import MOST_LISTED
from beliefmesh.verbs.upkeep import check_mode, place_of_run
from schemas.errors import InvalidInput, UnknownBank
from schemas.job import JobRun, JobRuns, ListedJob, ListedJobs

_MOST_SECONDS = 60.0

_RUN = body(
    {
        "type": "object",
        "properties": {"arguments": {"type": "object", "additionalProperties": {"type": "string"}}},
    }
)

router = APIRouter(prefix="/v1", tags=["jobs"])


@router.get("/jobs")
async def jobs(request: Request, limit: Limit = MOST_LISTED, cursor: Cursor = None) -> Response:
    """The jobs that there are, and how often each runs by itself."""
    memory: Memory = request.app.state.memory
    listed = await run_in_threadpool(memory.jobs)
    return _listed(request, [msgspec.structs.replace(job, last=None) for job in listed], limit, cursor)


@router.get("/banks/{bank}/jobs")
async def jobs_of(bank: str, request: Request, limit: Limit = MOST_LISTED, cursor: Cursor = None) -> Response:
    """The same with each one's last run on the bank."""
    memory: Memory = request.app.state.memory
    return _listed(request, await run_in_threadpool(lambda: memory.jobs(bank=bank)), limit, cursor)


@router.post("/banks/{bank}/jobs/{name}", openapi_extra=_RUN)
async def run(bank: str, name: str, request: Request, mode: str = "apply", seconds: float = 30.0) -> Response:
    """Run a job for some seconds; without `ended` in the answer it is not at its end, and the same call goes on.

    The body may have `arguments`, by name; none of them may name a file.
    """
    memory: Memory = request.app.state.memory
    if not await run_in_threadpool(memory.is_known, bank):
        raise UnknownBank(f"there is no bank {bank!r}; retain something into it first")
    if not 0 < seconds <= _MOST_SECONDS:
        raise InvalidInput("seconds", f"is {seconds:g}; it must lie above 0, up to {_MOST_SECONDS:g}")
    chosen = check_mode(mode)
    data = await read_object(request, "arguments")
    arguments = data.get("arguments", {})
    if not isinstance(arguments, dict):
        raise InvalidInput("arguments", f"must be an object, not {type(arguments).__name__}")
    done = await run_in_threadpool(
        lambda: memory.run_job(name, bank=bank, mode=chosen, arguments=arguments, far=True, enough=_after(seconds))
    )
    return reply(request, done, done)


@router.get("/job-runs")
async def job_runs(
    request: Request, job: str | None = None, bank: str | None = None, limit: Limit = 20, cursor: Cursor = None
) -> Response:
    """What jobs did, newest first."""
    memory: Memory = request.app.state.memory
    after = place_in(request, cursor)
    runs = await run_in_threadpool(lambda: memory.job_runs(job, bank=bank, limit=limit, after=after))
    last = last_place(runs, place_of_run, limit)
    return page(request, JobRuns(tuple(runs)), {"runs": msgspec.to_builtins(runs)}, cursor_of(request, last))


@router.get("/job-sides")
async def job_sides(request: Request, limit: Limit = MOST_LISTED, cursor: Cursor = None) -> Response:
    """The banks that scheduled jobs change held against those in shadow mode, `limit` of them a page, by name.

    Each page has both sides of its own banks: the figures of all pages add up to those of the whole.
    """
    memory: Memory = request.app.state.memory
    after = place_in(request, cursor)
    found = await run_in_threadpool(lambda: memory.job_sides(limit=limit, after=after))
    return page(request, found, {"sides": msgspec.to_builtins(found.sides)}, cursor_of(request, found.next))


@router.get("/job-runs/{id}")
async def job_run(id: str, request: Request) -> Response:
    """One run of a job."""
    memory: Memory = request.app.state.memory
    found: JobRun = await run_in_threadpool(memory.job_run, id)
    return reply(request, found, found)


def _after(seconds: float) -> Callable[[], bool]:
    """Whether the seconds are over; never before the first page, so that every call gets on."""
    end = time.monotonic() + seconds
    asked = 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        return asked > 1 and time.monotonic() > end

    return over


def _listed(request: Request, jobs: list[ListedJob], limit: int, cursor: str | None) -> Response:
    """A page of jobs, in the order of the catalogue."""
    rows, last = rows_after(enumerate(jobs), lambda row: f"{row[0]:04}", place_in(request, cursor), limit)
    told = tuple(job for _, job in rows)
    return page(request, ListedJobs(told), {"jobs": msgspec.to_builtins(told)}, cursor_of(request, last))
