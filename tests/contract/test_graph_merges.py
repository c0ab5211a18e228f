"""Merges on every graph: a group is found from each of its entities, and leaves nothing when it is ended."""

from collections.abc import Iterable

import msgspec

from actors.shard import EntityShard
from beliefmesh.state import state_hash
from recall.identity import Identity
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Source
from schemas.policy import DEFAULT_POLICY
from schemas.slot import slot_id
from stores.ports import GraphStore

A, B, C = (Entity(name, "person") for name in ("Ann", "Beth", "Cleo"))
IDS = {entity: entity_id("bank", entity) for entity in (A, B, C)}


def _said(id: str, entity: Entity, attribute: str, value: str, day: int) -> Evidence:
    return Evidence(
        id=id,
        bank="bank",
        slot=slot_id("bank", entity, attribute),
        entity=entity,
        observation_id="o" + id,
        source=Source(id),
        effective_at=day * DAY,
        observed_at=day * DAY,
        statement=f"{entity.name}: {value}",
        attribute=attribute,
        value=value,
        kind="instruction" if attribute == "same_as" else "observation",
    )


def _all(pieces: Iterable[Evidence]) -> list[Evidence]:
    return list(pieces)


def _identity(graph: GraphStore) -> Identity:
    return Identity(graph, "bank", DEFAULT_POLICY, 20 * DAY, _all)


def test_a_group_is_found_from_each_end_and_ends_with_its_merges(graph_store: GraphStore) -> None:
    shard = EntityShard(graph_store)
    shard.apply([_said("e1", A, "city", "Oslo", 1), _said("e2", B, "city", "Rome", 2)], 20 * DAY)
    assert not _identity(graph_store).any()
    before = state_hash(graph_store, "bank", 20 * DAY)

    merges = [_said("e3", A, "same_as", "person/Beth", 3), _said("e4", B, "same_as", "person/Cleo", 4)]
    shard.apply(merges, 20 * DAY)

    for entity in (A, B, C):
        group = _identity(graph_store).groups([IDS[entity]])[IDS[entity]]
        assert (group.canonical, set(group.members)) == (C, set(IDS.values()))
    joined = _identity(graph_store).slots([slot_id("bank", A, "city")])[slot_id("bank", A, "city")]
    assert {(piece.entity, piece.value) for piece in joined.evidence} == {(C, "Oslo"), (C, "Rome")}
    assert state_hash(graph_store, "bank", 20 * DAY) != before

    ends = [
        msgspec.structs.replace(piece, id="x" + piece.id, stance="retracts", effective_at=9 * DAY) for piece in merges
    ]
    shard.apply(ends, 20 * DAY)
    assert _identity(graph_store).groups([IDS[B]]) == {}
    assert state_hash(graph_store, "bank", 20 * DAY) == before
