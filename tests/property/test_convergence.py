"""The state of a slot depends on the set of its evidence, the policy and the time, and on nothing else (design 3.2)."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefs.access import public, visible
from beliefs.explain import explain_slot
from beliefs.resolve import resolve
from beliefs.revise import Revision, fingerprint, revise, view
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR
from schemas.policy import Policy
from schemas.query import Principal
from schemas.slot import StoredSlot
from schemas.wire import dump, load

EVIDENCE = st.lists(st.from_type(Evidence), min_size=1, max_size=9, unique_by=lambda piece: piece.id)
NOW = st.integers(0, 400).map(lambda hour: hour * HOUR) | st.integers(0, 400).map(lambda day: day * DAY)


@given(EVIDENCE, st.from_type(Policy), NOW, st.data())
def test_any_order_of_the_same_evidence_gives_the_same_bytes(
    evidence: list[Evidence], policy: Policy, now: int, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(evidence))

    assert dump(resolve(shuffled, policy, now)) == dump(resolve(evidence, policy, now))


@given(EVIDENCE, st.from_type(Policy), NOW, st.data())
def test_any_batches_duplicates_and_reviews_end_in_the_state_of_one_batch(
    evidence: list[Evidence], policy: Policy, now: int, data: st.DataObject
) -> None:
    repeats = [
        msgspec.structs.replace(piece, ingested_at=77)
        for piece in data.draw(st.lists(st.sampled_from(evidence), max_size=4))
    ]
    waiting = list(data.draw(st.permutations([*evidence, *repeats])))
    stored: StoredSlot | None = None
    while waiting:
        size = data.draw(st.integers(1, len(waiting)))
        batch, waiting = waiting[:size], waiting[size:]
        stored = _kept(revise(stored, batch, policy, data.draw(NOW)))
        if data.draw(st.booleans()):
            stored = _kept(revise(stored, [], policy, data.draw(NOW)))
    final = revise(stored, [], policy, now)

    assert fingerprint(final.stored.slot) == fingerprint(view(evidence, policy, now))
    assert fingerprint(final.stored.slot) == fingerprint(revise(None, evidence, policy, now).stored.slot)
    assert revise(_kept(final), evidence, policy, now).decision is None


def _kept(revision: Revision) -> StoredSlot:
    """The slot as it comes back from a store."""
    return StoredSlot(load(dump(revision.stored.slot), type(revision.stored.slot)), revision.stored.evidence)


@given(EVIDENCE, st.from_type(Policy), st.lists(NOW, min_size=2, max_size=4))
def test_versions_only_grow_and_what_did_not_change_keeps_its_version(
    evidence: list[Evidence], policy: Policy, nows: list[int]
) -> None:
    stored: StoredSlot | None = None
    for place, now in enumerate(nows):
        before = stored.slot if stored else None
        revision = revise(stored, evidence[place :: len(nows)] or evidence, policy, now)
        stored = revision.stored
        if revision.decision is None:
            assert before == stored.slot
            continue
        assert revision.decision.expected_version == (before.version if before else 0)
        assert stored.slot.version == revision.decision.expected_version + 1
        changed = {belief.id for belief in revision.decision.beliefs}
        former = {belief.id: belief for belief in before.beliefs} if before else {}
        for belief in stored.slot.beliefs:
            if belief.id in changed:
                assert belief.version == stored.slot.version
                assert belief.id not in former or former[belief.id].version < belief.version
            else:
                assert belief == former[belief.id]


@given(EVIDENCE, st.from_type(Policy), NOW)
def test_the_state_of_the_bank_is_as_if_restricted_evidence_had_never_existed(
    evidence: list[Evidence], policy: Policy, now: int
) -> None:
    stored = view(evidence, policy, now)
    shared = public(evidence)

    if shared:
        alone = resolve(shared, policy, now)
        for belief in alone.beliefs:
            assert belief in stored.beliefs
        known = {belief.id for belief in alone.beliefs}
        assert {edge for edge in stored.edges if edge.dst in known} == set(alone.edges)


@pytest.mark.parametrize("principal", [Principal(), Principal("intern"), Principal("eve", ("staff",))])
@given(evidence=EVIDENCE, policy=st.from_type(Policy), now=NOW)
def test_a_principal_sees_only_evidence_that_names_them(
    principal: Principal, evidence: list[Evidence], policy: Policy, now: int
) -> None:
    seen = visible(evidence, principal)

    for piece in evidence:
        allowed = (
            piece.visibility == "bank"
            or (principal.id != "" and piece.owner == principal.id)
            or (piece.visibility == "group" and "staff" in principal.groups)
        )
        assert (piece in seen) == allowed
    if seen:
        hidden = [piece for piece in evidence if piece not in seen]
        ids = {piece.id for piece in hidden}
        slot = resolve(seen, policy, now)
        assert not any(belief.by in ids for belief in slot.beliefs)
        assert not any(f"{id} says so" in belief.statement for id in ids for belief in slot.beliefs)


@given(EVIDENCE, st.from_type(Policy), NOW)
def test_every_belief_has_evidence_and_every_revocation_a_reason(
    evidence: list[Evidence], policy: Policy, now: int
) -> None:
    slot = resolve(evidence, policy, now)
    accounts = explain_slot(evidence, slot, [belief.id for belief in slot.beliefs], policy, now)

    for belief, account in zip(slot.beliefs, accounts, strict=True):
        assert any(term.evidence.scope == belief.scope for term in account.contributions)
        assert belief.status != "revoked" or belief.reason
        assert belief.status in ("active", "contested", "revoked", "stale")
    assert len({belief.id for belief in slot.beliefs}) == len(slot.beliefs)


@given(EVIDENCE, st.from_type(Policy), NOW)
def test_a_single_valued_slot_has_one_active_value_a_scope_at_most(
    evidence: list[Evidence], policy: Policy, now: int
) -> None:
    if policy.attributes[0].cardinality == "many":
        return
    active = [belief.scope for belief in resolve(evidence, policy, now).beliefs if belief.status == "active"]

    assert len(set(active)) == len(active)


@given(EVIDENCE, st.from_type(Policy), NOW)
def test_a_contradiction_never_empties_a_slot(evidence: list[Evidence], policy: Policy, now: int) -> None:
    unchallenged = [
        msgspec.structs.replace(piece, stance="supports", value=piece.value or 7, valid_until=None, weight=1.0)
        for piece in evidence
    ]
    heard = [
        piece
        for piece in public(unchallenged)
        if not (piece.scheduled and piece.effective_at > now) and piece.source.type != "recall"
    ]
    slot = view(unchallenged, policy, now)

    assert not heard or any(belief.status in ("active", "contested", "stale") for belief in slot.beliefs)
