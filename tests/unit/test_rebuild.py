"""A replay fills an empty space from the log alone, and hands over to its workers so that nothing falls between."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from actors.inline import InlineMesh
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.errors import StoreUnavailable
from schemas.instant import DAY, Instant
from schemas.observation import Observation, Source
from schemas.slot import Change
from schemas.wire import pack
from stores.local.index import LocalIndex
from stores.ports import Entry
from stores.sqlite.graph import SqliteGraph
from stores.sqlite.log import SqliteLog
from streams.embedded import EmbeddedWorker
from streams.rebuild import PASSES, Replayed, replay
from streams.topics import Topics

NOW: Instant = 1_718_020_800_000_000
OLD = Topics("", 4)
NEW = Topics("", 4, "blue")
NAMES = [f"car {number}" for number in range(11)]


class Busy(SqliteLog):
    """The real log of a mesh that goes on running: `meanwhile` happens before each look at where a topic ends."""

    meanwhile: Callable[[str], None] = staticmethod(lambda topic: None)

    def ends(self, topic: str) -> dict[int, int]:
        self.meanwhile(topic)
        return super().ends(topic)


class Space:
    """A graph and an index with their actors, and a worker that fills them from the log."""

    def __init__(self, folder: Path, log: SqliteLog, topics: Topics) -> None:
        self.graph = SqliteGraph(folder / "graph.db")
        self.index = LocalIndex(folder / "index", 1, "none")
        self.mesh = InlineMesh(self.graph, self.index, None)
        self.worker = EmbeddedWorker(log, self.mesh, topics, lambda: NOW, self.graph.due, 100)

    def kept(self) -> set[str]:
        ids = self.graph.scan("b", "", 1_000)
        slots = self.graph.slots("b", ids).values()
        beliefs = {belief.id: belief.entity.name for slot in slots for belief in slot.beliefs}
        assert self.index.versions("b").keys() == beliefs.keys()
        return set(beliefs.values())

    def close(self) -> None:
        self.mesh.close()
        self.index.close()
        self.graph.close()


class House:
    """A log whose observations are in the old space, and an empty new one beside it."""

    def __init__(self, folder: Path) -> None:
        self.log = Busy(folder / "log.db")
        self.old = Space(folder / "old", self.log, OLD)
        self.new = Space(folder / "new", self.log, NEW)

    def tell(self, *names: str) -> list[tuple[int, int]]:
        return self.log.append("observations", [told(name) for name in names], NOW)

    def replay(self, batch: int = 100) -> Replayed:
        return replay(self.log, NEW, self.new.mesh, lambda: NOW, lambda done, total: None, batch)

    def lag(self) -> list[int]:
        """What waits for the new space's workers, by stage."""
        return [
            sum(self.log.ends(topic).values()) - sum(self.log.committed(NEW.group, topic).values())
            for topic in ("observations", "claims", "changes")
        ]

    def close(self) -> None:
        self.old.close()
        self.new.close()
        self.log.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    opened = House(tmp_path)
    yield opened
    opened.close()


def told(name: str) -> Entry:
    claim = Claim(entity=Entity(name), attribute="colour", value="red")
    observation = Observation(id=f"o-{name}", bank="b", source=Source("cam"), observed_at=NOW - DAY, claims=(claim,))
    return Entry(name, pack(observation, observation.id))


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_every_observation_has_its_effect_in_the_new_space_and_nothing_is_appended(house: House, batch: int) -> None:
    house.tell(*NAMES, *NAMES[:3])
    house.old.worker.drain()
    before = {topic: house.log.ends(topic) for topic in house.log.topics()}

    replayed = house.replay(batch)

    assert replayed == Replayed(observations=14, claims=14, dead_letters=0)
    assert house.new.kept() == set(NAMES)
    assert {topic: house.log.ends(topic) for topic in house.log.topics()} == before
    assert house.lag() == [0, 0, 0]
    assert house.new.worker.drain() == 0


def test_progress_counts_records_of_the_log_up_to_all_of_them(house: House) -> None:
    house.tell(*NAMES)
    seen: list[tuple[int, int]] = []
    replay(house.log, NEW, house.new.mesh, lambda: NOW, lambda done, total: seen.append((done, total)), 2)
    assert seen == sorted(seen)
    assert seen[-1] == (11, 11)


def test_an_empty_log_gives_an_empty_space(house: House) -> None:
    assert house.replay() == Replayed(0, 0, 0)
    assert house.new.graph.banks() == []


def test_a_message_that_cannot_be_used_is_counted_and_not_set_aside_again(house: House) -> None:
    house.tell(*NAMES[:5])
    house.log.append("observations", [Entry("b/cam", b"poison")], NOW)
    house.tell(*NAMES[5:])
    house.old.worker.drain()

    replayed = house.replay()

    assert (replayed.observations, replayed.dead_letters) == (11, 1)
    assert house.new.kept() == set(NAMES)
    assert sum(house.log.ends("dead-letters").values()) == 1


def test_what_was_forgotten_stays_forgotten_though_its_claim_still_lies_in_the_log(house: House) -> None:
    places = house.tell(*NAMES)
    house.old.worker.drain()
    for partition, offset in places[7:]:
        house.log.forget("observations", partition, [offset])

    house.replay()
    house.new.worker.drain()

    assert house.new.kept() == set(NAMES[:7])
    assert house.old.kept() == set(NAMES)


def test_what_is_told_during_a_pass_is_read_by_the_next(house: House) -> None:
    boats = [f"boat {number}" for number in range(9)]
    late = iter([boats])
    house.tell(*NAMES)
    replay(house.log, NEW, house.new.mesh, lambda: NOW, lambda done, total: tell(house, next(late, [])))
    assert house.new.kept() == {*NAMES, *boats}
    assert house.lag() == [0, 0, 0]


def test_what_is_still_told_after_the_last_pass_is_left_to_the_workers_of_the_new_space(house: House) -> None:
    looks = iter(range(100))
    house.log.meanwhile = lambda topic: tell(house, [f"boat {next(looks)}"] if topic == "observations" else [])
    house.replay()
    house.log.meanwhile = lambda topic: None
    house.tell("ship")
    assert house.new.kept() == {f"boat {number}" for number in range(PASSES)}
    assert house.lag() == [1, 0, 0]

    house.new.worker.drain()

    assert house.new.kept() == {"ship", *(f"boat {number}" for number in range(PASSES))}


@pytest.mark.parametrize("topic", ["observations", "claims", "changes"])
def test_nothing_falls_between_replay_and_workers_while_the_old_ones_go_on(house: House, topic: str) -> None:
    """Before each look at where this topic ends, more is told and applied to the old space, and then more is told."""
    looks = iter(range(100))

    def meanwhile(looked_at: str) -> None:
        if looked_at == topic:
            house.log.meanwhile = lambda topic: None
            house.tell(f"boat {next(looks)}")
            house.old.worker.drain()
            house.tell(f"ship {next(looks)}")
            house.log.meanwhile = meanwhile

    house.tell(*NAMES)
    house.log.meanwhile = meanwhile
    house.replay()
    house.log.meanwhile = lambda topic: None

    house.new.worker.drain()
    house.old.worker.drain()

    assert len(house.new.kept()) > len(NAMES)
    assert house.new.kept() == house.old.kept()
    assert house.lag()[0] == 0


def test_a_store_that_fails_stops_the_replay_and_hands_nothing_over(house: House) -> None:
    house.tell(*NAMES)
    house.old.worker.drain()
    house.new.graph.close()
    with pytest.raises(StoreUnavailable):
        house.replay()
    for topic in ("observations", "claims", "changes"):
        assert set(house.log.committed(NEW.group, topic).values()) == {0}


def test_a_replay_over_what_is_there_already_changes_nothing(house: House) -> None:
    house.tell(*NAMES)
    house.replay()
    before = house.new.graph.load_slots("b", house.new.graph.scan("b", "", 100))

    house.replay()

    assert house.new.graph.load_slots("b", list(before)) == before


def test_beliefs_that_a_death_left_out_of_the_index_are_indexed(house: House) -> None:
    class Dead(BaseException):
        pass

    class Dying(InlineMesh):
        def index(self, changes: list[Change], now: Instant) -> int:  # type: ignore[override]
            raise Dead

    house.tell(*NAMES)
    dying = Dying(house.new.graph, house.new.index, None)
    with pytest.raises(Dead):
        replay(house.log, NEW, dying, lambda: NOW, lambda done, total: None)
    dying.close()

    house.replay()

    assert house.new.kept() == set(NAMES)


def tell(house: House, names: list[str]) -> None:
    house.tell(*names)
