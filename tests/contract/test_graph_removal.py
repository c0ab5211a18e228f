"""How a graph store lets evidence leave its slot: in the same step as what is added, and never half."""

from collections.abc import Callable

import pytest

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.errors import InvalidInput, VersionConflict
from schemas.evidence import Evidence
from schemas.slot import Decision
from stores.ports import GraphStore

CANARY = Entity("Canary", "bird")
OTHER = Entity("Other", "bird")


def test_evidence_leaves_and_other_comes_in_one_decision(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    graph_store.apply(
        [
            decision(
                keeps=(belief("b1"), belief("b2")),
                adds=(
                    evidence("e1", observation="o1", session="talk", turn=1, mentions=(CANARY,)),
                    evidence("e2", observation="o2", session="talk", turn=2, mentions=(OTHER,)),
                ),
                edges=(
                    Edge(entity_id("acme", CANARY), "mentions", "b1"),
                    Edge(entity_id("acme", OTHER), "mentions", "b2"),
                ),
            )
        ]
    )

    kept = belief("b2", version=2)
    graph_store.apply(
        [
            decision(
                expected=1,
                keeps=(kept,),
                adds=(evidence("e3", observation="o3"),),
                edges=(Edge(entity_id("acme", OTHER), "mentions", "b2"),),
                removes=("e1", "unknown"),
            )
        ]
    )

    stored = graph_store.load_slots("acme", ["s1"])["s1"]
    assert [piece.id for piece in stored.evidence] == ["e2", "e3"]
    assert stored.slot.version == 2
    assert graph_store.evidence("acme", ["e1"]) == {}
    assert graph_store.evidence_of_observations("acme", ["o1"]) == []
    assert [piece.id for piece in graph_store.session("acme", "talk", 9)] == ["e2"]
    assert graph_store.beliefs("acme", ["b1"]) == {}
    assert graph_store.entities("acme", ["canary", "other"]) == [(entity_id("acme", OTHER), OTHER)]
    assert graph_store.counts("acme")["evidence"] == 2


def test_a_conflict_removes_nothing_and_erases_nothing(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    graph_store.apply([decision("s1", keeps=(belief("b1"),), adds=(evidence("e1"),))])
    graph_store.apply([decision("s2", adds=(evidence("e2", "s2"),))])
    before = graph_store.load_slots("acme", ["s1", "s2"])

    with pytest.raises(VersionConflict) as raised:
        graph_store.apply(
            [
                decision("s1", expected=1, removes=("e1",), ends=True),
                decision("s2", expected=7, removes=("e2",), ends=True),
            ]
        )

    assert raised.value.slots == ("s2",)
    assert graph_store.load_slots("acme", ["s1", "s2"]) == before


def test_a_slot_that_ends_is_erased_beside_one_that_goes_on(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    told = evidence("e1", observation="o1", session="talk", mentions=(CANARY,))
    edges = (Edge(entity_id("acme", CANARY), "mentions", "b1"),)
    graph_store.apply(
        [
            decision("s1", entity=CANARY, keeps=(belief("b1"),), adds=(told,), edges=edges, aliases={"b0": "b1"}),
            decision("s2", adds=(evidence("e2", "s2", observation="o2"), evidence("e3", "s2", observation="o3"))),
        ]
    )

    graph_store.apply(
        [
            decision("s1", entity=CANARY, expected=1, removes=("e1",), ends=True),
            decision("s2", expected=1, removes=("e2",)),
        ]
    )

    left = graph_store.load_slots("acme", ["s1", "s2"])
    assert {id: [piece.id for piece in slot.evidence] for id, slot in left.items()} == {"s2": ["e3"]}
    assert graph_store.beliefs("acme", ["b0", "b1"]) == {}
    assert graph_store.evidence_of_observations("acme", ["o1", "o2"]) == []
    assert graph_store.entities("acme", ["canary"]) == []
    assert graph_store.neighbours("acme", [entity_id("acme", CANARY), "b1"], 9) == []
    assert graph_store.scan("acme", "", 9) == ["s2"]


def test_an_ended_slot_begins_anew_with_evidence_of_the_same_id(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(adds=(evidence("e1"),))])
    graph_store.apply([decision(expected=1, removes=("e1",), ends=True)])

    graph_store.apply([decision(adds=(evidence("e1"),))])

    stored = graph_store.load_slots("acme", ["s1"])["s1"]
    assert (stored.slot.version, stored.evidence) == (1, (evidence("e1"),))


def test_evidence_of_another_slot_is_not_removed(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision("s1", adds=(evidence("e1"),)), decision("s2", adds=(evidence("e2", "s2"),))])

    graph_store.apply([decision("s1", expected=1, removes=("e2",))])

    assert sorted(graph_store.evidence("acme", ["e1", "e2"])) == ["e1", "e2"]


def test_a_decision_that_ends_a_slot_and_adds_to_it_is_refused(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    with pytest.raises(InvalidInput, match="do one of the two"):
        graph_store.apply([decision(adds=(evidence("e1"),), ends=True)])
