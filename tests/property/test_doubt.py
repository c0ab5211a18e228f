"""Marks of people who say that a belief is wrong count as a set, and what they topple is reviewed in time."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from beliefs.resolve import resolve
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR
from schemas.observation import Source
from schemas.policy import Policy
from schemas.wire import dump

NOW = st.integers(0, 400).map(lambda hour: hour * HOUR)


def marked_wrong(piece: Evidence) -> Evidence:
    source = Source(piece.agent, piece.agent, "feedback")
    return msgspec.structs.replace(piece, id="f" + piece.id, stance="refutes", source=source, kind="observation")


EVIDENCE = st.lists(st.from_type(Evidence), min_size=1, max_size=5, unique_by=lambda piece: piece.id)
MARKS = st.lists(st.from_type(Evidence).map(marked_wrong), max_size=5, unique_by=lambda piece: piece.id)


@given(EVIDENCE, MARKS, st.from_type(Policy), NOW, st.data())
def test_any_order_of_words_and_marks_gives_the_same_bytes(
    evidence: list[Evidence], marks: list[Evidence], policy: Policy, now: int, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations([*evidence, *marks]))

    assert dump(resolve(shuffled, policy, now)) == dump(resolve([*evidence, *marks], policy, now))


@given(EVIDENCE, MARKS, st.from_type(Policy), NOW)
def test_nothing_changes_before_the_time_of_review(
    evidence: list[Evidence], marks: list[Evidence], policy: Policy, now: int
) -> None:
    slot = resolve([*evidence, *marks], policy, now)
    later = now + 4_000 * DAY if slot.review_at is None else slot.review_at - 1

    after = {belief.id: belief.status for belief in resolve([*evidence, *marks], policy, later).beliefs}
    assert {belief.id: after[belief.id] for belief in slot.beliefs} == {b.id: b.status for b in slot.beliefs}
