"""A belief that two different people mark wrong does not lead any more, whatever stands behind it."""

from collections.abc import Callable
from typing import Any

from schemas.evidence import Evidence
from schemas.policy import Authority, Policy

Said = Callable[..., Evidence]
Statuses = Callable[..., dict[str, str]]


def wrong(said: Said, id: str, day: float, agent: str, **more: Any) -> Evidence:
    origin = more.pop("origin", agent)
    return said(id, day, "A", stance="refutes", source_type="feedback", agent=agent, origin=origin, **more)


def many(said: Said) -> list[Evidence]:
    return [said(f"s{place}", 1, "A", weight=9.0) for place in range(5)]


def test_one_person_cannot_topple_what_much_evidence_supports(said: Said, statuses: Statuses) -> None:
    twice = [wrong(said, "w1", 2, "ana", origin="mail"), wrong(said, "w2", 3, "Ana", origin="chat")]
    unnamed = [wrong(said, "w3", 2, "", origin="x"), wrong(said, "w4", 2, "", origin="y")]
    one_origin = [wrong(said, "w5", 2, "ana", origin="mail"), wrong(said, "w6", 3, "ben", origin="mail")]

    for marks in (twice, unnamed, one_origin):
        assert statuses([*many(said), *marks], 4) == {"A": "active"}


def test_two_people_do(said: Said, statuses: Statuses) -> None:
    marks = [wrong(said, "w1", 2, "ana"), wrong(said, "w2", 3, "ben")]

    assert statuses([*many(said), *marks], 4) == {"A": "revoked"}


def test_the_next_best_value_leads_in_its_place(said: Said, statuses: Statuses) -> None:
    marks = [wrong(said, "w1", 2, "ana"), wrong(said, "w2", 3, "ben")]

    assert statuses([*many(said), said("b", 1, "B"), *marks], 4) == {"A": "revoked", "B": "contested"}


def test_who_supports_it_afterwards_lets_it_lead_again(said: Said, statuses: Statuses) -> None:
    marks = [wrong(said, "w1", 2, "ana"), wrong(said, "w2", 3, "ben")]

    assert statuses([*many(said), *marks, said("again", 3.5, "A")], 4) == {"A": "active"}
    assert statuses([*many(said), *marks, said("between", 2.5, "A")], 4) == {"A": "active"}


def test_an_instruction_yields_to_two_who_may_instruct_and_to_nobody_else(said: Said, statuses: Statuses) -> None:
    order = said("i", 1, "A", kind="instruction", agent="boss")
    marks = [wrong(said, "w1", 2, "ana"), wrong(said, "w2", 3, "ben")]
    only_boss = Policy(authorities=(Authority(agent="boss"), Authority(may_instruct=False)))

    assert statuses([order, *marks], 4) == {"A": "revoked"}
    assert statuses([order, *marks], 4, only_boss) == {"A": "contested"}
