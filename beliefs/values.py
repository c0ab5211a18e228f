"""When two values are one: canonical keys by type, magnitudes, and the clustering of close values."""

import math
import re
from bisect import bisect_left
from collections.abc import Mapping
from datetime import time
from decimal import Context, Decimal, InvalidOperation

from beliefs.sentences import words
from beliefs.units import CURRENCIES, SCALES, UNITS
from schemas.claim import Value, ValueType
from schemas.errors import InvalidInput
from schemas.identity import normal_name
from schemas.instant import SECOND, format_instant, parse_instant
from schemas.policy import AttributeRule

_TRUE = words("true yes on y 1 enabled 是 对 开 开启 启用")
_FALSE = words("false no off n 0 disabled 否 不是 关 关闭 停用")
_AMOUNT = re.compile(
    r"(?P<before>[^\d\s.+-]{0,4})\s?(?P<number>[+-]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?)"
    r"\s?(?P<scale>k|thousand|million|billion|万|亿)?\s?(?P<after>[^\d\s][^\d\s]{0,15})?"
)
_VERSION = re.compile(r"(?:v|version|版本)?\s?(\d+(?:\.\d+)*)([-+.]?[0-9a-z][0-9a-z.+-]*)?")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s?(?:([ap])\.?m?\.?)?")
_WORD = re.compile(r"[^\W_]+")
_WIDEST = 4_000
"""Digits beyond which a number is compared as it was written."""

_EXACT = Context(prec=2 * _WIDEST)

_NumberAndUnit = tuple[Decimal, str]


def typed(value: Value) -> ValueType:
    """The type that a value has by itself."""
    if isinstance(value, bool):
        return "boolean"
    return "text" if isinstance(value, str) else "number"


def normal_value(value: Value, type: ValueType | None, rule: AttributeRule | None) -> tuple[ValueType, str]:
    """The type under which a value is compared, and its key; equal keys are equal values.

    The rule's type goes before the claim's. Text that does not fit its type is compared as text; a number
    that does not is compared as a number.
    """
    wanted = (rule.type if rule else None) or type or typed(value)
    key = _key(value, wanted, rule)
    if key is not None:
        return wanted, key
    fallback = typed(value)
    return fallback, _plain_key(value)


def magnitude(value: Value, type: ValueType | None) -> float | None:
    """How far along a value lies: units for numbers and money, seconds for dates and times; None for others."""
    size: float | None = None
    match type or typed(value):
        case "number" | "money":
            amount = _amount(value)
            size = None if amount is None else _finite(amount[0])
        case "date" | "time":
            size = _seconds(value)
    return size


def cluster(values: Mapping[str, tuple[float | None, int]], tolerance: float) -> dict[str, str]:
    """Which value each key is taken for, given its magnitude and the number of its supporters.

    The value with most supporters within `tolerance` and of the same unit (then of its own, then the smaller
    magnitude, then the smaller key) takes in every such value left; and so on. Depends only on the set.
    """
    anchors = {key: key for key in values}
    if tolerance <= 0:
        return anchors
    line = sorted((_unit_of(key), size, key) for key, (size, _) in values.items() if size is not None)
    near = {key: _near(line, unit, size, tolerance) for unit, size, key in line}
    around = {key: sum(values[other][1] for other in others) for key, others in near.items()}
    left = set(near)
    for _, _, key in sorted(line, key=lambda entry: (-around[entry[2]], -values[entry[2]][1], entry[1], entry[2])):
        if key in left:
            taken = left.intersection(near[key])
            left -= taken
            anchors.update(dict.fromkeys(taken, key))
    return anchors


def _near(line: list[tuple[str, float, str]], unit: str, size: float, tolerance: float) -> list[str]:
    found = []
    for at in range(bisect_left(line, (unit, size - tolerance, "")), len(line)):
        other_unit, other_size, other = line[at]
        if other_unit != unit or other_size > size + tolerance:
            break
        found.append(other)
    return found


def _key(value: Value, type: ValueType, rule: AttributeRule | None) -> str | None:
    match type:
        case "number" | "money":
            amount = _amount(value)
            return None if amount is None else " ".join((_digits(amount[0]), amount[1])).rstrip()
        case "date" | "time":
            return _time_key(value)
        case "boolean":
            return _boolean_key(value)
        case "version":
            return _version_key(value)
        case "code":
            return _code_key(value, rule.ignore if rule else ())
    return _plain_key(value)


def _plain_key(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            number = _decimal(value)
            return str(value) if number is None else _digits(number)
    return normal_name(value)


def _decimal(value: int | float | str) -> Decimal | None:
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def _digits(number: Decimal) -> str:
    """Exact decimal text: no exponent, no trailing zeros, no minus before zero."""
    if not number:
        return "0"
    if abs(number.adjusted()) > _WIDEST:
        return str(number)
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _amount(value: Value) -> _NumberAndUnit | None:
    """A number and its common unit or currency ("" without one)."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, str):
        number = _decimal(value)
        return None if number is None else (number, "")
    found = _AMOUNT.fullmatch(normal_name(value)) if len(value) <= _WIDEST else None
    number = _decimal(found["number"].replace(",", "")) if found else None
    if found is None or number is None:
        return None
    unit, factor = _unit(found["before"], found["after"] or "")
    if unit is None:
        return None
    return _EXACT.multiply(_EXACT.multiply(number, SCALES[found["scale"] or ""]), factor), unit


def _unit(before: str, after: str) -> tuple[str | None, Decimal]:
    if before and after:
        return None, Decimal(1)
    name = before or after
    if not name:
        return "", Decimal(1)
    if name in CURRENCIES:
        return CURRENCIES[name], Decimal(1)
    return UNITS.get(after, (None, Decimal(1)))


def _unit_of(key: str) -> str:
    return key.partition(" ")[2]


def _finite(number: Decimal) -> float | None:
    size = float(number)
    return size if math.isfinite(size) else None


def _time_key(value: Value) -> str | None:
    clock = _clock(value)
    if clock is not None:
        return clock.isoformat()
    try:
        return format_instant(parse_instant(value, "value"))
    except InvalidInput:
        return None


def _seconds(value: Value) -> float | None:
    clock = _clock(value)
    if clock is not None:
        return clock.hour * 3600.0 + clock.minute * 60.0 + clock.second
    try:
        return parse_instant(value, "value") / SECOND
    except InvalidInput:
        return None


def _clock(value: Value) -> time | None:
    found = _CLOCK.fullmatch(normal_name(value)) if isinstance(value, str) else None
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[4]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[4] == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return time(hour, minute, second)


def _boolean_key(value: Value) -> str | None:
    word = _plain_key(value)
    if word in _TRUE:
        return "true"
    return "false" if word in _FALSE else None


def _version_key(value: Value) -> str | None:
    found = None if isinstance(value, bool) else _VERSION.fullmatch(_plain_key(value))
    if found is None:
        return None
    parts = [part.lstrip("0") or "0" for part in found[1].split(".")]
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()
    return ".".join(parts) + (found[2] or "")


def _code_key(value: Value, ignore: tuple[str, ...]) -> str | None:
    dropped = {normal_name(word) for word in ignore}
    return "".join(word for word in _WORD.findall(_plain_key(value)) if word not in dropped) or None
