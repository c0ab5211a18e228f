"""How an observation as a whole becomes claims."""

import pytest

from beliefs.extract import extract
from beliefs.mentions import mentions_in
from beliefs.sentences import LONGEST, sentence_spans
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.observation import Observation, Source

REPORT = Entity("report")


def observation(text: str = "", claims: tuple[Claim, ...] = (), entity: Entity | None = None) -> Observation:
    return Observation(
        id="o1", bank="b", source=Source("doc-1", "policy team"), observed_at=0, text=text, claims=claims, entity=entity
    )


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def test_stated_claims_are_taken_as_they_are_and_no_rule_runs() -> None:
    claim = Claim(entity=REPORT, attribute="template", value="A", statement="reports use A")

    assert extract(observation("The rate limit is 100.", (claim,))) == (claim,)


def test_a_stated_claim_without_a_statement_gets_the_text() -> None:
    (claim,) = extract(observation("Use A.", (Claim(entity=REPORT, attribute="template", value="A"),)))

    assert claim.statement == "Use A."
    assert claim.extractor == "structured"


def test_a_stated_claim_without_any_text_is_rendered() -> None:
    bare = Claim(entity=REPORT, attribute="template", value="B", scope=(("report", "financial"),))
    ended = Claim(entity=REPORT, attribute="draft", value=True, stance="retracts")

    statements = [claim.statement for claim in extract(observation(claims=(bare, ended)))]

    assert statements == ["report: template is B (report: financial)", "report: draft is no longer yes"]


def test_a_stated_claim_with_a_very_long_text_loses_none_of_it() -> None:
    text = "It rains all day. " * 300

    claim, *free = extract(observation(text, (Claim(entity=REPORT, attribute="template", value="A"),)))

    assert claim.statement == "report: template is A"
    assert "".join(piece.statement.replace(" ", "") for piece in free) == text.replace(" ", "")


def test_nothing_said_gives_no_claim() -> None:
    assert extract(observation(" \n ")) == ()


def test_a_text_that_rules_cover_in_full_needs_no_free_claim() -> None:
    claims = extract(observation("The rate limit is 100. Coupons may be combined."))

    assert [claim.statement for claim in claims] == ["The rate limit is 100.", "Coupons may be combined."]


def test_a_text_that_rules_cover_in_part_is_also_kept_whole() -> None:
    text = "We talked for long. The rate limit is 100."

    limit, free = extract(observation(text))

    assert (limit.attribute, limit.value) == ("rate limit", 100)
    assert (free.attribute, free.statement) == (None, text)


def test_a_very_long_text_becomes_several_free_claims_cut_between_sentences() -> None:
    text = " ".join(f"They walked along the river for {number} hours and went home." for number in range(100))

    claims = extract(observation(text))

    assert len(claims) > 2
    assert all(len(claim.statement) <= LONGEST and claim.statement.endswith("home.") for claim in claims)


def test_the_given_entity_stands_in_for_what_the_sentence_is_about() -> None:
    shelf = Entity("SKU-9", "product")

    (claim,) = extract(observation("Stock is 10", entity=shelf))

    assert (claim.entity, claim.attribute) == (shelf, "stock")


def test_a_subject_other_than_the_given_entity_stays_in_the_attribute() -> None:
    shop = Entity("shop")

    (shipping,) = extract(observation("The price of shipping is 5 yuan.", entity=shop))
    (own,) = extract(observation("The price of the shop is 900 yuan.", entity=shop))

    assert (shipping.entity, shipping.attribute) == (shop, "shipping price")
    assert (own.entity, own.attribute) == (shop, "price")


def test_a_free_claim_without_an_agent_belongs_to_its_source() -> None:
    (claim,) = extract(observation("We talked for long."))

    assert claim.entity == Entity("policy team", "source")


def test_going_back_keeps_the_given_entity() -> None:
    (claim,) = extract(observation("Revert to the previous template.", entity=REPORT))

    assert (claim.entity, claim.extractor) == (REPORT, "rule:revert:template")


def test_sentences_end_at_marks_of_both_languages_and_not_at_abbreviations() -> None:
    assert sentences("Dr. Smith is in. It rains!今天下雨。明天晴；后天雪\n- one\n- two") == [
        "Dr. Smith is in.",
        "It rains!",
        "今天下雨。",
        "明天晴；",
        "后天雪",
        "- one",
        "- two",
    ]


def test_a_line_that_only_wraps_is_one_sentence() -> None:
    assert sentences("The rate limit\nis 100. 2.5 is fine.") == ["The rate limit\nis 100.", "2.5 is fine."]


def test_mentions_are_names_quotes_and_identifiers_other_than_the_subject() -> None:
    found = mentions_in('Yesterday Alice told Bob Smith about "Project X" and ABC-12 in config.yaml', Entity("alice"))

    assert [entity.name for entity in found] == ["Bob Smith", "Project X", "ABC-12", "config.yaml"]


def test_mentions_are_bounded() -> None:
    text = " and ".join(f"Town{letter}" for letter in "ABCDEFGHIJKL")

    assert len(mentions_in(text, Entity("x"))) == 8


def test_full_width_forms_are_read_like_plain_ones() -> None:
    (claim,) = extract(observation("The rate limit is １００。"))

    assert (claim.attribute, claim.value) == ("rate limit", 100)
    assert claim.statement == "The rate limit is １００。"


@pytest.mark.parametrize("text", ["What food must I avoid?", "满多少元免运费？", "Is it open? Since when?"])
def test_what_only_asks_is_chatter(text: str) -> None:
    (claim,) = extract(observation(text))

    assert (claim.attribute, claim.statement, claim.tier) == (None, text, "low")


def test_a_question_beside_a_statement_is_no_chatter() -> None:
    (claim,) = extract(observation("We hiked to the lake. Want to join?"))

    assert claim.tier is None


def test_what_is_said_twice_in_the_same_words_is_one_claim() -> None:
    (claim,) = extract(observation("The price is 10 yuan. The price is 10 yuan."))

    assert (claim.attribute, claim.value) == ("price", "10 CNY")
