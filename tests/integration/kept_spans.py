"""A tracer that keeps its spans, a collector that keeps what it is sent, a message of a producer in a trace."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from schemas.claim import Claim
from schemas.entity import Entity
from schemas.observation import Observation, Source, observation_key
from schemas.wire import pack
from stores.ports import Entry
from stores.tracing.options import TracingOptions

TRACE = "0af7651916cd43dd8448eb211c80319c"
HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
"""What a producer writes of its own span; the last byte says that it is sampled."""


class Traced:
    """A tracer, and the spans that it has kept."""

    def __init__(self, ratio: float = 1.0) -> None:
        export = pytest.importorskip("opentelemetry.sdk.trace.export", reason="the tracing extra is not installed")
        memory_export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
        otlp = pytest.importorskip("stores.tracing.otlp", reason="the tracing extra is not installed")
        self._exporter = memory_export.InMemorySpanExporter()
        options = TracingOptions(sample_ratio=ratio)
        self.tracer = otlp.OtlpTracer(options, export.SimpleSpanProcessor(self._exporter))

    def spans(self) -> tuple[Any, ...]:
        """Every span that has ended, in the order of their ends."""
        return tuple(self._exporter.get_finished_spans())

    def names(self, trace: str = "") -> list[str]:
        """The names of the spans of a trace, or of all, sorted."""
        return sorted(
            span.name
            for span in self._exporter.get_finished_spans()
            if not trace or format(span.context.trace_id, "032x") == trace
        )

    def until(self, name: str, count: int) -> list[str]:
        """Those of TRACE, once so many of one name have ended: an answer leaves before its span does."""
        waited = threading.Event()
        for _ in range(600):
            if self.names(TRACE).count(name) == count:
                return self.names(TRACE)
            waited.wait(0.05)
        raise AssertionError(f"{name} did not end {count} times: {self.names(TRACE)}")

    def values(self, name: str) -> dict[str, object]:
        """What was noted on the only span of a name."""
        (found,) = [span for span in self._exporter.get_finished_spans() if span.name == name]
        return dict(found.attributes)


def told(name: str, headers: dict[str, str]) -> Entry:
    claim = Claim(entity=Entity(name), attribute="colour", value="red")
    observation = Observation(
        id=f"o-{name}", bank="default", source=Source("cam"), observed_at=1_718_000_000_000_000, claims=(claim,)
    )
    return Entry(observation_key(observation), pack(observation, observation.id), headers)


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, str | None, bytes]]]]:
    """The address of a collector, and (path, authorization, body) of each request that it has taken."""
    took: list[tuple[str, str | None, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        """Takes every request."""

        def do_POST(self) -> None:
            """Take one batch."""
            body = self.rfile.read(int(self.headers["content-length"]))
            took.append((self.path, self.headers["authorization"], _unzipped(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", took
        server.shutdown()
        thread.join()


def _unzipped(body: bytes) -> bytes:
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body
