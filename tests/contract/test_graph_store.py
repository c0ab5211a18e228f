"""What a graph store keeps and gives back: slots, evidence, banks and policies; each adapter is a parameter."""

from collections.abc import Callable

import msgspec
import pytest

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import Entity, entity_id
from schemas.errors import StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY, AttributeRule, Authority, Policy, Reliability, Trust
from schemas.slot import Decision
from stores.ports import GraphStore

MAY = 1_714_521_600_000_000


# Writing and reading back


def test_a_slot_comes_back_with_beliefs_and_evidence_in_id_order(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    edges = (Edge("n1", "mentions", "b1"), Edge("b2", "supersedes", "b1", 0.5))
    written = decision(
        keeps=(belief("b1"), belief("b2", status="revoked")),
        adds=(evidence("e2", ingested_at=MAY + 9), evidence("e1")),
        edges=edges,
        review_at=MAY + DAY,
    )

    graph_store.apply([written])

    stored = graph_store.load_slots("acme", ["s1", "unknown"])["s1"]
    assert stored.slot == written.slot
    assert stored.evidence == (evidence("e1"), evidence("e2", ingested_at=MAY + 9))
    assert list(graph_store.load_slots("acme", ["s1", "unknown"])) == ["s1"]


def test_slots_come_without_evidence_and_beliefs_in_id_order(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    graph_store.apply([decision(keeps=(belief("b2"), belief("b1")), adds=(evidence("e1"),))])

    found = graph_store.slots("acme", ["s1", "s9"])

    assert list(found) == ["s1"]
    assert found["s1"].beliefs == (belief("b1"), belief("b2"))


@pytest.mark.parametrize(
    "text",
    [
        'it\'s "quoted" `so` \\ and; DROP TABLE slots; -- %s {0} $x',
        "first line\nsecond\r\n\tthird",
        "\N{WAVING HAND SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-5} and \N{RAINBOW}",
        "满200元免运费，报表使用模板A",
        "مرحبا سلام e\u0301 \u202e",
        "x" * 65_536,
    ],
    ids=["quotes", "newlines", "emoji", "cjk", "arabic", "64KB"],
)
def test_any_text_comes_back_unchanged(
    graph_store: GraphStore,
    text: str,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    entity = Entity(text[:300], "note")
    told = msgspec.structs.replace(evidence("e1", statement=text, mentions=(entity,)), value=text)
    held = msgspec.structs.replace(belief("b1"), statement=text, value=text)

    graph_store.apply([decision(entity=entity, keeps=(held,), adds=(told,))])

    stored = graph_store.load_slots("acme", ["s1"])["s1"]
    assert stored.evidence == (told,)
    assert stored.slot.beliefs == (held,)
    assert stored.slot.entity == entity
    assert graph_store.entities("acme", [text[:300]]) == [(entity_id("acme", entity), entity)]


@pytest.mark.parametrize("value", [True, 0, 1, 1.0, -2.5, 2**53, "1", ""])
def test_a_value_keeps_its_type(
    graph_store: GraphStore, value: str | float | bool, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(msgspec.structs.replace(belief("b1"), value=value),))])

    kept = graph_store.beliefs("acme", ["b1"])["b1"].value

    assert kept == value
    assert type(kept) is type(value)


def test_thousands_of_ids_are_answered_in_one_call(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    decisions = [
        decision(
            f"s{i:04}",
            keeps=(belief(f"b{i:04}", f"s{i:04}"),),
            adds=(evidence(f"e{i:04}", f"s{i:04}", observation=f"o{i:04}"),),
        )
        for i in range(1200)
    ]

    graph_store.apply(decisions)

    assert len(graph_store.load_slots("acme", [f"s{i:04}" for i in range(2400)])) == 1200
    assert len(graph_store.beliefs("acme", [f"b{i:04}" for i in range(2400)])) == 1200
    assert len(graph_store.evidence("acme", [f"e{i:04}" for i in range(2400)])) == 1200
    assert len(graph_store.evidence_of_observations("acme", [f"o{i:04}" for i in range(2400)])) == 1200


def test_asking_for_nothing_gives_nothing(graph_store: GraphStore) -> None:
    graph_store.apply([])

    assert graph_store.load_slots("acme", []) == {}
    assert graph_store.slots("acme", []) == {}
    assert graph_store.beliefs("acme", []) == {}
    assert graph_store.evidence("acme", []) == {}
    assert graph_store.evidence_of_observations("acme", []) == []
    assert graph_store.entities("acme", []) == []
    assert graph_store.neighbours("acme", [], 10) == []
    assert graph_store.session("acme", "", 3) == []
    assert graph_store.banks() == []


def test_everything_is_there_after_reopening(
    reopen_graph: Callable[[], GraphStore],
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    first = reopen_graph()
    first.apply([decision(keeps=(belief("b1"),), adds=(evidence("e1", session="talk", turn=1),), review_at=MAY)])
    first.set_policy("acme", Policy(version=7))
    first.mark_indexed("acme", {"b1": 1})
    before = (first.load_slots("acme", ["s1"]), first.counts("acme"), first.due(MAY, 10))
    first.close()

    second = reopen_graph()

    assert (second.load_slots("acme", ["s1"]), second.counts("acme"), second.due(MAY, 10)) == before
    assert second.policy("acme").version == 7
    assert second.unindexed(10) == []


def test_a_closed_store_says_that_it_is_unavailable(graph_store: GraphStore) -> None:
    graph_store.close()
    graph_store.close()

    with pytest.raises(StoreUnavailable):
        graph_store.banks()


# Evidence


def test_repeated_evidence_stays_as_it_first_came(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(adds=(evidence("e1", ingested_at=MAY + 5),))])
    graph_store.apply([decision(expected=1, adds=(evidence("e1", ingested_at=MAY + 99),))])

    assert graph_store.evidence("acme", ["e1"])["e1"].ingested_at == MAY + 5
    assert graph_store.counts("acme")["evidence"] == 1


@pytest.mark.parametrize("order", [("early", "late"), ("late", "early"), ("late", "early", "late")])
def test_of_two_contents_under_one_id_the_same_one_stays_in_any_order(
    graph_store: GraphStore,
    order: tuple[str, ...],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    told = {
        "early": evidence("e1", statement="B", at=MAY, ingested_at=MAY + 9),
        "late": evidence("e1", statement="A", at=MAY + 1, ingested_at=MAY + 8),
    }

    for version, name in enumerate(order):
        graph_store.apply([decision(expected=version, adds=(told[name],))])

    assert graph_store.evidence("acme", ["e1"]) == {"e1": told["early"]}


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_two_contents_of_one_time_under_one_id_end_alike_in_any_order(
    graph_store: GraphStore, order: str, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(adds=tuple(evidence("e1", statement=each) for each in order))])

    assert graph_store.evidence("acme", ["e1"])["e1"].statement == "A"


@pytest.mark.parametrize("told_apart", ["A", "B", "AB", ""])
@pytest.mark.parametrize("order", ["AB", "BA"])
def test_of_two_contents_the_same_one_stays_whichever_bytes_its_defaults_are_written_with(
    graph_store: GraphStore,
    order: str,
    told_apart: str,
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    told = {each: evidence("e1", statement=each) for each in order}
    told |= {each: msgspec.structs.replace(told[each], weight=float("1.0")) for each in told_apart}

    for version, each in enumerate(order):
        graph_store.apply([decision(expected=version, adds=(told[each],))])

    assert graph_store.evidence("acme", ["e1"])["e1"].statement == "A"


def test_evidence_is_found_by_its_observation(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    first, second = evidence("e1", observation="o1"), evidence("e2", slot="s2", observation="o1")
    graph_store.apply(
        [
            decision(adds=(first, evidence("e3", observation="o3"))),
            decision("s2", adds=(second, evidence("e4", slot="s2", observation="o4"))),
        ]
    )

    found = graph_store.evidence_of_observations("acme", ["o1", "o3", "o9"])

    assert sorted(each.id for each in found) == ["e1", "e2", "e3"]
    assert graph_store.evidence_of_observations("acme", ["o9"]) == []


# Banks and policies


def test_banks_are_those_that_hold_something_or_have_a_policy(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(bank="zeta"), decision(bank="acme")])
    graph_store.set_policy("mine", Policy(version=2))

    assert graph_store.banks() == ["acme", "mine", "zeta"]


def test_a_bank_has_the_default_policy_until_one_is_set(
    graph_store: GraphStore, decision: Callable[..., Decision]
) -> None:
    policy = Policy(
        version=3,
        attributes=(AttributeRule(pattern="gate", tolerance=2.0, ignore=("terminal",)),),
        authorities=(Authority(group="staff", source_type="ticket"), Authority(may_instruct=False)),
        groups={"staff": ("ann", "bot-*")},
        trust=Trust(version=2, outcomes=40, weights=(Reliability("air", "gate", 2.5, 40),)),
    )
    graph_store.apply([decision()])
    assert graph_store.policy("acme") == DEFAULT_POLICY

    graph_store.set_policy("acme", Policy(version=2))
    graph_store.set_policy("acme", policy)

    assert graph_store.policy("acme") == policy
    assert graph_store.policy("other") == DEFAULT_POLICY
    assert graph_store.banks() == ["acme"]


def test_nothing_of_one_bank_shows_in_another(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    canary = evidence("e1", bank="secret", statement="canary", session="talk", turn=1)
    graph_store.apply(
        [
            decision(
                bank="secret",
                entity=Entity("canary"),
                keeps=(msgspec.structs.replace(belief("b1", bank="secret"), statement="canary"),),
                adds=(canary,),
                aliases={"b0": "b1"},
                edges=(Edge("n1", "mentions", "b1"),),
                review_at=MAY,
            )
        ]
    )
    graph_store.set_policy("secret", Policy(version=9))

    assert graph_store.policy("acme") == DEFAULT_POLICY
    assert graph_store.load_slots("acme", ["s1"]) == {}
    assert graph_store.slots("acme", ["s1"]) == {}
    assert graph_store.beliefs("acme", ["b0", "b1"]) == {}
    assert graph_store.slots_of_entity("acme", entity_id("secret", Entity("canary"))) == []
    assert graph_store.evidence("acme", ["e1"]) == {}
    assert graph_store.evidence_of_observations("acme", ["o1"]) == []
    assert graph_store.session("acme", "talk", 9) == []
    assert graph_store.windows("acme", [canary], 9) == {}
    assert graph_store.entities("acme", ["canary"]) == []
    assert graph_store.neighbours("acme", ["n1", "b1"], 9) == []
    assert graph_store.scan("acme", "", 9) == []
    assert set(graph_store.counts("acme").values()) == {0}


def test_two_banks_hold_the_same_ids_side_by_side(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    for bank in ("acme", "other"):
        told = evidence("e1", bank=bank, statement=f"of {bank}")
        graph_store.apply([decision(bank=bank, keeps=(belief("b1", bank=bank),), adds=(told,))])

    graph_store.apply([decision(bank="other", expected=1)])
    graph_store.mark_unindexed("other")
    graph_store.mark_indexed("other", {"b1": 7})

    stored = graph_store.load_slots("acme", ["s1"])["s1"]
    assert stored.slot.beliefs == (belief("b1"),)
    assert stored.evidence[0].statement == "of acme"
    assert graph_store.beliefs("other", ["b1"]) == {}
    assert graph_store.unindexed(9) == [("acme", "b1")]
