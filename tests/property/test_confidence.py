"""Confidence: inside (0, 1), moved the right way by evidence, and the same from masses as from every single term."""

import math

from hypothesis import assume, given
from hypothesis import strategies as st

from beliefs.confidence import balance, confidence, gather, log_odds, sigmoid, total
from beliefs.explain import explain_slot
from beliefs.resolve import judged, resolve
from schemas.belief import Belief, Mass
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR
from schemas.policy import Policy

EVIDENCE = st.lists(st.from_type(Evidence), min_size=1, max_size=9, unique_by=lambda piece: piece.id)
HOURS = st.integers(0, 2_000).map(lambda hour: hour * HOUR)
WEIGHTS = st.just(0.0) | st.floats(1e-3, 1e3)
HALF_LIFE = st.sampled_from([None, HOUR, DAY, 30 * DAY, 365 * DAY])
MASSES = st.lists(st.builds(Mass, WEIGHTS, HOURS, HALF_LIFE, st.none() | HOURS), max_size=4).map(tuple)


@given(st.floats(allow_nan=False))
def test_the_logistic_function_stays_strictly_between_zero_and_one(odds: float) -> None:
    assert 0.0 < sigmoid(odds) < 1.0


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_logistic_function_never_falls_as_its_argument_rises(one: float, other: float) -> None:
    assert sigmoid(min(one, other)) <= sigmoid(max(one, other))


@given(MASSES, MASSES, st.floats(1e-3, 1e3), HALF_LIFE, HOURS)
def test_support_raises_confidence_and_refutation_lowers_it(
    support: tuple[Mass, ...], refutation: tuple[Mass, ...], weight: float, half_life: int | None, now: int
) -> None:
    more = Mass(weight, now, half_life)
    held = _belief(support, refutation)

    assert 0.0 < confidence(held, now) < 1.0
    assert confidence(_belief((*support, more), refutation), now) >= confidence(held, now)
    assert confidence(_belief(support, (*refutation, more)), now) <= confidence(held, now)
    if abs(log_odds(held, now)) < 20 and weight < 10:
        assert confidence(_belief((*support, more), refutation), now) > confidence(held, now)
        assert confidence(_belief(support, (*refutation, more)), now) < confidence(held, now)


def _belief(support: tuple[Mass, ...], refutation: tuple[Mass, ...]) -> Belief:
    return Belief(
        id="b1",
        bank="shop",
        slot="s1",
        entity=Entity("shop"),
        statement="Returns are taken.",
        status="active",
        support=support,
        refutation=refutation,
    )


PARTS = st.lists(st.tuples(WEIGHTS, HOURS, HALF_LIFE, st.none() | HOURS), max_size=8)


@given(PARTS, HOURS, st.integers(0, 20_000), st.data())
def test_gathered_masses_weigh_what_their_parts_weigh_at_any_later_time(
    parts: list[tuple[float, int, int | None, int | None]], now: int, days: int, data: st.DataObject
) -> None:
    later = now + days * DAY
    masses = gather(parts, now)

    naive = math.fsum(_term(weight, at, half_life, until, later) for weight, at, half_life, until in parts)
    assert math.isclose(total(masses, later), naive, rel_tol=1e-9, abs_tol=1e-300)
    assert gather(data.draw(st.permutations(parts)), now) == masses


@given(EVIDENCE, st.from_type(Policy), HOURS, st.integers(0, 4_000))
def test_masses_of_a_resolved_slot_weigh_what_its_counted_evidence_weighs_later(
    evidence: list[Evidence], policy: Policy, now: int, days: int
) -> None:
    later = now + days * DAY
    slot = resolve(evidence, policy, now)
    _, found = judged(evidence, policy, now)

    for belief in slot.beliefs:
        candidate = found[belief.id]
        for_it = [(1.0, voice) for voice in candidate.supporters]
        against = [(factor, voice) for voice, factor in candidate.against]
        for masses, voices in ((belief.support, for_it), (belief.refutation, against)):
            naive = math.fsum(
                factor * _term(voice.weight, voice.at, voice.half_life, voice.evidence.valid_until, later)
                for factor, voice in voices
            )
            assert math.isclose(total(masses, later), naive, rel_tol=1e-9, abs_tol=1e-300)


def _term(weight: float, at: int, half_life: int | None, until: int | None, now: int) -> float:
    """weight * decay, word for word as in design 3.3."""
    if until is not None and until <= now:
        return 0.0
    if half_life is None:
        return weight
    return weight * 2.0 ** min(0.0, -(now - at) / half_life)


@given(EVIDENCE, st.from_type(Policy), HOURS)
def test_the_terms_of_an_explanation_sum_to_support_minus_refutation(
    evidence: list[Evidence], policy: Policy, now: int
) -> None:
    slot = resolve(evidence, policy, now)

    for account in explain_slot(evidence, slot, [belief.id for belief in slot.beliefs], policy, now):
        counted = [term for term in account.contributions if term.counted]
        assert math.isclose(
            math.fsum(term.log_odds for term in counted),
            account.support - account.refutation,
            rel_tol=1e-9,
            abs_tol=1e-9,
        )
        assert all(term.log_odds == 0.0 and term.note for term in account.contributions if not term.counted)
        assert all(
            math.isclose(abs(term.log_odds), term.factor * term.weight * term.reliability * term.decay, rel_tol=1e-12)
            for term in counted
        )
        assert account.confidence == confidence(account.belief, now, policy.base)
        ids = [term.evidence.id for term in account.contributions]
        assert len(set(ids)) == len(ids)


@given(WEIGHTS, WEIGHTS, HOURS, HOURS, st.integers(0, 100_000))
def test_passing_time_alone_never_turns_the_balance_of_one_half_life(
    weight: float, other: float, at: int, other_at: int, half_lives: int
) -> None:
    support, refutation = (Mass(weight, at, HOUR),), (Mass(other, other_at, HOUR),)
    start = max(at, other_at)
    assume(abs(balance(support, refutation, start)) > 1e-9 * (weight + other))

    before, after = (balance(support, refutation, now) for now in (start, start + half_lives * HOUR))
    assert (before > 0) == (after > 0)
