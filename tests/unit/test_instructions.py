"""Instructions: the newest in force holds its scope; sightings contest it while fresh, and never override it."""

from collections.abc import Callable
from itertools import permutations

from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.policy import Authority, Policy

Said = Callable[..., Evidence]
Statuses = Callable[..., dict[str, str]]
Believed = Callable[..., dict[str, Belief]]

RULE = {"kind": "instruction"}


def test_the_newest_instruction_holds_whatever_the_order_of_arrival(said: Said, statuses: Statuses) -> None:
    told = [said("a", 1, "A", **RULE), said("b", 2, "B", **RULE), said("c", 3, "C", weight=0.1, **RULE)]

    for order in permutations(told):
        assert statuses(order, 400) == {"A": "revoked", "B": "revoked", "C": "active"}


def test_a_replaced_instruction_names_its_successor(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, "A", **RULE), said("b", 2, "B", **RULE)], 3)

    assert (held["A"].reason, held["A"].by) == ("superseded", held["B"].id)


def test_any_number_of_older_or_weightier_sightings_does_not_override_an_instruction(
    said: Said, statuses: Statuses
) -> None:
    told = [said("rule", 10, "A", **RULE), *(said(f"s{day}", day, "B", weight=3.0) for day in range(10))]

    assert statuses(told, 11) == {"A": "active", "B": "revoked"}


def test_a_later_contrary_sighting_contests_an_instruction_only_while_it_is_fresh(
    said: Said, believed: Believed
) -> None:
    told = [said("rule", 10, "A", **RULE), said("seen", 20, "B")]

    fresh, later = believed(told, 21), believed(told, 20 + 90)

    assert {place: belief.status for place, belief in fresh.items()} == {"A": "contested", "B": "contested"}
    assert fresh["A"].rivals == (fresh["B"].id,)
    assert fresh["B"].rivals == (fresh["A"].id,)
    assert {place: belief.status for place, belief in later.items()} == {"A": "active", "B": "revoked"}
    assert (later["B"].reason, later["B"].by) == ("overruled", later["A"].id)


def test_a_sighting_of_a_value_that_was_once_instructed_contests_the_newer_instruction(
    said: Said, statuses: Statuses
) -> None:
    told = [said("old rule", 1, "A", **RULE), said("new rule", 2, "B", **RULE), said("seen", 20, "A")]

    assert statuses(told, 21) == {"A": "contested", "B": "contested"}
    assert statuses(told[:2], 19) == {"A": "revoked", "B": "active"}
    assert statuses(told, 20 + 90) == {"A": "revoked", "B": "active"}


def test_a_sighting_before_the_newer_instruction_does_not_contest_it(said: Said, statuses: Statuses) -> None:
    told = [said("old rule", 1, "A", **RULE), said("seen", 2, "A"), said("new rule", 3, "B", **RULE)]

    assert statuses(told, 4) == {"A": "revoked", "B": "active"}


def test_a_sighting_of_the_same_moment_does_not_contest_an_instruction(said: Said, statuses: Statuses) -> None:
    assert statuses([said("rule", 10, "A", **RULE), said("seen", 10, "B")], 11) == {"A": "active", "B": "revoked"}


def test_when_the_newer_instruction_expires_the_older_is_in_force_again(said: Said, statuses: Statuses) -> None:
    told = [said("rule", 1, "A", **RULE), said("campaign", 5, "B", until=10, **RULE)]

    assert statuses(told, 9) == {"A": "revoked", "B": "active"}
    assert statuses(told, 10) == {"A": "active", "B": "revoked"}


def test_an_origin_that_instructed_for_a_while_is_held_to_its_earlier_rule_afterwards(
    said: Said, statuses: Statuses
) -> None:
    told = [
        said("rule", 1, "A", origin="handbook", **RULE),
        said("campaign", 5, "B", origin="handbook", until=10, **RULE),
    ]

    assert statuses(told, 9) == {"A": "revoked", "B": "active"}
    assert statuses(told, 11) == {"A": "active", "B": "revoked"}


def test_an_expired_instruction_alone_is_stale(said: Said, believed: Believed) -> None:
    held = believed([said("campaign", 5, "B", until=10, **RULE)], 10)

    assert (held["B"].status, held["B"].reason) == ("stale", "expired")


def test_an_instruction_from_a_later_date_holds_from_that_date_on(said: Said, statuses: Statuses) -> None:
    told = [said("rule", 1, "A", **RULE), said("reform", 20, "B", scheduled=True, **RULE)]

    assert statuses(told, 19) == {"A": "active"}
    assert statuses(told, 20) == {"A": "revoked", "B": "active"}


def test_an_instruction_does_not_decay(said: Said, believed: Believed) -> None:
    held = believed([said("rule", 0, "A", **RULE)], 20_000)["A"]

    assert held.status == "active"
    assert held.support[0].half_life is None


def test_whoever_may_not_instruct_is_heard_as_a_sighting(said: Said, believed: Believed) -> None:
    policy = Policy(authorities=(Authority(agent="intern", may_instruct=False),))
    told = [said("rule", 10, "A", agent="boss", **RULE), said("say", 20, "B", agent="intern", **RULE)]

    held = believed(told, 21, policy)

    assert {place: belief.status for place, belief in held.items()} == {"A": "contested", "B": "contested"}
    assert held["B"].support[0].half_life is not None
    assert believed(told, 120, policy)["A"].status == "active"


def test_authority_decides_between_instructions_of_one_moment(said: Said, statuses: Statuses) -> None:
    policy = Policy(authorities=(Authority(agent="boss", rank=1),))
    told = [said("1", 10, "A", agent="boss", **RULE), said("2", 10, "B", agent="clerk", **RULE)]

    assert statuses(told, 11, policy) == {"A": "active", "B": "revoked"}


def test_a_refutation_with_authority_ends_an_instruction_and_one_without_contests_it(
    said: Said, believed: Believed
) -> None:
    rule = said("rule", 10, "A", **RULE)

    refuted = believed([rule, said("no", 20, "A", stance="refutes", **RULE)], 21)["A"]
    doubted = believed([rule, said("hm", 20, "A", stance="refutes")], 21)["A"]

    assert (refuted.status, refuted.reason, refuted.by) == ("revoked", "refuted", "no")
    assert doubted.status == "contested"


def test_an_instruction_that_was_itself_refuted_does_not_keep_the_older_down(said: Said, statuses: Statuses) -> None:
    told = [
        said("a", 1, "A", **RULE),
        said("b", 2, "B", **RULE),
        said("not b", 3, "B", stance="refutes", **RULE),
    ]

    assert statuses(told, 4) == {"A": "active", "B": "revoked"}
