"""What a rulebook remembers is never taken for the answer to another question."""

from beliefs.rulebook import rulebook
from schemas.policy import AttributeRule, Policy


def test_values_that_python_holds_equal_keep_their_own_types() -> None:
    book = rulebook(Policy(attributes=()))

    assert book.normal_value("limit", 1, None) == ("number", "1")
    assert book.normal_value("limit", True, None) == ("boolean", "true")
    assert book.normal_value("limit", 1.0, None) == ("number", "1")
    assert book.normal_value("limit", "1", None) == ("text", "1")


def test_a_value_is_read_by_the_rule_of_its_own_attribute() -> None:
    book = rulebook(Policy(attributes=(AttributeRule(pattern="code", type="code"),)))

    assert book.normal_value("code", "AB-12", None) == ("code", "ab12")
    assert book.normal_value("name", "AB-12", None) == ("text", "ab-12")
    assert book.normal_value("code", "AB-12", None) == ("code", "ab12")


def test_a_long_text_is_read_again_each_time() -> None:
    book = rulebook(Policy(attributes=()))

    assert book.normal_value("note", "Long " * 100, None) == ("text", ("long " * 100).strip())
    assert book.normal_value("note", "Long " * 100, None) == ("text", ("long " * 100).strip())
