"""How beliefs, entities and edges of a graph store lead to each other."""

from collections.abc import Callable

import pytest

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.slot import Decision
from stores.ports import GraphStore

TEMPLATE = Entity("Report template", "rule")


# Beliefs and their ids


def test_only_changed_beliefs_are_written_and_the_others_stay(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1"), belief("b2")))])

    changed = belief("b2", version=2, status="revoked")
    graph_store.apply([decision(expected=1, keeps=(belief("b1"), changed), changed=(changed,))])

    assert graph_store.slots("acme", ["s1"])["s1"].beliefs == (belief("b1"), changed)


def test_beliefs_that_are_not_in_the_slot_vanish_and_the_other_slots_keep_theirs(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1"), belief("b2"))), decision("s2", keeps=(belief("b3", "s2"),))])

    graph_store.apply([decision(expected=1, keeps=(belief("b2"),), changed=())])

    assert graph_store.beliefs("acme", ["b1", "b2", "b3"]) == {"b2": belief("b2"), "b3": belief("b3", "s2")}
    assert graph_store.counts("acme")["beliefs"] == 2


def test_a_merged_id_leads_to_the_belief_that_bears_its_value_now(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1"),))])
    graph_store.apply([decision(expected=1, keeps=(belief("b2"),), aliases={"b1": "b2"})])
    graph_store.apply([decision(expected=2, keeps=(belief("b3"),), aliases={"b2": "b3"})])

    found = graph_store.beliefs("acme", ["b1", "b2", "b3", "b9"])

    assert found == {"b1": belief("b3"), "b2": belief("b3"), "b3": belief("b3")}


def test_an_id_that_came_back_to_life_is_itself_again(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1"),))])
    graph_store.apply([decision(expected=1, keeps=(belief("b2"),), aliases={"b1": "b2"})])
    graph_store.apply([decision(expected=2, keeps=(belief("b1"),), aliases={"b2": "b1"})])

    assert graph_store.beliefs("acme", ["b1", "b2"]) == {"b1": belief("b1"), "b2": belief("b1")}


def test_ids_that_lead_in_a_circle_lead_nowhere(graph_store: GraphStore, decision: Callable[..., Decision]) -> None:
    graph_store.apply([decision(aliases={"b1": "b2", "b2": "b1"})])

    assert graph_store.beliefs("acme", ["b1", "b2"]) == {}


# Entities and edges


def test_slots_of_an_entity_come_in_id_order_up_to_a_limit(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision("s3"), decision("s1"), decision("s2"), decision("s4", entity=Entity("Else"))])
    subject = entity_id("acme", TEMPLATE)

    assert graph_store.slots_of_entity("acme", subject) == ["s1", "s2", "s3"]
    assert graph_store.slots_of_entity("acme", subject, limit=2) == ["s1", "s2"]


@pytest.mark.parametrize(
    "asked",
    ["Café Möller", "CAFÉ  MÖLLER ", "Cafe\u0301 Mo\u0308ller", "Ｃａｆé　Ｍöｌｌｅｒ"],
    ids=["NFC", "case", "NFD", "full width"],
)
def test_an_entity_is_found_by_any_form_of_its_name(
    graph_store: GraphStore, asked: str, decision: Callable[..., Decision]
) -> None:
    cafe = Entity("Café Möller", "place")
    graph_store.apply([decision(entity=cafe)])

    assert graph_store.entities("acme", [asked, "unknown"]) == [(entity_id("acme", cafe), cafe)]


def test_entities_of_one_name_and_two_types_are_both_found(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    fruit, company = Entity("Apple", "fruit"), Entity("Apple", "company")
    graph_store.apply([decision(adds=(evidence("e1", mentions=(fruit, company)),))])

    found = graph_store.entities("acme", ["apple"])

    assert sorted(found) == sorted([(entity_id("acme", fruit), fruit), (entity_id("acme", company), company)])


@pytest.mark.parametrize("order", [("Alice", "ALICE"), ("ALICE", "Alice")])
def test_two_spellings_of_one_name_are_one_entity_whatever_the_order(
    graph_store: GraphStore, order: tuple[str, str], decision: Callable[..., Decision]
) -> None:
    for number, name in enumerate(order):
        graph_store.apply([decision(f"s{number}", entity=Entity(name, "person"))])

    assert graph_store.entities("acme", ["alice"]) == [
        (entity_id("acme", Entity("Alice", "person")), Entity("ALICE", "person"))
    ]
    assert graph_store.counts("acme")["entities"] == 1


def test_neighbours_are_the_edges_of_both_directions_strongest_first(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    weak, strong, inward = Edge("a", "causes", "b", 0.25), Edge("a", "mentions", "c", 2.0), Edge("d", "next", "a", 0.5)
    graph_store.apply([decision(edges=(weak, strong)), decision("s2", edges=(inward, Edge("x", "next", "y")))])

    assert graph_store.neighbours("acme", ["a"], 10) == [strong, inward, weak]
    assert graph_store.neighbours("acme", ["a", "b", "c"], 10) == [strong, inward, weak]
    assert graph_store.neighbours("acme", ["nobody"], 10) == []


def test_an_edge_that_two_slots_state_is_one_neighbour_at_its_strongest(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    graph_store.apply(
        [
            decision("s1", edges=(Edge("a", "belongs_to", "b", 0.5), Edge("a", "next", "c", 0.1))),
            decision("s2", edges=(Edge("a", "belongs_to", "b", 0.75),)),
        ]
    )
    both = [Edge("a", "belongs_to", "b", 0.75), Edge("a", "next", "c", 0.1)]
    assert graph_store.neighbours("acme", ["a"], 2) == both

    graph_store.apply([decision("s2", expected=1)])

    assert graph_store.neighbours("acme", ["b"], 2) == [Edge("a", "belongs_to", "b", 0.5)]


def test_a_hub_gives_its_strongest_edges_and_leaves_room_for_other_nodes(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    hub = tuple(Edge("hub", "mentions", f"b{i:03}", i / 100) for i in range(200))
    graph_store.apply([decision(edges=hub), decision("s2", edges=(Edge("small", "next", "end", 0.001),))])

    found = graph_store.neighbours("acme", ["hub", "small"], 3)

    assert found == [hub[199], hub[198], hub[197], Edge("small", "next", "end", 0.001)]


def test_a_slots_edges_are_replaced(graph_store: GraphStore, decision: Callable[..., Decision]) -> None:
    stays, goes, heavier = Edge("a", "causes", "b"), Edge("a", "next", "c"), Edge("a", "mentions", "d", 0.5)
    graph_store.apply([decision(edges=(stays, goes, heavier))])
    graph_store.apply([decision("s2", edges=(Edge("a", "next", "z", 0.1),))])

    new = (stays, Edge("a", "mentions", "d", 3.0), Edge("a", "next", "e", 0.2), Edge("a", "same_as", "a", 0.15))
    graph_store.apply([decision(expected=1, edges=new)])

    assert graph_store.neighbours("acme", ["a"], 10) == [new[1], stays, new[2], new[3], Edge("a", "next", "z", 0.1)]
    assert graph_store.neighbours("acme", ["c"], 10) == []
    assert graph_store.slots("acme", ["s1"])["s1"].edges == new


def test_dependents_are_the_slots_that_rest_on_a_belief_however_many(
    graph_store: GraphStore, decision: Callable[..., Decision], belief: Callable[..., Belief]
) -> None:
    many = [
        decision(f"s{n}", keeps=(belief(f"c{n}", f"s{n}"),), edges=(Edge(f"c{n}", "derived_from", "b9"),))
        for n in range(300)
    ]
    edges = (Edge("b9", "derived_from", "b8"), Edge("b9", "causes", "b7"))
    other = decision("t", keeps=(belief("b9", "t"),), edges=edges)
    graph_store.apply([*many, other])

    assert graph_store.dependents("acme", ["b9"]) == sorted(f"s{n}" for n in range(300))
    assert graph_store.dependents("acme", ["b7", "c1", "nobody"]) == []
    assert graph_store.dependents("other", ["b9"]) == []

    graph_store.apply([decision("s7", expected=1)])

    assert "s7" not in graph_store.dependents("acme", ["b9", "b7"])
