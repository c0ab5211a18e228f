"""Which premises are held depends on what is beneath a conclusion alone, and never on itself (design 3.7)."""

from random import Random

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from beliefs.counting import NOT_HELD
from beliefs.premises import Beneath, fallen_among, fallen_premises
from beliefs.resolve import resolve
from schemas.belief import LIVE
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import DAY
from schemas.observation import Source
from schemas.policy import DEFAULT_POLICY
from schemas.slot import belief_id, slot_id

NAMES = ("a", "b", "c", "d", "e")
VALUES = ("yes", "no")
PLACES = [(name, value) for name in NAMES for value in VALUES]
NOW = 100 * DAY


def slot_of(name: str) -> str:
    return slot_id("team", Entity(name), "state")


HOMES = {belief_id(slot_of(name), (), value): name for name, value in PLACES}
IDS = sorted(HOMES)


@st.composite
def pieces(draw: st.DrawFn) -> Evidence:
    name, value = draw(st.sampled_from(PLACES))
    premises = draw(st.lists(st.sampled_from([*IDS, "bunknown"]), max_size=2, unique=True))
    day = draw(st.integers(1, 30))
    return Evidence(
        id="",
        bank="team",
        slot=slot_of(name),
        entity=Entity(name),
        observation_id="o",
        source=Source(draw(st.sampled_from("xyz"))),
        effective_at=day * DAY,
        observed_at=day * DAY,
        statement="",
        attribute="state",
        value=value,
        stance=draw(st.sampled_from(("supports", "supports", "refutes"))),
        premises=tuple(premises),
    )


STORIES = st.lists(pieces(), min_size=1, max_size=12).map(
    lambda some: [msgspec.structs.replace(piece, id=f"e{n:02}") for n, piece in enumerate(some)]
)


def beneath_of(story: list[Evidence], roots: set[str]) -> Beneath:
    """What the loader would read for these slots."""
    by_slot: dict[str, list[Evidence]] = {}
    for piece in story:
        by_slot.setdefault(piece.slot, []).append(piece)
    alive = {belief.id for some in by_slot.values() for belief in resolve(some, DEFAULT_POLICY, NOW).beliefs}
    wanted, homes = set(roots), {}
    while True:
        asked = {premise for slot in wanted for piece in by_slot.get(slot, ()) for premise in piece.premises}
        homes = {premise: (slot_of(HOMES[premise]), premise) for premise in asked & alive}
        more = wanted | {slot for slot, _ in homes.values()}
        if more == wanted:
            return Beneath({slot: by_slot[slot] for slot in wanted if slot in by_slot}, homes)
        wanted = more


@given(STORIES)
def test_what_a_slot_concludes_is_the_same_whatever_is_judged_with_it(story: list[Evidence]) -> None:
    everything = beneath_of(story, {piece.slot for piece in story})
    together = fallen_premises(everything, DEFAULT_POLICY, NOW)
    for slot, evidence in everything.evidence.items():
        alone = fallen_premises(beneath_of(story, {slot}), DEFAULT_POLICY, NOW)
        assert fallen_among(alone, evidence) == fallen_among(together, evidence)


@given(STORIES, st.randoms(use_true_random=False))
def test_the_order_of_evidence_does_not_matter(story: list[Evidence], random: Random) -> None:
    shuffled = list(story)
    random.shuffle(shuffled)
    slots = {piece.slot for piece in story}
    assert fallen_premises(beneath_of(story, slots), DEFAULT_POLICY, NOW) == fallen_premises(
        beneath_of(shuffled, slots), DEFAULT_POLICY, NOW
    )


@given(STORIES)
def test_what_counts_rests_on_nothing_but_what_is_held(story: list[Evidence]) -> None:
    everything = beneath_of(story, {piece.slot for piece in story})
    fallen = fallen_premises(everything, DEFAULT_POLICY, NOW)
    held = {
        belief.id
        for evidence in everything.evidence.values()
        for belief in resolve(evidence, DEFAULT_POLICY, NOW, fallen).beliefs
        if belief.status in LIVE
    }
    rested_on = {premise for piece in story for premise in piece.premises}
    assert rested_on - fallen.keys() <= held


@given(STORIES)
def test_without_a_sighting_nothing_is_held(story: list[Evidence]) -> None:
    derived = [msgspec.structs.replace(piece, premises=piece.premises or (IDS[0],)) for piece in story]
    everything = beneath_of(derived, {piece.slot for piece in derived})
    fallen = fallen_premises(everything, DEFAULT_POLICY, NOW)
    assert set(fallen.values()) == {NOT_HELD}
    assert {premise for piece in derived for premise in piece.premises} <= fallen.keys()


@given(STORIES)
def test_where_nothing_speaks_against_anything_all_that_follows_from_sightings_is_held(story: list[Evidence]) -> None:
    agreed = [
        msgspec.structs.replace(piece, value="yes", stance="supports", source=Source(piece.id)) for piece in story
    ]
    everything = beneath_of(agreed, {piece.slot for piece in agreed})
    fallen = fallen_premises(everything, DEFAULT_POLICY, 30 * DAY)  # none has faded by then

    held: set[str] = set()
    for _ in NAMES:
        held |= {belief_id(piece.slot, (), "yes") for piece in agreed if held.issuperset(piece.premises)}
    assert fallen.keys() == {premise for piece in agreed for premise in piece.premises} - held
