"""Sightings of the world, weighed against each other by weight, time and origin (design 3.3, 3.4; field cases 1-10)."""

from collections.abc import Callable
from itertools import permutations

import msgspec
import pytest

from beliefs.confidence import confidence
from beliefs.resolve import resolve
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY, AttributeRule, Policy, Reliability
from schemas.slot import slot_id

Said = Callable[..., Evidence]
Statuses = Callable[..., dict[str, str]]
Believed = Callable[..., dict[str, Belief]]


def test_of_two_names_told_one_after_the_other_one_is_active_and_the_other_revoked(
    said: Said, statuses: Statuses
) -> None:
    assert statuses([said("a", 1, "Mei"), said("b", 2, "Ling")], 3) == {"Mei": "revoked", "Ling": "active"}


def test_an_older_fact_that_arrives_late_does_not_override_the_newer(said: Said, statuses: Statuses) -> None:
    for order in permutations([said("a", 1, "A"), said("b", 2, "B"), said("c", 3, "C")]):
        assert statuses(order, 4) == {"A": "revoked", "B": "revoked", "C": "active"}


def test_a_contradiction_of_one_moment_leaves_both_contested_and_the_slot_not_empty(
    said: Said, believed: Believed
) -> None:
    held = believed([said("a", 1, "A"), said("b", 1, "B")], 2)

    assert [belief.status for belief in held.values()] == ["contested", "contested"]
    assert held["A"].rivals == (held["B"].id,)


def test_one_refuted_rival_of_a_contradiction_gives_way_to_the_other(said: Said, statuses: Statuses) -> None:
    told = [said("a", 1, "A"), said("b", 1, "B"), said("no", 2, "B", stance="refutes")]

    assert statuses(told, 3) == {"A": "contested", "B": "revoked"}


def test_the_weightier_of_two_values_of_one_moment_holds(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, "A", weight=2.0), said("b", 1, "B")], 1)

    assert (held["A"].status, held["B"].status) == ("active", "revoked")
    assert (held["B"].reason, held["B"].by) == ("outweighed", held["A"].id)
    assert confidence(held["A"], DAY) == pytest.approx(0.731, abs=5e-4)


def test_rivals_weigh_by_when_they_were_seen(said: Said, believed: Believed) -> None:
    policy = Policy(state_half_life_days=0)
    told = [said("a1", 10, "A"), said("a2", 20, "A")]

    def against(day: float) -> float:
        masses = believed([*told, said("b", day, "B")], 30, policy)["A"].refutation
        return sum(mass.amount for mass in masses)

    assert [against(day) for day in (9, 10, 15, 20, 21)] == [0.0, 1.0, 1.0, 1.0, 1.5]


def test_two_values_that_both_outweigh_what_speaks_against_them_are_a_holder_and_a_contested_rival(
    said: Said, believed: Believed
) -> None:
    held = believed([said("old", 1, "A", weight=2.0), said("new", 2, "B", weight=1.0)], 2)

    assert (held["A"].status, held["B"].status) == ("contested", "active")
    assert held["A"].rivals == (held["B"].id,)
    assert held["B"].rivals == (held["A"].id,)


def test_values_of_another_attribute_or_entity_never_speak_against_each_other(said: Said) -> None:
    dark, large = said("a", 1, "dark"), said("b", 2, "large")

    assert slot_id("shop", Entity("ui"), "theme") != slot_id("shop", Entity("ui"), "font size")
    assert [resolve([piece], DEFAULT_POLICY, 3 * DAY).beliefs[0].status for piece in (dark, large)] == ["active"] * 2


def test_values_of_a_many_valued_attribute_live_side_by_side(said: Said, statuses: Statuses) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="template", cardinality="many"),))
    told = [said("a", 1, "tea", origin="mei"), said("b", 2, "rice", origin="mei"), said("c", 2, "soup")]

    assert statuses(told, 3, policy) == {"tea": "active", "rice": "active", "soup": "active"}


def test_the_same_text_again_from_one_origin_counts_once_and_never_lowers_confidence(
    said: Said, believed: Believed
) -> None:
    once = believed([said("a", 1, "A", origin="wiki")], 3)["A"]
    again = believed([said("a", 1, "A", origin="wiki"), said("b", 2, "A", origin="wiki")], 3)["A"]

    assert (again.id, again.supports) == (once.id, 1)
    assert confidence(again, 3 * DAY) > confidence(once, 3 * DAY)
    assert again.newest_support == again.first_support == 2 * DAY


def test_the_same_text_from_a_second_origin_adds_support(said: Said, believed: Believed) -> None:
    both = believed([said("a", 1, "A"), said("b", 1, "a ")], 1)

    assert len(both) == 1
    assert sum(belief.supports for belief in both.values()) == 2


def test_an_origin_that_changes_its_mind_is_heard_with_its_newest_word_only(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, "A", origin="wiki", weight=3.0), said("b", 2, "B", origin="wiki")], 2)

    assert (held["A"].status, held["A"].supports, held["A"].reason) == ("revoked", 0, "superseded")
    assert held["B"].refutation == ()


def test_an_origin_speaks_once_for_each_scope(said: Said, statuses: Statuses) -> None:
    told = [said("a", 1, "A", origin="wiki"), said("b", 2, "B", {"region": "EU"}, origin="wiki")]

    assert statuses(told, 3) == {"A": "active", "B region=EU": "active"}


def test_an_origin_that_takes_its_word_back_refutes_itself(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, "A", origin="wiki"), said("b", 2, "A", origin="wiki", stance="refutes")], 3)["A"]

    assert (held.status, held.reason, held.by, held.supports) == ("revoked", "refuted", "b", 0)


def test_a_refutation_weighs_one_and_a_half_times(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, "A"), said("b", 1, "A", stance="refutes")], 1)["A"]

    assert confidence(held, DAY) == pytest.approx(0.378, abs=5e-4)
    assert (held.status, held.reason, held.by) == ("revoked", "refuted", "b")


def test_what_nobody_but_a_refutation_names_is_a_refuted_belief(said: Said, believed: Believed) -> None:
    held = believed([said("b", 1, "A", stance="refutes")], 1)["A"]

    assert (held.status, held.reason, held.by) == ("revoked", "refuted", "b")


def test_our_own_recall_told_again_adds_nothing(said: Said, believed: Believed) -> None:
    alone = believed([said("a", 1, "A")], 3)
    echoed = [said("a", 1, "A"), *(said(f"echo{n}", 2, "A", source_type="recall") for n in range(50))]

    assert believed(echoed, 3) == alone


def test_an_echo_alone_is_not_believed(said: Said, statuses: Statuses) -> None:
    assert statuses([said("echo", 2, "A", source_type="recall")], 3) == {"A": "revoked"}


def test_an_echo_does_not_decide_which_of_two_close_values_names_them(said: Said, believed: Believed) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="template", tolerance=5.0),))
    told = [said("a", 1, 10), said("b", 2, 12)]
    echoes = [said(f"echo{n}", 1, 12, source_type="recall") for n in range(3)]

    assert believed([*told, *echoes], 3, policy) == believed(told, 3, policy)


def test_close_values_are_one_within_the_tolerance_of_the_policy(said: Said, believed: Believed) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="template", type="time", tolerance=600.0),))
    told = [said("a", 1, "18:05"), said("b", 1, "18:07"), said("c", 1, "19:00")]

    held = believed(told, 1, policy)

    assert {place: (belief.status, belief.supports) for place, belief in held.items()} == {
        "18:05": ("active", 2),
        "19:00": ("revoked", 1),
    }


def test_a_trusted_source_outweighs_three_that_are_often_wrong(said: Said, statuses: Statuses) -> None:
    unsure = tuple(Reliability(origin, "Template", 0.2, 50) for origin in ("x", "y", "z"))
    policy = Policy(reliabilities=(*unsure, Reliability("air", "template", 2.0, 50), Reliability("x", "other", 9.0)))
    told = [said("x", 1, "B"), said("y", 1, "B"), said("z", 1, "B"), said("air", 1, "A")]

    assert statuses(told, 1) == {"A": "revoked", "B": "active"}
    assert statuses(told, 1, policy) == {"A": "active", "B": "revoked"}


def test_a_rule_finds_its_attribute_however_the_name_is_spelled(said: Said, believed: Believed) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="Template*", half_life_days=1.0),))
    plain = said("a", 1, "A")
    loud = msgspec.structs.replace(plain, attribute="TEMPLATE  name")

    assert [believed([piece], 1, policy)["A"].support[0].half_life for piece in (plain, loud)] == [DAY, DAY]


def test_events_and_experiences_do_not_fade(said: Said, believed: Believed) -> None:
    for told in (
        said("a", 10, "A", occurred_start=8 * DAY, occurred_end=9 * DAY),
        said("b", 10, "A", network="experience"),
        said("c", 10, "A", pinned=True),
    ):
        assert believed([told], 5_000)["A"].status == "active"
    assert believed([said("d", 10, "A", occurred_start=12 * DAY)], 5_000)["A"].status == "stale"
