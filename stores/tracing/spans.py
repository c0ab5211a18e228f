"""Spans of the work, and the trace context that travels with it; nothing is traced until a tracer is switched on."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

from schemas.extras import load_with
from schemas.trace import trace_context
from stores.ports import Noted, SpanValue, Tracer
from stores.tracing.options import TracingOptions

_Store = TypeVar("_Store")


class _Switch:
    """The tracer of this process, if any."""

    tracer: Tracer | None = None


_passing: ContextVar[Mapping[str, str] | None] = ContextVar("passing", default=None)
"""The trace context that came with what is being worked on."""


def trace_on(options: TracingOptions) -> None:
    """Trace all that this process does from here on; for one that ends by being killed, and its last spans with it."""
    if options.endpoint:
        _Switch.tracer = _opened(options)


def _opened(options: TracingOptions) -> Tracer:
    """Raises MissingExtra."""
    needed = "opentelemetry.exporter.otlp.proto.http"
    tracer: Tracer = load_with(needed, "OpenTelemetry", "stores.tracing.otlp", "tracing").open_tracer(options)
    return tracer


@contextmanager
def traced(options: TracingOptions) -> Iterator[None]:
    """Trace what this process does while the block lasts, if a collector is named. Raises MissingExtra.

    What waits to be sent is sent at its end.
    """
    if not options.endpoint:
        yield
        return
    tracer = _opened(options)
    try:
        with switched_on(tracer):
            yield
    finally:
        tracer.close()


@contextmanager
def switched_on(tracer: Tracer) -> Iterator[None]:
    """Let every span of this process go through a tracer while the block lasts."""
    before, _Switch.tracer = _Switch.tracer, tracer
    try:
        yield
    finally:
        _Switch.tracer = before


@contextmanager
def span(name: str, /, **values: SpanValue) -> Iterator[Noted]:
    """A span around the block, below the one that is current; gives what notes further values on it."""
    if _Switch.tracer is None:
        yield _unnoted
        return
    with _Switch.tracer.span(name, values) as noted:
        yield noted


@contextmanager
def continued(name: str, headers: Mapping[str, str], /, **values: SpanValue) -> Iterator[Noted]:
    """A span in the trace that came with a request. Without a tracer the trace is carried on as it came."""
    context = trace_context(headers)
    before = _passing.set(context)
    try:
        if _Switch.tracer is None:
            yield _unnoted
        else:
            with _Switch.tracer.span(name, values, [context] if context else []) as noted:
                yield noted
    finally:
        _passing.reset(before)


@contextmanager
def gathered(name: str, contexts: Callable[[], Sequence[Mapping[str, str]]], /, **values: SpanValue) -> Iterator[Noted]:
    """A span around what is done for several messages at once: in the trace of the first, linked with all others.

    `contexts` is asked for their headers only if a tracer is switched on.
    """
    if _Switch.tracer is None:
        yield _unnoted
        return
    distinct = {tuple(sorted(context.items())): context for context in map(trace_context, contexts()) if context}
    with _Switch.tracer.span(name, values, list(distinct.values())) as noted:
        yield noted


def carried() -> dict[str, str]:
    """The headers that tell whoever works on this next in which trace it is."""
    told = _Switch.tracer.carried() if _Switch.tracer is not None else {}
    return told or dict(_passing.get() or {})


def spanned(store: _Store, name: str) -> _Store:
    """The store, with a span around each of its calls that are made within another one, if a tracer is switched on."""
    return store if _Switch.tracer is None or store is None else cast(_Store, _Spanned(store, name))


class _Spanned:
    """Any store, whose calls are spans where they belong to something that is traced."""

    def __init__(self, store: object, name: str) -> None:
        self._store = store
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        found = getattr(self._store, attribute)
        if not callable(found):
            return found

        def call(*given: object, **named: object) -> object:
            tracer = _Switch.tracer
            if tracer is None or not tracer.recording():
                return found(*given, **named)
            with tracer.span(f"{self._name}.{attribute}", {}):
                return found(*given, **named)

        return call


def _unnoted(**_: SpanValue) -> None:
    """Where nothing is traced, nothing is noted."""
