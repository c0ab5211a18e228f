"""The worker of the embedded log: reads each stage's topic, does the work, and commits, one drain at a time."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for_all

from actors.mesh import Mesh
from schemas.instant import Instant
from stores.ports import Log, Record
from streams.topics import Topics
from streams.topology import STAGES, Stage
from streams.worker import FIRST_PAUSE, LONGEST_PAUSE, Due, Worker

BATCH = 4_000
_PAGE = 500
_BATCH_BYTES = 8 * 1_048_576


class EmbeddedWorker(Worker):
    """Moves records through the stages; one worker a log (its owner holds the folder's lock)."""

    def __init__(
        self, log: Log, mesh: Mesh, topics: Topics, clock: Callable[[], Instant], due: Due, batch: int = BATCH
    ) -> None:
        super().__init__(log, mesh, topics, clock, due, batch)
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._pool = ThreadPoolExecutor(len(STAGES), thread_name_prefix="stage")

    @property
    def running(self) -> bool:
        """See `Worker.running`."""
        return self._thread is not None

    def start(self) -> None:
        """See `Worker.start`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self.run, name="stream", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """See `Worker.stop`; a drain in another thread ends with its batch too."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._pool.shutdown()

    def drain(self, *, wait: bool = True) -> int:
        """Run all stages until nothing is left to read or due; returns how many records and reviews were handled.

        One thread at a time does it; without `wait`, a call that finds another one at it returns at once. After
        `stop` it ends with the batch in hand. The first call also indexes what the graph says the index lacks.
        """
        if not self._turn.acquire(blocking=wait):
            return 0
        try:
            handled = 0 if self.caught_up else self._mesh.catch_up(self._clock())
            self.caught_up = True
            while not self._stop.is_set() and (moved := self._advance_all() or self._review_due()):
                handled += moved
            return handled
        finally:
            self._turn.release()

    def run(self, idle: float = 0.05) -> None:
        """Drain again and again until `stop`.

        A failure (of a store, or one that nobody foresaw) pauses the stream, longer each time, and skips nothing.
        """
        pause = FIRST_PAUSE
        while not self._stop.is_set():
            try:
                moved = self.drain()
                self.stopped_by = ""
                pause = FIRST_PAUSE
                if not moved:
                    self._stop.wait(idle)
            except Exception as error:
                # A thread that ended here would leave a mesh that says it is up and moves nothing.
                self._paused(error, pause)
                self._stop.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

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
        committed = self._log.committed(self._topics.group, source)
        return any(committed.get(partition, 0) < end for partition, end in self._log.ends(source).items())

    def _advance(self, stage: Stage) -> int:
        """One batch of one stage, from every partition that has something."""
        source = self._topics.name(stage.source)
        batch = self._read(source)
        if batch:
            self._process(stage, batch, lambda offsets: self._commit(source, offsets))
        return sum(len(records) for records in batch.values())

    def _review_due(self) -> int:
        """Review what time alone has changed: dates that have come, evidence that expired, confidence that decayed."""
        due = self._due(self._clock(), self._batch)
        if due:
            self.review(due)
        return len(due)

    def _commit(self, topic: str, offsets: Mapping[int, int]) -> None:
        self._log.commit(self._topics.group, topic, offsets)

    def _read(self, topic: str) -> dict[int, list[Record]]:
        """A batch shared evenly by the partitions that are behind, so that a busy one holds up no other."""
        ends = self._log.ends(topic)
        committed = self._log.committed(self._topics.group, topic)
        behind = [partition for partition in sorted(ends) if committed.get(partition, 0) < ends[partition]]
        batch: dict[int, list[Record]] = {}
        for partition in behind:
            share = max(1, self._batch // len(behind))
            records = self._read_some(topic, partition, committed.get(partition, 0), share)
            if records:
                batch[partition] = records
            else:
                self._commit(topic, {partition: ends[partition]})
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
