"""Explanations: every term of a confidence, every piece of evidence, and why one does not count (G13)."""

from collections.abc import Callable

import pytest

from beliefs.explain import explain, explain_slot
from beliefs.resolve import resolve
from schemas.answer import Explanation
from schemas.errors import NotFound
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY, Authority, Policy, Reliability

Said = Callable[..., Evidence]


def account(evidence: list[Evidence], value: str, day: int, policy: Policy = DEFAULT_POLICY) -> Explanation:
    slot = resolve(evidence, policy, day * DAY)
    (belief,) = [belief for belief in slot.beliefs if belief.value == value]
    return explain(evidence, belief.id, policy, day * DAY)


def test_each_term_is_factor_times_weight_times_reliability_times_decay(said: Said) -> None:
    policy = Policy(reliabilities=(Reliability("b", "template", 0.5),))
    told = [said("a", 1, "A", weight=3.0), said("b", 31, "A", weight=2.0), said("c", 31, "B", weight=1.0)]

    terms = account(told, "A", 31, policy)

    assert [(t.evidence.id, t.factor, t.weight, t.reliability, t.decay, t.log_odds) for t in terms.contributions] == [
        ("a", 1.0, 3.0, 1.0, 0.5, 1.5),
        ("b", 1.0, 2.0, 0.5, 1.0, 1.0),
        ("c", 1.0, 1.0, 1.0, 1.0, -1.0),
    ]
    assert (terms.support, terms.refutation) == (2.5, 1.0)
    assert terms.confidence == pytest.approx(0.8176, abs=1e-4)
    assert [t.note for t in terms.contributions] == ["", "", "a rival of the same time"]


def test_a_later_rival_is_named_as_one(said: Said) -> None:
    terms = account([said("a", 1, "A"), said("b", 2, "B")], "A", 2)

    assert [(t.evidence.id, t.stance, t.factor, t.note) for t in terms.contributions] == [
        ("b", "refutes", 1.5, "a later rival"),
        ("a", "supports", 1.0, ""),
    ]


def test_what_does_not_count_says_why(said: Said) -> None:
    told = [
        said("1 echo", 3, "A", source_type="recall"),
        said("2 retracted", 1, "A"),
        said("3 off", 2, None, stance="retracts"),
        said("4 outspoken", 3, "A", origin="wiki"),
        said("5 counts", 4, "A", origin="wiki"),
        said("6 expired", 4, "A", until=5),
        said("7 no more", 4, "A", stance="refutes", until=5),
    ]

    terms = account(told, "A", 10)

    assert {t.evidence.id: (t.counted, t.log_odds == 0.0, t.note) for t in terms.contributions} == {
        "1 echo": (False, True, "our own recall, told again"),
        "2 retracted": (False, True, "retracted"),
        "4 outspoken": (False, True, "the same origin spoke again later"),
        "5 counts": (True, False, ""),
        "6 expired": (False, True, "expired"),
        "7 no more": (False, True, "expired"),
    }


def test_every_word_for_or_against_a_belief_appears_exactly_once(said: Said) -> None:
    told = [
        said("a", 1, "A"),
        said("b", 2, "A", kind="instruction"),
        said("c", 3, "A", stance="refutes"),
        said("d", 4, "B"),
        said("e", 4, "A", {"region": "EU"}),
        said("f", 5, None, stance="refutes"),
    ]

    slot = resolve(told, DEFAULT_POLICY, 6 * DAY)
    wide = next(belief for belief in slot.beliefs if belief.value == "A" and not belief.scope)
    (terms,) = explain_slot(told, slot, [wide.id], DEFAULT_POLICY, 6 * DAY)

    assert sorted(t.evidence.id for t in terms.contributions) == ["a", "b", "c", "d", "f"]
    assert {t.evidence.id: t.kind for t in terms.contributions}["b"] == "instruction"


def test_a_retraction_that_only_speaks_against_what_came_before_it_says_so(said: Said) -> None:
    policy = Policy(authorities=(Authority(agent="intern", may_instruct=False),))
    told = [said("off", 1, "A", agent="intern", stance="retracts"), said("a", 2, "A", agent="boss")]

    terms = account(told, "A", 3, policy)

    assert [(t.evidence.id, t.counted, t.note) for t in terms.contributions] == [
        ("a", True, ""),
        ("off", False, "it speaks against what came before it only"),
    ]


def test_an_unknown_belief_is_said_to_be_unknown(said: Said) -> None:
    with pytest.raises(NotFound, match="b404"):
        explain([said("a", 1, "A")], "b404", DEFAULT_POLICY, DAY)
