"""The worker of the embedded log: reads each stage's topic, does the work, and commits in a stated order."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for_all

import structlog

from actors.mesh import Mesh
from schemas.dead_letter import DeadLetter
from schemas.instant import Instant
from stores.ports import Log, Record
from streams.dead_letters import DeadLetters
from streams.topics import CHANGES, Topics
from streams.topology import STAGES, Stage, entry_of

BATCH = 4_000
_PAGE = 500
_BATCH_BYTES = 16 * 1_048_576
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0

log_events = structlog.get_logger("streams")


class EmbeddedWorker:
    """Moves records through the stages; one worker a log (its owner holds the folder's lock)."""

    def __init__(
        self,
        log: Log,
        mesh: Mesh,
        topics: Topics,
        clock: Callable[[], Instant],
        due: Callable[[Instant, int], list[tuple[str, str]]],
        batch: int = BATCH,
    ) -> None:
        self._log = log
        self._mesh = mesh
        self._topics = topics
        self._clock = clock
        self._due = due
        self._batch = batch
        self._letters = DeadLetters(log, topics)
        self._turn = threading.Lock()
        self._counting = threading.Lock()
        self._stop = threading.Event()
        self._caught_up = False
        self._pool = ThreadPoolExecutor(len(STAGES), thread_name_prefix="stage")
        self.stopped_by = ""
        self.counts: Counter[str] = Counter()
        for topic, partitions in topics.all().items():
            log.create(topic, partitions)

    def drain(self, *, wait: bool = True) -> int:
        """Run all stages until nothing is left to read or due; returns how many records and reviews were handled.

        One thread at a time does it; without `wait`, a call that finds another one at it returns at once. After
        `stop` it ends with the batch in hand. The first call also indexes what the graph says the index lacks.
        """
        if not self._turn.acquire(blocking=wait):
            return 0
        try:
            handled = 0 if self._caught_up else self._mesh.catch_up(self._clock())
            self._caught_up = True
            while not self._stop.is_set() and (moved := self._advance_all() or self._review_due()):
                handled += moved
            return handled
        finally:
            self._turn.release()

    def run(self, idle: float = 0.05) -> None:
        """Drain again and again until `stop`.

        A failure (of a store, or one that nobody foresaw) pauses the stream, longer each time, and skips nothing.
        """
        pause = _FIRST_PAUSE
        while not self._stop.is_set():
            try:
                moved = self.drain()
                self.stopped_by = ""
                pause = _FIRST_PAUSE
                if not moved:
                    self._stop.wait(idle)
            except Exception as error:
                # A thread that ended here would leave a mesh that says it is up and moves nothing.
                self.stopped_by = str(error) or type(error).__name__
                log_events.error("stream.paused", error=type(error).__name__, reason=str(error), seconds=pause)
                self._stop.wait(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)

    def stop(self) -> None:
        """Make `run` return after the batch in hand."""
        self._stop.set()

    def review(self, slots: Sequence[tuple[str, str]]) -> None:
        """Decide (bank, slot) pairs again, and announce what changed; for the next stage to index."""
        now = self._clock()
        changes = self._mesh.review(slots, now)
        self._log.append(self._topics.name(CHANGES), [entry_of(change) for change in changes], now)
        self.counts["reviews"] += len(slots)

    def _advance_all(self) -> int:
        """One batch of every stage; all at once where the actors compute elsewhere, else one after the other.

        All have ended on return, also when one raises: no stage is ever run twice at the same time.
        """
        if not self._mesh.parallel:
            return sum(map(self._advance, STAGES))
        behind = [stage for stage in STAGES if self._is_behind(stage)]
        running = [self._pool.submit(self._advance, stage) for stage in behind]
        wait_for_all(running)
        return sum(stage.result() for stage in running)

    def _is_behind(self, stage: Stage) -> bool:
        source = self._topics.name(stage.source)
        committed = self._log.committed(stage.group, source)
        return any(committed.get(partition, 0) < end for partition, end in self._log.ends(source).items())

    def _advance(self, stage: Stage) -> int:
        """One batch of one stage, from every partition that has something.

        The order of durable writes; each step is safe to repeat, and a crash between two repeats from the first:
        1. the stage's own effect (decide: evidence, edges, beliefs and slot version, in one transaction of the graph);
        2. dead letters, with the original bytes;
        3. what the next stage reads (decide: the change events);
        4. the offsets.
        """
        source = self._topics.name(stage.source)
        batch = self._read(stage.group, source)
        if not batch:
            return 0
        now = self._clock()
        outcome = stage.handle(self._mesh, batch, now)
        if outcome.dead:
            self._set_aside(outcome.dead, now)
        if outcome.entries:
            self._log.append(self._topics.name(stage.sink), outcome.entries, now)
        reached = {partition: records[-1].offset + 1 for partition, records in batch.items()}
        self._log.commit(stage.group, source, reached)
        with self._counting:
            self.counts.update(outcome.counts)
            self.counts["dead_letters"] += len(outcome.dead)
        return sum(len(records) for records in batch.values())

    def _review_due(self) -> int:
        """Review what time alone has changed: dates that have come, evidence that expired, confidence that decayed."""
        due = self._due(self._clock(), self._batch)
        if due:
            self.review(due)
        return len(due)

    def _read(self, group: str, topic: str) -> dict[int, list[Record]]:
        """A batch shared evenly by the partitions that are behind, so that a busy one holds up no other."""
        ends = self._log.ends(topic)
        committed = self._log.committed(group, topic)
        behind = [partition for partition in sorted(ends) if committed.get(partition, 0) < ends[partition]]
        batch: dict[int, list[Record]] = {}
        for partition in behind:
            share = max(1, self._batch // len(behind))
            records = self._read_some(topic, partition, committed.get(partition, 0), share)
            if records:
                batch[partition] = records
            else:
                self._log.commit(group, topic, {partition: ends[partition]})
        return batch

    def _read_some(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Up to `limit` records, fewer where they are large, so that a batch of long texts fits into memory."""
        records: list[Record] = []
        size = 0
        while len(records) < limit and size < _BATCH_BYTES:
            page = self._log.read(topic, partition, offset, min(_PAGE, limit - len(records)))
            if not page:
                break
            records += page
            size += sum(len(record.value) for record in page)
            offset = page[-1].offset + 1
        return records

    def _set_aside(self, dead: Sequence[DeadLetter], now: Instant) -> None:
        self._letters.add(dead, now)
        for letter in dead:
            log_events.warning("record.dead_lettered", stage=letter.stage, error=letter.error, reason=letter.reason)
