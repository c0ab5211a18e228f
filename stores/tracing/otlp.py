"""Traces by OpenTelemetry, sent to a collector by OTLP over HTTP. The only file that names opentelemetry."""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version

import structlog
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Span, SpanContext, Status, StatusCode, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from stores.ports import Noted, SpanValue
from stores.tracing.options import TracingOptions

_EXPORT_SECONDS = 5.0
_MOST_LINKED = 64
_PREFIX = "beliefmesh."
_TELL_SECONDS = 60.0
_REASON_CHARACTERS = 500
_CONTEXT = TraceContextTextMapPropagator()

log_events = structlog.get_logger("traces")
_sender = logging.getLogger(OTLPSpanExporter.__module__)


class OtlpTracer:
    """A `Tracer` of its own, beside whatever else in the process uses OpenTelemetry; `processor` gets what is sampled.

    A trace that comes from outside is sampled as it says; of new ones the share of the options is.
    """

    def __init__(self, options: TracingOptions, processor: SpanProcessor) -> None:
        self._provider = TracerProvider(
            sampler=ParentBased(TraceIdRatioBased(options.sample_ratio)),
            resource=Resource({"service.name": options.service_name, "service.version": version("beliefmesh")}),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("beliefmesh", version("beliefmesh"))

    @contextmanager
    def span(
        self, name: str, values: Mapping[str, SpanValue], parents: Sequence[Mapping[str, str]] = ()
    ) -> Iterator[Noted]:
        """See `Tracer.span`. An error is told by its name alone, since its words may hold what is remembered."""
        began = time.time_ns()
        contexts = [_CONTEXT.extract(parent) for parent in parents[:_MOST_LINKED]]
        with self._tracer.start_as_current_span(
            name,
            context=contexts[0] if contexts else None,
            attributes=_named(values),
            links=[Link(_place(context)) for context in contexts[1:]],
            record_exception=False,
            set_status_on_exception=False,
        ) as current:
            try:
                yield partial(_note, current)
            except Exception as error:
                current.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise
            finally:
                for context in contexts[1:]:
                    links = [Link(current.get_span_context())]
                    self._tracer.start_span(name, context, links=links, start_time=began).end()

    def carried(self) -> dict[str, str]:
        """See `Tracer.carried`."""
        headers: dict[str, str] = {}
        _CONTEXT.inject(headers)
        return headers

    def recording(self) -> bool:
        """See `Tracer.recording`."""
        return get_current_span().is_recording()

    def close(self) -> None:
        """Send what waits."""
        self._provider.shutdown()


class _Told(logging.Handler):
    """Makes a log event of what the sender says when it cannot send, one a minute, as it says so at every try."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._told_at = float("-inf")

    def emit(self, record: logging.LogRecord) -> None:
        """Tell it, or leave it at what was told."""
        now = time.monotonic()
        if now - self._told_at >= _TELL_SECONDS:
            self._told_at = now
            log_events.warning("traces.unsent", reason=record.getMessage()[:_REASON_CHARACTERS])


def open_tracer(options: TracingOptions) -> OtlpTracer:
    """A tracer that sends to the collector of the options, in the background; what it cannot send is a log event."""
    _sender.handlers, _sender.propagate = [_Told()], False
    headers = {"authorization": f"Bearer {options.token}"} if options.token else {}
    exporter = OTLPSpanExporter(options.endpoint, headers=headers, timeout=_EXPORT_SECONDS)
    return OtlpTracer(options, BatchSpanProcessor(exporter))


def _named(values: Mapping[str, SpanValue]) -> dict[str, SpanValue]:
    return {_PREFIX + name: value for name, value in values.items()}


def _note(current: Span, **values: SpanValue) -> None:
    current.set_attributes(_named(values))


def _place(context: Context) -> SpanContext:
    return get_current_span(context).get_span_context()
