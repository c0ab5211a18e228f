"""A slot without the evidence that is spent is the same slot, at every later time and whatever else is told."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from beliefs.access import visible
from beliefs.compaction import spent, without
from beliefs.revise import view
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR
from schemas.policy import Policy
from schemas.query import Principal
from schemas.wire import dump

PIECES = st.lists(st.from_type(Evidence), min_size=1, max_size=6, unique_by=lambda piece: piece.id)
LATER = st.lists(st.from_type(Evidence), max_size=4, unique_by=lambda piece: piece.id)
REPEATS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 96)), min_size=1, max_size=5)
AGES = st.integers(0, 400).map(lambda hours: hours * HOUR) | st.integers(0, 400).map(lambda days: days * DAY)


def _repeated(pieces: list[Evidence], repeats: list[tuple[int, int]]) -> list[Evidence]:
    """The pieces, all spelled alike, and some told again by the same source some hours later."""
    alike = [msgspec.structs.replace(piece, attribute="returns window") for piece in pieces]
    again = [
        msgspec.structs.replace(
            alike[place % len(alike)],
            id=f"r{number}",
            observation_id=f"or{number}",
            effective_at=alike[place % len(alike)].effective_at + hours * HOUR,
        )
        for number, (place, hours) in enumerate(repeats)
    ]
    return alike + again


def _late(pieces: list[Evidence]) -> list[Evidence]:
    return [
        msgspec.structs.replace(piece, id=f"l{place}", attribute="returns window") for place, piece in enumerate(pieces)
    ]


@given(PIECES, REPEATS, LATER, st.from_type(Policy), AGES, AGES)
def test_the_slot_is_the_same_to_the_last_bit_now_and_later_whatever_else_comes(
    pieces: list[Evidence],
    repeats: list[tuple[int, int]],
    later: list[Evidence],
    policy: Policy,
    now: int,
    age: int,
) -> None:
    evidence = _repeated(pieces, repeats)
    kept = without(evidence, spent(evidence, now))
    late = _late(later)

    assert dump(view(kept, policy, now)) == dump(view(evidence, policy, now))
    assert dump(view(kept + late, policy, now + age)) == dump(view(evidence + late, policy, now + age))


@given(PIECES, REPEATS, st.from_type(Policy), AGES)
def test_no_reader_sees_another_slot(
    pieces: list[Evidence], repeats: list[tuple[int, int]], policy: Policy, now: int
) -> None:
    evidence = _repeated(pieces, repeats)
    kept = without(evidence, spent(evidence, now))

    for principal in (Principal(), Principal("intern"), Principal("eve", ("staff",))):
        seen = visible(evidence, principal)
        left = visible(kept, principal)
        assert bool(seen) == bool(left)
        if seen:
            assert dump(view(left, policy, now)) == dump(view(seen, policy, now))


@given(PIECES, REPEATS, AGES)
def test_what_stands_for_another_stays_and_nothing_pinned_or_commanded_goes(
    pieces: list[Evidence], repeats: list[tuple[int, int]], now: int
) -> None:
    evidence = _repeated(pieces, repeats)
    replaced = spent(evidence, now)
    known = {piece.id: piece for piece in evidence}

    assert not replaced.keys() & set(replaced.values())
    for gone, stays in replaced.items():
        assert known[gone].value == known[stays].value
        assert not known[gone].pinned
        assert known[gone].kind == "observation"
    assert spent(without(evidence, replaced), now) == {}
