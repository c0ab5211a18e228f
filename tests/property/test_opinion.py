"""An opinion depends on the set of what was said, not on its order, and stays within 0 and 1."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from beliefs.confidence import confidence
from beliefs.resolve import resolve
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.policy import Policy
from schemas.profile import Profile
from schemas.wire import dump

OPINIONS = st.lists(
    st.from_type(Evidence).map(lambda piece: msgspec.structs.replace(piece, network="opinion")),
    min_size=1,
    max_size=9,
    unique_by=lambda piece: piece.id,
)
TRAIT = st.integers(1, 5)
PROFILES = st.builds(Profile, TRAIT, TRAIT, TRAIT, st.sampled_from([0.0, 0.2, 0.5, 1.0]))
NOW = st.integers(0, 400).map(lambda day: day * DAY)


@given(OPINIONS, st.from_type(Policy), PROFILES, NOW, st.data())
def test_any_order_of_what_was_said_gives_the_same_bytes(
    evidence: list[Evidence], policy: Policy, profile: Profile, now: int, data: st.DataObject
) -> None:
    policy = msgspec.structs.replace(policy, profile=profile)
    shuffled = data.draw(st.permutations(evidence))

    assert dump(resolve(shuffled, policy, now)) == dump(resolve(evidence, policy, now))


@given(OPINIONS, st.from_type(Policy), PROFILES, NOW)
def test_its_confidence_is_the_fold_and_decides_who_holds(
    evidence: list[Evidence], policy: Policy, profile: Profile, now: int
) -> None:
    for belief in resolve(evidence, msgspec.structs.replace(policy, profile=profile), now).beliefs:
        sure = confidence(belief, now)
        assert belief.opinion == sure
        assert 0.0 <= sure <= 1.0
        if belief.kind != "instruction" and belief.status == "active":
            assert sure > 0.5


@given(OPINIONS, st.from_type(Policy), NOW)
def test_nothing_changes_before_the_time_of_review(evidence: list[Evidence], policy: Policy, now: int) -> None:
    slot = resolve(evidence, policy, now)
    later = now + 4_000 * DAY if slot.review_at is None else slot.review_at - 1

    before = {belief.id: belief.status for belief in slot.beliefs}
    after = {belief.id: belief.status for belief in resolve(evidence, policy, later).beliefs}
    assert {id: after[id] for id in before} == before
