"""Revising: evidence in, decision out; duplicates, retries and late arrivals change nothing that they should not."""

import pickle
from collections.abc import Callable

import msgspec

from beliefs.revise import Revision, fingerprint, revise
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import DEFAULT_POLICY, AttributeRule, Policy
from schemas.slot import BeliefChange
from schemas.wire import dump

Said = Callable[..., Evidence]

NOW = 10 * DAY


def test_the_first_evidence_of_a_slot_writes_version_one(said: Said) -> None:
    revision = revise(None, [said("a", 1, "A")], DEFAULT_POLICY, NOW)

    (belief,) = revision.stored.slot.beliefs
    assert (revision.stored.slot.version, belief.version) == (1, 1)
    assert revision.decision is not None
    assert revision.decision.expected_version == 0
    assert revision.decision.beliefs == (belief,)
    assert revision.change.beliefs == (BeliefChange(belief.id, 1, "active"),)
    assert revision.change.observation_ids == ("oa",)


def test_a_retry_writes_nothing_and_is_announced_again(said: Said) -> None:
    first = revise(None, [said("a", 1, "A")], DEFAULT_POLICY, NOW)

    again = revise(first.stored, [said("a", 1, "A", ingested_at=99)], DEFAULT_POLICY, NOW + DAY)

    assert again.decision is None
    assert again.stored == first.stored
    assert again.change.slot_version == 1
    assert [(move.before, move.status) for move in again.change.beliefs] == [("active", "active")]
    assert again.change.observation_ids == ("oa",)


def test_a_duplicate_within_one_batch_is_one_piece_of_evidence(said: Said) -> None:
    revision = revise(None, [said("a", 1, "A"), said("a", 1, "A", ingested_at=7)], DEFAULT_POLICY, NOW)

    assert [piece.id for piece in revision.stored.evidence] == ["a"]


def test_a_change_was_accepted_when_the_earliest_of_its_new_evidence_was(said: Said) -> None:
    first = revise(None, [said("a", 1, "A", ingested_at=50)], DEFAULT_POLICY, NOW)

    more = [said("a", 1, "A", ingested_at=50), said("c", 3, "C", ingested_at=90), said("b", 2, "B", ingested_at=70)]
    second = revise(first.stored, more, DEFAULT_POLICY, NOW)

    assert (first.change.accepted_at, second.change.accepted_at) == (50, 70)


def test_a_change_with_nothing_new_was_accepted_when_it_was_told_again_and_a_review_never(said: Said) -> None:
    first = revise(None, [said("a", 1, "A", ingested_at=50)], DEFAULT_POLICY, NOW)

    again = revise(first.stored, [said("a", 1, "A", ingested_at=80)], DEFAULT_POLICY, NOW)
    review = revise(first.stored, [], DEFAULT_POLICY, NOW + DAY)

    assert (again.change.accepted_at, again.change.added) == (80, 0)
    assert review.change.accepted_at == 0


def test_only_the_beliefs_that_changed_bear_the_new_version(said: Said) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="template", cardinality="many"),))
    first = revise(None, [said("a", 1, "A")], policy, NOW)

    second = revise(first.stored, [said("b", 2, "B")], policy, NOW)

    assert {belief.value: belief.version for belief in second.stored.slot.beliefs} == {"A": 1, "B": 2}
    assert second.stored.slot.version == 2


def test_a_change_tells_from_which_status_to_which(said: Said) -> None:
    first = revise(None, [said("a", 1, "A")], DEFAULT_POLICY, NOW)

    second = revise(first.stored, [said("b", 2, "B")], DEFAULT_POLICY, NOW)

    assert {(move.before, move.status) for move in second.change.beliefs} == {("active", "revoked"), (None, "active")}


def test_time_alone_revises_a_belief_and_only_when_it_is_due(said: Said) -> None:
    first = revise(None, [said("a", 1, "A")], DEFAULT_POLICY, NOW)

    early = revise(first.stored, [], DEFAULT_POLICY, NOW + DAY)
    due = revise(first.stored, [], DEFAULT_POLICY, NOW + 90 * DAY)

    assert early.decision is None
    assert due.decision is not None
    assert due.decision.evidence == ()
    assert [(move.before, move.status) for move in due.change.beliefs] == [("active", "stale")]


def test_a_recalibrated_policy_revises_a_slot(said: Said) -> None:
    first = revise(None, [said("a", 1, "A")], DEFAULT_POLICY, NOW)

    again = revise(first.stored, [], Policy(version=2, state_half_life_days=1.0), NOW)

    assert again.stored.slot.version == 2
    assert [belief.status for belief in again.stored.slot.beliefs] == ["stale"]


def test_one_id_with_two_contents_ends_the_same_whichever_came_first(said: Said) -> None:
    one, other = said("a", 1, "A"), said("a", 1, "B")

    def after(*batches: Evidence) -> Revision:
        revision = revise(None, [batches[0]], DEFAULT_POLICY, NOW)
        for piece in batches[1:]:
            revision = revise(revision.stored, [piece], DEFAULT_POLICY, NOW)
        return revision

    assert fingerprint(after(one, other).stored.slot) == fingerprint(after(other, one, other).stored.slot)
    assert len(after(one, other).stored.evidence) == 1


def test_a_repeat_whose_defaults_are_written_with_other_bytes_is_no_other_content(said: Said) -> None:
    piece = said("a", 1, "A")
    other = msgspec.structs.replace(piece, weight=float("1.0"))
    assert dump(piece) != dump(other)

    added = [
        revise(revise(None, [one], DEFAULT_POLICY, NOW).stored, [two], DEFAULT_POLICY, NOW).change.added
        for one, two in ((piece, other), (other, piece))
    ]

    assert added == [0, 0]


def test_evidence_is_carried_to_another_process_with_the_bytes_that_it_has_here(said: Said) -> None:
    piece = said("a", 1, "A")

    carried = pickle.loads(pickle.dumps(piece))

    assert carried == piece
    assert dump(carried) == dump(piece)


def test_an_id_once_issued_leads_to_the_belief_that_took_its_value_in(said: Said) -> None:
    policy = Policy(attributes=(AttributeRule(pattern="template", tolerance=5.0),))
    first = revise(None, [said("a", 1, 12)], policy, NOW)
    (issued,) = first.stored.slot.beliefs

    second = revise(first.stored, [said("b", 1, 10), said("c", 1, 10)], policy, NOW)
    third = revise(second.stored, [said("d", 1, 9), said("e", 1, 9), said("f", 1, 9)], policy, NOW)

    (merged,) = second.stored.slot.beliefs
    (last,) = third.stored.slot.beliefs
    assert second.stored.slot.aliases == {issued.id: merged.id}
    assert third.stored.slot.aliases == {issued.id: last.id, merged.id: last.id}


def test_a_fingerprint_ignores_the_way_there_and_nothing_else(said: Said) -> None:
    slot = revise(None, [said("a", 1, "A")], DEFAULT_POLICY, NOW).stored.slot

    assert fingerprint(msgspec.structs.replace(slot, version=9, resolved_at=1, aliases={"x": "y"})) == fingerprint(slot)
    assert fingerprint(msgspec.structs.replace(slot, review_at=1)) != fingerprint(slot)
    assert fingerprint(msgspec.structs.replace(slot, beliefs=())) != fingerprint(slot)


def test_thirty_two_pieces_in_any_split_lose_nothing_and_leave_one_holder(said: Said) -> None:
    told = [said(f"{n:02}", n % 7, f"value {n % 5}", kind="instruction") for n in range(32)]
    at_once = revise(None, told, DEFAULT_POLICY, NOW).stored

    stored = None
    for piece in reversed(told):
        stored = revise(stored, [piece], DEFAULT_POLICY, NOW).stored

    assert stored is not None
    assert stored.evidence == at_once.evidence
    assert stored.slot.version == 32
    assert fingerprint(stored.slot) == fingerprint(at_once.slot)
    assert [belief.status for belief in stored.slot.beliefs].count("active") == 1
