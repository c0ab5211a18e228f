"""Whatever call of whatever store fails, and however: the doctor leaves nothing missing, orphaned or stale."""

import itertools
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from store_faults import Door, Fault, Moment, mended, methods_of

from beliefmesh import home
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.entity import Entity, entity_id
from schemas.errors import StoreUnavailable
from schemas.instant import DAY, format_instant
from schemas.policy import AttributeRule, Policy
from schemas.slot import slot_id
from stores.pages import all_slots
from stores.ports import Entry, GraphStore, Log, SearchIndex
from streams.freshness import lag

PORTS = {"graph": GraphStore, "index": SearchIndex, "log": Log}
ELSEWHERE = {
    ("graph", "close"),  # after it there is no call that could miss something
    ("index", "close"),
    ("log", "close"),
}
"""What the job below does not call; every other method of a port must be."""

NOON = 1_718_020_800_000_000
URLS = ("", "")
Ask = Callable[[Memory], object]


def sighting(number: int, name: str, colour: str) -> dict[str, object]:
    """An observation with an id, so that to tell it again is to tell the same."""
    return {
        "id": f"o{number}",
        "agent": "ann",
        "session": "walk",
        "turn": number,
        "text": f"The {name} is {colour} since 2024-05-0{1 + number % 9}",
        "observed_at": format_instant(NOON - (20 - number) * DAY),
        "claims": [{"entity": name, "attribute": "colour", "value": colour}],
    }


def depth(number: int, metres: int) -> dict[str, object]:
    """An observation of the dock; a tolerance makes one belief of two."""
    return sighting(number, "dock", "grey") | {"claims": [{"entity": "dock", "attribute": "depth", "value": metres}]}


MURMUR = {"id": "o7", "agent": "ann", "text": "fog over the lake", "tier": "low", "observed_at": "2024-05-07"}
RULES = (AttributeRule(pattern="colour", half_life_days=10), AttributeRule(pattern="depth", type="number", tolerance=5))


def ended(memory: Memory) -> None:
    """End what is believed of the gate, as `revoke` does, under an id that stays the same."""
    memory.retain(
        sighting(9, "gate", "blue") | {"claims": [{"entity": "gate", "attribute": "colour", "stance": "retracts"}]}
    )


def revoked(memory: Memory) -> None:
    """Revoke what is believed of the mill, unless an earlier try did: a second revocation would be evidence too."""
    for mill in memory.recall("the mill", entity="mill", attribute="colour").found:
        memory.revoke(mill.belief.id, reason="it burnt down", agent="ann")


def set_aside(memory: Memory) -> None:
    """Put something unreadable on the log, let it be set aside, and drop it."""
    topic = memory.home.topics.name("observations")
    memory.home.log.append(topic, [Entry("default", b"no message")], NOON)
    memory.home.worker.drain()
    for letter in memory.dead_letters():
        memory.drop_dead_letter(letter.id)


def asked_directly(memory: Memory) -> None:
    """What the ports give to those who ask them by themselves."""
    home = memory.home
    assert home.log.topics()
    home.log.drop_before(home.topics.name("observations"), 0)
    ids = home.graph.slots_of_entity("default", entity_id("default", Entity("door")))
    slots = home.graph.load_slots("default", ids).values()
    pieces = [piece.id for stored in slots for piece in stored.evidence]
    assert sorted(home.graph.evidence("default", pieces)) == sorted(pieces) != []
    assert [piece.id for piece in home.graph.evidence_of_observations("default", ["o0"])]
    assert {entity.name for _, entity in home.graph.scan_entities("default", "", 9)} >= {"door", "dock"}


def lost(memory: Memory) -> None:
    """Lose what the graph knows of the dock, which the log still tells."""
    memory.home.graph.erase("default", [DOCK])


DOCK = slot_id("default", Entity("dock"), "depth")
STEPS: tuple[Ask, ...] = (
    lambda memory: memory.retain([sighting(at, name, "red") for at, name in enumerate(("door", "gate", "mill"))]),
    lambda memory: memory.recall("what colour is the door of 2024-05-01?"),
    lambda memory: memory.retain([sighting(3, "door", "green"), depth(4, 10), depth(5, 12), MURMUR]),
    lambda memory: memory.recall("fog over the lake", session="walk", recent=2),
    lambda memory: memory.set_policy(Policy(attributes=RULES)),
    ended,
    lambda memory: memory.history(entity="gate", attribute="colour"),
    lambda memory: [memory.belief(one.belief.id) for one in memory.recall("the colour of the mill").found],
    revoked,
    lambda memory: memory.home.mesh.review([("default", DOCK)], NOON),
    lambda memory: memory.home.worker.review([("default", DOCK)]),
    set_aside,
    asked_directly,
    lambda memory: memory.retain([sighting(11, "secret", "black"), sighting(12, "porch", "white")]),
    lambda memory: memory.forget(ids=["o11"]),
    lambda memory: memory.stats(),
    lost,
    lambda memory: memory.doctor(),
    lambda memory: memory.doctor(fix=True),
)


def settings_in(folder: Path, urls: tuple[str, str]) -> Settings:
    stores = StoreSettings(graph=urls[0], index=urls[1], embedder="hashing:64")
    return Settings(mesh=MeshSettings(folder=str(folder), runtime="inline", shards=2), stores=stores)


def insisted(door: Door, ask: Callable[[], object]) -> object:
    """Do something as a caller does that is told to try again."""
    for _ in range(3):
        try:
            return ask()
        except StoreUnavailable as error:
            if not door.struck:
                raise AssertionError("it failed by itself") from error
    raise AssertionError("one fault stopped three tries")


def behind(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put every store that is opened from now on behind a door."""
    for port, opening in (("graph", home.open_graph), ("index", home.open_index), ("log", home.open_log)):
        monkeypatch.setattr(
            home, f"open_{port}", lambda *given, port=port, opening=opening: door.before(port, opening(*given))
        )


def job(folder: Path, door: Door, urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Do the main job with a fault in it, let the doctor mend what is left, see that all is whole; its state's hash."""
    behind(door, monkeypatch)
    settings = settings_in(folder, urls)
    memory = insisted(door, lambda: Memory(settings=settings, clock=lambda: NOON))
    assert isinstance(memory, Memory)
    with memory:
        for step in STEPS:
            insisted(door, lambda: step(memory))  # noqa: B023
        insisted(door, lambda: damage(memory))
        insisted(door, lambda: memory.doctor(fix=True))
        for port in PORTS:
            door.settle(port)
        memory.doctor(fix=True)
        assert_whole(memory)
        return memory.state_hash()


def damage(memory: Memory) -> None:
    """Lose the index, a slot, and where the stages were in the log."""
    assert memory.home.index is not None
    memory.home.index.drop("default")
    memory.home.graph.erase("default", [DOCK])
    memory.home.log.commit("beliefmesh", "observations", dict.fromkeys(memory.home.log.ends("observations"), 0))


def assert_whole(memory: Memory) -> None:
    """Nothing missing, orphaned, stale, half-written or waiting; the log, the graph and the index say the same."""
    assert memory.doctor().differences == ()
    graph, index = memory.home.graph, memory.home.index
    assert index is not None
    held = {belief.id: belief.version for stored in all_slots(graph, "default") for belief in stored.slot.beliefs}
    assert index.versions("default") == held
    assert graph.unindexed(10) == []
    assert not any(count for waiting in lag(memory.home.log, memory.home.topics).values() for count in waiting.values())
    assert memory.dead_letters() == []


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[str, Door]]:
    """Do the job in a new folder, each time with another fault, each with its own door."""
    numbers = itertools.count()

    def run_it(fault: Fault | None = None, urls: tuple[str, str] = URLS) -> tuple[str, Door]:
        door = Door(fault)
        with pytest.MonkeyPatch.context() as monkeypatch:
            return job(tmp_path / f"mesh-{next(numbers)}", door, urls, monkeypatch), door

    return run_it


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Door]:
    """The state's hash, and how often each method was called, where nothing fails."""
    door = Door()
    with pytest.MonkeyPatch.context() as monkeypatch:
        return job(tmp_path_factory.mktemp("undisturbed") / "mesh", door, URLS, monkeypatch), door


def everything() -> list[tuple[str, str]]:
    return [(port, method) for port, protocol in PORTS.items() for method in methods_of(protocol)]


def test_the_job_calls_every_method_of_every_port(undisturbed: tuple[str, Door]) -> None:
    _, door = undisturbed
    assert set(everything()) - ELSEWHERE - set(door.calls) == set()
    assert set(everything()) >= ELSEWHERE


@pytest.mark.slow
@pytest.mark.parametrize("moment", list(Moment), ids=lambda moment: moment.name.lower())
@pytest.mark.parametrize(("port", "method"), sorted(set(everything()) - ELSEWHERE), ids=str)
def test_a_call_that_fails_leaves_nothing_that_the_doctor_cannot_mend(
    run: Callable[..., tuple[str, Door]], undisturbed: tuple[str, Door], port: str, method: str, moment: Moment
) -> None:
    expected, calm = undisturbed
    count = calm.calls[port, method]
    for number in sorted({0, count // 3}):
        state, door = run(Fault(port, method, moment, number))
        assert door.struck, number
        assert state == expected, number


@pytest.mark.parametrize("calls", range(0, 40, 4))
def test_a_doctor_that_is_interrupted_leaves_what_the_next_one_mends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undisturbed: tuple[str, Door], calls: int
) -> None:
    job(tmp_path / "mesh", Door(), URLS, monkeypatch)
    door = Door()
    with pytest.MonkeyPatch.context() as passing:
        behind(door, passing)
        with Memory(settings=settings_in(tmp_path / "mesh", URLS), clock=lambda: NOON) as memory:
            damage(memory)
            door.left = calls
            with pytest.raises(StoreUnavailable):
                memory.doctor(fix=True)

    with Memory(settings=settings_in(tmp_path / "mesh", URLS), clock=lambda: NOON) as again:
        assert again.doctor(fix=True).healthy
        assert_whole(again)
        assert again.state_hash() == undisturbed[0]


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which much is to be mended."""
    folder = tmp_path_factory.mktemp("damaged") / "mesh"
    with pytest.MonkeyPatch.context() as monkeypatch:
        job(folder, Door(), URLS, monkeypatch)
    with Memory(settings=settings_in(folder, URLS), clock=lambda: NOON) as memory:
        memory.home.graph.erase("default", [DOCK, slot_id("default", Entity("door"), "colour")])
        damage(memory)
    return folder


@pytest.mark.parametrize("eighths", range(1, 8))
def test_a_doctor_that_is_killed_leaves_what_the_next_one_mends(
    tmp_path: Path, damaged: Path, undisturbed: tuple[str, Door], eighths: int
) -> None:
    calm = mended(shutil.copytree(damaged, tmp_path / "calm"), URLS)
    assert calm.returncode == 0, calm.stderr
    folder = shutil.copytree(damaged, tmp_path / "mesh")

    killed = mended(folder, URLS, int(calm.stdout) * eighths // 8)

    assert killed.returncode == -signal.SIGKILL
    with Memory(settings=settings_in(folder, URLS), clock=lambda: NOON) as again:
        assert again.doctor(fix=True).healthy
        assert_whole(again)
        assert again.state_hash() == undisturbed[0]
