"""Health and metrics: alive without asking anything, ready only if the stores answer and the stream moves."""

import time
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.meters import CONTENT_TYPE, Meters
from beliefmesh.http.reply import json_reply
from beliefmesh.memory import Memory
from schemas.errors import BeliefmeshError

router = APIRouter(tags=["health"])

PATIENCE_SECONDS = 60.0
"""How long one batch may take before a stream that has work counts as stuck."""

_NO_STATS: dict[str, Any] = {"banks": {}, "lag": {}, "dead_letters": 0, "handled": {}}


class Movement:
    """Notices a stream that has work and does none of it."""

    def __init__(self) -> None:
        self._lag: Mapping[str, int] = {}
        self._since = 0.0

    def still_for(self, lag: Mapping[str, int], now: float) -> float:
        """Seconds since what waits last changed; zero while nothing waits."""
        if lag != self._lag or not any(lag.values()):
            self._lag, self._since = dict(lag), now
        return now - self._since


@router.get("/health/live")
async def live() -> Response:
    """The process answers; no store is asked."""
    return json_reply({"status": "live"})


@router.get("/health/ready")
async def ready(request: Request) -> Response:
    """200 if stores answer and the stream moves, else 503 with the reasons."""
    _, reasons = await run_in_threadpool(_look, request.app.state.memory, request.app.state.movement)
    return json_reply({"status": "not ready" if reasons else "ready", "reasons": reasons}, 503 if reasons else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Counts, lag, dead letters and requests as Prometheus text."""
    stats, reasons = await run_in_threadpool(_look, request.app.state.memory, request.app.state.movement)
    meters: Meters = request.app.state.meters
    return Response(meters.text(stats, not reasons), media_type=CONTENT_TYPE)


def _look(memory: Memory, movement: Movement) -> tuple[dict[str, Any], list[str]]:
    """The memory's statistics, and why it is not ready."""
    try:
        stats = memory.stats()
    except BeliefmeshError as error:
        return _NO_STATS, [str(error)]
    stopped = memory.home.worker.stopped_by
    if stopped:
        return stats, [f"the stream is paused: {stopped}"]
    still = movement.still_for(stats["lag"], time.monotonic())
    if still >= PATIENCE_SECONDS:
        return stats, [f"nothing has moved for {still:.0f} s while records wait: {stats['lag']}"]
    return stats, []
