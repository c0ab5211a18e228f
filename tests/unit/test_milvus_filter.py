"""Conditions for Milvus: values beside the text for a server, checked literals for Milvus Lite, and nothing wider."""

import pytest

from schemas.errors import InvalidInput
from stores.milvus.filter import Condition, bank_key, belief_key, of_beliefs, passing, reader_key, written_out
from stores.ports import PUBLIC, IndexFilter

HOSTILE = ["*", "%", "_", "", '"', "'", '" or row != "', "a\\", "{bank}", "|", "]", "\x00", "a" * 2_000, "免运费"]


def test_a_server_gets_every_value_beside_the_expression() -> None:
    filter = IndexFilter(
        bank="acme",
        readers=(PUBLIC, "u:ann"),
        statuses=("active",),
        networks=("world", "opinion"),
        entities=("n1",),
        occurred_from=5,
        occurred_to=7,
    )

    condition = passing(filter, lite=False)

    assert condition.expression == (
        "bank == {bank} and array_contains_any(readers, {reader})"
        " and (checked == {checked} or status in {statuses}) and network in {networks}"
        " and array_contains_any(entities, {entity}) and until >= {occurred_from} and since <= {occurred_to}"
    )
    assert condition.values["reader"] == [reader_key("acme", PUBLIC), reader_key("acme", "u:ann")]
    assert condition.values["bank"] == bank_key("acme")
    assert condition.values["statuses"] == ["active"]
    assert (condition.values["occurred_from"], condition.values["occurred_to"]) == (5, 7)


def test_milvus_lite_gets_patterns_in_place_of_arrays() -> None:
    text = written_out(passing(IndexFilter(bank="acme", readers=(PUBLIC, "u:ann"), statuses=("active",)), lite=True))

    first, second = reader_key("acme", PUBLIC), reader_key("acme", "u:ann")
    assert text == (
        f'bank == "{bank_key("acme")}" and (readers like "%{first}%" or readers like "%{second}%")'
        ' and (checked == true or status in ["active"])'
    )


@pytest.mark.parametrize("id", HOSTILE)
def test_an_id_never_changes_the_shape_of_an_expression(id: str) -> None:
    plain = IndexFilter(bank="b", readers=("u:ann",), entities=("n1",))
    hostile = IndexFilter(bank=id, readers=(id,), entities=(id,))

    assert shape(written_out(passing(hostile, lite=True))) == shape(written_out(passing(plain, lite=True)))
    assert passing(hostile, lite=False).expression == passing(plain, lite=False).expression
    assert shape(written_out(of_beliefs(id, [id]))) == shape(written_out(of_beliefs("acme", ["b1"])))


def test_one_name_has_another_key_in_each_bank_and_each_column() -> None:
    keys = {belief_key("a", "x"), belief_key("ax", ""), reader_key("a", "x"), bank_key("a"), bank_key("x")}
    assert len(keys) == 5


@pytest.mark.parametrize("value", ['"', "A", "a b", "a'", "\\"])
def test_a_text_that_could_end_a_literal_is_never_written_out(value: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in an expression"):
        written_out(Condition("bank == {bank}", {"bank": value}))


def test_nobody_asks_without_a_reader() -> None:
    with pytest.raises(InvalidInput, match="readers: is empty"):
        passing(IndexFilter(bank="acme", readers=()), lite=False)


def shape(expression: str) -> str:
    """The expression with a dot for each hexadecimal digit."""
    return "".join("." if character in "0123456789abcdef" else character for character in expression)
