"""How the evidence of a session is read around a place in it."""

from collections.abc import Callable

import msgspec
import pytest

from schemas.evidence import Evidence
from schemas.slot import Decision
from stores.ports import GraphStore

MAY = 1_714_521_600_000_000


Talk = Callable[..., None]


@pytest.fixture
def talk(graph_store: GraphStore, decision: Callable[..., Decision]) -> Talk:
    """Writes evidence into the store."""
    return lambda *told: graph_store.apply([decision(adds=told)])


def last(store: GraphStore, places: int) -> list[str]:
    return [each.id for each in store.session("acme", "talk", places)]


def near(store: GraphStore, around: list[Evidence], reach: int) -> dict[str, list[str]]:
    found = store.windows("acme", around, reach)
    return {session: [each.id for each in window] for session, window in found.items()}


def test_a_session_is_read_around_a_turn(
    graph_store: GraphStore, evidence: Callable[..., Evidence], talk: Talk
) -> None:
    turns = [evidence(f"e{9 - i}", observation=f"o{i}", session="talk", turn=i, at=MAY - i) for i in range(10)]
    other = evidence("x", observation="ox", session="elsewhere", turn=4)
    talk(*turns, other, evidence("y", observation="oy"))

    assert near(graph_store, [turns[4]], 1) == {"talk": ["e6", "e5", "e4"]}
    assert near(graph_store, [turns[4]], 0) == {"talk": ["e5"]}
    assert near(graph_store, [turns[0]], 2) == {"talk": ["e9", "e8", "e7"]}
    assert near(graph_store, [turns[9], turns[1]], 1) == {"talk": ["e9", "e8", "e7", "e1", "e0"]}


def test_several_sessions_are_read_at_once_each_around_its_own(
    graph_store: GraphStore, evidence: Callable[..., Evidence], talk: Talk
) -> None:
    turns = [evidence(f"e{i}", observation=f"o{i}", session="talk", turn=i) for i in range(5)]
    others = [evidence(f"x{i}", observation=f"p{i}", session="elsewhere", turn=i) for i in range(5)]
    alone = evidence("y", observation="oy")
    untold = evidence("z", observation="oz", session="nowhere", turn=1)
    talk(*turns, *others, alone)

    assert near(graph_store, [turns[4], others[1], alone, untold], 1) == {
        "elsewhere": ["x0", "x1", "x2"],
        "talk": ["e3", "e4"],
    }
    assert near(graph_store, [msgspec.structs.replace(turns[2], session="elsewhere")], 1) == {}
    assert near(graph_store, [], 9) == {}
    assert graph_store.session("acme", "", 9) == []


def test_of_many_places_those_near_any_are_read_whether_the_session_is_short_or_long(
    graph_store: GraphStore, evidence: Callable[..., Evidence], talk: Talk
) -> None:
    turns = [
        evidence(f"e{turn:02}{part}", observation=f"o{turn}", session="talk", turn=turn)
        for turn in range(30)
        for part in "abc"
    ]
    talk(*turns)
    asked = [piece for piece in turns if piece.turn in (0, 9, 10, 29)]

    few = near(graph_store, asked[:1], 1)["talk"]
    many = near(graph_store, [*asked, *turns[:15]], 1)["talk"]

    assert few == [f"e{turn:02}{part}" for turn in (0, 1) for part in "abc"]
    assert many == [f"e{turn:02}{part}" for turn in (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 28, 29) for part in "abc"]


def test_the_last_places_of_a_session_are_read_in_order(
    graph_store: GraphStore, evidence: Callable[..., Evidence], talk: Talk
) -> None:
    talk(*(evidence(f"e{i}", observation=f"o{i}", session="talk", turn=i) for i in range(5)))

    assert last(graph_store, 2) == ["e3", "e4"]
    assert last(graph_store, 99) == ["e0", "e1", "e2", "e3", "e4"]
    assert last(graph_store, 0) == []


def test_evidence_without_a_turn_stands_by_effective_time_then_id(
    graph_store: GraphStore, evidence: Callable[..., Evidence], talk: Talk
) -> None:
    late = evidence("e1", observation="o1", session="talk", at=MAY + 2)
    early = evidence("e2", observation="o2", session="talk", at=MAY)
    same = evidence("e3", observation="o3", session="talk", at=MAY)
    talk(late, early, same)

    assert last(graph_store, 3) == ["e2", "e3", "e1"]
    assert near(graph_store, [early], 1)["talk"] == ["e2", "e3"]


def test_one_turn_is_ordered_by_effective_time_then_id(
    graph_store: GraphStore, evidence: Callable[..., Evidence], talk: Talk
) -> None:
    talk(
        evidence("e1", observation="o1", session="talk", turn=1, at=MAY + 1),
        evidence("e3", observation="o3", session="talk", turn=1, at=MAY),
        evidence("e2", observation="o2", session="talk", turn=1, at=MAY),
    )

    assert last(graph_store, 9) == ["e2", "e3", "e1"]


def test_evidence_of_one_observation_shares_a_place(
    graph_store: GraphStore, evidence: Callable[..., Evidence], talk: Talk
) -> None:
    a1, a2 = (evidence(f"a{i}", observation="oa", session="talk", at=MAY + i) for i in (1, 2))
    b1, b90 = (evidence(f"b{i}", observation="ob", session="talk", at=MAY + 10 + i) for i in (1, 90))
    c1 = evidence("c1", observation="oc", session="talk", at=MAY + 20)
    d1 = evidence("d1", observation="od", session="talk", at=MAY + 30)
    talk(a1, a2, b1, b90, c1, d1)

    assert near(graph_store, [c1], 1)["talk"] == ["b1", "c1", "d1", "b90"]
    assert near(graph_store, [b90], 1)["talk"] == ["a1", "a2", "b1", "c1", "b90"]
    assert last(graph_store, 1) == ["d1"]
