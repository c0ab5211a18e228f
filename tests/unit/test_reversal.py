"""What "the previous setting" means in the history of a slot."""

import pytest

from beliefs.attest import attest
from beliefs.reversal import meant, reverted, ways_back
from schemas.claim import Scope
from schemas.evidence import Evidence
from schemas.instant import DAY, parse_instant
from schemas.observation import Observation, Source
from schemas.policy import DEFAULT_POLICY

START = parse_instant("2024-05-01T12:00:00Z", "start")


def said(text: str, day: int, agent: str = "ann", session: str = "") -> Observation:
    return Observation(
        id=f"{day}-{text}",
        bank="b",
        source=Source(agent),
        agent=agent,
        session=session,
        observed_at=START + day * DAY,
        text=text,
    )


def slot_of(*texts: str, agent: str = "ann", session: str = "") -> list[Evidence]:
    """The evidence of one slot: texts told a day after another."""
    return [
        piece
        for day, text in enumerate(texts)
        for piece in attest(said(text, day, agent, session), START)
        if piece.attribute is not None
    ]


def back(evidence: list[Evidence], text: str = "Go back to the previous setting.") -> list[tuple[object, Scope, str]]:
    asked = said(text, 9)
    ways = ways_back(evidence, DEFAULT_POLICY, asked, reverted(asked) or "")
    return [(way.claim.value, way.claim.scope, way.claim.stance) for way in ways]


def test_the_previous_is_what_held_right_before() -> None:
    themes = slot_of("Set the theme to dark.", "Set the theme to light.", "Set the theme to nord.")

    assert back(themes) == [("light", (), "supports")]


def test_the_original_may_be_any_earlier_value() -> None:
    themes = slot_of("Set the theme to dark.", "Set the theme to light.", "Set the theme to nord.")

    assert back(themes, "Restore the original theme.") == [("dark", (), "supports"), ("light", (), "supports")]


def test_an_exception_without_an_earlier_value_ends() -> None:
    reports = slot_of("All reports use template A.", "Financial reports use template B.")

    assert back(reports) == [("B", (("report", "financial"),), "retracts")]


def test_a_first_setting_has_no_way_back() -> None:
    assert back(slot_of("Set the theme to dark.")) == []


def test_what_is_only_observed_is_no_setting() -> None:
    assert back(slot_of("The rate limit is 100.", "The rate limit is 200.")) == []


def test_another_attribute_than_the_one_named_is_not_meant() -> None:
    themes = slot_of("Set the theme to dark.", "Set the theme to light.")

    assert back(themes, "Go back to the previous font.") == []
    assert back(themes, "Go back to the previous theme.") == [("dark", (), "supports")]


def test_what_was_set_after_the_asking_plays_no_part() -> None:
    themes = slot_of("Set the theme to dark.", "Set the theme to light.")

    assert ways_back(themes, DEFAULT_POLICY, said("Go back to the previous theme.", 1), "theme") == ()


def test_who_asks_means_first_what_was_set_in_this_session_and_then_what_they_set() -> None:
    asked = said("Go back to the previous setting.", 9, session="s1")
    theme = ways_back(slot_of("Set the theme to dark.", "Set the theme to light.", session="s1"), *_by(asked))
    font = ways_back(slot_of("Set the font to Arial.", "Set the font to Lato."), *_by(asked))
    other = ways_back(slot_of("Set the tone to dry.", "Set the tone to warm.", agent="bob"), *_by(asked))

    assert meant([*theme, *font, *other], asked) == theme
    assert meant([*font, *other], asked) == font
    assert meant(other, asked) == other


def _by(asked: Observation) -> tuple:  # type: ignore[type-arg]
    return DEFAULT_POLICY, asked, ""


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("Back to the previous setting.", ""),
        ("Please revert to the original theme", "theme"),
        ("Use the previous template again.", "template"),
        ("Roll back to the previous version.", "version"),
        ("恢复原来的设置。", ""),
        ("请改回之前的主题吧", "theme"),
        ("We went back to the old house.", None),
        ("Return the last one to me, please.", None),
        ("Use the last version.", None),
        ("我们回到了老家。", None),
    ],
)
def test_only_a_whole_sentence_that_goes_back_asks_for_it(text: str, attribute: str | None) -> None:
    assert reverted(said(text, 1)) == attribute
