"""Who may see what: private evidence neither leaks through a belief nor overrules what others see (design 3.10)."""

from collections.abc import Callable

from beliefs.access import public, visible
from beliefs.resolve import resolve
from beliefs.revise import revise, view
from schemas.audience import audience_of, readers_of
from schemas.entity import Entity, entity_id
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY, AttributeRule, Policy
from schemas.query import Principal
from schemas.wire import dump

Said = Callable[..., Evidence]

NOW = 10 * DAY
MINE = {"visibility": "private", "owner": "mei"}
STAFF = {"visibility": "group", "owner": "mei", "readers": ("group:staff", "ana")}


def test_a_principal_reads_with_the_banks_token_their_own_and_one_a_group() -> None:
    assert readers_of(Principal()) == ("*",)
    assert readers_of(Principal("mei", ("staff", "board"))) == ("*", "u:mei", "g:staff", "g:board")


def test_evidence_is_read_by_the_bank_or_by_its_owner_and_readers(said: Said) -> None:
    assert audience_of(said("a", 1, "A")) == ("*",)
    assert audience_of(said("b", 1, "A", **MINE)) == ("u:mei",)
    assert audience_of(said("c", 1, "A", **STAFF)) == ("g:staff", "u:ana", "u:mei")


def test_private_evidence_is_its_owners_whatever_its_readers_say(said: Said) -> None:
    assert audience_of(said("a", 1, "A", visibility="private", owner="mei", readers=("group:staff",))) == ("u:mei",)


def test_restricted_evidence_without_an_owner_is_nobodys(said: Said) -> None:
    piece = said("a", 1, "A", visibility="private")

    assert audience_of(piece) == ()
    assert visible([piece], Principal()) == []


def test_a_principal_named_like_a_group_is_not_that_group(said: Said) -> None:
    piece = said("a", 1, "A", **STAFF)

    assert visible([piece], Principal("group:staff")) == []
    assert visible([piece], Principal("g:staff")) == []
    assert audience_of(said("b", 1, "A", visibility="private", owner="group:staff")) == ("u:group:staff",)


def test_each_principal_sees_their_own_and_their_groups_evidence(said: Said) -> None:
    told = [said("all", 1, "A"), said("mine", 2, "B", **MINE), said("staff", 3, "C", **STAFF)]

    def seen(principal: Principal) -> list[str]:
        return [piece.id for piece in visible(told, principal)]

    assert seen(Principal()) == ["all"]
    assert seen(Principal("eve", ("guests",))) == ["all"]
    assert seen(Principal("ana")) == ["all", "staff"]
    assert seen(Principal("bob", ("staff",))) == ["all", "staff"]
    assert seen(Principal("mei")) == ["all", "mine", "staff"]
    assert [piece.id for piece in public(told)] == ["all"]


def test_private_evidence_changes_nothing_that_the_bank_holds_of_a_shared_belief(said: Said) -> None:
    shared = [said("a", 1, "A"), said("b", 2, "B")]
    secret = [
        said("s1", 3, "A", weight=3.0, **MINE),
        said("s2", 4, "B", stance="refutes", kind="instruction", **MINE),
        said("s3", 5, None, stance="retracts", **MINE),
        said("s4", 6, "a", statement="CANARY", mentions=(Entity("canary"),), **MINE),
    ]

    stored = view([*shared, *secret], DEFAULT_POLICY, NOW)
    alone = resolve(shared, DEFAULT_POLICY, NOW)

    assert stored.beliefs == alone.beliefs
    assert stored.edges == alone.edges
    assert b"CANARY" not in dump(stored)
    assert stored.restricted


def test_a_secret_successor_does_not_supersede_in_the_graph_that_all_see(said: Said) -> None:
    told = [said("a", 1, "A"), said("b", 2, "B"), said("s", 3, "C", **MINE)]

    stored = view(told, DEFAULT_POLICY, NOW)
    a, b, secret = sorted(stored.beliefs, key=lambda belief: str(belief.value))

    assert (a.by, b.status) == (b.id, "active")
    assert {(edge.src, edge.type, edge.dst) for edge in stored.edges} == {
        (b.id, "supersedes", a.id),
        *((entity_id("shop", a.entity), "mentions", belief.id) for belief in (a, b, secret)),
    }


def test_a_secret_value_close_to_a_shared_one_does_not_rename_it(said: Said) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="template", tolerance=5.0),))
    shared = [said("a", 1, 12)]
    secret = [said("s1", 2, 10, **MINE), said("s2", 2, 10, **MINE)]

    (alone,) = resolve(shared, policy, NOW).beliefs

    assert alone in view([*shared, *secret], policy, NOW).beliefs


def test_a_belief_of_restricted_evidence_alone_is_kept_to_be_found_by_its_readers(said: Said) -> None:
    told = [said("a", 1, "A"), said("s", 2, "B", **MINE)]

    stored = view(told, DEFAULT_POLICY, NOW)

    assert sorted((belief.value, belief.status) for belief in stored.beliefs) == [("A", "active"), ("B", "active")]
    assert [belief.status for belief in resolve(told, DEFAULT_POLICY, NOW).beliefs if belief.value == "A"] == [
        "revoked"
    ]


def test_what_arrives_in_secret_does_not_change_the_version_of_a_shared_belief(said: Said) -> None:
    first = revise(None, [said("a", 1, "A")], DEFAULT_POLICY, NOW)

    second = revise(first.stored, [said("s", 2, "A", weight=3.0, **MINE)], DEFAULT_POLICY, NOW)

    assert second.stored.slot.beliefs == first.stored.slot.beliefs
    assert second.change.beliefs == ()
    assert second.decision is not None
    assert [piece.id for piece in second.decision.evidence] == ["s"]
