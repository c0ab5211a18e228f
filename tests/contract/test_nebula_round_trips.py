"""How often NebulaGraph is asked: counted at its door, so that no statement a claim can creep in."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from actors.shard import EntityShard
from schemas.claim import Value
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.observation import Source
from schemas.slot import slot_id
from stores.nebula.graph import NebulaGraph

pytestmark = pytest.mark.nebula

MAY = 1_714_521_600_000_000
CLAIMS = 200


@pytest.fixture
def graphd(start_graphd: Callable[..., Any]) -> Any:
    """A stand-in that only this test asks."""
    return start_graphd()


@pytest.fixture
def store(graphd: Any) -> Iterator[NebulaGraph]:
    """An empty store."""
    opened = NebulaGraph(f"nebula://{graphd.address}/mesh?heartbeat=0")
    yield opened
    opened.close()


def claims(value: Value, at: int) -> list[Evidence]:
    """A claim about each of 200 people, of one batch."""
    found = []
    for number in range(CLAIMS):
        who = Entity(f"Person {number}", "person")
        home = slot_id("acme", who, "city")
        found.append(
            Evidence(
                id=f"e{number}-{value}",
                bank="acme",
                slot=home,
                entity=who,
                observation_id=f"o{number}-{value}",
                source=Source("crm"),
                effective_at=at,
                observed_at=at,
                statement=f"Person {number} lives in {value}",
                attribute="city",
                value=value,
                session=f"talk {number % 10}",
                mentions=(who, Entity(str(value), "city")),
            )
        )
    return found


def test_a_batch_of_new_claims_takes_few_round_trips(graphd: Any, store: NebulaGraph) -> None:
    before = len(graphd.requests)

    changes = EntityShard(store).apply(claims("Bern", MAY), MAY)

    assert sum(change.added for change in changes) == CLAIMS
    assert len(graphd.requests) - before <= 10
    assert (len(graphd.requests) - before) / CLAIMS <= 0.2


def test_a_batch_of_claims_that_change_slots_takes_few_round_trips(graphd: Any, store: NebulaGraph) -> None:
    EntityShard(store).apply(claims("Bern", MAY), MAY)
    before = len(graphd.requests)

    changes = EntityShard(store).apply(claims("Oslo", MAY + 10), MAY + 10)

    assert sum(change.added for change in changes) == CLAIMS
    assert len(graphd.requests) - before <= 12
    assert (len(graphd.requests) - before) / CLAIMS <= 0.2


def test_slots_of_many_entities_are_read_in_two_round_trips(graphd: Any, store: NebulaGraph) -> None:
    told = claims("Bern", MAY)
    EntityShard(store).apply(told, MAY)
    before = len(graphd.requests)

    found = store.load_slots("acme", [piece.slot for piece in told])

    assert len(found) == CLAIMS
    assert len(graphd.requests) - before == 2


def test_neighbours_of_many_nodes_take_one_round_trip_where_none_is_a_hub(graphd: Any, store: NebulaGraph) -> None:
    told = claims("Bern", MAY)
    EntityShard(store).apply(told, MAY)
    nodes = [
        belief.id
        for slot in store.slots("acme", [piece.slot for piece in told[:40]]).values()
        for belief in slot.beliefs
    ]
    before = len(graphd.requests)

    assert store.neighbours("acme", nodes, 8)

    assert len(graphd.requests) - before == 1


def test_a_bank_is_scanned_in_about_a_round_trip_a_page(graphd: Any, store: NebulaGraph) -> None:
    told = claims("Bern", MAY)
    EntityShard(store).apply(told, MAY)
    before = len(graphd.requests)

    seen: list[str] = []
    while page := store.scan("acme", seen[-1] if seen else "", 20):
        seen.extend(page)

    assert seen == sorted(piece.slot for piece in told)
    assert len(graphd.requests) - before <= 40
