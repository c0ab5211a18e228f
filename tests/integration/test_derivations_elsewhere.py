"""Conclusions stand and fall with their premises over every store, log and kind of actor, and while stores fail."""

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from store_faults import Door, Fault, Moment
from test_derivations import NOW, assert_stored_state_follows, concluded, fact, id_of, state
from test_store_faults import behind, insisted

from beliefmesh.ask import query_of
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings, StreamSettings
from recall.render import explanation_text
from schemas.answer import Answer
from schemas.entity import Entity, entity_key
from schemas.routing import partition_of

SHARDS = 2
PARTITIONS = 8
ASKED = "plan room food deal budget chain leaf one two state"


def shard_of(entity: str) -> int:
    """Which of two shards owns an entity."""
    return partition_of(entity_key("team", Entity(entity)), PARTITIONS) % SHARDS


def named(word: str, shard: int) -> str:
    """A name that this shard owns."""
    return next(name for name in (f"{word} {number}" for number in range(50)) if shard_of(name) == shard)


PLAN = named("plan", 0)
ROOM, FOOD = named("room", 1), named("food", 0)
"""Each rests on the one before, and lies on the other shard."""

ONE, TWO = named("one", 0), named("two", 1)
CHAIN = [PLAN, *(named(f"chain {number}", number % SHARDS) for number in range(1, 12))]
LEAVES = [f"leaf {number}" for number in range(20)]
CONCLUSIONS = [(ROOM, "booked"), (FOOD, "ordered"), *((name, "so") for name in (*CHAIN[1:], *LEAVES))]


def so(entity: str) -> str:
    return id_of(entity, "state", "so")


def beneath(place: int) -> str:
    """What a step of the chain rests on: the step before, at last the plan."""
    return so(CHAIN[place - 1]) if place > 1 else id_of(PLAN, "state", "old")


TOLD = [
    *(concluded(CHAIN[place], "so", beneath(place)) for place in range(len(CHAIN) - 1, 0, -1)),
    concluded(FOOD, "ordered", id_of(ROOM, "state", "booked")),
    concluded(ROOM, "booked", id_of(PLAN, "state", "old")),
    *(concluded(leaf, "so", id_of(PLAN, "state", "old")) for leaf in LEAVES),
    concluded("deal", "made", id_of(PLAN, "state", "old"), so("budget")),
    concluded(ONE, "so", so(TWO)),
    concluded(TWO, "so", so(ONE)),
    fact("budget", "so"),
    fact(PLAN, "old"),
]
FIRST = fact("door", "open")
"""Makes the bank, which can be asked from then on."""

FALL = [fact(PLAN, "new", day=3)]
STEPS: list[tuple[list[dict[str, Any]], dict[str, str]]] = [
    (TOLD, {"conclusions": "active", "deal": "active", "circle": "revoked"}),
    (FALL, {"conclusions": "revoked", "deal": "revoked", "circle": "revoked"}),
    ([fact(PLAN, "old", day=5)], {"conclusions": "active", "deal": "active", "circle": "revoked"}),
    (
        [fact("budget", "not so", day=6), fact(ONE, "so", day=6)],
        {"conclusions": "active", "deal": "revoked", "circle": "active"},
    ),
    (
        [fact(ONE, "so", day=7, source=f"{ONE}-6", stance="retracts")],
        {"conclusions": "active", "deal": "revoked", "circle": "revoked"},
    ),
]


def seen_now(memory: Memory) -> Answer:
    """What the stores give now, whatever still waits in the log."""
    fields = {"limit": 100, "min_confidence": 0.0}
    return memory.home.mesh.recall(query_of(ASKED, "team", memory.home.clock(), memory.home.settings.recall, fields))


def assert_nothing_stands_on_what_fell(answer: Answer) -> None:
    for found in answer.found:
        if found.belief.kind == "derivation":
            assert found.premises, found.belief.statement
            assert all(premise.held for premise in found.premises), found.belief.statement
    if any(found.belief.value == "new" for found in answer.found):
        assert {"booked", "ordered"}.isdisjoint({found.belief.value for found in answer.found})


def tell_and_watch(memory: Memory, told: list[dict[str, Any]]) -> int:
    """Tell it, and ask again and again until all that follows from it is stored; how often that was."""
    with ThreadPoolExecutor(1) as pool:
        receipt = memory.retain(told, wait=False)
        telling = pool.submit(memory.wait, receipt.token, 100.0)
        asked = 0
        while not telling.done() or not asked:
            assert_nothing_stands_on_what_fell(seen_now(memory))
            asked += 1
        telling.result()
    assert_nothing_stands_on_what_fell(seen_now(memory))
    return asked


def settled(memory: Memory) -> dict[str, set[str]]:
    return {
        "conclusions": {state(memory, entity, value) for entity, value in CONCLUSIONS},
        "deal": {state(memory, "deal", "made")},
        "circle": {state(memory, ONE, "so"), state(memory, TWO, "so")},
    }


def opened(folder: Path, *, runtime: str = "inline", prefix: str = "", **stores: str) -> Memory:
    settings = Settings(
        mesh=MeshSettings(folder=str(folder), runtime=runtime, shards=SHARDS, bank="team"),  # type: ignore[arg-type]
        stores=StoreSettings(**{"embedder": "none:", **stores}),
        streams=StreamSettings(prefix=prefix, partitions=PARTITIONS),
    )
    return Memory(settings=settings, clock=lambda: NOW)


@pytest.fixture(scope="module")
def hashes(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The state after each step on the embedded default."""
    with opened(tmp_path_factory.mktemp("embedded")) as memory:
        memory.retain(FIRST)
        done = []
        for told, _ in STEPS:
            memory.retain(told)
            done.append(memory.state_hash())
        return done


@pytest.fixture(scope="session")
def on_ray() -> Iterator[None]:
    """Ray until all tests are done: to end it in between leaves processes that Python warns about."""
    start = pytest.importorskip("actors.cluster.start", reason="the cluster extra is not installed")
    ray = pytest.importorskip("ray", reason="the cluster extra is not installed")
    started = start.start_ray()
    yield
    if started:
        ray.shutdown()


@pytest.fixture(
    params=[
        "embedded",
        pytest.param("nebula", marks=pytest.mark.nebula),
        pytest.param("kafka", marks=pytest.mark.kafka),
        pytest.param("ray", marks=[pytest.mark.ray, pytest.mark.slow]),
    ]
)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """A memory in each place where conclusions may lie."""
    place, options = request.param, {}
    if place == "nebula":
        graphd = request.getfixturevalue("start_graphd")()
        options = {"graph": f"nebula://{graphd.address}/mesh?heartbeat=0"}
    if place == "kafka":
        options = {"log": f"kafka://{request.getfixturevalue('kafka')}", "prefix": f"d{secrets.token_hex(6)}-"}
    if place == "ray":
        request.getfixturevalue("on_ray")
        options = {"runtime": "ray"}
    with opened(tmp_path / "mesh", **options) as opened_memory:
        opened_memory.retain(FIRST)
        yield opened_memory


def test_premises_and_conclusions_lie_on_different_shards() -> None:
    assert [shard_of(name) for name in (PLAN, ROOM, FOOD, ONE, TWO)] == [0, 1, 0, 0, 1]
    assert {shard_of(leaf) for leaf in LEAVES} == {0, 1}


def test_conclusions_move_with_their_premises_and_are_never_shown_without_them(
    memory: Memory, hashes: list[str]
) -> None:
    for (told, expected), wanted in zip(STEPS, hashes, strict=True):
        tell_and_watch(memory, told)
        assert settled(memory) == {name: {status} for name, status in expected.items()}
        assert memory.state_hash() == wanted
    assert_stored_state_follows(memory)
    assert explanation_text(memory.explain(so(CHAIN[-1]))).count("beneath b") == len(CHAIN) - 1


READS = (("graph", "beliefs"), ("graph", "dependents"), ("graph", "load_slots"), ("graph", "slots"))
WRITES = (("graph", "apply"), ("graph", "mark_indexed"), ("index", "upsert"), ("log", "append"), ("log", "commit"))
FAULTS = [(*call, moment) for call in WRITES for moment in Moment] + [(*call, Moment.BEFORE) for call in READS]


def falls_behind(door: Door, folder: Path) -> Memory:
    """A memory behind a door, in which all conclusions are held; the door's faults begin afterwards."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        behind(door, monkeypatch)
        memory = opened(folder)
    memory.retain(TOLD)
    return memory


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[tuple[str, str], range], str]:
    """Which calls the fall makes where nothing fails, counted from when the door was opened, and its state."""
    door = Door()
    with falls_behind(door, tmp_path_factory.mktemp("calm")) as memory:
        before = door.calls.copy()
        memory.retain(FALL)
        return {call: range(before[call], door.calls[call]) for call in (*READS, *WRITES)}, memory.state_hash()


@pytest.mark.parametrize(("port", "method", "moment"), FAULTS, ids=lambda each: getattr(each, "name", each))
def test_a_store_that_fails_amid_a_cascade_lets_no_conclusion_stand_on_what_fell(
    tmp_path: Path, calm: tuple[dict[tuple[str, str], range], str], port: str, method: str, moment: Moment
) -> None:
    calls, wanted = calm
    numbers = calls[port, method]
    for number in sorted({numbers[0], numbers[-1]}):
        door = Door()
        with falls_behind(door, tmp_path / str(number)) as memory:
            door.fault = Fault(port, method, moment, number)

            def tell_and_ask(memory: Memory = memory) -> None:
                try:
                    memory.retain(FALL)
                finally:
                    assert_nothing_stands_on_what_fell(seen_now(memory))

            insisted(door, tell_and_ask)
            memory.home.worker.drain()
            door.settle(port)
            memory.home.worker.drain()

            assert door.struck
            assert_nothing_stands_on_what_fell(memory.recall(ASKED, limit=100))
            assert memory.state_hash() == wanted
            assert_stored_state_follows(memory)


def test_each_call_of_a_cascade_may_be_the_last_before_the_process_dies(tmp_path: Path) -> None:
    counted = Door()
    with falls_behind(counted, tmp_path / "counted") as memory:
        before = counted.calls.total()
        memory.retain(FALL)
        made = counted.calls.total() - before
        wanted = memory.state_hash()

    for left in range(1, made, made // 5):
        door = Door()
        with falls_behind(door, tmp_path / str(left)) as memory:
            door.left = left
            with pytest.raises(Exception, match="nothing is written any more"):
                memory.retain(FALL)
            door.left = None
            assert_nothing_stands_on_what_fell(seen_now(memory))
        with opened(tmp_path / str(left)) as again:
            assert_nothing_stands_on_what_fell(seen_now(again))
            again.retain(FALL)
            assert again.state_hash() == wanted
            assert_stored_state_follows(again)
