"""The worker of Kafka: a faust app in a thread of its own brings batches to the stages and commits after them.

What faust does with errors shapes this file (docs/streams.md has the measured facts, tests/kafka their tests): an
exception in an agent's body acknowledges its events, and bytes that a codec refuses end the stream without a word.
So values come raw, are read inside the stages, and every failure is met here, in the body.
"""

import asyncio
import logging
import tempfile
import threading
import time
from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import faust
from faust.types import TP

from actors.mesh import Mesh
from schemas.errors import StoreUnavailable
from schemas.instant import Instant
from stores.kafka.log import KafkaLog
from stores.kafka.options import KafkaOptions, addresses_of, tls_context
from stores.kafka.records import headers_of, key_of, time_of
from stores.ports import Record
from streams.backlog import Place, backlogs, places
from streams.topics import CHANGES, Topics
from streams.topology import STAGES, Stage
from streams.worker import FIRST_PAUSE, LONGEST_PAUSE, Due, Worker

_BATCH_BYTES = 8 * 1_048_576
_FILL_SECONDS = 0.05
_UPKEEP_SECONDS = 1.0
_POLL_SECONDS = 0.05
_LOOK_SECONDS = 0.2
"""Between two looks at what waits: each asks the broker six things, which the stages would have to wait for."""
_STILL_SECONDS = 2.0
_HEARTBEATS_A_SESSION = 4
_COMMIT_SECONDS = 1.0
_REQUEST_SECONDS = 90.0
_STOP_SECONDS = 10.0
_DRAIN_SECONDS = 600.0
_MARKS_SECONDS = 1.0
_METADATA_SECONDS = 60.0
_NO_GENERATION = -1
_RAW = "raw"
_UPKEEP = "upkeep"
_CLIENT = "client"

for _noisy in ("aiokafka", "faust", "mode"):
    # A broker that restarts makes them say so thirty times a second; this worker says it once, by `stopped_by`.
    logging.getLogger(_noisy).setLevel(logging.CRITICAL)
# At DEBUG it writes out its requests, and with them the password.
logging.getLogger("aiokafka.conn").addFilter(lambda record: record.levelno > logging.DEBUG)


class KafkaWorker(Worker):
    """Moves records through the stages; any number of them share the partitions of the one consumer group.

    The worker that holds partition 0 of `changes` also does what is to be done once: reviews that time alone brings,
    and indexing what the graph says the index lacks.
    """

    def __init__(
        self,
        log: KafkaLog,
        mesh: Mesh,
        topics: Topics,
        clock: Callable[[], Instant],
        due: Due,
        batch: int,
        *,
        url: str,
        options: KafkaOptions,
    ) -> None:
        super().__init__(log, mesh, topics, clock, due, batch)
        self._kafka = log
        self._brokers = [f"kafka://{address}" for address in addresses_of(url)]
        self._options = options
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        self._in_hand = 0
        self._troubles: dict[str, str] = {}
        self._forgotten: dict[str, tuple[float, frozenset[tuple[int, int]]]] = {}
        self._indexed_rest = False
        self._pool = ThreadPoolExecutor(len(STAGES) + 1, thread_name_prefix="stage")

    @property
    def running(self) -> bool:
        """See `Worker.running`."""
        return self._thread is not None

    def start(self) -> None:
        """See `Worker.start`."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="stream", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """See `Worker.stop`. What is in hand after the drain timeout is left to whoever gets its partitions next."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(self._options.drain_timeout + 2 * _STOP_SECONDS)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def drain(self, *, wait: bool = True) -> int:
        """Wait until nothing waits at any stage; the thread of `start` does the work. Returns 0."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        before: list[Place] = []
        since = time.monotonic()
        while wait and (behind := [one for one in places(self._log, self._topics) if one.committed < one.end]):
            now = time.monotonic()
            if behind != before:
                before, since = behind, now
            elif now - since > _STILL_SECONDS and not any(one.records for one in backlogs(self._log, behind, limit=1)):
                break  # offsets that hold nothing to read: forgotten records, or a producer's marks
            if now >= deadline or self._stopping.is_set():
                raise StoreUnavailable(f"the stream has not caught up in {_DRAIN_SECONDS:g} s: {self.stopped_by}")
            time.sleep(_LOOK_SECONDS)
        return 0

    def _run(self) -> None:
        """Run the app, again after it crashed, until `stop`."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            began = time.monotonic()
            try:
                asyncio.run(self._serve())
            except Exception as error:
                if time.monotonic() - began > LONGEST_PAUSE:
                    pause = FIRST_PAUSE
                self._troubled(_CLIENT, error, pause)
                self._stopping.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _serve(self) -> None:
        with tempfile.TemporaryDirectory(prefix="beliefmesh-worker-") as passing:
            await self._run_app(self._app(passing))

    async def _run_app(self, app: faust.App) -> None:
        await app.start()
        self._relieved(_CLIENT)
        try:
            while not self._stopping.is_set():
                if app.should_stop:
                    raise StoreUnavailable(f"the stream's client ended: {app.crash_reason!r}")
                await asyncio.sleep(_POLL_SECONDS)
        finally:
            await self._settle(self._options.drain_timeout)
            self.unfinished = self.unfinished or bool(self._in_hand)
            await asyncio.wait_for(app.stop(), _STOP_SECONDS)

    async def _settle(self, seconds: float) -> None:
        """Let the batches in hand finish, for so long."""
        deadline = time.monotonic() + seconds
        while self._in_hand and time.monotonic() < deadline:
            await asyncio.sleep(_POLL_SECONDS)

    def _app(self, folder: str) -> faust.App:
        """The app, with an agent for each stage; it declares no topics, keeps no tables and serves no web.

        `folder` is where it would keep what it never has.
        """
        options = self._options
        app = faust.App(
            self._topics.group,
            broker=self._brokers,
            broker_client_id=options.client_id,
            broker_credentials=_credentials(options),
            broker_session_timeout=options.session_timeout,
            broker_heartbeat_interval=options.session_timeout / _HEARTBEATS_A_SESSION,
            broker_request_timeout=max(_REQUEST_SECONDS, options.session_timeout),
            broker_commit_interval=_COMMIT_SECONDS,
            broker_commit_every=1_000_000_000,
            consumer_auto_offset_reset="earliest",
            consumer_metadata_max_age_ms=int(_METADATA_SECONDS * 1_000),
            consumer_group_instance_id=options.instance or None,
            stream_buffer_maxsize=self._batch,
            stream_wait_empty=False,
            store="memory://",
            datadir=folder,
            table_standby_replicas=0,
            topic_allow_declare=False,
            topic_disable_leader=True,
            web_enabled=False,
            autodiscover=False,
        )
        for stage in STAGES:
            topic = app.topic(
                self._topics.name(stage.source),
                key_type=bytes,
                value_type=bytes,
                key_serializer=_RAW,
                value_serializer=_RAW,
            )
            app.agent(topic, name=stage.name)(partial(self._work, app, stage))
        app.timer(interval=_UPKEEP_SECONDS)(partial(self._keep_up, app))
        # Held by the app as a weak reference unless told otherwise.
        app.on_partitions_revoked.connect(self._let_go, weak=False)
        app.finalize()
        return app

    async def _let_go(self, *_: Any, **__: Any) -> None:
        """Before partitions move, give the batches in hand the time to finish; what they leave is delivered again.

        No slot is kept that another may write by then: one that ends there and begins anew may come to the very
        version that was kept of it here, and a write by that version would pass.
        """
        await self._settle(self._options.session_timeout / 2)
        self._mesh.drop_kept()

    async def _work(self, app: faust.App, stage: Stage, stream: faust.Stream[bytes]) -> None:
        """One stage's agent: batch after batch, in order.

        What was fetched with a batch that was given up, or before it, is passed over: to acknowledge it would commit
        over the gap. All of that is delivered again, under the next generation of the group. The stream itself never
        acknowledges: once `noack_take` ends, it would, for everything that still arrives until the app has stopped.
        """
        stream.enable_acks = False
        given_up = _NO_GENERATION
        batches: AsyncIterable[Any] = stream.noack_take(self._batch, within=_FILL_SECONDS)
        async for events in batches:
            for some in _parts([event for event in events if _generation(event) > given_up]):
                if self._stopping.is_set():
                    return
                self._in_hand += 1
                try:
                    applied = await self._apply(app, stage, some)
                finally:
                    self._in_hand -= 1
                if not applied:
                    self.unfinished = self._stopping.is_set()
                    given_up = max(map(_generation, events))
                    break

    async def _apply(self, app: faust.App, stage: Stage, events: Sequence[faust.EventT[bytes]]) -> bool:
        """Give a batch its effect, however often it takes; False if it was given up, to be delivered again.

        A store that fails stops the stage here, with growing pauses. When the partitions move meanwhile, or the
        worker stops, the batch is given up: nothing of it was committed, so its next owner begins with it.
        """
        loop = asyncio.get_running_loop()
        newest = max(map(_generation, events))

        def commit(_: Mapping[int, int]) -> None:
            asyncio.run_coroutine_threadsafe(_acknowledge(app, events), loop).result()

        def work() -> None:
            self._process(stage, self._records(events), commit)

        pause = FIRST_PAUSE
        applied = False
        while not applied:
            try:
                await loop.run_in_executor(self._pool, work)
                applied = True
            except Exception as error:
                self._troubled(stage.name, error, pause)
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                if self._stopping.is_set() or app.rebalancing or newest != app.consumer_generation_id:
                    break
        self._relieved(stage.name)
        return applied

    def _records(self, events: Sequence[faust.EventT[bytes]]) -> dict[int, list[Record]]:
        """The records of a batch by partition, without those that were forgotten; a partition of none is empty."""
        forgotten = self._forgotten_of(events[0].message.topic)
        batch: dict[int, list[Record]] = {}
        for event in events:
            record = _record(event.message)
            records = batch.setdefault(record.partition, [])
            if (record.partition, record.offset) not in forgotten:
                records.append(record)
        return batch

    def _forgotten_of(self, topic: str) -> frozenset[tuple[int, int]]:
        """The marks of a topic, asked for once a second at most."""
        now = time.monotonic()
        asked, marks = self._forgotten.get(topic, (float("-inf"), frozenset()))
        if now - asked > _MARKS_SECONDS:
            marks = self._kafka.forgotten(topic)
            self._forgotten[topic] = now, marks
        return marks

    def _troubled(self, part: str, error: Exception, seconds: float) -> None:
        """Note why one part of the work does not move; the others may."""
        self._troubles[part] = str(error) or type(error).__name__
        self._paused(error, seconds, part)

    def _relieved(self, part: str) -> None:
        self._troubles.pop(part, None)
        self.stopped_by = next(iter(self._troubles.values()), "")

    async def _keep_up(self, app: faust.App) -> None:
        """What one worker does for all, each second; a failure is told and tried again."""
        if TP(self._topics.name(CHANGES), 0) in app.consumer.assignment():
            try:
                await asyncio.get_running_loop().run_in_executor(self._pool, self._upkeep)
            except Exception as error:
                self._troubled(_UPKEEP, error, _UPKEEP_SECONDS)
                return
        elif not app.rebalancing_count or app.rebalancing:
            return  # not known yet which partitions are this worker's
        self.caught_up = True
        self._relieved(_UPKEEP)

    def _upkeep(self) -> None:
        if not self._indexed_rest:
            self._mesh.catch_up(self._clock())
            self._indexed_rest = True
        if due := self._due(self._clock(), self._batch):
            self.review(due)


async def _acknowledge(app: faust.App, events: Sequence[faust.EventT[bytes]]) -> None:
    """Mark events as done and commit; where a commit is under way already, the app's next one takes them along."""
    for event in events:
        event.ack()
    await app.consumer.commit()


def _generation(event: faust.EventT[bytes]) -> int:
    """Under which generation of the group it was fetched."""
    return event.message.generation_id or 0


def _parts(events: Sequence[faust.EventT[bytes]]) -> list[list[faust.EventT[bytes]]]:
    """A batch, cut where it grows too large in bytes."""
    parts: list[list[faust.EventT[bytes]]] = [[]] if events else []
    size = 0
    for event in events:
        length = len(event.message.value or b"")
        if parts[-1] and size + length > _BATCH_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(event)
        size += length
    return parts


def _record(message: Any) -> Record:
    return Record(
        message.topic,
        message.partition,
        message.offset,
        key_of(message.key),
        message.value or b"",
        time_of(round(message.timestamp * 1_000)),
        headers_of(message.headers or ()),
    )


def _credentials(options: KafkaOptions) -> Any:
    """Faust's form of the security settings."""
    context = tls_context(options)
    if options.sasl != "none":
        return faust.SASLCredentials(
            username=options.username,
            password=options.password,
            ssl_context=context,
            mechanism=options.sasl.upper(),
        )
    return faust.SSLCredentials(context) if context is not None else None
