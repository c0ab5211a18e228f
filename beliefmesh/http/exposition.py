"""The metrics of a process as Prometheus reads them: the figures of the mesh and the counts made here, as families."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from beliefmesh.http.meters import Meters
from beliefmesh.progress import ALL, CaughtUp
from beliefmesh.tally import VerbCounts
from schemas.errors import StoreUnavailable
from schemas.instant import SECOND, parse_instant
from streams.histogram import Counted
from streams.topology import STAGES

_CACHE = "cache."
_PREFIX = "beliefmesh_"
_SETTING_ASIDE = ("intake", "source", *(stage.name for stage in STAGES))
"""Counters of what should not happen begin at 0, so that a rise from nothing is seen."""

Samples = Iterable[tuple[Sequence[str], float]]


class Scrape(msgspec.Struct, frozen=True):
    """All that one scrape tells; `stats` are None where a store does not answer."""

    stats: Mapping[str, Any] | None
    ready: bool
    started: bool
    progress: CaughtUp | None
    meters: Meters
    tally: VerbCounts


def exposition(scrape: Scrape, accept: str = "") -> tuple[bytes, str]:
    """The text and its content type, in the form that the caller accepts: OpenMetrics, else the plain text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(scrape))
    ProcessCollector(registry=registry)
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _Families(Collector):
    """What a scrape tells, family by family."""

    def __init__(self, scrape: Scrape) -> None:
        self._scrape = scrape

    def collect(self) -> Iterator[Metric]:
        """Every family."""
        yield _gauge("ready", "1 if /health/ready says so.", (), [((), int(self._scrape.ready))])
        yield _gauge("started", "1 once /health/started says so.", (), [((), int(self._scrape.started))])
        stats = self._scrape.stats
        if stats is not None:
            yield _gauge("progress_ratio", "What is done of the work since none waited.", (), [((), self._ratio())])
            yield from _of_memory(stats)
            yield from _of_stream(stats)
            yield from _of_actors(stats["actors"])
            yield from _of_jobs(stats["jobs"])
        yield from _of_verbs(self._scrape.tally)
        yield from _of_requests(self._scrape.meters)

    def _ratio(self) -> float:
        progress = self._scrape.progress
        return 1.0 if progress is None else progress.percent / ALL


def _of_memory(stats: Mapping[str, Any]) -> Iterator[Metric]:
    build = [((version("beliefmesh"), str(stats["runtime"])), 1)]
    yield _gauge("info", "The release, and how its actors run.", ("version", "runtime"), build)
    counts = [((bank, kind), n) for bank, numbers in stats["banks"].items() for kind, n in numbers.items()]
    yield _gauge("count", "What a bank holds, by kind.", ("bank", "kind"), counts)
    for measure, says in (
        ("bounds", "What the budget of a bank allows."),
        ("use", "What a bank uses of it, as last measured."),
    ):
        name = "budget_bound" if measure == "bounds" else "budget_use"
        found = [((bank, what), n) for bank, budget in stats["budgets"].items() for what, n in budget[measure].items()]
        yield _gauge(name, says, ("bank", "measure"), found)
    yield _gauge("dead_letters", "Dead letters that lie there.", (), [((), stats["dead_letters"])])
    dead = {**dict.fromkeys(_SETTING_ASIDE, 0), **stats["dead_lettered"]}
    yield _counter("dead_lettered", "Messages that this process set aside.", ("stage",), _by_name(dead))


def _of_stream(stats: Mapping[str, Any]) -> Iterator[Metric]:
    yield _counter("handled", "What this process has done.", ("kind",), _by_name(stats["handled"]))
    pauses = {StoreUnavailable.__name__: 0, **stats["pauses"]}
    yield _counter("stream_pauses", "Pauses of the stream by the error.", ("error",), _by_name(pauses))
    partitions: Mapping[str, Mapping[str, Mapping[str, float]]] = stats["partitions"]
    for measure, says in (
        ("records", "Records that wait for a stage in a partition."),
        ("seconds", "For how long the oldest of them has waited."),
    ):
        lags = [
            ((stage, partition), lag[measure]) for stage, some in partitions.items() for partition, lag in some.items()
        ]
        yield _gauge(f"lag_{measure}", says, ("stage", "partition"), lags)
    marks = [((bank,), parse_instant(at, "low_watermark") / SECOND) for bank, at in stats["low_watermark"].items()]
    yield _gauge("low_watermark_seconds", "Unix time up to which all is recallable.", ("bank",), marks)
    fresh = [((), msgspec.convert(stats["freshness_seconds"], Counted))]
    yield _histogram("freshness_seconds", "From acceptance by the log to being recallable.", (), fresh)
    for measure, says in (("seconds", "How long a batch took."), ("records", "How many records a batch had.")):
        told = [((stage,), msgspec.convert(each[measure], Counted)) for stage, each in stats["stages"].items()]
        yield _histogram(f"stage_{measure}", says, ("stage",), told)


def _of_actors(counts: Mapping[str, int]) -> Iterator[Metric]:
    conflicts = [
        ((outcome,), counts.get(name, 0))
        for outcome, name in (("met", "version_conflicts"), ("given up", "version_conflicts_given_up"))
    ]
    yield _counter("version_conflicts", "Writes that met another writer.", ("outcome",), conflicts)
    asked = [
        (tuple(name.removeprefix(_CACHE).rsplit(".", 1)), n) for name, n in counts.items() if name.startswith(_CACHE)
    ]
    yield _counter("cache_requests", "What caches were asked for, hit or miss.", ("cache", "result"), sorted(asked))


def _of_jobs(jobs: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    """The last runs that the ledger has, whichever process they ran in."""
    ended = [job for job in jobs if job["last_end"] is not None]
    labels = ("name", "bank")
    ends = [((job["name"], job["bank"]), parse_instant(job["last_end"], "last_end") / SECOND) for job in ended]
    yield _gauge("job_last_end_seconds", "Unix time at which a job last came to its end.", labels, ends)
    took = [((job["name"], job["bank"]), job["seconds"]) for job in ended]
    yield _gauge("job_last_duration_seconds", "From that run's beginning to its end.", labels, took)
    counts = [((job["name"], job["bank"], kind), n) for job in ended for kind, n in job["counts"].items()]
    yield _gauge("job_last_count", "What that run counted.", (*labels, "kind"), counts)
    failed = [((job["name"], job["bank"]), int(job["failed"])) for job in jobs]
    yield _gauge("job_last_failed", "1 while the newest run has stopped by an error.", labels, failed)


def _of_verbs(tally: VerbCounts) -> Iterator[Metric]:
    yield _counter("accepted", "Observations that this process accepted.", ("bank",), _by_name(tally.accepted))
    yield _counter("recalls", "Questions by what came of them.", ("outcome",), _by_name(tally.recalls))
    yield _histogram("recall_seconds", "From question to answer.", (), [((), tally.recall_seconds.counted())])
    calls = sorted(dict(tally.retrievers).items())
    yield _counter("retriever_calls", "Calls of a retriever by how they ended.", ("retriever", "state"), calls)
    yield _counter("retriever_candidates", "Candidates it gave.", ("retriever",), _by_name(tally.candidates))
    times = [((name,), each) for name, each in tally.retriever_seconds.counted().items()]
    yield _histogram("retriever_seconds", "How long a retriever took.", ("retriever",), times)
    runs = sorted(dict(tally.jobs).items())
    yield _counter("job_runs", "Runs of jobs by what came of them.", ("name", "mode", "outcome"), runs)
    took = [((name,), each) for name, each in tally.job_seconds.counted().items()]
    yield _histogram("job_seconds", "How long a run of a job took.", ("name",), took)


def _of_requests(meters: Meters) -> Iterator[Metric]:
    yield _gauge("http_in_flight", "Requests that are being answered.", (), [((), meters.in_flight)])
    yield _gauge("http_waiting", "Requests that wait for room.", (), [((), meters.waiting)])
    yield _gauge("http_streams", "Streams and imports that last.", (), [((), meters.lasting)])
    answered = sorted(dict(meters.requests).items())
    yield _counter("http_requests", "Requests answered.", ("method", "route", "status"), answered)
    times = [((route,), each) for route, each in meters.seconds.counted().items()]
    yield _histogram("http_request_seconds", "How long a request took.", ("route",), times)


def _by_name(counts: Mapping[str, float]) -> list[tuple[tuple[str], float]]:
    return [((name,), n) for name, n in sorted(dict(counts).items())]


def _gauge(name: str, says: str, labels: Sequence[str], samples: Samples) -> Metric:
    return _filled(GaugeMetricFamily(_PREFIX + name, says, labels=labels), samples)


def _counter(name: str, says: str, labels: Sequence[str], samples: Samples) -> Metric:
    return _filled(CounterMetricFamily(_PREFIX + name, says, labels=labels), samples)


def _filled(family: Any, samples: Samples) -> Metric:
    for labels, value in samples:
        family.add_metric(labels, value)
    filled: Metric = family
    return filled


def _histogram(name: str, says: str, labels: Sequence[str], counted: Iterable[tuple[Sequence[str], Counted]]) -> Metric:
    family = HistogramMetricFamily(_PREFIX + name, says, labels=labels)
    for each, found in counted:
        family.add_metric(each, list(found.buckets.items()), found.sum)
    return family
