"""A slot with one plain piece of evidence is decided as a full hearing would decide it, to the last byte."""

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from beliefs.lone import is_plain
from beliefs.resolve import resolve, resolve_by_hearing
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR, MINUTE
from schemas.policy import Policy
from schemas.wire import dump

NOW = st.integers(0, 400).map(lambda hour: hour * HOUR) | st.integers(0, 9_000).map(lambda day: day * DAY)
MENTIONS = st.sampled_from([(), (Entity("customer"),), (Entity("customer"), Entity("shop", "policy"), Entity("cart"))])


@given(st.from_type(Evidence), st.from_type(Policy), NOW, MENTIONS, st.floats(0.001, 0.999), st.booleans())
def test_one_plain_piece_is_resolved_as_by_hearing(
    evidence: Evidence, policy: Policy, now: int, mentions: tuple[Entity, ...], stale_below: float, free: bool
) -> None:
    piece = msgspec.structs.replace(
        evidence, valid_until=None, mentions=mentions, attribute=None if free else evidence.attribute
    )
    policy = msgspec.structs.replace(policy, stale_below=stale_below)
    assume(is_plain(piece, now))

    assert dump(resolve([piece], policy, now)) == dump(resolve_by_hearing([piece], policy, now))


@given(st.from_type(Evidence), st.from_type(Policy), NOW)
def test_what_refutes_retracts_ends_or_is_still_to_come_needs_a_hearing(
    evidence: Evidence, policy: Policy, now: int
) -> None:
    early = evidence.effective_at - MINUTE
    ended = msgspec.structs.replace(evidence, valid_until=evidence.effective_at + DAY)
    refuting = msgspec.structs.replace(evidence, stance="refutes")

    assert not is_plain(evidence, early)
    assert not is_plain(ended, now)
    assert not is_plain(refuting, now)
    assert dump(resolve([evidence], policy, now)) == dump(resolve_by_hearing([evidence], policy, now))
