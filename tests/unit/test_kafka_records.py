"""Keys, headers and times of foreign records stay within what the stages can pass on."""

import pytest

from stores.kafka.records import headers_of, key_of, text_of, time_of

MAY_MS = 1_714_521_600_123
LATEST = 253_402_214_400_000_000


@pytest.mark.parametrize(
    ("milliseconds", "instant"),
    [(MAY_MS, MAY_MS * 1_000), (0, 0), (-1, 0), (-(2**63), 0), (2**63 - 1, LATEST), (MAY_MS * 1_000, LATEST)],
)
def test_a_time_that_no_calendar_has_becomes_the_nearest_one(milliseconds: int, instant: int) -> None:
    assert time_of(milliseconds) == instant


def test_the_last_header_of_a_name_counts_and_bytes_are_spelled_out() -> None:
    given = [("trace", b"\xfe"), ("trace", b"last"), ("binary", b"\xff"), ("none", None)]

    assert headers_of(given) == {"trace": "last", "binary": "\\xff", "none": ""}


def test_headers_too_large_or_too_many_to_go_along_are_left_out() -> None:
    given = [("large", b"\xff" * 2_000_000), *((f"h{number}", b"x") for number in range(100))]

    assert list(headers_of(given)) == [f"h{number}" for number in range(64)]


def test_a_record_without_headers_has_none() -> None:
    assert headers_of(None) == {}


def test_of_a_very_long_key_the_beginning_is_kept() -> None:
    assert key_of(b"\xff" * 3_000_000) == "\\xff" * 65_536
    assert key_of(b"bank/entity") == "bank/entity"
    assert key_of(None) == ""


def test_text_that_is_none_is_spelled_out() -> None:
    assert text_of(b"\xffk") == "\\xffk"
