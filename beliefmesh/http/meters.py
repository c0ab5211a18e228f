"""What is measured, and its Prometheus text form (text exposition format 0.0.4)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

Labels = tuple[tuple[str, str], ...]
Samples = Iterable[tuple[Labels, float]]


class Meters:
    """Counters of the requests that this process answered; used from the event loop only."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._requests: Counter[Labels] = Counter()
        self._seconds: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one answered request."""
        self._requests[("method", method), ("route", route), ("status", str(status))] += 1
        counts = self._seconds.setdefault(route, [0] * (len(BOUNDS) + 1))
        counts[bisect_left(BOUNDS, seconds)] += 1
        self._sums[route] = self._sums.get(route, 0.0) + seconds

    def text(self, stats: Mapping[str, Any], ready: bool) -> str:
        """Everything as Prometheus text; `stats` are those of the memory."""
        lines = [*_of_memory(stats, ready), *_metric("http_in_flight", "gauge", [((), self.in_flight)])]
        lines += _metric("http_requests_total", "counter", sorted(self._requests.items()))
        lines += ["# TYPE beliefmesh_http_request_seconds histogram"]
        for route, counts in sorted(self._seconds.items()):
            lines += self._histogram(route, counts)
        return "\n".join(lines) + "\n"

    def _histogram(self, route: str, counts: list[int]) -> list[str]:
        lines = []
        total = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
            total += count
            lines.append(_sample("http_request_seconds_bucket", (("route", route), ("le", bound)), total))
        lines.append(_sample("http_request_seconds_sum", (("route", route),), self._sums[route]))
        lines.append(_sample("http_request_seconds_count", (("route", route),), total))
        return lines


def _of_memory(stats: Mapping[str, Any], ready: bool) -> list[str]:
    banks: Mapping[str, Mapping[str, int]] = stats["banks"]
    counts = [
        ((("bank", bank), ("kind", kind)), count)
        for bank, numbers in sorted(banks.items())
        for kind, count in sorted(numbers.items())
    ]
    return [
        *_metric("ready", "gauge", [((), int(ready))]),
        *_metric("count", "gauge", counts),
        *_metric("lag_records", "gauge", [((("stage", stage),), n) for stage, n in stats["lag"].items()]),
        *_metric("dead_letters", "gauge", [((), stats["dead_letters"])]),
        *_metric("handled_total", "counter", [((("kind", kind),), n) for kind, n in sorted(stats["handled"].items())]),
    ]


def _metric(name: str, kind: str, samples: Samples) -> list[str]:
    return [f"# TYPE beliefmesh_{name} {kind}", *(_sample(name, labels, value) for labels, value in samples)]


def _sample(name: str, labels: Labels, value: float) -> str:
    told = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"beliefmesh_{name}{{{told}}} {value:g}" if told else f"beliefmesh_{name} {value:g}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
