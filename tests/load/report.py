"""What a load test saw, and how it is told."""

import os
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crowd import Outcome
from processes import Resident

WARM_UP = 0.25
"""Share of the time whose memory does not count."""
_KILOBYTES = 1024.0


@dataclass(frozen=True)
class Sample:
    """A look at the server: seconds since the beginning, its memory, observations accepted so far."""

    seconds: float
    memory: Resident
    accepted: int


@dataclass
class Report:
    """Latencies are clients' own, with every retry in them; memory and CPU are those of all processes of the server.

    From `asking_from` on, in seconds, the clients only asked, so that nothing new was to be kept.
    """

    outcome: Outcome
    seconds: float
    samples: list[Sample] = field(default_factory=list)
    asking_from: float = 0.0
    statuses: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    replaced: int = 0
    server_cpu: float = 0.0
    clients_cpu: float = 0.0

    @property
    def calls(self) -> int:
        """How many calls were answered."""
        return len(self.outcome.told) + len(self.outcome.asked)

    def growth(self, begin: float, end: float) -> Resident:
        """Growth of memory between two times by least squares, MB a minute."""
        samples = self._between(begin, end)
        if len(samples) < 2:
            return Resident(0.0, 0.0)
        times, memory = [sample.seconds for sample in samples], zip(*(sample.memory for sample in samples), strict=True)
        return Resident(*(60 * statistics.linear_regression(times, taken).slope for taken in memory))

    def kept(self) -> float:
        """Growth of memory an observation that was accepted after the warm-up, in KB."""
        samples = self._between(WARM_UP * self.asking_from, self.asking_from)
        told = samples[-1].accepted - samples[0].accepted if samples else 0
        return _KILOBYTES * (samples[-1].memory.anonymous - samples[0].memory.anonymous) / told if told else 0.0

    def lines(self) -> Iterator[str]:
        """The report, one figure a line."""
        outcome = self.outcome
        yield f"answered            {self.calls} in {self.seconds:.0f} s, {self.calls / self.seconds:.0f} a second"
        yield from _latencies("retain", outcome.told)
        yield from _latencies("recall", outcome.asked)
        if self.statuses:
            yield "statuses            " + ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        yield f"processes replaced  {self.replaced}"
        yield f"turned away         {outcome.turned_away}, too busy for longer than a client's patience"
        yield f"degraded answers    {outcome.degraded}"
        yield f"failed calls        {sum(outcome.failed.values())}"
        yield from (f"  {n} times {what:.150}" for what, n in outcome.failed.most_common(5))
        yield f"accepted            {len(outcome.accepted)}, of which lost {self.lost}"
        if self.samples:
            yield from self._of_machine()

    def _of_machine(self) -> Iterator[str]:
        calls = max(1, self.calls)
        server, clients = 1e3 * self.server_cpu / calls, 1e3 * self.clients_cpu / calls
        yield f"CPU a call          server {server:.1f} ms, clients {clients:.1f} ms"
        yield f"load average        {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        told = self.growth(WARM_UP * self.asking_from, self.asking_from)
        asked = self.growth(self.asking_from, self.seconds)
        at_end = self.samples[-1].memory
        yield f"memory              {at_end.anonymous:.0f} MB at the end, and {at_end.files:.0f} MB of mapped files"
        kept = f"{self.kept():+.1f} KB an observation"
        yield f"  telling, asking   {told.anonymous:+.2f} MB a minute after warm-up, {kept}"
        yield f"  only asking       {asked.anonymous:+.2f} MB a minute"
        yield f"  of mapped files   {told.files:+.2f} and {asked.files:+.2f} MB a minute"

    def _between(self, begin: float, end: float) -> list[Sample]:
        return [sample for sample in self.samples if begin <= sample.seconds <= end]


def _latencies(name: str, times: Sequence[float]) -> Iterator[str]:
    if len(times) > 1:
        cuts = statistics.quantiles(times, n=100)
        yield f"{name}              p50 {cuts[49] * 1e3:.0f} ms, p99 {cuts[98] * 1e3:.0f} ms of {len(times)}"
