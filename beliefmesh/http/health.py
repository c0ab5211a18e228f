"""Health and metrics: alive without asking, started once hydrated, ready if the stores answer and all moves."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.figures import figures_at
from beliefmesh.home import Home
from beliefmesh.http.exposition import Scrape, exposition
from beliefmesh.http.reply import json_reply
from beliefmesh.movement import Movement
from beliefmesh.progress import CaughtUp, still_waiting
from schemas.errors import BeliefmeshError
from streams.backlog import Place, backlogs, places

router = APIRouter(tags=["health"])

PATIENCE_SECONDS = 60.0
"""How long one batch may take before a partition that has work counts as stuck."""

_NAMED = 5
_STOPPING = "the process was told to stop and finishes what is in hand"


class Look(msgspec.Struct, frozen=True):
    """What was found: why the process is not ready, how far it is where something waits, how far it has started.

    `stuck` are those of the reasons that tell of partitions where nothing moves, whosever they are.
    """

    reasons: list[str]
    stuck: Sequence[str] = ()
    progress: CaughtUp | None = None
    started: CaughtUp | None = None
    stats: Mapping[str, Any] | None = None


@router.get("/health/live")
async def live() -> Response:
    """The process answers; no store is asked."""
    return json_reply({"status": "live"})


@router.get("/health/started")
async def started(request: Request) -> Response:
    """200 once all that lay in the log when the process began is recallable, else 503 with how far it is."""
    state = request.app.state
    if state.hydration.done:
        return json_reply({"status": "started"})
    look = await run_in_threadpool(_hydrated, state)
    if state.hydration.done:
        return json_reply({"status": "started"})
    return json_reply({"status": "starting", "reasons": look.reasons, **_told(look.started)}, 503)


@router.get("/health/ready")
async def ready(request: Request, group: bool = True) -> Response:
    """200 if stores answer and every partition moves, else 503 with the reasons; and how far it is while any wait.

    With `group` false partitions that other workers do not move are no reason: this process may be asked all the same.
    """
    state = request.app.state
    look = Look([_STOPPING]) if state.ending.asked else await run_in_threadpool(_readiness, state)
    if not group:
        look = msgspec.structs.replace(look, reasons=[told for told in look.reasons if told not in look.stuck])
    status = "not ready" if look.reasons else "ready"
    return json_reply({"status": status, "reasons": look.reasons, **_told(look.progress)}, 503 if look.reasons else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """What the mesh holds, what waits, and what this process has done, for Prometheus (`docs/observing.md`)."""
    state = request.app.state
    look = await run_in_threadpool(_figures, state)
    scrape = Scrape(
        stats=look.stats,
        ready=not look.reasons,
        started=state.hydration.done,
        progress=look.progress,
        meters=state.meters,
        tally=state.memory.home.tally,
    )
    text, content_type = exposition(scrape, request.headers.get("accept", ""))
    return Response(text, media_type=content_type)


def _told(progress: CaughtUp | None) -> dict[str, object]:
    return {} if progress is None else {"progress": msgspec.to_builtins(progress)}


def _hydrated(state: State) -> Look:
    home: Home = state.memory.home
    try:
        return Look(_stopped(home), started=state.hydration.look(home, places(home.log, home.topics)))
    except BeliefmeshError as error:
        return Look([str(error)])


def _readiness(state: State) -> Look:
    """Why the mesh is not ready, and how far it is."""
    home: Home = state.memory.home
    try:
        home.graph.banks()
        return _look(state, home, places(home.log, home.topics))
    except BeliefmeshError as error:
        return Look([str(error)])


def _figures(state: State) -> Look:
    """The same with the mesh's figures; none where a store does not answer."""
    home: Home = state.memory.home
    try:
        now = home.clock()
        found = places(home.log, home.topics)
        look = _look(state, home, found)
        state.hydration.look(home, found)
        reasons = [_STOPPING] if state.ending.asked else look.reasons
        return msgspec.structs.replace(look, reasons=reasons, stats=figures_at(home, now, found))
    except BeliefmeshError as error:
        return Look([str(error)])


def _look(state: State, home: Home, found: Sequence[Place]) -> Look:
    progress = state.catching_up.look(found, still_waiting(home, found))
    stopped = _stopped(home)
    stuck = [] if stopped else _stuck(home, state.movement, found)
    return Look([*stopped, *stuck], stuck, progress)


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
