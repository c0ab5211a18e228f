"""Retraction: what it covers ends from its time on, what comes later counts again (design 3.4; field case 6)."""

from collections.abc import Callable

from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import Authority, Policy

Said = Callable[..., Evidence]
Statuses = Callable[..., dict[str, str]]
Believed = Callable[..., dict[str, Belief]]

RULE = {"kind": "instruction"}
GONE = {"stance": "retracts"}


def test_a_setting_that_was_removed_is_not_on_any_more_and_was_on_the_day_before(
    said: Said, believed: Believed
) -> None:
    told = [said("on", 1, "on"), said("removed", 2, None, **GONE)]

    now = believed(told, 3)["on"]
    then = believed([piece for piece in told if piece.effective_at <= 1 * DAY], 1)["on"]

    assert (now.status, now.reason, now.by, now.supports) == ("revoked", "retracted", "removed", 0)
    assert then.status == "active"


def test_what_is_told_again_after_a_retraction_counts_again(said: Said, believed: Believed) -> None:
    held = believed([said("a", 1, "A"), said("off", 2, None, **GONE), said("b", 3, "A")], 4)["A"]

    assert (held.status, held.supports, held.first_support) == ("active", 1, 3 * DAY)


def test_a_retraction_ends_nothing_of_its_own_moment(said: Said, statuses: Statuses) -> None:
    assert statuses([said("a", 2, "A"), said("off", 2, None, **GONE)], 3) == {"A": "active"}


def test_a_retraction_of_one_value_leaves_the_others(said: Said, statuses: Statuses) -> None:
    told = [said("a", 1, "A"), said("b", 2, "B"), said("off", 3, "b ", **GONE)]

    assert statuses(told, 4) == {"A": "active", "B": "revoked"}


def test_a_retraction_ends_its_own_scope_and_narrower_ones_and_the_wider_applies_again(
    said: Said, believed: Believed
) -> None:
    told = [
        said("wide", 1, "A"),
        said("eu", 2, "B", {"region": "EU"}),
        said("eu fin", 2.5, "C", {"region": "EU", "report": "financial"}),
    ]
    before = believed(told, 4)
    after = believed([*told, said("off", 3, None, {"region": "EU"}, **GONE)], 4)

    assert len(before["A"].exceptions) == 2
    assert {place: belief.status for place, belief in after.items()} == {
        "A": "active",
        "B region=EU": "revoked",
        "C region=EU report=financial": "revoked",
    }
    assert after["A"].exceptions == ()


def test_a_retraction_of_a_narrower_scope_leaves_the_wider_belief(said: Said, statuses: Statuses) -> None:
    assert statuses([said("a", 1, "A"), said("off", 2, None, {"region": "EU"}, **GONE)], 3) == {"A": "active"}


def test_a_retraction_of_everything_ends_every_scope(said: Said, statuses: Statuses) -> None:
    told = [said("a", 1, "A"), said("b", 2, "B", {"region": "EU"}), said("off", 3, None, **GONE)]

    assert statuses(told, 4) == {"A": "revoked", "B region=EU": "revoked"}


def test_a_retraction_of_a_later_date_ends_it_on_that_date(said: Said, statuses: Statuses) -> None:
    told = [said("a", 1, "A"), said("off", 5, None, scheduled=True, **GONE)]

    assert statuses(told, 4) == {"A": "active"}
    assert statuses(told, 5) == {"A": "revoked"}


def test_an_expired_retraction_retracts_no_more(said: Said, statuses: Statuses) -> None:
    told = [said("a", 1, "A"), said("pause", 2, None, until=5, **GONE)]

    assert statuses(told, 4) == {"A": "revoked"}
    assert statuses(told, 5) == {"A": "active"}


def test_an_instruction_ends_only_by_an_instruction_and_is_contested_by_a_sighting(
    said: Said, statuses: Statuses
) -> None:
    rule = said("rule", 1, "A", **RULE)

    assert statuses([rule, said("off", 2, None, **GONE, **RULE)], 3) == {"A": "revoked"}
    assert statuses([rule, said("off", 2, None, **GONE)], 3) == {"A": "contested"}
    assert statuses([rule, said("off", 2, None, **GONE)], 90) == {"A": "active"}


def test_whoever_may_not_instruct_cannot_retract(said: Said, believed: Believed) -> None:
    policy = Policy(authorities=(Authority(agent="intern", may_instruct=False),))
    off = said("off", 20, None, agent="intern", **GONE, **RULE)

    ruled = believed([said("rule", 10, "A", **RULE), off], 21, policy)["A"]
    seen = believed([said("seen", 10, "A", weight=3.0), off], 21, policy)["A"]

    assert (ruled.status, ruled.supports) == ("contested", 1)
    assert (seen.status, seen.supports, seen.refutes) == ("active", 1, 1)


def test_a_retraction_without_authority_does_not_speak_against_what_is_told_later(
    said: Said, believed: Believed
) -> None:
    policy = Policy(authorities=(Authority(agent="intern", may_instruct=False),))
    told = [said("off", 10, "A", agent="intern", **GONE), said("seen", 20, "A", agent="boss")]

    held = believed(told, 20, policy)["A"]

    assert (held.status, held.refutes) == ("active", 0)


def test_our_own_recall_told_again_retracts_nothing(said: Said, statuses: Statuses) -> None:
    assert statuses([said("a", 1, "A"), said("echo", 2, None, source_type="recall", **GONE)], 3) == {"A": "active"}


def test_a_free_statement_is_retracted_too(said: Said, believed: Believed) -> None:
    free = {"attribute": None, "statement": "Mei moved to Porto."}

    held = believed([said("a", 1, None, **free), said("off", 2, None, **free, **GONE)], 3)["None"]

    assert (held.status, held.reason) == ("revoked", "retracted")
