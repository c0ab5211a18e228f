"""What a graph store says is due, unindexed, to be scanned, and how much of each it holds."""

from collections.abc import Callable

from schemas.belief import Belief
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.slot import Decision
from stores.ports import GraphStore

MAY = 1_714_521_600_000_000


def test_due_slots_come_earliest_first(graph_store: GraphStore, decision: Callable[..., Decision]) -> None:
    graph_store.apply(
        [
            decision("s1", review_at=MAY + 3),
            decision("s2", bank="other", review_at=MAY + 1),
            decision("s3", review_at=MAY + 2),
            decision("s4", review_at=MAY + 9),
            decision("s5"),
        ]
    )

    assert graph_store.due(MAY + 3, 10) == [("other", "s2"), ("acme", "s3"), ("acme", "s1")]
    assert graph_store.due(MAY + 3, 2) == [("other", "s2"), ("acme", "s3")]
    assert graph_store.due(MAY, 10) == []


def test_a_slot_that_was_reviewed_is_no_longer_due(graph_store: GraphStore, decision: Callable[..., Decision]) -> None:
    graph_store.apply([decision("s1", review_at=MAY), decision("s2", review_at=MAY)])

    graph_store.apply([decision("s1", expected=1), decision("s2", expected=1, review_at=MAY + DAY)])

    assert graph_store.due(MAY, 10) == []
    assert graph_store.due(MAY + DAY, 10) == [("acme", "s2")]


def test_unindexed_beliefs_come_oldest_write_first(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision("s1", keeps=(belief("b9"),), changed=(belief("b9"),))])
    graph_store.apply([decision("s1", bank="other", keeps=(belief("b5", bank="other"),))])
    graph_store.apply([decision("s2", keeps=(belief("b1", "s2"),))])
    assert graph_store.unindexed(10) == [("acme", "b9"), ("other", "b5"), ("acme", "b1")]
    assert graph_store.unindexed(1) == [("acme", "b9")]

    graph_store.apply([decision("s1", expected=1, keeps=(belief("b9", version=2),))])

    assert graph_store.unindexed(10) == [("other", "b5"), ("acme", "b1"), ("acme", "b9")]


def test_a_belief_is_unindexed_again_when_it_changes(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1"), belief("b2")))])
    graph_store.mark_indexed("acme", {"b1": 1, "b2": 1, "unknown": 3})
    assert graph_store.unindexed(10) == []

    changed = belief("b1", version=2)
    graph_store.apply([decision(expected=1, keeps=(changed, belief("b2")), changed=(changed,))])

    assert graph_store.unindexed(10) == [("acme", "b1")]


def test_beliefs_that_are_behind_can_be_told_from_others(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1"), belief("b2")))])
    graph_store.mark_indexed("acme", {"b1": 1})

    assert graph_store.behind("acme", ["b1", "b2", "unknown"]) == {"b2"}
    assert graph_store.behind("other", ["b1", "b2"]) == set()
    assert graph_store.behind("acme", []) == set()


def test_a_mark_is_never_lowered(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1", version=3),))])
    graph_store.mark_indexed("acme", {"b1": 3})

    graph_store.mark_indexed("acme", {"b1": 2})
    assert graph_store.unindexed(10) == []

    graph_store.apply([decision(expected=1, keeps=(belief("b1", version=4),))])
    graph_store.mark_indexed("acme", {"b1": 3})
    assert graph_store.unindexed(10) == [("acme", "b1")]


def test_forgetting_the_marks_of_a_bank_leaves_the_other_banks_marked(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    for bank in ("acme", "other"):
        graph_store.apply([decision(bank=bank, keeps=(belief("b1", bank=bank), belief("b2", bank=bank)))])
        graph_store.mark_indexed(bank, {"b1": 1, "b2": 1})

    assert graph_store.mark_unindexed("acme") == 2
    assert graph_store.mark_unindexed("nobody") == 0

    assert sorted(graph_store.unindexed(10)) == [("acme", "b1"), ("acme", "b2")]


def test_a_scan_sees_each_slot_once_also_while_slots_are_written(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(f"s{i:02}") for i in range(20)])

    seen: list[str] = []
    while page := graph_store.scan("acme", seen[-1] if seen else "", 3):
        seen.extend(page)
        graph_store.apply([decision(page[0], expected=1)])
        graph_store.apply([decision(f"r{len(seen):02}")])

    assert seen == [f"s{i:02}" for i in range(20)]


def test_a_scan_of_entities_sees_each_once_in_the_order_of_ids_and_none_of_another_bank(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    names = [f"n{i:02}" for i in range(12)]
    graph_store.apply([decision(f"s{name}", entity=Entity(name)) for name in names])
    graph_store.apply([decision("sx", bank="other", entity=Entity("n99"))])

    seen: list[tuple[str, Entity]] = []
    while page := graph_store.scan_entities("acme", seen[-1][0] if seen else "", 5):
        seen.extend(page)
        graph_store.apply([decision(f"s{page[0][1].name}", expected=1, entity=page[0][1])])

    assert [id for id, _ in seen] == sorted(entity_id("acme", Entity(name)) for name in names)
    assert {entity.name for _, entity in seen} == set(names)


def test_counts_are_those_of_the_bank(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    graph_store.apply(
        [
            decision("s1", keeps=(belief("b1"), belief("b2", status="revoked")), adds=(evidence("e1"),)),
            decision("s2", keeps=(belief("b3", "s2", status="stale"),), adds=(evidence("e2", "s2"),)),
            decision("s3", entity=Entity("Else"), adds=(evidence("e3", "s3", mentions=(Entity("Third"),)),)),
            decision("s9", bank="other", keeps=(belief("b9", "s9", bank="other"),)),
        ]
    )
    graph_store.mark_indexed("acme", {"b1": 1})

    assert graph_store.counts("acme") == {
        "entities": 3,
        "slots": 3,
        "beliefs": 3,
        "evidence": 3,
        "unindexed": 2,
        "status.active": 1,
        "status.contested": 0,
        "status.revoked": 1,
        "status.stale": 1,
        "status.archived": 0,
    }
