"""Learning trust: the order of answers plays no part, a right one never harms its source, weights are bounded."""

import random

from hypothesis import given
from hypothesis import strategies as st

from beliefs.reliability import LEAST, MOST, Saying, Tally, Verified, learn

ORIGINS = ("air", "blog", "copy", "wire")
ATTRIBUTES = ("gate", "time")


def _question(number: int, said: list[tuple[str, str, bool | None]], attribute: str) -> Verified:
    voices = {origin: Saying(origin, key, right) for origin, key, right in said}
    return Verified(f"q{number:03}", attribute, tuple(voices.values()))


VOICE = st.tuples(st.sampled_from(ORIGINS), st.sampled_from(["x", "y"]), st.sampled_from([True, True, False, None]))
ASKED = st.tuples(st.lists(VOICE, min_size=1, max_size=4), st.sampled_from(ATTRIBUTES))
ANSWERS = st.lists(ASKED, min_size=1, max_size=25).map(
    lambda many: [_question(number, *one) for number, one in enumerate(many)]
)


@given(ANSWERS, st.integers(0, 1_000))
def test_the_order_of_answers_and_of_voices_plays_no_part(verified: list[Verified], seed: int) -> None:
    shuffled = [
        Verified(one.id, one.attribute, tuple(random.Random(seed).sample(one.sayings, len(one.sayings))))
        for one in verified
    ]
    random.Random(seed).shuffle(shuffled)

    assert learn(shuffled) == learn(verified)


@given(ANSWERS)
def test_weights_are_bounded(verified: list[Verified]) -> None:
    assert all(LEAST <= one.weight <= MOST for one in learn(verified).weights)


@given(ANSWERS, st.sampled_from(ORIGINS), st.sampled_from(ATTRIBUTES), st.integers(1, 5))
def test_more_right_outcomes_never_lower_a_source_and_more_wrong_ones_never_raise_it(
    verified: list[Verified], origin: str, attribute: str, more: int
) -> None:
    right = [Verified(f"r{n}", attribute, (Saying(origin, "x", True),)) for n in range(more)]
    wrong = [Verified(f"w{n}", attribute, (Saying(origin, "x", False),)) for n in range(more)]

    before = Tally(verified).strength(origin, attribute)

    assert Tally([*verified, *right]).strength(origin, attribute) >= before
    assert Tally([*verified, *wrong]).strength(origin, attribute) <= before
