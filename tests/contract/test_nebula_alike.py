"""Whatever happens to them, the graph on NebulaGraph and the embedded one answer alike."""

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from actors.shard import EntityShard
from schemas.digest import wordless
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Source
from schemas.slot import Amendment, slot_id
from stores.nebula.graph import NebulaGraph
from stores.ports import GraphStore
from stores.sqlite.graph import SqliteGraph

pytestmark = pytest.mark.nebula

MAY = 1_714_521_600_000_000
BANKS = ("acme", "beta")
SESSIONS = ("t1", "t2")
ENTITIES = (
    Entity("Ann", "person"),
    Entity("ANN", "person"),
    Entity("Bob", "person"),
    Entity("Ann", "dog"),
    Entity("Ünï", "place"),
)
VALUES = ("A", "B", 1, 2.5, True, "满 👋\n")


@pytest.fixture
def both(nebula_url: str, tmp_path: Path) -> Iterator[tuple[GraphStore, GraphStore]]:
    """An empty graph of either kind."""
    stores = SqliteGraph(tmp_path / "graph.db"), NebulaGraph(nebula_url)
    yield stores
    for store in stores:
        store.close()


def evidence_of(chance: random.Random, now: int) -> Evidence:
    """A claim by chance; one id always belongs to one slot."""
    entity, bank = chance.choice(ENTITIES), chance.choice(BANKS)
    attribute, value = chance.choice(["city", "likes", None]), chance.choice(VALUES)
    statement = f"{entity.name} {attribute} {value}"
    home = slot_id(bank, entity, attribute, statement if attribute is None else "")
    return Evidence(
        id=f"{home}-{chance.randint(0, 9)}",
        bank=bank,
        slot=home,
        entity=entity,
        observation_id=f"o{chance.randint(0, 59)}",
        source=Source(chance.choice("xy")),
        effective_at=now - chance.randint(0, 90) * DAY,
        observed_at=now,
        statement=statement,
        attribute=attribute,
        value=None if attribute is None else value,
        stance=chance.choice(["supports", "supports", "refutes", "retracts"]) if attribute else "supports",
        session=chance.choice(["", *SESSIONS]),
        turn=chance.choice([None, 1, 2, 9]),
        visibility=chance.choice(["bank", "bank", "private"]),
        owner="u1",
        mentions=tuple(chance.sample(ENTITIES, chance.randint(0, 2))),
        ingested_at=now,
    )


@pytest.mark.parametrize("seed", range(4))
def test_two_graphs_with_one_history_answer_alike(both: tuple[GraphStore, GraphStore], seed: int) -> None:
    chance = random.Random(seed)
    now = MAY
    shards = [EntityShard(store) for store in both]

    for _ in range(12):
        batch = [evidence_of(chance, now) for _ in range(chance.randint(1, 6))]
        assert shards[0].apply(batch, now) == shards[1].apply(batch, now)
        now += chance.randint(0, 40) * DAY
        amendments = digested(both[0], chance)
        assert shards[0].amend(amendments, now) == shards[1].amend(amendments, now)
        due = both[0].due(now, 3)
        assert shards[0].review(due, now) == shards[1].review(due, now)
        mark_some(both, chance)
        if chance.random() < 0.2:
            gone = chance.sample(both[0].scan("acme", "", 99), 1)
            assert both[0].erase("acme", gone) == both[1].erase("acme", gone)
            shards = [EntityShard(store) for store in both]

    embedded, other = (answers(store, both[0]) for store in both)
    for question, answer in embedded.items():
        assert other[question] == answer, question


def digested(store: GraphStore, chance: random.Random) -> list[Amendment]:
    """In some slots some pieces lose their words, some voices get other words back, and some leave."""
    asked = []
    slots = store.scan("acme", "", 99)
    for slot in chance.sample(slots, min(2, len(slots))):
        pieces = store.load_slots("acme", [slot])[slot].evidence
        some = chance.sample(pieces, chance.randint(0, len(pieces)))
        adds = {piece.id: wordless(piece) for piece in some if chance.random() < 0.7}
        adds |= {piece.id: msgspec.structs.replace(piece, statement="Told again.", digest="") for piece in some[:1]}
        removed = tuple(piece.id for piece in some if len(some) < len(pieces) or piece.id in adds)
        asked.append(Amendment(bank="acme", slot=slot, remove=removed, add=tuple(adds.values())))
    return asked


def mark_some(both: tuple[GraphStore, GraphStore], chance: random.Random) -> None:
    """Some of what is behind is indexed, in both."""
    for bank, id in both[0].unindexed(chance.randint(0, 3)):
        versions = {id: both[0].beliefs(bank, [id])[id].version}
        for store in both:
            store.mark_indexed(bank, versions)


def answers(store: GraphStore, known: GraphStore) -> dict[str, object]:
    """What a store says to every question, about all ids that `known` has."""
    found: dict[str, object] = {
        "banks": store.banks(),
        "due": sorted(store.due(MAY + 999 * DAY, 999)),
        "unindexed": sorted(store.unindexed(999)),
    }
    for bank in BANKS:
        slots = known.scan(bank, "", 999)
        views = known.slots(bank, slots).values()
        beliefs = [belief.id for view in views for belief in view.beliefs]
        nodes = [*beliefs, *(entity_id(bank, entity) for entity in ENTITIES)]
        told = [piece for stored in known.load_slots(bank, slots).values() for piece in stored.evidence]
        of_bank: dict[str, object] = {
            "scan": store.scan(bank, "", 999),
            "scan of entities": store.scan_entities(bank, "", 999),
            "load": store.load_slots(bank, slots),
            "beliefs": store.beliefs(bank, [*beliefs, *(id for view in views for id in view.aliases)]),
            "behind": store.behind(bank, beliefs),
            "counts": store.counts(bank),
            "evidence": store.evidence(bank, [piece.id for piece in told]),
            "told": store.evidence_of_observations(bank, [f"o{number}" for number in range(60)]),
            "entities": sorted(store.entities(bank, ["ann", "BOB", "ünï"]), key=lambda found: found[0]),
            "slots of": [store.slots_of_entity(bank, entity_id(bank, entity)) for entity in ENTITIES],
            "neighbours": sorted(store.neighbours(bank, nodes, 99), key=in_order),
            "last places": [store.session(bank, session, 4) for session in SESSIONS],
            "places around": store.windows(bank, told[::5], 2),
        }
        found |= {f"{bank} {question}": answer for question, answer in of_bank.items()}
    return found


def in_order(edge: Edge) -> tuple[str, str, str, float]:
    """What an edge is sorted by."""
    return edge.src, edge.type, edge.dst, edge.weight
