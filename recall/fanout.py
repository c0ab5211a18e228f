"""Fan-out: retrievers run at once, each with its own deadline and its own report; what is late or fails is left out."""

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context

import msgspec
import structlog

from recall.question import Question, Retriever, Sources
from recall.semantic import likeness
from schemas.answer import Report, RetrieverReport
from schemas.errors import BeliefmeshError
from stores.ports import Hit
from stores.tracing.spans import span

SEEDING = ("semantic", "keyword")
"""Retrievers whose hits seed the second wave."""

SECOND = ("spread",)
"""Retrievers that start when the seeding ones have come, or their deadline has passed."""

_NO_VECTORS = (
    "what the others found has no vector of this embedding model; after a change of model, `beliefmesh doctor` tells "
    "what is still to be indexed; with --fix it does so at once, as does `beliefmesh jobs run reindex`"
)

_log = structlog.get_logger()


class Retrieved(msgspec.Struct, frozen=True):
    """What the retrievers found, by name, and each one's report, in the order asked."""

    hits: dict[str, list[Hit]]
    reports: tuple[RetrieverReport, ...]


_Finished = tuple[list[Hit], RetrieverReport]


class _Run(msgspec.Struct, frozen=True):
    future: Future[tuple[list[Hit] | None, float]]
    started: float


def fan_out(
    question: Question,
    sources: Sources,
    retrievers: Mapping[str, Retriever],
    pool: ThreadPoolExecutor,
) -> Retrieved:
    """Run the retrievers on the pool and wait for each until `query.deadline` seconds after its own start.

    One that is late goes on in its thread, and its hits are dropped; a pool full of such threads makes others late.
    """
    deadline = question.query.deadline
    first = {name: _start(name, pool, run, question, sources) for name, run in retrievers.items() if name not in SECOND}
    done = {name: _finish(name, first[name], deadline) for name in SEEDING if name in first}
    seeded = msgspec.structs.replace(question, seeds={name: hits for name, (hits, _) in done.items()})
    second = {name: _start(name, pool, retrievers[name], seeded, sources) for name in SECOND if name in retrievers}
    for name, run in (first | second).items():
        if name not in done:
            done[name] = _finish(name, run, deadline)
    if "semantic" in done:
        hits, report = done["semantic"]
        if hits:
            done["semantic"] = _completed(question, sources, done, pool)
        elif report.state == "ok" and any(found for found, _ in done.values()):
            done["semantic"] = hits, msgspec.structs.replace(report, note=_NO_VECTORS)
    return Retrieved(
        hits={name: done[name][0] for name in retrievers if done[name][0]},
        reports=tuple(done[name][1] for name in retrievers),
    )


def _completed(
    question: Question, sources: Sources, done: Mapping[str, _Finished], pool: ThreadPoolExecutor
) -> _Finished:
    """The semantic hits and the cosines of what only others found, so that all are compared over the same beliefs."""
    hits, report = done["semantic"]
    known = {hit.belief for hit in hits}
    missing = {hit.belief: None for found, _ in done.values() for hit in found if hit.belief not in known}
    run = _start("likeness", pool, lambda asked, where: likeness(asked, where, list(missing)), question, sources)
    added, looked_up = _finish("semantic", run, question.query.deadline)
    return hits + added, report if looked_up.state == "ok" else looked_up


def _start(name: str, pool: ThreadPoolExecutor, retrieve: Retriever, question: Question, sources: Sources) -> _Run:
    """Run it in a thread, below the span of who asks."""
    future = pool.submit(copy_context().run, _timed, name, retrieve, question, sources)
    return _Run(future, time.monotonic())


def _timed(name: str, retrieve: Retriever, question: Question, sources: Sources) -> tuple[list[Hit] | None, float]:
    started = time.monotonic()
    with span(f"retriever.{name}") as noted:
        hits = retrieve(question, sources)
        noted(hits=len(hits or ()))
    return hits, time.monotonic() - started


def _finish(name: str, run: _Run, deadline: float) -> _Finished:
    wait((run.future,), max(0.0, run.started + deadline - time.monotonic()))
    if not run.future.done():
        run.future.cancel()
        _log.warning("recall.retriever_late", retriever=name, deadline=deadline)
        return [], _report(name, "late", run, f"no answer within {deadline:g} s")
    error = run.future.exception()
    if error is not None:
        _log.warning("recall.retriever_failed", retriever=name, error=repr(error))
        # Foreign errors are named by type alone: their text may hold addresses or data.
        return [], _report(
            name, "failed", run, str(error) if isinstance(error, BeliefmeshError) else type(error).__name__
        )
    hits, seconds = run.future.result()
    if hits is None:
        return [], RetrieverReport(name=name, state="skipped", milliseconds=_ms(seconds), note="had nothing to go by")
    return hits, RetrieverReport(name=name, state="ok", hits=len(hits), milliseconds=_ms(seconds))


def _report(name: str, state: Report, run: _Run, note: str) -> RetrieverReport:
    return RetrieverReport(name=name, state=state, milliseconds=_ms(time.monotonic() - run.started), note=note)


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
