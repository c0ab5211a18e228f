"""How a graph store erases: nothing of an erased slot is found by any way, and nothing else is touched."""

from collections.abc import Callable

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.policy import Policy
from schemas.slot import Decision
from stores.ports import GraphStore

MAY = 1_714_521_600_000_000
CANARY = Entity("Canary", "bird")
OTHER = Entity("Other", "bird")


def write_two_slots(
    store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    """Slots s1 and s2 of two entities in one session; s1 once issued b0."""
    for slot, entity, name in (("s1", CANARY, "1"), ("s2", OTHER, "2")):
        told = evidence(f"e{name}", slot, observation=f"o{name}", session="talk", turn=int(name), mentions=(entity,))
        store.apply(
            [
                decision(
                    slot,
                    entity=entity,
                    keeps=(belief(f"b{name}", slot),),
                    adds=(told,),
                    edges=(Edge(entity_id("acme", entity), "mentions", f"b{name}"), Edge("shared", "next", f"b{name}")),
                    aliases={"b0": "b1"} if slot == "s1" else None,
                    review_at=MAY,
                )
            ]
        )


def test_nothing_of_an_erased_slot_is_found_by_any_way(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    write_two_slots(graph_store, belief, evidence, decision)

    assert graph_store.erase("acme", ["s1", "unknown"]) == 1

    assert graph_store.load_slots("acme", ["s1"]) == {}
    assert graph_store.beliefs("acme", ["b0", "b1"]) == {}
    assert graph_store.evidence("acme", ["e1"]) == {}
    assert graph_store.evidence_of_observations("acme", ["o1"]) == []
    assert graph_store.entities("acme", ["canary"]) == []
    assert graph_store.slots_of_entity("acme", entity_id("acme", CANARY)) == []
    assert graph_store.neighbours("acme", [entity_id("acme", CANARY), "b1"], 9) == []
    assert graph_store.behind("acme", ["b1"]) == set()


def test_what_is_not_erased_stays_as_it_was(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    write_two_slots(graph_store, belief, evidence, decision)
    before = graph_store.load_slots("acme", ["s2"])

    graph_store.erase("acme", ["s1"])

    assert graph_store.load_slots("acme", ["s2"]) == before
    assert [each.id for each in graph_store.session("acme", "talk", 9)] == ["e2"]
    assert graph_store.entities("acme", ["other"]) == [(entity_id("acme", OTHER), OTHER)]
    assert graph_store.neighbours("acme", ["shared"], 9) == [Edge("shared", "next", "b2")]
    assert graph_store.due(MAY, 9) == [("acme", "s2")]
    assert graph_store.unindexed(9) == [("acme", "b2")]
    assert graph_store.scan("acme", "", 9) == ["s2"]
    assert graph_store.counts("acme")["evidence"] == 1


def test_an_entity_that_another_slot_is_about_outlives_an_erased_slot(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    graph_store.apply(
        [decision("s1", entity=CANARY), decision("s2", entity=CANARY), decision("s3", edges=(Edge("x", "next", "y"),))]
    )
    linked = Edge(entity_id("acme", OTHER), "mentions", "b3")
    graph_store.apply([decision("s4", adds=(evidence("e4", "s4", mentions=(OTHER,)),))])
    graph_store.apply([decision("s5", edges=(linked,))])

    graph_store.erase("acme", ["s1", "s4"])

    assert graph_store.entities("acme", ["canary", "other"]) == [
        (entity_id("acme", CANARY), CANARY),
        (entity_id("acme", OTHER), OTHER),
    ]


def test_a_bank_of_which_all_is_erased_is_no_bank_unless_it_has_a_policy(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(), decision(bank="mine")])
    graph_store.set_policy("mine", Policy(version=2))

    graph_store.erase("acme", ["s1"])
    graph_store.erase("mine", ["s1"])

    assert graph_store.banks() == ["mine"]
    assert graph_store.policy("mine") == Policy(version=2)
    assert set(graph_store.counts("acme").values()) == {0}


def test_an_erased_slot_can_be_written_anew_and_erased_again(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    write_two_slots(graph_store, belief, evidence, decision)
    graph_store.erase("acme", ["s1"])

    graph_store.apply([decision(keeps=(belief("b5"),), adds=(evidence("e5"),))])

    stored = graph_store.load_slots("acme", ["s1"])["s1"]
    assert (stored.slot.version, stored.slot.beliefs, stored.evidence) == (1, (belief("b5"),), (evidence("e5"),))
    assert graph_store.erase("acme", ["s1"]) == 1
    assert graph_store.erase("acme", ["s1"]) == 0
    assert graph_store.erase("acme", []) == 0


def test_erasing_in_one_bank_leaves_the_same_ids_of_another(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    for bank in ("acme", "other"):
        graph_store.apply(
            [
                decision(
                    bank=bank, keeps=(belief("b1", bank=bank),), adds=(evidence("e1", bank=bank),), aliases={"b0": "b1"}
                )
            ]
        )
    before = graph_store.load_slots("other", ["s1"])

    graph_store.erase("acme", ["s1"])

    assert graph_store.load_slots("other", ["s1"]) == before
    assert graph_store.beliefs("other", ["b0"]) == {"b0": belief("b1", bank="other")}
    assert graph_store.banks() == ["other"]
