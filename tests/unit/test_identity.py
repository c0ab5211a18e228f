"""Identity: ids depend on content alone, and stay the same from release to release."""

import pytest

from schemas.entity import Entity, entity_id, entity_key
from schemas.identity import digest, normal_name
from schemas.slot import belief_id, slot_id


def test_ids_never_change_from_release_to_release() -> None:
    assert digest() == "cae66941d9efbd404e4d88758ea67670"
    assert digest("a", "bc") == "a4d2502de3aca3ac159bba2d99ea81a8"
    assert entity_id("shop", Entity("Café Lumen", "policy")) == "n137c90e92d53bee2c98b51c94ef0f24f"
    assert slot_id("shop", Entity("shop policy", "policy"), "free shipping threshold") == (
        "sb07dff000a971c0db47deb79799ef348"
    )
    assert belief_id("s1", (("region", "CN"),), "200") == "b4a15f652c440dbb29d22e77c272e9a87"


def test_the_same_letters_divided_differently_are_different_lists() -> None:
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("abc", ""), digest("2:ab", "c")}) == 5


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Mei Chen", "  MEI   chen "),
        ("ＭＥＩ Ｃｈｅｎ", "mei chen"),
        ("mei\u3000chen", "Mei Chen"),
        ("cafe\u0301", "café"),
        ("Straße", "STRASSE"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("ﬁrst", "FIRST"),
    ],
)
def test_spellings_of_one_name_are_one(left: str, right: str) -> None:
    assert normal_name(left) == normal_name(right)


@pytest.mark.parametrize(("left", "right"), [("cafe", "café"), ("Chen Mei", "Mei Chen"), ("陈梅", "陈美")])
def test_different_names_stay_different(left: str, right: str) -> None:
    assert normal_name(left) != normal_name(right)


def test_same_name_and_different_type_or_bank_are_different_entities() -> None:
    fruit, company = Entity("Apple", "fruit"), Entity("Apple", "company")

    assert entity_id("shop", fruit) != entity_id("shop", company)
    assert entity_id("shop", fruit) != entity_id("other", fruit)
    assert entity_key("shop", fruit) == "shop/" + entity_id("shop", Entity("APPLE", "Fruit"))


def test_an_attribute_is_one_slot_and_every_free_statement_its_own() -> None:
    mei = Entity("Mei Chen", "person")

    assert slot_id("shop", mei, "Preferred  Channel") == slot_id("shop", mei, "preferred channel", "anything")
    assert slot_id("shop", mei, None, "likes tea") != slot_id("shop", mei, None, "likes coffee")
    assert slot_id("shop", mei, None, "email") != slot_id("shop", mei, "email")
