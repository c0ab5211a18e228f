"""How a graph store fences writers: versions, refused decisions, writers at the same time."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import msgspec
import pytest

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import Entity
from schemas.errors import InvalidInput, VersionConflict
from schemas.evidence import Evidence
from schemas.slot import Decision
from stores.ports import GraphStore

Append = Callable[[GraphStore, int], None]


# Versions


def test_a_slot_is_created_once(
    graph_store: GraphStore, belief: Callable[..., Belief], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision(keeps=(belief("b1"),))])

    with pytest.raises(VersionConflict) as raised:
        graph_store.apply([decision(keeps=(belief("b2"),))])

    assert raised.value.slots == ("s1",)
    assert [each.id for each in graph_store.slots("acme", ["s1"])["s1"].beliefs] == ["b1"]


def test_an_absent_slot_is_not_at_any_version(graph_store: GraphStore, decision: Callable[..., Decision]) -> None:
    with pytest.raises(VersionConflict):
        graph_store.apply([decision(expected=3)])

    assert graph_store.banks() == []


def test_a_conflict_names_every_such_slot_and_writes_nothing(
    graph_store: GraphStore,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    graph_store.apply([decision("s1"), decision("s2"), decision("s3", adds=(evidence("e3", "s3"),))])
    before = graph_store.counts("acme")

    with pytest.raises(VersionConflict) as raised:
        graph_store.apply(
            [
                decision("s1", keeps=(belief("b1"),), adds=(evidence("e1"),), edges=(Edge("n", "mentions", "b1"),)),
                decision(
                    "s3", expected=1, adds=(evidence("e4", "s3", mentions=(Entity("Nobody"),)),), aliases={"x": "y"}
                ),
                decision("s2", expected=5),
                decision("s4", bank="other"),
            ]
        )

    assert sorted(raised.value.slots) == ["s1", "s2"]
    assert graph_store.counts("acme") == before
    assert graph_store.slots("acme", ["s3"])["s3"].version == 1
    assert graph_store.evidence("acme", ["e1", "e4"]) == {}
    assert graph_store.neighbours("acme", ["n"], 5) == []
    assert graph_store.entities("acme", ["Nobody"]) == []
    assert graph_store.banks() == ["acme"]


def test_a_slot_moves_on_by_one_version(graph_store: GraphStore, decision: Callable[..., Decision]) -> None:
    graph_store.apply([decision()])
    graph_store.apply([decision(expected=1)])
    graph_store.apply([decision(expected=2)])

    assert graph_store.slots("acme", ["s1"])["s1"].version == 3


@pytest.mark.parametrize(
    "flaw", ["slot twice", "version jump", "evidence's bank", "evidence's slot", "belief's bank", "belief's slot"]
)
def test_a_decision_whose_parts_do_not_fit_is_refused(
    graph_store: GraphStore,
    flaw: str,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    wrong = {
        "slot twice": [decision(), decision()],
        "version jump": [msgspec.structs.replace(decision(), expected_version=4)],
        "evidence's bank": [decision(adds=(evidence("e1", bank="other"),))],
        "evidence's slot": [decision(adds=(evidence("e1", slot="s2"),))],
        "belief's bank": [decision(keeps=(belief("b1", bank="other"),))],
        "belief's slot": [decision(keeps=(belief("b1", slot="s2"),))],
    }

    with pytest.raises(InvalidInput):
        graph_store.apply(wrong[flaw])

    assert graph_store.banks() == []


# Writers at the same time


@pytest.fixture
def append(evidence: Callable[..., Evidence], decision: Callable[..., Decision]) -> Append:
    """Reads, decides and writes one piece of evidence, again after each conflict."""

    def write(store: GraphStore, number: int) -> None:
        for _ in range(1000):
            stored = store.load_slots("acme", ["s1"]).get("s1")
            version = stored.slot.version if stored else 0
            with suppress(VersionConflict):
                store.apply([decision(expected=version, adds=(evidence(f"e{number:02}"),))])
                return
        raise AssertionError("never got its turn")

    return write


def test_of_two_threads_at_one_version_exactly_one_succeeds(
    graph_store: GraphStore, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    graph_store.apply([decision()])
    together = threading.Barrier(2)

    def attempt(number: int) -> str:
        together.wait()
        try:
            graph_store.apply([decision(expected=1, adds=(evidence(f"e{number}"),))])
        except VersionConflict:
            return "lost"
        return "won"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(attempt, range(2))) == ["lost", "won"]

    stored = graph_store.load_slots("acme", ["s1"])["s1"]
    assert stored.slot.version == 2
    assert len(stored.evidence) == 1


def test_thirty_two_writers_of_one_slot_lose_nothing(reopen_graph: Callable[[], GraphStore], append: Append) -> None:
    stores = [reopen_graph() for _ in range(4)]

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda number: append(stores[number % 4], number), range(32)))

    stored = stores[0].load_slots("acme", ["s1"])["s1"]
    assert [each.id for each in stored.evidence] == [f"e{number:02}" for number in range(32)]
    assert stored.slot.version == 32


def test_readers_see_a_slot_and_its_evidence_of_one_moment(graph_store: GraphStore, append: Append) -> None:
    done = threading.Event()

    def watch() -> int:
        reads = 0
        while not done.is_set() or reads == 0:
            stored = graph_store.load_slots("acme", ["s1"]).get("s1")
            if stored:
                reads += 1
                assert len(stored.evidence) == stored.slot.version
        return reads

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        for number in range(100):
            append(graph_store, number)
        done.set()
        assert watching.result() > 0
