"""`review_at` is the microsecond at which time alone next changes a status, not one earlier or later (design 3.3)."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from beliefs.resolve import resolve
from beliefs.revise import revise
from schemas.belief import Belief
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR
from schemas.policy import Policy
from schemas.slot import Slot

EVIDENCE = st.lists(st.from_type(Evidence), min_size=1, max_size=7, unique_by=lambda piece: piece.id)
NOW = st.integers(0, 400).map(lambda hour: hour * HOUR) | st.integers(0, 200).map(lambda day: day * DAY)
FAR = 50 * 365 * DAY
SHARES = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6)


def statuses(evidence: list[Evidence], policy: Policy, now: int) -> dict[str, object]:
    return {belief.id: (belief.status, belief.exceptions) for belief in resolve(evidence, policy, now).beliefs}


@given(EVIDENCE, st.from_type(Policy), NOW, SHARES)
def test_no_status_changes_before_the_review_and_one_does_at_it(
    evidence: list[Evidence], policy: Policy, now: int, shares: list[float]
) -> None:
    today = statuses(evidence, policy, now)
    review_at = resolve(evidence, policy, now).review_at

    last = now + FAR if review_at is None else review_at - 1
    assert review_at is None or review_at > now
    for share in (1.0, *shares, *(share**8 for share in shares)):
        assert statuses(evidence, policy, now + int((last - now) * share)) == today
    if review_at is not None:
        assert statuses(evidence, policy, review_at) != today or len(_dates(evidence, now)) >= 8


def _dates(evidence: list[Evidence], now: int) -> set[int]:
    times = {piece.effective_at for piece in evidence} | {piece.valid_until or 0 for piece in evidence}
    return {at for at in times if at > now}


@given(EVIDENCE, st.from_type(Policy), NOW)
def test_reviewing_when_due_keeps_a_stored_slot_as_fresh_as_resolving_it_anew(
    evidence: list[Evidence], policy: Policy, now: int
) -> None:
    shared = [msgspec.structs.replace(piece, visibility="bank") for piece in evidence]
    stored = revise(None, shared, policy, now).stored
    for _ in range(20):
        due = stored.slot.review_at
        if due is None:
            break
        stored = revise(stored, [], policy, due).stored
        assert stored.slot.review_at is None or stored.slot.review_at > due

    later = FAR if stored.slot.review_at is None else stored.slot.review_at - 1
    kept = {belief.id: (belief.status, belief.exceptions) for belief in stored.slot.beliefs}
    assert kept == statuses(shared, policy, max(later, now))


@given(EVIDENCE, st.from_type(Policy), NOW, SHARES)
def test_a_settled_slot_of_the_bank_is_until_its_review_what_resolving_it_anew_would_give(
    evidence: list[Evidence], policy: Policy, now: int, shares: list[float]
) -> None:
    shared = [msgspec.structs.replace(piece, visibility="bank") for piece in evidence]
    stored = revise(None, shared, policy, now).stored.slot
    if not stored.settled_by:
        return

    last = now + FAR if stored.review_at is None else stored.review_at - 1
    for share in (1.0, *shares, *(share**8 for share in shares)):
        assert _unversioned(stored) == _unversioned(resolve(shared, policy, now + int((last - now) * share)))


def _unversioned(slot: Slot) -> list[Belief]:
    return [msgspec.structs.replace(belief, version=0) for belief in slot.beliefs]
