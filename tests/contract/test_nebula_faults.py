"""What NebulaGraph's failures leave: every request may fail in every way, and a repeat completes what was begun."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from graph_faults import Fault

from schemas.belief import Belief
from schemas.edge import Edge
from schemas.entity import Entity
from schemas.errors import InvalidInput, StoreUnavailable, VersionConflict
from schemas.evidence import Evidence
from schemas.slot import Decision, StoredSlot
from stores.nebula.claim import Claims
from stores.nebula.fetch import read_heads
from stores.nebula.graph import NebulaGraph
from stores.nebula.plan import Wanted

pytestmark = pytest.mark.nebula

READ, CLAIM = "FETCH PROP ON `slot`", "UPSERT VERTEX ON `slot`"
EVIDENCE, COMMIT = "INSERT VERTEX `evidence`", "UPDATE VERTEX ON `slot`"
ONCE = [
    Fault.CUT,
    Fault.LEADER_CHANGED,
    Fault.BUSY,
    Fault.SESSION_INVALID,
    Fault.HALF,
    Fault.REPLY_LOST,
    Fault.TOO_LATE,
]
STEPS = {"read": READ, "claim": CLAIM, "write": EVIDENCE, "commit": COMMIT}
Opener = Callable[..., NebulaGraph]


@pytest.fixture
def second(
    belief: Callable[..., Belief], evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> Decision:
    """What is written to s1 when it is at version 1: b2 instead of b1, e2 with a name of its own, another edge."""
    return decision(
        expected=1,
        keeps=(belief("b2", version=2),),
        adds=(evidence("e2", observation="o2", mentions=(Entity("Second"),)),),
        aliases={"b1": "b2"},
        edges=(Edge("n", "mentions", "b2"),),
    )


@pytest.fixture
def first(
    belief: Callable[..., Belief], evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> Decision:
    """What makes s1: b1, e1 and an edge."""
    return decision(keeps=(belief("b1"),), adds=(evidence("e1"),), edges=(Edge("n", "mentions", "b1"),))


def assert_second(store: NebulaGraph, second: Decision) -> None:
    """Everything that the second decision says is there, once, and nothing of what it replaced."""
    stored = store.load_slots("acme", ["s1"])["s1"]
    assert stored.slot == second.slot
    assert [each.id for each in stored.evidence] == ["e1", "e2"]
    assert store.beliefs("acme", ["b1", "b2"]) == {"b1": second.slot.beliefs[0], "b2": second.slot.beliefs[0]}
    assert store.neighbours("acme", ["n"], 9) == [Edge("n", "mentions", "b2")]
    assert [each.id for each in store.evidence_of_observations("acme", ["o2"])] == ["e2"]
    assert [entity.name for _, entity in store.entities("acme", ["second"])] == ["Second"]
    assert store.unindexed(9) == [("acme", "b2")]
    counts = store.counts("acme")
    assert (counts["slots"], counts["beliefs"], counts["evidence"]) == (1, 1, 2)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", ONCE, ids=lambda fault: fault.name.lower())
def test_one_failure_of_any_request_is_made_good(
    graphd: Any, opener: Opener, first: Decision, second: Decision, fault: Fault, step: str
) -> None:
    store = opener()
    store.apply([first])
    graphd.fail_next(STEPS[step], fault)

    store.apply([second])

    assert graphd.faults.waiting() == 0
    assert_second(store, second)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "fault", [Fault.CUT, Fault.LEADER_CHANGED, Fault.HALF, Fault.REPLY_LOST], ids=lambda fault: fault.name.lower()
)
def test_what_a_lasting_failure_leaves_is_completed_by_a_repeat_or_else_by_the_next_write(
    graphd: Any, opener: Opener, first: Decision, second: Decision, fault: Fault, step: str
) -> None:
    store = opener(timeout=0.2)
    store.apply([first])
    graphd.fail_next(STEPS[step], fault, times=1000)
    with pytest.raises(StoreUnavailable):
        store.apply([second])
    graphd.faults.clear()

    try:
        store.apply([second])
    except VersionConflict:  # it had been committed; only the reply never came
        assert step == "commit"
        assert store.slots("acme", ["s1"])["s1"] == second.slot
        second = one_later(second)
        store.apply([second])

    assert_second(store, second)


def test_nobody_sees_what_a_dead_writer_left_and_the_next_one_removes_it(
    graphd: Any,
    opener: Opener,
    first: Decision,
    second: Decision,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    dead, alive = opener(timeout=0.2), opener(claim_timeout=0.2)
    dead.apply([first])
    graphd.fail_next(COMMIT, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        dead.apply([second])
    graphd.faults.clear()
    assert alive.load_slots("acme", ["s1"]) == {"s1": StoredSlot(first.slot, first.evidence)}
    assert alive.beliefs("acme", ["b2"]) == {}
    assert alive.unindexed(9) == [("acme", "b1")]

    third = decision(expected=1, keeps=(belief("b1"), belief("b3", version=2)), adds=(evidence("e3"),))
    alive.apply([third])

    stored = alive.load_slots("acme", ["s1"])["s1"]
    assert (stored.slot, [each.id for each in stored.evidence]) == (third.slot, ["e1", "e3"])
    assert alive.evidence("acme", ["e2"]) == {}
    assert alive.evidence_of_observations("acme", ["o2"]) == []
    assert alive.neighbours("acme", ["n"], 9) == []
    assert alive.counts("acme")["beliefs"] == 2


def test_evidence_that_a_dead_writer_left_is_written_when_the_stream_brings_it_again(
    graphd: Any,
    opener: Opener,
    first: Decision,
    second: Decision,
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
) -> None:
    dead, alive = opener(timeout=0.2), opener(claim_timeout=0.2)
    dead.apply([first])
    graphd.fail_next(COMMIT, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        dead.apply([second])
    graphd.faults.clear()

    alive.apply([decision(expected=1, keeps=first.slot.beliefs, changed=(), adds=(evidence("e3"),))])
    alive.apply([decision(expected=2, keeps=first.slot.beliefs, changed=(), adds=second.evidence)])

    assert [each.id for each in alive.load_slots("acme", ["s1"])["s1"].evidence] == ["e1", "e2", "e3"]
    assert [each.id for each in alive.evidence_of_observations("acme", ["o2"])] == ["e2"]


def test_a_writer_that_was_taken_for_dead_changes_no_view_when_it_wakes_and_can_repeat(
    graphd: Any, opener: Opener, first: Decision, second: Decision, decision: Callable[..., Decision]
) -> None:
    sleeper, other = opener(timeout=2.0), opener(claim_timeout=0.1)
    sleeper.apply([first])
    graphd.fail_next(EVIDENCE, Fault.TOO_LATE)  # it waits for a reply for two seconds, its claim on

    with ThreadPoolExecutor(1) as pool:
        sleeping = pool.submit(sleeper.apply, [second])
        wait_for(lambda: not graphd.faults.waiting())
        other.apply([decision(expected=1, keeps=first.slot.beliefs, changed=())])
        with pytest.raises(VersionConflict):
            sleeping.result()

    assert other.slots("acme", ["s1"])["s1"].beliefs == first.slot.beliefs
    late = one_later(second)
    sleeper.apply([late])
    assert_second(other, late)


def one_later(decision: Decision) -> Decision:
    """The same decision about the slot's next version."""
    slot = msgspec.structs.replace(decision.slot, version=decision.slot.version + 1)
    return msgspec.structs.replace(decision, slot=slot, expected_version=slot.version - 1)


def wait_for(is_so: Callable[[], bool]) -> None:
    """Ask until it is so; the test fails by its time limit if it never is."""
    while not is_so():
        time.sleep(0.005)


def test_a_belief_that_vanishes_while_it_is_marked_is_passed_over(
    graphd: Any, opener: Opener, first: Decision, second: Decision
) -> None:
    store = opener()
    store.apply([first])
    store.apply([second])

    store.mark_indexed("acme", {"b1": 1, "b2": 2})

    assert store.unindexed(9) == []


def test_an_erasure_that_was_cut_short_is_completed_by_a_repeat(
    graphd: Any, opener: Opener, first: Decision, second: Decision
) -> None:
    store = opener(timeout=0.2)
    store.apply([first])
    store.apply([second])
    graphd.fail_next("DELETE EDGE", Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        store.erase("acme", ["s1"])
    graphd.faults.clear()
    assert store.load_slots("acme", ["s1"]) == {}

    store.erase("acme", ["s1"])

    assert store.evidence("acme", ["e1", "e2"]) == {}
    assert store.evidence_of_observations("acme", ["o1", "o2"]) == []
    assert store.neighbours("acme", ["n"], 9) == []
    assert set(store.counts("acme").values()) == {0}


def test_an_erasure_that_died_before_the_slot_was_taken_down_loses_nothing(
    graphd: Any, opener: Opener, first: Decision, second: Decision
) -> None:
    dead, alive = opener(timeout=0.2), opener(claim_timeout=0.2)
    dead.apply([first])
    graphd.fail_next(COMMIT, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        dead.erase("acme", ["s1"])
    graphd.faults.clear()

    alive.apply([second])

    assert_second(alive, second)


def test_a_belief_that_a_dead_writer_was_changing_is_still_indexed_as_it_is(
    graphd: Any,
    opener: Opener,
    first: Decision,
    belief: Callable[..., Belief],
    decision: Callable[..., Decision],
) -> None:
    dead, alive = opener(timeout=0.2), opener(claim_timeout=0.2)
    dead.apply([first])
    graphd.fail_next(COMMIT, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        dead.apply([decision(expected=1, keeps=(belief("b1", version=2),))])
    graphd.faults.clear()
    assert alive.unindexed(9) == []

    alive.apply([decision(expected=1, keeps=first.slot.beliefs, changed=())])

    assert alive.unindexed(9) == [("acme", "b1")]
    alive.mark_indexed("acme", {"b1": 1})
    assert alive.unindexed(9) == []


def test_a_claim_on_what_somebody_began_and_gave_up_meanwhile_is_refused(
    graphd: Any, opener: Opener, first: Decision, second: Decision
) -> None:
    store = opener(timeout=0.2)
    store.apply([first])
    stale = read_heads(store.sessions, [("acme", "s1")])
    graphd.fail_next(EVIDENCE, Fault.CUT, times=1000)
    with pytest.raises(StoreUnavailable):
        store.apply([second])
    graphd.faults.clear()
    fresh = read_heads(store.sessions, [("acme", "s1")])
    looks = iter([stale, fresh])

    claims = Claims(store.sessions)
    with claims.token() as token:
        (held,) = claims.hold(token, lambda: next(looks), lambda heads: [Wanted(head=heads[0], intent=heads[0].loose)])

    assert held.head == fresh[0]
    assert held.head.loose.evidence == ("e2",)


def test_a_text_that_cannot_be_kept_is_refused_before_anything_is_written(
    graphd: Any, opener: Opener, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    store = opener()

    with pytest.raises(InvalidInput, match="evidence: holds a NUL character"):
        store.apply([decision(adds=(evidence("e1", statement="a\x00b"),)), decision("s2")])

    assert store.banks() == []
    assert store.load_slots("acme", ["s1", "s2"]) == {}
    store.apply([decision(adds=(evidence("e1"),))])


REMOVAL = {"claim": CLAIM, "commit": COMMIT, "evidence": "DELETE TAG `evidence`", "edges": "DELETE EDGE `holds`"}


@pytest.mark.parametrize("step", REMOVAL)
@pytest.mark.parametrize("fault", ONCE, ids=lambda fault: fault.name.lower())
def test_a_removal_in_which_one_request_fails_is_made_good(
    graphd: Any,
    opener: Opener,
    belief: Callable[..., Belief],
    evidence: Callable[..., Evidence],
    decision: Callable[..., Decision],
    fault: Fault,
    step: str,
) -> None:
    store = opener()
    two = (evidence("e1", observation="o1"), evidence("e2", observation="o2"))
    store.apply([decision(adds=two), decision("s2", adds=(evidence("e3", "s2", observation="o3"),))])
    graphd.fail_next(REMOVAL[step], fault)

    store.apply([decision(expected=1, removes=("e1",)), decision("s2", expected=1, removes=("e3",), ends=True)])

    assert graphd.faults.waiting() == 0
    stored = store.load_slots("acme", ["s1", "s2"])
    assert {id: [piece.id for piece in slot.evidence] for id, slot in stored.items()} == {"s1": ["e2"]}
    assert store.evidence("acme", ["e1", "e3"]) == {}
    assert store.evidence_of_observations("acme", ["o1", "o3"]) == []


def test_evidence_whose_removal_was_cut_short_is_not_the_slots_and_goes_with_the_next_write(
    graphd: Any, opener: Opener, evidence: Callable[..., Evidence], decision: Callable[..., Decision]
) -> None:
    store = opener(claim_timeout=0.1)
    two = (evidence("e1", observation="o1"), evidence("e2", observation="o2"))
    store.apply([decision(adds=two)])
    for _ in range(20):
        graphd.fail_next("DELETE TAG `evidence`", Fault.CUT)

    store.apply([decision(expected=1, removes=("e1",))])

    cut_short = store.load_slots("acme", ["s1"])["s1"]
    assert [piece.id for piece in cut_short.evidence] == ["e2"]
    assert list(store.evidence("acme", ["e1"])) == ["e1"]
    graphd.faults.clear()
    store.apply([decision(expected=2, removes=("e1",))])
    assert store.evidence("acme", ["e1"]) == {}
    assert store.evidence_of_observations("acme", ["o1"]) == []
