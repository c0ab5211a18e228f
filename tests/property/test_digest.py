"""A slot whose pieces became voices is the same slot but for its words, at every later time, whatever else is told."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from beliefs.access import visible
from beliefs.amend import amend
from beliefs.confidence import total
from beliefs.digest import LEAST, Joining, digests_of, gatherings, in_digests, mass
from beliefs.resolve import judged
from beliefs.revise import fingerprint, replaces, revise, view
from beliefs.wording import says_the_same, wording
from schemas.digest import Own, Shared, digest_id, is_voice, joined, own, shared, wordless
from schemas.evidence import Evidence
from schemas.instant import DAY, HOUR
from schemas.observation import Source
from schemas.policy import Policy
from schemas.query import Principal
from schemas.slot import Slot, StoredSlot
from schemas.wire import dump, load

PIECES = st.lists(st.from_type(Evidence), min_size=1, max_size=4, unique_by=lambda piece: piece.id)
LATER = st.lists(st.from_type(Evidence), max_size=4, unique_by=lambda piece: piece.id)
CHORUS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["handbook", "wiki", "mail", "desk", "sensor"]),
        st.integers(0, 300),
        st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    ),
    min_size=LEAST + 1,
    max_size=9,
)
AGES = st.integers(0, 400).map(lambda hours: hours * HOUR) | st.integers(0, 400).map(lambda days: days * DAY)


def _told(pieces: list[Evidence], chorus: list[tuple[int, str, int, float]]) -> list[Evidence]:
    """The pieces, and what many sources say of the same values, each on some day and now and then twice."""
    more = [
        msgspec.structs.replace(
            pieces[place % len(pieces)],
            id=f"c{number}",
            observation_id=f"oc{number}",
            source=Source(who, who if number % 3 else "wire"),
            effective_at=hours * HOUR,
            observed_at=hours * HOUR,
            statement=f"{who} says so" if number % 2 else "",
            attribute="returns window",
            stance="supports",
            kind="observation",
            value=pieces[place % len(pieces)].value or 14,
            weight=weight,
            valid_until=None,
            pinned=False,
            scheduled=number % 4 == 0,
        )
        for number, (place, who, hours, weight) in enumerate(chorus)
    ]
    return [*pieces, *more]


def _digested(evidence: list[Evidence], policy: Policy, now: int) -> list[Evidence]:
    """The evidence with every piece wordless that may be, however it is worded."""
    return in_digests(evidence, _all(evidence, policy, now))


def _all(evidence: list[Evidence], policy: Policy, now: int) -> list[Joining]:
    """Digests of all that may be voices, each taken for what the newest says."""
    return [
        Joining(each.id, tuple((piece, each.whole[0]) for piece in each.whole if piece.id in each.may), each.voices)
        for each in gatherings(evidence, policy, now, 0)
    ]


def _unworded(slot: Slot) -> bytes:
    """Everything of a slot but how its beliefs read."""
    return dump(
        msgspec.structs.replace(
            slot, beliefs=tuple(msgspec.structs.replace(belief, statement="") for belief in slot.beliefs)
        )
    )


def _late(pieces: list[Evidence], evidence: list[Evidence]) -> list[Evidence]:
    """What is told later: by anybody, and by those whose words went."""
    return [
        msgspec.structs.replace(
            piece,
            id=f"l{place}",
            source=evidence[place % len(evidence)].source if place % 2 else piece.source,
        )
        for place, piece in enumerate(pieces)
    ]


@given(PIECES, CHORUS, LATER, st.from_type(Policy), AGES, AGES)
def test_no_confidence_holder_or_status_moves_now_or_later_whatever_else_comes(
    pieces: list[Evidence],
    chorus: list[tuple[int, str, int, float]],
    later: list[Evidence],
    policy: Policy,
    now: int,
    age: int,
) -> None:
    evidence = _told(pieces, chorus)
    digested = _digested(evidence, policy, now)
    late = _late(later, evidence)

    assert fingerprint(view(digested, policy, now)) == fingerprint(view(evidence, policy, now))
    assert _unworded(view(digested + late, policy, now + age)) == _unworded(view(evidence + late, policy, now + age))


@given(PIECES, CHORUS, LATER, st.from_type(Policy), AGES, AGES)
def test_no_reader_is_shown_another_confidence_and_none_sees_a_belief_lose_its_value(
    pieces: list[Evidence],
    chorus: list[tuple[int, str, int, float]],
    later: list[Evidence],
    policy: Policy,
    now: int,
    age: int,
) -> None:
    evidence = _told(pieces, chorus)
    digested = _digested(evidence, policy, now)
    late = _late(later, evidence)

    for principal in (Principal(), Principal("intern"), Principal("boss"), Principal("eve", ("staff",))):
        for whole, left, at in ((evidence, digested, now), (evidence + late, digested + late, now + age)):
            seen = visible(whole, principal)
            if seen:
                assert _unworded(view(visible(left, principal), policy, at)) == _unworded(view(seen, policy, at))


@given(PIECES, CHORUS, st.from_type(Policy), AGES)
def test_as_of_any_time_before_it_the_slot_is_the_same_but_for_words(
    pieces: list[Evidence], chorus: list[tuple[int, str, int, float]], policy: Policy, now: int
) -> None:
    evidence = _told(pieces, chorus)
    digested = _digested(evidence, policy, now)

    for at in sorted({piece.effective_at for piece in evidence}):
        assert _unworded(view(_until(digested, at), policy, at)) == _unworded(view(_until(evidence, at), policy, at))


def _until(evidence: list[Evidence], at: int) -> list[Evidence]:
    return [piece for piece in evidence if piece.effective_at <= at]


@given(PIECES, CHORUS, st.from_type(Policy), AGES)
def test_a_newer_piece_keeps_its_words_for_each_voice_and_nothing_but_plain_testimony_loses_them(
    pieces: list[Evidence], chorus: list[tuple[int, str, int, float]], policy: Policy, now: int
) -> None:
    evidence = _told(pieces, chorus)

    for joining in digests_of(evidence, policy, now, 3 * DAY):
        assert len(joining.pieces) >= LEAST
        assert not {piece.id for piece, _ in joining.pieces} & {leader.id for _, leader in joining.pieces}
        for piece, leader in joining.pieces:
            assert piece.effective_at <= min(leader.effective_at, now - 3 * DAY)
            assert (piece.stance, piece.kind, piece.pinned, piece.session) == ("supports", "observation", False, "")
            assert dump(shared(piece)) == dump(shared(leader))
            assert wordless(piece).digest == joining.id


@given(PIECES, CHORUS, st.from_type(Policy), AGES)
def test_further_runs_find_nothing_more_and_words_that_come_back_restore_the_slot_to_the_byte(
    pieces: list[Evidence], chorus: list[tuple[int, str, int, float]], policy: Policy, now: int
) -> None:
    evidence = sorted(_told(pieces, chorus), key=lambda piece: piece.id)
    before = revise(None, evidence, policy, now).stored
    going = [piece for each in _all(evidence, policy, now) for piece, _ in each.pieces]

    revision = amend(before, [piece.id for piece in going], [*map(wordless, going)], policy, now)

    assert revision is not None
    assert revision.change.removed == 0
    assert gatherings(revision.stored.evidence, policy, now, 0) == []
    if going:
        assert revision.decision is not None
        assert set(revision.decision.removed) == {piece.id for piece in going}
    again = amend(revision.stored, [piece.id for piece in going], [*map(wordless, going)], policy, now)
    assert again is not None
    assert again.decision is None
    restored = revise(revision.stored, list(reversed(going)), policy, now).stored
    assert restored.evidence == before.evidence
    assert fingerprint(restored.slot) == fingerprint(before.slot)


def test_a_slot_that_is_out_of_the_vectors_stays_so_when_words_go() -> None:
    piece = msgspec.structs.replace(
        msgspec.convert(_LEAST, Evidence), attribute="stock", value="full", statement="Full."
    )
    demoted = amend(revise(None, [piece], Policy(), 9).stored, (), (), Policy(), 9, demote=True)
    assert demoted is not None

    silent = amend(demoted.stored, ["e1"], [wordless(piece)], Policy(), 9)
    other = amend(demoted.stored, ["e1"], [msgspec.structs.replace(piece, id="e2")], Policy(), 9)

    assert silent is not None
    assert silent.stored.slot.demoted
    assert other is not None
    assert not other.stored.slot.demoted


@given(PIECES, CHORUS, st.from_type(Policy), AGES, st.data())
def test_words_stay_before_a_voice_whatever_the_order_of_arrival(
    pieces: list[Evidence], chorus: list[tuple[int, str, int, float]], policy: Policy, now: int, data: st.DataObject
) -> None:
    evidence = _told(pieces, chorus)
    both = [*evidence, *map(wordless, evidence)]
    stored: StoredSlot | None = None
    for piece in data.draw(st.permutations(both)):
        stored = revise(stored, [piece], policy, now).stored

    assert stored is not None
    assert stored.evidence == tuple(sorted(evidence, key=lambda piece: piece.id))
    assert all(replaces(piece, wordless(piece)) and not replaces(wordless(piece), piece) for piece in evidence)


@given(PIECES, CHORUS, PIECES, st.from_type(Policy), AGES)
def test_other_contents_under_the_ids_of_voices_end_as_they_would_have_without_a_digest(
    pieces: list[Evidence], chorus: list[tuple[int, str, int, float]], others: list[Evidence], policy: Policy, now: int
) -> None:
    evidence = _told(pieces, chorus)
    others = [
        msgspec.structs.replace(other, id=evidence[-1 - place].id, attribute="returns window")
        for place, other in enumerate(others)
    ]
    before = revise(None, evidence, policy, now).stored
    digested = revise(None, _digested(evidence, policy, now), policy, now).stored

    after, same = (revise(stored, others, policy, now).stored for stored in (before, digested))

    assert _unworded(view(after.evidence, policy, now)) == _unworded(view(same.evidence, policy, now))


@given(st.from_type(Evidence))
def test_a_voice_comes_apart_and_together_again_without_loss(piece: Evidence) -> None:
    told = wordless(piece)
    common, part = (load(dump(each), type(each)) for each in (shared(told), own(told)))

    assert is_voice(told)
    assert joined(digest_id(common), common, part) == told
    assert msgspec.structs.replace(joined(told.digest, common, part), statement=piece.statement, digest="") == piece


@given(PIECES, CHORUS, st.from_type(Policy), AGES)
def test_the_mass_of_all_pieces_is_what_supports_and_refutes_the_beliefs(
    pieces: list[Evidence], chorus: list[tuple[int, str, int, float]], policy: Policy, now: int
) -> None:
    evidence = _told(pieces, chorus)
    digested = _digested(evidence, policy, now)
    ids = {piece.id for piece in evidence}

    weighed = sum(total(one.support, now) for one in judged(evidence, policy, now)[1].values())
    assert mass(evidence, ids, policy, now) >= weighed - 1e-9
    assert mass(digested, ids, policy, now) == mass(evidence, ids, policy, now)
    assert mass(evidence, set(), policy, now) == 0


def test_a_struct_of_both_parts_has_every_field_of_evidence() -> None:
    """A new field of evidence belongs to what is shared or to what is a voice's own."""
    parts = {*Evidence.__struct_fields__} - {"source", "statement", "digest"}

    assert {*Shared.__struct_fields__, *Own.__struct_fields__} == parts | {"source", "origin", "source_type"}


_LEAST = {
    "id": "e1",
    "bank": "shop",
    "slot": "s1",
    "entity": ["shelf", "place"],
    "observation_id": "o1",
    "source": {"id": "sensor"},
    "effective_at": 1,
    "observed_at": 1,
    "statement": "",
}


def test_only_what_says_the_same_joins_and_three_voices_make_a_digest() -> None:
    piece = msgspec.structs.replace(msgspec.convert(_LEAST, Evidence), attribute="stock", value="full")
    told = [
        msgspec.structs.replace(piece, id=f"e{n}", source=Source(f"s{n}"), effective_at=n, statement=words)
        for n, words in enumerate(["It is full.", "It holds 7, full.", "it is full", "It's not full", "Ben saw it."])
    ]
    stands = msgspec.structs.replace(piece, id="e9", source=Source("s9"), effective_at=9, statement="It is full")

    assert digests_of([*told, stands], Policy(), 99, 0) == []
    more = msgspec.structs.replace(told[0], id="e5", source=Source("s5"), effective_at=5)
    (found,) = digests_of([*told, more, stands], Policy(), 99, 0)
    assert [(one.id, leader.id) for one, leader in found.pieces] == [("e5", "e9"), ("e2", "e9"), ("e0", "e9")]


@given(
    st.sampled_from(
        ["{} on the shelf", "shelf no. {} is full", "seen {}-fold, and full", "{}件", "v{}", "1.{}.0", "A{}"]
    ),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
def test_two_texts_that_differ_in_a_number_are_never_one_whatever_their_vectors_say(
    text: str, one: int, other: int
) -> None:
    first, second = (wording(f"{text.format(number)} and all else is said alike", 0) for number in (one, other))

    for closeness in (None, lambda: 1.0):
        assert says_the_same(first, second, closeness) is (one == other)


def test_where_the_newest_is_worded_in_its_own_way_the_next_speaks_for_the_others() -> None:
    piece = msgspec.structs.replace(msgspec.convert(_LEAST, Evidence), attribute="stock", value="full")
    told = [
        msgspec.structs.replace(piece, id=f"e{n}", source=Source(f"s{n}"), effective_at=n, statement=words)
        for n, words in enumerate(["It is full", "it is full.", "", "It is full!", "It is full", "Ben says so"])
    ]

    (found,) = digests_of(told, Policy(), 99, 0)

    assert [(one.id, leader.id) for one, leader in found.pieces] == [
        ("e3", "e4"),
        ("e2", "e5"),
        ("e1", "e4"),
        ("e0", "e4"),
    ]
