"""What is measured, and its Prometheus text form (text exposition format 0.0.4)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from schemas.instant import SECOND, parse_instant
from streams.histogram import Counted, Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

Labels = tuple[tuple[str, str], ...]
Samples = Iterable[tuple[Labels, float]]


class Meters:
    """Counters of the requests that this process answered; used from the event loop only."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._requests: Counter[Labels] = Counter()
        self._seconds: dict[Labels, Histogram] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self._requests[("method", method), ("route", route), ("status", str(status))] += 1
        self._seconds.setdefault((("route", route),), Histogram(BOUNDS)).add([seconds])

    def text(self, stats: Mapping[str, Any] | None, ready: bool) -> str:
        """Everything as Prometheus text; `stats` are those of the memory, None where they cannot be had."""
        lines = _metric("ready", "gauge", [((), int(ready))])
        if stats is not None:
            lines += [*_of_memory(stats), *_of_stream(stats)]
        lines += _metric("http_in_flight", "gauge", [((), self.in_flight)])
        lines += _metric("http_requests_total", "counter", sorted(self._requests.items()))
        lines += _histogram("http_request_seconds", {route: each.counted() for route, each in self._seconds.items()})
        return "\n".join(lines) + "\n"


def _of_memory(stats: Mapping[str, Any]) -> list[str]:
    banks: Mapping[str, Mapping[str, int]] = stats["banks"]
    counts = [
        ((("bank", bank), ("kind", kind)), count)
        for bank, numbers in sorted(banks.items())
        for kind, count in sorted(numbers.items())
    ]
    return [
        *_metric("count", "gauge", counts),
        *_metric("budget_bound", "gauge", _of_budgets(stats, "bounds")),
        *_metric("budget_use", "gauge", _of_budgets(stats, "use")),
        *_metric("dead_letters", "gauge", [((), stats["dead_letters"])]),
        *_metric("handled_total", "counter", [((("kind", kind),), n) for kind, n in sorted(stats["handled"].items())]),
    ]


def _of_budgets(stats: Mapping[str, Any], kind: str) -> list[tuple[Labels, float]]:
    return [
        ((("bank", bank), ("measure", measure)), amount)
        for bank, told in sorted(stats["budgets"].items())
        for measure, amount in told[kind].items()
    ]


def _of_stream(stats: Mapping[str, Any]) -> list[str]:
    partitions: Mapping[str, Mapping[str, Mapping[str, float]]] = stats["partitions"]
    lines = []
    for measure in ("records", "seconds"):
        samples = [
            ((("stage", stage), ("partition", partition)), lag[measure])
            for stage, lags in partitions.items()
            for partition, lag in lags.items()
        ]
        lines += _metric(f"lag_{measure}", "gauge", samples)
    marks = [
        ((("bank", bank),), parse_instant(at, "low_watermark") / SECOND)
        for bank, at in sorted(stats["low_watermark"].items())
    ]
    lines += _metric("low_watermark_seconds", "gauge", marks)
    return lines + _histogram("freshness_seconds", {(): msgspec.convert(stats["freshness_seconds"], Counted)})


def _histogram(name: str, counted: Mapping[Labels, Counted]) -> list[str]:
    lines = [f"# TYPE beliefmesh_{name} histogram"]
    for labels, found in sorted(counted.items()):
        lines += [_sample(f"{name}_bucket", (*labels, ("le", bound)), n) for bound, n in found.buckets.items()]
        lines += [_sample(f"{name}_sum", labels, found.sum), _sample(f"{name}_count", labels, found.count)]
    return lines


def _metric(name: str, kind: str, samples: Samples) -> list[str]:
    return [f"# TYPE beliefmesh_{name} {kind}", *(_sample(name, labels, value) for labels, value in samples)]


def _sample(name: str, labels: Labels, value: float) -> str:
    told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"beliefmesh_{name}{{{told}}} {value:.15g}" if told else f"beliefmesh_{name} {value:.15g}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
