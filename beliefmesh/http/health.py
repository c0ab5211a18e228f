"""Health and metrics: alive without asking anything, ready only if the stores answer and every partition moves."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.figures import figures_at
from beliefmesh.home import Home
from beliefmesh.http.exposition import Scrape, exposition
from beliefmesh.http.reply import json_reply
from beliefmesh.movement import Movement
from schemas.errors import BeliefmeshError
from streams.backlog import Place, backlogs, places

router = APIRouter(tags=["health"])

PATIENCE_SECONDS = 60.0
"""How long one batch may take before a partition that has work counts as stuck."""

_NAMED = 5


@router.get("/health/live")
async def live() -> Response:
    """The process answers; no store is asked."""
    return json_reply({"status": "live"})


@router.get("/health/ready")
async def ready(request: Request) -> Response:
    """200 if stores answer and every partition moves, else 503 with the reasons."""
    state = request.app.state
    reasons = await run_in_threadpool(_reasons, state.memory.home, state.movement)
    return json_reply({"status": "not ready" if reasons else "ready", "reasons": reasons}, 503 if reasons else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """What the mesh holds, what waits, and what this process has done, for Prometheus (`docs/observing.md`)."""
    state = request.app.state
    home: Home = state.memory.home
    stats, reasons = await run_in_threadpool(_look, home, state.movement)
    accepted = request.headers.get("accept", "")
    text, content_type = exposition(Scrape(stats, not reasons, state.meters, home.tally), accepted)
    return Response(text, media_type=content_type)


def _reasons(home: Home, movement: Movement) -> list[str]:
    """Why the mesh is not ready; nothing if it is."""
    try:
        home.graph.banks()
        return _stopped(home) or _stuck(home, movement, places(home.log, home.topics))
    except BeliefmeshError as error:
        return [str(error)]


def _look(home: Home, movement: Movement) -> tuple[Mapping[str, Any] | None, list[str]]:
    """The mesh's figures, and why it is not ready; no figures where a store does not answer."""
    try:
        now = home.clock()
        found = places(home.log, home.topics)
        return figures_at(home, now, found), _stopped(home) or _stuck(home, movement, found)
    except BeliefmeshError as error:
        return None, [str(error)]


def _stopped(home: Home) -> list[str]:
    stopped = home.worker.stopped_by
    return [f"the stream is paused: {stopped}"] if stopped else []


def _stuck(home: Home, movement: Movement, found: Sequence[Place]) -> list[str]:
    """Where nothing moves. Offsets alone may tell of a record that is gone, so the log is asked for one to read."""
    still = movement.still(found)
    suspected = {place: seconds for place, seconds in still.items() if seconds >= PATIENCE_SECONDS}
    stuck = [backlog.place for backlog in backlogs(home.log, suspected, limit=1) if backlog.head]
    told = [
        f"nothing has moved for {still[place]:.0f} s at stage {place.stage}, partition {place.partition}, "
        f"while {place.end - place.committed} records wait"
        for place in stuck[:_NAMED]
    ]
    return [*told, f"and at {len(stuck) - _NAMED} more"] if len(stuck) > _NAMED else told
