"""What every worker does with a batch, whichever log brings it: the order of durable writes, counts, reviews."""

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock

import structlog
from structlog.contextvars import bound_contextvars

from actors.mesh import Mesh
from schemas.dead_letter import DeadLetter
from schemas.instant import SECOND, Instant
from schemas.routing import partition_of
from schemas.slot import Amendment, Change
from stores.ports import Entry, Log, Record
from stores.tracing.events import DEBUG, wanted
from stores.tracing.spans import gathered, span
from streams.bundles import bundled, messages_of
from streams.dead_letters import DeadLetters
from streams.events import dead_lettered, revisions
from streams.histogram import Histogram, Histograms
from streams.topics import CHANGES, CLAIMS, Topics
from streams.topology import DECIDE, STAGES, Stage, entry_of, headers_of

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0
FRESHNESS_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
STAGE_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
SIZE_BOUNDS = (1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 10_000.0)
REVIEW = "review"
"""Stands beside the names of the stages for what time alone brings, and what a decision brings with it."""

Due = Callable[[Instant, int], list[tuple[str, str]]]

log_events = structlog.get_logger("streams")


class Worker(ABC):
    """Moves records through the stages. `stopped_by` says why nothing moves, "" while it does.

    `caught_up` says that what the index lacked when this began is in it, as far as this process sees to that;
    `unfinished` that a batch was left in hand when it stopped, for whoever comes next.
    `freshness` counts, for each change with new evidence that this process indexed, the seconds from its acceptance
    by the log to its being recallable. `seconds` and `sizes` count, by stage, how long each batch took that had its
    effect, and how many records it had; `pauses`, by the name of the error, what stopped the stream for a while.
    `at_work` is the number of batches in hand.
    """

    here = True
    """Whether this process streams, so that others wait for it, too."""

    def __init__(
        self, log: Log, mesh: Mesh, topics: Topics, clock: Callable[[], Instant], due: Due, batch: int
    ) -> None:
        self.stopped_by = ""
        self.at_work = 0
        self.caught_up = False
        self.unfinished = False
        self.counts: Counter[str] = Counter()
        self.pauses: Counter[str] = Counter()
        self.freshness = Histogram(FRESHNESS_BOUNDS)
        names = [*(stage.name for stage in STAGES), REVIEW]
        self.seconds, self.sizes = Histograms(STAGE_BOUNDS, names), Histograms(SIZE_BOUNDS, names)
        self._log = log
        self._mesh = mesh
        self._topics = topics
        self._clock = clock
        self._due = due
        self._batch = batch
        self._letters = DeadLetters(log, topics)
        self._counting = Lock()
        topics.create(log)

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether it works in the background."""

    @abstractmethod
    def start(self) -> None:
        """Work in the background until `stop`; a second call does nothing."""

    @abstractmethod
    def stop(self) -> None:
        """Finish the batch in hand, commit it, and end; a second call does nothing."""

    @abstractmethod
    def drain(self, *, wait: bool = True) -> int:
        """Work off what is in the log; returns how much was handled. Without `wait` it may leave that to others."""

    def review(self, slots: Sequence[tuple[str, str]]) -> None:
        """Decide (bank, slot) pairs again, and announce what changed; for the next stage to index."""
        began = time.monotonic()
        with span("stream.review", slots=len(slots)):
            self.announce(self._mesh.review(slots, self._clock()))
        self._count({"reviews": len(slots)})
        self._took(REVIEW, began, len(slots))

    def announce(self, changes: Sequence[Change]) -> None:
        """Tell the next stage, which indexes, and all who listen what was decided."""
        self._publish(CHANGES, [entry_of(change) for change in changes], self._clock())

    def amend(self, amendments: Sequence[Amendment]) -> list[Change]:
        """Have evidence leave its slots for good, and announce what changed; for the next stage to index."""
        changes = self._mesh.amend(amendments, self._clock())
        self.announce(changes)
        return changes

    def _process(
        self, stage: Stage, batch: Mapping[int, Sequence[Record]], commit: Callable[[Mapping[int, int]], None]
    ) -> None:
        """Give one batch (records by partition) its effect.

        The order of durable writes; each step is safe to repeat, and a crash between two repeats from the first:
        1. the stage's own effect (decide: evidence, edges, beliefs and slot version, in one transaction of the graph);
        2. dead letters, with the original bytes;
        3. what the next stage reads (decide: the change events);
        4. the offsets, through `commit`, which gets the next offset of each partition.
        """
        began, now, records = time.monotonic(), self._clock(), sum(map(len, batch.values()))
        with self._at_work(), gathered(f"stream.{stage.name}", partial(_contexts, batch), records=records) as noted:
            with bound_contextvars(stage=stage.name, partitions=sorted(batch)):
                outcome = stage.handle(self._mesh, batch, now)
            done = self._clock()
            if outcome.dead:
                self._set_aside(outcome.dead, now)
            self._publish(stage.sink, outcome.entries, now)
            commit({partition: some[-1].offset + 1 for partition, some in batch.items() if some})
            self._count({**outcome.counts, "dead_letters": len(outcome.dead)})
            self.freshness.add(max(0, done - at) / SECOND for at in outcome.recallable)
            noted(dead_letters=len(outcome.dead), **outcome.counts)
        if wanted(log_events, DEBUG):
            for told in revisions(outcome.entries if stage is DECIDE else ()):
                log_events.debug("belief.revised", **told)
        self._took(stage.name, began, records)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        with self._counting:
            self.at_work += 1
        try:
            yield
        finally:
            with self._counting:
                self.at_work -= 1

    def _publish(self, topic: str, entries: Sequence[Entry], now: Instant) -> None:
        """Append for the next stage. Claims, which only that one reads, go by partition together, changes by key."""
        if entries:
            name = self._topics.name(topic)
            partitions = self._log.partitions(name)
            together = partial(partition_of, partitions=partitions) if topic == CLAIMS else str
            self._log.append(name, bundled(entries, together), now)

    def _set_aside(self, dead: Sequence[DeadLetter], now: Instant) -> None:
        self._letters.add(dead, now)
        for letter in dead:
            log_events.warning("record.dead_lettered", **dead_lettered(letter))

    @property
    def dead_lettered(self) -> Mapping[str, int]:
        """By stage, how many messages this worker has set aside."""
        return dict(self._letters.added)

    def _count(self, counts: Mapping[str, int]) -> None:
        with self._counting:
            self.counts.update(counts)

    def _took(self, stage: str, began: float, records: int) -> None:
        self.seconds.add(stage, time.monotonic() - began)
        self.sizes.add(stage, records)

    def _paused(self, error: Exception, seconds: float, part: str = "") -> None:
        with self._counting:
            self.pauses[type(error).__name__] += 1
        self.stopped_by = str(error) or type(error).__name__
        log_events.error("stream.paused", stage=part, error=type(error).__name__, reason=str(error), seconds=seconds)


def _contexts(batch: Mapping[int, Sequence[Record]]) -> list[dict[str, str]]:
    """The headers of every message of a batch."""
    return [
        headers_of(message)
        for records in batch.values()
        for record in records
        for message in ((record,) if record.headers else messages_of(record))
    ]
