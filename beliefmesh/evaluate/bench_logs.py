"""What importing a log costs: made-up lines of a service whose jobs start, move through states and end."""

import io
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from beliefmesh.evaluate.log_import import BANK, imported
from beliefmesh.evaluate.place import NO_EMBEDDER, Report, memory_in
from streams.sources.registry import open_source

_SEED = 20
_START = datetime(2024, 6, 10, tzinfo=UTC)
_HOSTS = ("web1", "web2", "db1")
_STEPS = ("queued", "starting", "running", "stopping", "done")
_MOVED = 'level=info service=scheduler job_id={job} state={step} msg="the job moved on"'
_BETWEEN = (
    'level=info service=scheduler request_id=r{job} status=200 took_ms={ms} msg="GET /v1/jobs/{job}"',
    'level=info service=pool used={used} limit=64 msg="a connection was taken"',
    'level=warn service=pool msg="waiting for a connection for {ms} ms"',
    'level=info service=cache hits={used} misses={ms} msg="looked up"',
    'level=error service=mailer msg="cannot reach 10.0.0.{used}: timed out after {ms} ms"',
)


def importing(count: int, report: Report) -> dict[str, Any]:
    """Lines a second through the whole durable pipeline, without embedding."""
    data = "".join(f"{line}\n" for line in log_lines(count)).encode()
    with memory_in(None, BANK, NO_EMBEDDER) as memory:
        figures = imported(memory, open_source("logfmt"), io.BytesIO(data), "jobs.log")
    rate, cpu_rate = figures["lines_per_second"], figures["lines_per_cpu_second"]
    report(f"logs: {rate:,.0f} lines a second, {cpu_rate:,.0f} a CPU second")
    return figures


def log_lines(count: int) -> Iterator[str]:
    """Lines of key=value pairs, the same for the same count: a third tell states of jobs, the others repeat."""
    chance = random.Random(_SEED)  # noqa: S311 (data that can be made again, no secret)
    at = _START
    for number in range(count):
        at += timedelta(milliseconds=chance.randrange(1, 2_000))
        job, step = divmod(number // 3, len(_STEPS))
        told = chance.choice(_BETWEEN) if number % 3 else _MOVED
        said = told.format(job=job, step=_STEPS[step], ms=chance.randrange(1, 900), used=chance.randrange(1, 64))
        yield f"time={at.isoformat()} host={chance.choice(_HOSTS)} {said}"
