"""The guarantee of the stream, against a real broker: whatever is killed, each observation has exactly one effect."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fleet import Fleet, end, kill, until
from kafka_broker import Broker

from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from beliefmesh.state import state_hash
from stores.sqlite.graph import SqliteGraph
from streams.dead_letters import DeadLetters

pytestmark = [pytest.mark.kafka, pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(900)]

ASKED = 1_718_020_800_000_000
BANK = "proof"
TOLD = 20_000
MALFORMED = 5


def observation(number: int) -> dict[str, object]:
    """Sightings, rules and retractions about two thousand things, told out of order and late."""
    dice = random.Random(number)
    claim: dict[str, object] = {
        "attribute": dice.choice(["colour", "place", "owner", "limit"]),
        "value": f"v{dice.randrange(6)}",
    }
    if number % 11 == 0:
        claim["kind"] = "instruction"
    if number % 13 == 0:
        claim["scope"] = {"region": dice.choice(["EU", "US"])}
    if number % 17 == 0:
        claim["stance"] = "refutes"
    return {
        "id": f"o{number}",
        "entity": f"thing {dice.randrange(2_000)}",
        "observed_at": 1_700_000_000 + dice.randrange(10_000_000),
        "agent": f"agent {dice.randrange(9)}",
        "claims": [claim],
    }


def written(path: Path, count: int) -> Path:
    """That many observations as JSON lines, one in a hundred told twice, and some lines that are none."""
    lines = [json.dumps(observation(number)) for number in range(count)]
    lines += lines[: count // 100] + [f"{{not json {number}" for number in range(MALFORMED)]
    random.Random(5).shuffle(lines)
    path.write_text("\n".join(lines))
    return path


def embedded_hash(folder: Path, file: Path) -> str:
    """What the embedded mesh makes of the same file."""
    settings = Settings(mesh=MeshSettings(folder=str(folder), runtime="inline"), stores=StoreSettings(embedder="none:"))
    with Memory(bank=BANK, settings=settings) as memory:
        memory.import_lines(file.read_bytes().splitlines())
        return memory.state_hash(now=ASKED)


def hash_of(fleet: Fleet) -> str:
    graph = SqliteGraph(fleet.folder / "graph.db")
    found = state_hash(graph, BANK, ASKED)
    graph.close()
    return found


def all_applied(fleet: Fleet, count: int) -> bool:
    """Whether every id has its evidence."""
    graph = SqliteGraph(fleet.folder / "graph.db")
    wanted = [f"o{number}" for number in range(count)]
    kept = {
        piece.observation_id
        for at in range(0, count, 500)
        for piece in graph.evidence_of_observations(BANK, wanted[at : at + 500])
    }
    graph.close()
    return kept == set(wanted)


@pytest.fixture
def broker(start_broker: Callable[..., Broker]) -> Broker:
    return start_broker()


@pytest.fixture
def fleet(broker: Broker, tmp_path: Path) -> Iterator[Fleet]:
    with Fleet(broker.bootstrap, tmp_path / "mesh", "proof-") as fleet:
        fleet.start_actors()
        yield fleet


def test_workers_a_shard_and_the_broker_are_killed_and_every_observation_has_its_one_effect(
    fleet: Fleet, broker: Broker, tmp_path: Path
) -> None:
    file = written(tmp_path / "told.jsonl", TOLD)
    wanted = embedded_hash(tmp_path / "alone", file)
    workers = [fleet.start_worker(), fleet.start_worker()]
    telling = fleet.start_import(file, BANK)

    for done in (1_000, 3_500, 6_000):
        assert until(lambda: fleet.applied(BANK) >= done)  # noqa: B023 (asked at once)
        kill(workers.pop(0))
        workers.append(fleet.start_worker())
    assert until(lambda: fleet.applied(BANK) >= 8_500)
    kill(fleet.shards[0])
    assert until(lambda: fleet.applied(BANK) >= 11_000 and all(map(fleet.works, workers)))
    broker.kill()
    broker.start()

    assert telling.wait(240) == 0
    assert until(lambda: fleet.applied(BANK) >= TOLD and fleet.waiting() == 0)
    assert all_applied(fleet, TOLD)
    assert fleet.applied(BANK) == TOLD
    assert hash_of(fleet) == wanted
    assert [letter.stage for letter in DeadLetters(fleet.log, fleet.topics).all()] == ["intake"] * MALFORMED
    assert [end(worker) for worker in workers] == [0, 0]


def test_workers_come_and_go_under_load_and_a_replay_over_the_result_changes_nothing(
    fleet: Fleet, tmp_path: Path
) -> None:
    count = 8_000
    file = written(tmp_path / "told.jsonl", count)
    wanted = embedded_hash(tmp_path / "alone", file)
    workers = [fleet.start_worker()]
    telling = fleet.start_import(file, BANK)

    assert until(lambda: fleet.applied(BANK) >= 1_000)
    workers += [fleet.start_worker(), fleet.start_worker()]
    assert until(lambda: fleet.applied(BANK) >= 4_000)
    assert end(workers.pop(0)) == 0
    assert telling.wait(240) == 0
    assert until(lambda: fleet.applied(BANK) >= count and fleet.waiting() == 0)
    assert all_applied(fleet, count)
    assert hash_of(fleet) == wanted
    assert [end(worker) for worker in workers] == [0, 0]

    fleet.rewind()
    assert fleet.waiting() > 0
    worker = fleet.start_worker()
    assert until(lambda: fleet.waiting() == 0)
    assert end(worker) == 0
    assert hash_of(fleet) == wanted
    assert fleet.applied(BANK) == count
