"""What a text, a name and a number may be, with the error that says so."""

import re

from schemas.errors import InvalidInput, TooLarge

MAX_TEXT_BYTES = 1_048_576
MAX_NAME_BYTES = 1_024
MAX_QUERY_CHARS = 10_000
MAX_WEIGHT = 1_000.0
MAX_ITEMS = 1_000
INT64 = 1 << 63
"""Whole numbers that every store can keep are less than this, and no less than its negative."""

BANK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


BELIEF_ID = re.compile(r"b[0-9a-z]{1,64}")


def shown(value: object) -> str:
    """A value as an error message quotes it: at most 80 characters, whatever it is."""
    try:
        return f"{value!r:.80}"
    except (ValueError, RecursionError):
        return f"this {type(value).__name__}"


def check_text(text: object, field: str, *, limit: int = MAX_TEXT_BYTES, empty: bool = True) -> str:
    """Accept a text that every store can keep and give back unchanged; `limit` counts UTF-8 bytes."""
    if not isinstance(text, str):
        raise InvalidInput(field, f"must be text, not {type(text).__name__}")
    if "\x00" in text:
        raise InvalidInput(field, "holds a NUL character; remove it")
    try:
        size = len(text) if text.isascii() else len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise InvalidInput(field, "holds a lone surrogate; send valid Unicode") from error
    if size > limit:
        raise TooLarge(field, f"has {size} bytes; at most {limit} are kept. Split it into several observations")
    if not empty and not text.strip():
        raise InvalidInput(field, "is empty")
    return text if type(text) is str else plain_text(text)


def plain_text(text: str) -> str:
    """The text itself, without the subclass of str that it may come as (an enum, numpy); no codec takes those."""
    return text if type(text) is str else str.__str__(text)


def check_name(name: object, field: str) -> str:
    """Accept a non-empty name of at most 1,024 bytes."""
    if type(name) is str and name.isascii() and len(name) <= MAX_NAME_BYTES and "\x00" not in name and name.strip():
        return name  # by far the most frequent case, at a third of the time
    return check_text(name, field, limit=MAX_NAME_BYTES, empty=False)


def check_belief_id(id: object, field: str) -> str:
    """Accept what may be the id of a belief; whether there is such a one is not asked."""
    if not isinstance(id, str) or not BELIEF_ID.fullmatch(id):
        raise InvalidInput(
            field, f"{shown(id)} is not the id of a belief; ids begin with 'b', take them as answers give them"
        )
    return plain_text(id)


def check_bank(bank: object) -> str:
    """Accept a bank name: 1 to 64 letters, digits, dots, dashes or underscores."""
    if not isinstance(bank, str) or not BANK_NAME.fullmatch(bank):
        raise InvalidInput(
            "bank",
            f"{shown(bank)} is not a bank name; use 1 to 64 letters, digits, '.', '-' or '_', a letter or digit first",
        )
    return plain_text(bank)


def check_number(value: object, field: str, low: float, high: float) -> float:
    """Accept a finite number between `low` and `high`, ends included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, f"must be a number, not {type(value).__name__}")
    if not low <= value <= high:
        raise InvalidInput(field, f"is {shown(value)}; it must lie between {low:g} and {high:g}")
    return float(value)
