"""A slot from which evidence was removed is the slot of one who never heard it."""

from hypothesis import given
from hypothesis import strategies as st

from beliefs.amend import amend
from beliefs.revise import fingerprint, revise, view
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import Policy

EVIDENCE = st.lists(st.from_type(Evidence), min_size=1, max_size=9, unique_by=lambda piece: piece.id)
NOW = st.integers(0, 400).map(lambda day: day * DAY)


@given(EVIDENCE, st.from_type(Policy), NOW, st.data())
def test_a_slot_without_some_evidence_is_as_if_it_had_never_been_told(
    evidence: list[Evidence], policy: Policy, now: int, data: st.DataObject
) -> None:
    before = revise(None, evidence, policy, data.draw(NOW)).stored
    removed = data.draw(st.lists(st.sampled_from([piece.id for piece in evidence]), min_size=1, unique=True))
    left = [piece for piece in evidence if piece.id not in removed]

    revision = amend(before, removed, (), policy, now)

    assert revision is not None
    assert revision.decision is not None
    assert set(revision.decision.removed) == set(removed)
    assert revision.decision.ends == (not left)
    assert revision.change.removed == len(removed)
    if left:
        assert fingerprint(revision.stored.slot) == fingerprint(view(left, policy, now))
        again = amend(revision.stored, removed, (), policy, now)
        assert again is not None
        assert again.decision is None
    gone = {belief.id for belief in before.slot.beliefs} - {belief.id for belief in revision.stored.slot.beliefs}
    assert gone <= set(revision.change.gone)


@given(EVIDENCE, EVIDENCE, st.from_type(Policy), NOW)
def test_evidence_may_take_the_place_of_other(
    evidence: list[Evidence], other: list[Evidence], policy: Policy, now: int
) -> None:
    before = revise(None, evidence, policy, now).stored

    revision = amend(before, [piece.id for piece in evidence], other, policy, now)

    assert revision is not None
    assert fingerprint(revision.stored.slot) == fingerprint(view(other, policy, now))
    assert not revision.decision or not revision.decision.ends


def test_where_there_is_no_slot_there_is_nothing_to_remove() -> None:
    assert amend(None, ["e1"], (), Policy(), 0) is None
