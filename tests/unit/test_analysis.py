"""Which tokens a text has for keyword search."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.analysis import part_tokens, row_tokens, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running runs", ["run", "run"]),
        ("What is the name of the dog?", ["name", "dog"]),
        ("ALL CAPS", ["all", "cap"]),
        ("Alice's reports don't", ["alic", "report", "don"]),
        ("Она живёт в Москве", ["он", "живет", "в", "москв"]),
        ("café", ["café"]),
        ("Straße", ["strass"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("", []),
        ("?! … 👍", []),
    ],
)
def test_words_are_folded_and_stemmed_and_stop_words_left_out(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("免运费", ["免运", "运费"]),
        ("猫", ["猫"]),
        ("满200元", ["满", "200", "元"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("กิน", ["กิ", "ิน"]),
    ],
)
def test_scripts_without_spaces_give_pairs_of_characters(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_rows_hold_single_characters_too_so_that_a_question_of_one_finds_them() -> None:
    assert row_tokens("黑猫") == ["黑猫", "黑", "猫"]
    assert set(tokens("猫")) <= set(row_tokens("我有一只黑猫"))


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("db-1", "db-1", ["db", "1"]),
        ("v2.3.1.", "v2.3.1", ["v2", "3", "1"]),
        ("user@x.org,", "user@x.org", ["user", "x", "org"]),
        ("template_A", "template_a", ["templat", "a"]),
        ("2024-05-20", "2024-05-20", ["2024", "05", "20"]),
        ("18:05", "18:05", ["18", "05"]),
        ("R&D", "r&d", ["r", "d"]),
        ("std::vector", "std::vector", ["std", "vector"]),
        ("C++", "c++", ["c"]),
    ],
)
def test_identifiers_are_kept_whole_and_in_parts(text: str, whole: str, parts: list[str]) -> None:
    assert tokens(text) == [whole, *parts]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("CAFÉ", "café"),
        ("ＡＢＣ１２３", "abc123"),
        ("ｶﾞ", "ガ"),
        ("1,000", "1000"),
        ("co\u00adoperate", "cooperate"),
        ("المُعَلِّم", "المعلم"),
        ("می\u200cخواهم", "میخواهم"),
        ("don’t", "don't"),
    ],
)
def test_other_spellings_of_the_same_text_have_the_same_tokens(one: str, other: str) -> None:
    assert tokens(one) == tokens(other)


def test_stop_words_count_where_nothing_else_is_left() -> None:
    assert tokens("the who") == ["the", "who"]


@pytest.mark.parametrize(
    ("text", "expected"), [("template A", ["templat", "a"]), ("the US", ["us"]), ("who am I", ["am"])]
)
def test_a_stop_word_in_capitals_is_a_name_except_i(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_megabyte_without_a_space_is_one_token() -> None:
    assert tokens("x" * 1_000_000) == ["x" * 1_000_000]


@given(st.text(max_size=60))
def test_every_token_of_a_question_is_one_of_the_same_text_as_a_row(text: str) -> None:
    assert set(tokens(text)) <= set(row_tokens(text))


def test_a_part_of_stop_words_alone_has_no_tokens_of_its_own() -> None:
    assert part_tokens("it was what it is") == []
    assert row_tokens("it was what it is\nThe cats sleep") == ["cat", "sleep"]


@given(st.lists(st.text(max_size=20) | st.sampled_from(["what it was", "the", "3,000", "\u0301", "cats"]), min_size=1))
def test_the_parts_of_a_text_have_its_tokens_unless_all_are_stop_words(parts: list[str]) -> None:
    for space in ("\n", " "):
        text = space.join(parts)
        assert ([token for part in parts for token in part_tokens(part)] or row_tokens(text)) == row_tokens(text)


@given(st.text(max_size=60))
def test_composed_and_decomposed_texts_have_the_same_tokens(text: str) -> None:
    assert tokens(unicodedata.normalize("NFC", text)) == tokens(unicodedata.normalize("NFD", text))


@given(st.text(max_size=60))
def test_no_token_is_empty_or_holds_space(text: str) -> None:
    assert all(token and not token.isspace() for token in row_tokens(text))
