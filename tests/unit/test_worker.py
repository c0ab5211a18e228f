"""The embedded worker: every record has its effect or a dead letter, whatever fails, in the stated order."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from actors.inline import InlineMesh
from actors.mesh import Mesh
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import StoreUnavailable, VersionConflict
from schemas.evidence import Evidence
from schemas.instant import DAY, SECOND, Instant
from schemas.observation import Observation, Source, observation_key
from schemas.slot import Change, slot_id
from schemas.wire import pack, trace_of, unpack
from stores.local.index import LocalIndex
from stores.ports import Entry
from stores.sqlite.graph import SqliteGraph
from stores.sqlite.log import SqliteLog
from streams.bundles import messages_of
from streams.dead_letters import DeadLetters
from streams.embedded import EmbeddedWorker
from streams.topics import Topics

NOW: Instant = 1_718_020_800_000_000
TOPICS = Topics("", 4)


class Failing(InlineMesh):
    """The real mesh, with failures by name: an item whose entity or stage is listed fails as it says."""

    failures: dict[str, Exception]

    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        self._fail("extract", [claim.entity.name for told, _ in observations for claim in told.claims])
        return super().extract(observations)

    def apply(self, batches: Mapping[int, Sequence[Evidence]], now: Instant) -> dict[int, list[Change] | Exception]:
        done: dict[int, list[Change] | Exception] = {}
        for partition, batch in batches.items():
            try:
                self._fail("decide", [piece.entity.name for piece in batch])
                done |= super().apply({partition: batch}, now)
            except Exception as error:
                done[partition] = error
        return done

    def index(self, changes: Sequence[Change], now: Instant) -> int:
        self._fail("index", [change.entity.name for change in changes])
        return super().index(changes, now)

    def review(self, slots: Sequence[tuple[str, str]], now: Instant) -> list[Change]:
        self._fail("review", [])
        return super().review(slots, now)

    def _fail(self, stage: str, names: Sequence[str]) -> None:
        for name in ("", *names):
            error = self.failures.get(f"{stage} {name}".strip())
            if error is not None:
                raise error


class House:
    """A worker over a real log, graph and index."""

    def __init__(self, folder: Path) -> None:
        self.log = SqliteLog(folder / "log.db")
        self.graph = SqliteGraph(folder / "graph.db")
        self.index = LocalIndex(folder / "index", 1, "none")
        self.mesh = Failing(self.graph, self.index, None)
        self.mesh.failures = {}
        self.now = NOW
        self.worker = self.made(self.mesh)
        self.letters = DeadLetters(self.log, TOPICS)

    def made(self, mesh: Mesh, batch: int = 100) -> EmbeddedWorker:
        return EmbeddedWorker(self.log, mesh, TOPICS, lambda: self.now, self.graph.due, batch)

    def tell(self, *names: str, **fields: object) -> None:
        self.log.append("observations", [told(name, **fields) for name in names], self.now)

    def kept(self) -> set[str]:
        return {
            belief.entity.name
            for slot in self.graph.slots("b", self.graph.scan("b", "", 1_000)).values()
            for belief in slot.beliefs
        }

    def lag(self) -> list[int]:
        return [
            sum(self.log.ends(topic).values()) - sum(self.log.committed("beliefmesh", topic).values())
            for topic in ("observations", "claims", "changes")
        ]

    def close(self) -> None:
        self.mesh.close()
        self.index.close()
        self.graph.close()
        self.log.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    opened = House(tmp_path)
    yield opened
    opened.close()


def told(name: str, **fields: object) -> Entry:
    claim = Claim(entity=Entity(name), attribute="colour", value="red", **fields)  # type: ignore[arg-type]
    observation = Observation(id=f"o-{name}", bank="b", source=Source("cam"), observed_at=NOW - DAY, claims=(claim,))
    return Entry(observation_key(observation), pack(observation, observation.id), {"trace": name})


NAMES = [f"car {number}" for number in range(11)]


@pytest.mark.parametrize("stage", ["extract", "decide", "index"])
def test_of_twelve_the_one_that_makes_an_actor_fail_is_set_aside_at_that_stage(house: House, stage: str) -> None:
    house.mesh.failures = {f"{stage} boat": KeyError("keel")}
    house.tell(*NAMES[:6], "boat", *NAMES[6:])

    house.worker.drain()

    (letter,) = house.letters.all()
    assert (letter.stage, letter.error, letter.reason, letter.attempts) == (stage, "KeyError", "'keel'", 2)
    source = {"extract": "observations", "decide": "claims", "index": "changes"}[stage]
    (record,) = house.log.read(source, letter.partition, letter.offset, 1)
    assert letter.topic == source
    assert letter.original in [message.value for message in messages_of(record)]
    assert letter.headers == ({} if stage == "index" else {"trace": "boat"})
    assert house.kept() - {"boat"} == set(NAMES)
    assert len(house.index.versions("b")) == 11
    assert house.lag() == [0, 0, 0]


@pytest.mark.parametrize("stage", ["extract", "decide"])
def test_a_letter_whose_reason_is_gone_has_its_effect_when_replayed(house: House, stage: str) -> None:
    house.mesh.failures = {f"{stage} boat": KeyError("keel")}
    house.tell(*NAMES, "boat")
    house.worker.drain()
    house.mesh.failures = {}
    (letter,) = house.letters.all()
    house.letters.replay(letter.id, lambda _: told("never"), "observations", NOW)
    house.worker.drain()
    assert house.letters.all() == []
    assert house.kept() == {*NAMES, "boat"}


@pytest.mark.parametrize("stage", ["extract", "decide", "index", "review"])
@pytest.mark.parametrize("error", [StoreUnavailable("the disk is away"), VersionConflict(["s1"])])
def test_a_store_that_fails_stops_the_stream_and_nothing_is_skipped(house: House, stage: str, error: Exception) -> None:
    house.mesh.failures = {stage: error}
    house.tell(*NAMES)
    if stage == "review":
        house.tell("boat", effective_at=NOW + 1)
        house.worker.drain()
        house.now += 2

    with pytest.raises(type(error)):
        house.worker.drain()

    assert house.letters.all() == []
    house.mesh.failures = {}
    house.worker.drain()
    assert house.kept() >= set(NAMES)
    assert house.lag() == [0, 0, 0]


def test_a_crash_after_any_write_repeats_to_the_same_state(tmp_path: Path) -> None:
    """The worker dies right after its nth durable write, and a new one goes on from the stores."""
    states = {run(tmp_path / str(writes), writes) for writes in range(1, 12)}
    assert states == {run(tmp_path / "whole", 1_000)}


class Dead(BaseException):
    """The process is no more."""


class Dying(SqliteLog):
    """The real log, whose owner dies after so many writes; nothing runs in between, as with kill -9."""

    left = 0

    def append(self, topic: str, entries: Sequence[Entry], at: Instant) -> list[tuple[int, int]]:
        places = super().append(topic, entries, at)
        self._count()
        return places

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        super().commit(group, topic, offsets)
        self._count()

    def _count(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Dead


def run(folder: Path, writes: int) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...], int]:
    """What the stores hold in the end, after a death that many writes into the stream."""
    folder.mkdir()
    house = House(folder)
    house.tell(*NAMES)
    house.log.append("observations", [Entry("k", b"poison"), told("car 1")], NOW)
    dying = Dying(folder / "log.db")
    dying.left = writes
    worker = EmbeddedWorker(dying, house.mesh, TOPICS, lambda: NOW, house.graph.due, 5)
    if writes < 1_000:
        with pytest.raises(Dead):
            worker.drain()
    house.made(InlineMesh(house.graph, house.index, None), 5).drain()
    evidence = house.graph.evidence_of_observations("b", [f"o-{name}" for name in NAMES])
    result = (
        tuple(piece.id for piece in evidence),
        tuple(sorted(house.index.versions("b").items())),
        len(house.letters.all()),
    )
    assert house.lag() == [0, 0, 0]
    dying.close()
    house.close()
    return result


def test_a_batch_is_shared_by_the_partitions_that_are_behind(house: House) -> None:
    house.log.append("observations", [Entry("busy", told(f"car {number}").value) for number in range(50)], NOW)
    house.log.append("observations", [told("boat")], NOW)
    worker = house.made(house.mesh, batch=2)
    worker.drain()
    assert len(house.kept()) == 51
    assert worker.counts["observations"] == 51


def test_forgotten_records_hold_nothing_up(house: House) -> None:
    places = house.log.append("observations", [told(name) for name in NAMES], NOW)
    for partition, offset in places[5:]:
        house.log.forget("observations", partition, [offset])
    house.worker.drain()
    assert house.kept() == set(NAMES[:5])
    assert house.lag() == [0, 0, 0]


def test_what_is_due_is_decided_again_when_nothing_is_to_be_read(house: House) -> None:
    house.tell("boat", effective_at=NOW + DAY)
    house.worker.drain()
    id = slot_id("b", Entity("boat"), "colour")
    assert house.graph.slots("b", [id])[id].beliefs == ()
    house.now = NOW + DAY
    assert house.worker.drain() > 0
    assert [belief.status for belief in house.graph.slots("b", [id])[id].beliefs] == ["active"]
    assert house.worker.counts["reviews"] == 1
    assert len(house.index.versions("b")) == 1
    assert house.worker.drain() == 0


def test_counts_tell_what_was_handled(house: House) -> None:
    house.tell(*NAMES)
    house.tell(*NAMES[:3])
    house.log.append("observations", [Entry("k", b"poison")], NOW)
    house.worker.drain()
    counts = house.worker.counts
    assert (counts["observations"], counts["evidence"], counts["duplicates"], counts["dead_letters"]) == (14, 11, 3, 1)


def test_changes_bear_the_trace_of_what_moved_them_and_the_key_of_their_entity(house: House) -> None:
    parent = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    boat = told("boat")
    house.log.append("observations", [Entry(boat.key, boat.value, {**parent, "trace": "boat"})], NOW)
    house.worker.drain()
    (record,) = [record for partition in range(4) for record in house.log.read("changes", partition, 0, 10)]
    change = unpack(record.value, Change)
    assert (change.bank, change.entity.name, change.observation_ids, change.added) == ("b", "boat", ("o-boat",), 1)
    (claim,) = [record for partition in range(4) for record in house.log.read("claims", partition, 0, 10)]
    assert (claim.key, claim.headers) == (record.key, {**parent, "trace": "boat"})
    assert (record.headers, trace_of(record.value)) == (parent, parent)


def test_messages_of_one_record_that_bear_several_traces_keep_them(house: House) -> None:
    parents = [f"00-0af7651916cd43dd8448eb211c80319c-{place}7ad6b7169203331-01" for place in "ab"]
    for name, parent in zip(("boat", "ship"), parents, strict=True):
        entry = told(name, kind="instruction")
        house.log.append("observations", [Entry("one key", entry.value, {"traceparent": parent})], NOW)
    house.worker.drain()

    changes = [record for partition in range(4) for record in house.log.read("changes", partition, 0, 10)]
    assert sorted(trace_of(record.value)["traceparent"] for record in changes) == parents


class Refusing(SqliteLog):
    """The real log, which takes no changes while `full`."""

    full = True

    def append(self, topic: str, entries: Sequence[Entry], at: Instant) -> list[tuple[int, int]]:
        if self.full and topic == "changes":
            raise StoreUnavailable("the log is full")
        return super().append(topic, entries, at)


def test_a_change_says_when_its_evidence_was_accepted_also_when_it_is_announced_again(
    house: House, tmp_path: Path
) -> None:
    """The evidence was written and its announcement lost: told again it is nothing new, and still not recallable."""
    house.tell("boat")
    log = Refusing(tmp_path / "log.db")
    worker = EmbeddedWorker(log, house.mesh, TOPICS, lambda: house.now, house.graph.due, 100)
    with pytest.raises(StoreUnavailable):
        worker.drain()

    log.full = False
    house.now += 90 * SECOND
    worker.drain()

    (record,) = [record for partition in range(4) for record in house.log.read("changes", partition, 0, 10)]
    change = unpack(record.value, Change)
    assert (change.added, change.repeated, change.accepted_at, record.at) == (0, 1, NOW, NOW + 90 * SECOND)
    log.close()


def test_freshness_is_counted_from_acceptance_to_the_end_of_the_index_stage_once_for_each_change(house: House) -> None:
    house.tell("boat", "car 1")
    house.now += 20 * SECOND
    house.tell("car 2")
    house.now += 5 * SECOND

    house.worker.drain()
    house.tell("boat")
    house.worker.drain()

    counted = house.worker.freshness.counted()
    assert (counted.count, counted.sum) == (3, 55.0)
    assert (counted.buckets["2.5"], counted.buckets["5.0"], counted.buckets["30.0"]) == (0, 1, 3)


def test_a_drain_that_need_not_wait_leaves_the_work_to_the_one_at_it(house: House) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(now: Instant, limit: int) -> list[tuple[str, str]]:
        inside.set()
        go_on.wait(30)
        return []

    worker = EmbeddedWorker(house.log, house.mesh, TOPICS, lambda: NOW, slow)
    other = threading.Thread(target=worker.drain)
    other.start()
    inside.wait(30)
    assert worker.drain(wait=False) == 0
    go_on.set()
    other.join(30)


@pytest.mark.parametrize("error", [StoreUnavailable("the disk is away"), RuntimeError("nobody foresaw this")])
def test_the_background_loop_outlives_a_failure_says_why_and_goes_on(house: House, error: Exception) -> None:
    failed = threading.Event()

    def due(now: Instant, limit: int) -> list[tuple[str, str]]:
        if not failed.is_set():
            failed.set()
            raise error
        return house.graph.due(now, limit)

    worker = EmbeddedWorker(house.log, house.mesh, TOPICS, lambda: NOW, due)
    with Running(worker):
        assert failed.wait(30)
        assert until(lambda: worker.stopped_by == str(error))
        assert worker.pauses[type(error).__name__] >= 1
        house.tell("boat")
        assert until(lambda: house.kept() == {"boat"})
        assert until(lambda: worker.stopped_by == "")


class Running:
    """A worker in the background for as long as a block lasts."""

    def __init__(self, worker: EmbeddedWorker) -> None:
        self._worker = worker
        self._thread = threading.Thread(target=worker.run)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._worker.stop()
        self._thread.join(30)
        assert not self._thread.is_alive()


def until(condition: Callable[[], bool]) -> bool:
    """Whether it becomes true within half a minute."""
    never = threading.Event()
    return any(condition() or never.wait(0.01) for _ in range(3_000))
