"""A pattern file as its YAML tells it: named regular expressions that read log lines, and rules for what they say."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from schemas.errors import InvalidInput
from schemas.fields import Reader, list_of, one_of, read_flag
from schemas.limits import check_text, shown
from streams.sources.moments import ReadTime, time_reader
from streams.sources.yaml_file import read_keys

_GROUPS = ("time", "message", "level", "priority", "service", "host", "component", "request", "pairs")
_EACH = re.compile(r"\{(\w+)\}")


class LinePattern(msgspec.Struct, frozen=True, kw_only=True):
    """One form of a line. Groups with names of our own fill the record, others are its fields.

    `set` gives what the line leaves out, and `message` and `scope` are texts over the groups, as in "{method} {path}".
    """

    name: str
    regex: re.Pattern[str]
    time: ReadTime
    message: str = ""
    set: dict[str, str] = {}
    scope: dict[str, str] = {}


class IdRule(msgspec.Struct, frozen=True, kw_only=True):
    """What a line is about: the group `id` (or the whole match) names it, `type` (or the group) says what it is.

    `name` is a text over the groups; `link` means that it is only mentioned, never what the line is about; `whole`
    that it is looked for in the whole line, not in its message alone.
    """

    regex: re.Pattern[str]
    type: str = ""
    name: str = ""
    link: bool = False
    whole: bool = False


class StateRule(msgspec.Struct, frozen=True, kw_only=True):
    """Words that tell a state: the group `value`, or the constant; of the group `subject`, else of the line's subject.

    `about` lets the rule apply only to that type of thing, `service` only to lines of that service; `map` renames.
    """

    regex: re.Pattern[str]
    attribute: str = "state"
    value: str = ""
    about: str = ""
    service: str = ""
    type: str = "service"
    map: dict[str, str] = {}
    tier: str = ""


class PatternFile(msgspec.Struct, frozen=True, kw_only=True):
    """A whole pattern file. What no rule of its own reads, the general rules still do."""

    name: str
    about: str = ""
    patterns: tuple[LinePattern, ...] = ()
    ids: tuple[IdRule, ...] = ()
    states: tuple[StateRule, ...] = ()


def read_pattern_file(told: Mapping[str, object], file: str) -> PatternFile:
    """The patterns of a file's keys. Raises InvalidInput that names the file, the key and what to do."""
    return PatternFile(**read_keys(told, file, _FILE, ("name",)))


def _read_regex(told: object, field: str) -> re.Pattern[str]:
    if not isinstance(told, str) or not told:
        raise InvalidInput(field, f"is {shown(told)}; write a regular expression, in single quotes")
    try:
        return re.compile(told)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidInput(field, f"{shown(told)} is not a regular expression ({error})") from error


def _read_pattern(told: object, field: str) -> LinePattern:
    given = read_keys(told, field, _PATTERN, ("name", "regex"))
    groups = given["regex"].groupindex
    given.setdefault("time", time_reader("iso", field))
    if "time" not in groups:
        raise InvalidInput(f"{field}.regex", "has no group (?P<time>…); without a time a line cannot be placed")
    if "message" not in groups and not given.get("message"):
        raise InvalidInput(f"{field}.regex", "has no group (?P<message>…); add it, or a 'message' over other groups")
    for text in (given.get("message", ""), *given.get("scope", {}).values(), *given.get("set", {}).values()):
        for name in _EACH.findall(text):
            if name not in groups:
                raise InvalidInput(field, f"{shown(text)} names the group {name!r}, which the regex does not have")
    return LinePattern(**given)


def _read_set(told: object, field: str) -> dict[str, str]:
    texts = _read_texts(told, field)
    for name in texts:
        one_of(_GROUPS)(name, field)
    return texts


def _read_texts(told: object, field: str) -> dict[str, str]:
    if not isinstance(told, dict) or not told:
        raise InvalidInput(field, "must be a table of texts, as in {service: zookeeper}")
    return {str(name): check_text(value, f"{field}.{name}", empty=False) for name, value in told.items()}


def _read_id(told: object, field: str) -> IdRule:
    given = read_keys(told, field, _ID, ("regex",))
    if not given.get("type") and "type" not in given["regex"].groupindex:
        raise InvalidInput(f"{field}.type", "is missing; say what the id names, as in type: instance")
    return IdRule(**given)


def _read_state(told: object, field: str) -> StateRule:
    given = read_keys(told, field, _STATE, ("regex",))
    if not given.get("value") and "value" not in given["regex"].groupindex:
        raise InvalidInput(f"{field}.value", "is missing; give the state, or a group (?P<value>…) in the regex")
    return StateRule(**given)


def filled(text: str, groups: Mapping[str, Any]) -> str:
    """A text with the groups that it names."""
    return _EACH.sub(lambda found: str(groups.get(found[1]) or ""), text)


_PATTERN: Mapping[str, Reader] = {
    "name": check_text,
    "regex": _read_regex,
    "time": time_reader,
    "message": check_text,
    "set": _read_set,
    "scope": _read_texts,
}
_ID: Mapping[str, Reader] = {
    "regex": _read_regex,
    "type": check_text,
    "name": check_text,
    "link": read_flag,
    "whole": read_flag,
}
_STATE: Mapping[str, Reader] = {
    "regex": _read_regex,
    "attribute": check_text,
    "value": check_text,
    "about": check_text,
    "service": check_text,
    "type": check_text,
    "map": _read_texts,
    "tier": one_of(("low", "medium", "high")),
}
_FILE: Mapping[str, Reader] = {
    "name": check_text,
    "about": check_text,
    "patterns": list_of(_read_pattern),
    "ids": list_of(_read_id),
    "states": list_of(_read_state),
}
