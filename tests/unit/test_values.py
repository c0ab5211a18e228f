"""When two values are one, how far apart they are, and which belong together."""

import pytest

from beliefs.values import cluster, magnitude, normal_value, typed
from schemas.claim import Value, ValueType
from schemas.policy import AttributeRule

EQUAL = [
    (10, "10.0", "number"),
    (10.0, 10, None),
    ("1,000.50", 1000.5, "number"),
    ("2 min", "120 seconds", "number"),
    ("2 小时", "7200 s", "number"),
    ("20%", "20 percent", "number"),
    ("1.5 GB", "1500 MB", "number"),
    ("100 yuan", "¥100", "money"),
    ("100元", "100.00 CNY", "money"),
    ("1.5万元", "15000 CNY", "money"),
    ("$5", "5 USD", "money"),
    ("yes", True, "boolean"),
    ("是", "on", "boolean"),
    ("否", False, "boolean"),
    ("v1.2.0", "1.2.0", "version"),
    ("1.2", "1.2.0", "version"),
    ("Gate B-12", "gate b 12", "code"),
    ("Dark  Mode", "dark mode", "text"),
    ("ＰＤＦ", "pdf", "enum"),
    ("2024-05-20", "2024-05-20T00:00:00Z", "date"),
    ("2024-05-20T09:00:00+02:00", "2024-05-20T07:00:00Z", "time"),
    (1716163200, "2024-05-20", "date"),
    ("6:05 pm", "18:05", "time"),
]


@pytest.mark.parametrize(("one", "other", "type"), EQUAL)
def test_one_value_written_in_two_ways_has_one_key(one: Value, other: Value, type: ValueType) -> None:
    assert normal_value(one, type, None) == normal_value(other, type, None)


DIFFERENT = [
    ("100 CNY", "100 USD", "money"),
    ("100 CNY", "100", "money"),
    ("10", "10.0", "text"),
    ("3.1", "3.10", "version"),
    ("1.2.0-rc1", "1.2.0", "version"),
    (True, False, "boolean"),
    ("5 minutes", "5 months", "number"),
]


@pytest.mark.parametrize(("one", "other", "type"), DIFFERENT)
def test_two_values_have_two_keys(one: Value, other: Value, type: ValueType) -> None:
    assert normal_value(one, type, None) != normal_value(other, type, None)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("many", "number"),
        ("soon", "date"),
        ("25:99", "time"),
        ("perhaps", "boolean"),
        ("main", "version"),
        ("!", "code"),
    ],
)
def test_text_that_does_not_fit_its_type_is_compared_as_text(value: str, type: ValueType) -> None:
    assert normal_value(value, type, None) == ("text", value)


def test_a_number_that_is_no_date_stays_a_number() -> None:
    assert normal_value(10**20, "date", None) == ("number", "1" + "0" * 20)


def test_numbers_are_exact_however_large() -> None:
    assert normal_value(10**40 + 1, "number", None) == ("number", "1" + "0" * 39 + "1")
    assert normal_value(0.1, "number", None) == ("number", "0.1")
    assert normal_value(-0.0, "number", None) == ("number", "0")


def test_the_rule_of_the_attribute_goes_before_the_claim() -> None:
    rule = AttributeRule(pattern="gate", type="code", ignore=("gate", "terminal"))

    assert normal_value("Terminal 3, Gate B12", "text", rule) == ("code", "3b12")
    assert normal_value("3-B12", None, rule) == ("code", "3b12")


def test_the_type_of_a_bare_value_is_its_own() -> None:
    assert [typed(value) for value in (True, 1, 1.5, "1")] == ["boolean", "number", "number", "text"]


@pytest.mark.parametrize(
    ("value", "type", "size"),
    [
        (10, None, 10.0),
        ("100 CNY", "money", 100.0),
        ("2 min", "number", 120.0),
        ("18:05", "time", 65100.0),
        ("1970-01-02", "date", 86400.0),
        ("dark", "text", None),
        (True, None, None),
        ("many", "number", None),
        ("1e999", "number", None),
    ],
)
def test_the_magnitude_is_a_number_or_seconds(value: Value, type: ValueType | None, size: float | None) -> None:
    assert magnitude(value, type) == size


def test_close_values_go_to_the_one_with_most_supporters() -> None:
    values = {"18:05": (65100.0, 3), "18:07": (65220.0, 1), "18:30": (66600.0, 2)}

    assert cluster(values, 600.0) == {"18:05": "18:05", "18:07": "18:05", "18:30": "18:30"}


def test_the_value_amid_most_supporters_takes_in_the_others() -> None:
    values = {"1": (1.0, 1), "2": (2.0, 1), "3": (3.0, 1)}

    assert cluster(values, 1.0) == {"1": "2", "2": "2", "3": "2"}


def test_equal_support_is_decided_by_the_smaller_value() -> None:
    values = {"1": (1.0, 1), "2": (2.0, 1)}

    assert cluster(values, 1.0) == {"1": "1", "2": "1"}


def test_without_tolerance_and_across_units_nothing_is_joined() -> None:
    assert cluster({"1": (1.0, 1), "2": (2.0, 1)}, 0.0) == {"1": "1", "2": "2"}
    money = {"100 CNY": (100.0, 1), "101 CNY": (101.0, 2), "100 USD": (100.0, 1), "free": (None, 1)}
    assert cluster(money, 5.0) == {"100 CNY": "101 CNY", "101 CNY": "101 CNY", "100 USD": "100 USD", "free": "free"}
