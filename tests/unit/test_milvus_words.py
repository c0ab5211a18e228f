"""How a row's words and a question's are written for Milvus's BM25."""

from stores.milvus.words import KEYWORDS_TO_TEXT, LONGEST, parts_of, question_of
from stores.ports import PUBLIC, IndexRow


def row(text: str, keywords: str = "") -> IndexRow:
    return IndexRow(
        bank="acme",
        belief="b1",
        audience="",
        readers=(PUBLIC,),
        version=1,
        network="world",
        status="active",
        text=text,
        keywords=keywords,
        entities=(),
        at=0,
    )


def test_words_of_text_and_keywords_are_apart_and_hashed() -> None:
    [text] = parts_of(row("giraffe"))
    [both] = parts_of(row("giraffe", keywords="giraffe"))

    assert len(both.split()) == len(set(both.split())) == 2
    assert both.split()[0] == text
    assert "giraffe" not in both


def test_a_question_asks_for_each_word_once_in_the_text_and_several_times_in_the_keywords() -> None:
    [both] = parts_of(row("giraffe", keywords="giraffe"))
    in_text, in_keywords = both.split()

    asked = question_of("Giraffe, giraffes!").split()

    assert asked.count(in_text) == 1
    assert asked.count(in_keywords) == KEYWORDS_TO_TEXT
    assert len(asked) == 1 + KEYWORDS_TO_TEXT


def test_a_text_too_long_for_a_column_has_several_parts_and_loses_no_word() -> None:
    words = " ".join(f"word{number}" for number in range(20_000))

    parts = parts_of(row(words))

    assert len(parts) == 4
    assert all(len(part) <= LONGEST for part in parts)
    assert len(set(" ".join(parts).split())) == 20_000


def test_a_row_without_words_has_one_empty_part_and_such_a_question_is_empty() -> None:
    assert parts_of(row("", "...")) == [""]
    assert question_of("?!") == ""
