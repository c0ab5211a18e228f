"""Log lines that name their values: JSON objects and logfmt pairs; the usual names of time, level and message."""

import re
from collections.abc import Callable, Mapping

import msgspec

from beliefs.sentences import words
from schemas.claim import Value
from schemas.entity import Entity
from schemas.errors import InvalidInput
from schemas.instant import Instant, parse_instant
from streams.sources.lines import text_of
from streams.sources.record import Record, level_of

Pairs = dict[str, Value]

_TIME = ("time", "ts", "timestamp", "@timestamp", "t", "datetime", "date", "eventtime", "asctime", "at")
_LEVEL = ("level", "severity", "lvl", "log.level", "levelname", "loglevel", "severity_text", "priority")
_MESSAGE = ("msg", "message", "event", "text", "body", "log", "error", "err")
_SERVICE = ("service", "service.name", "service_name", "app", "application", "program", "appname", "syslog.appname")
_HOST = ("host", "hostname", "host.name", "node", "node_name", "kubernetes.node_name", "server", "machine")
_COMPONENT = ("logger", "component", "module", "name", "caller", "log.logger", "logger_name", "source")
_REQUEST = (
    "request_id", "requestid", "trace_id", "traceid", "trace.id", "correlation_id", "correlationid", "req_id",
    "span_id",
)  # fmt: skip
_OWN = frozenset((*_TIME, *_LEVEL, *_MESSAGE, *_SERVICE, *_HOST, *_COMPONENT, *_REQUEST))
_NOT_KINDS = words("user client customer account tenant project session parent event message span process thread")
_ID = re.compile(r"(?P<kind>[a-z][a-z0-9_. ]*?)[_.]?id")
_PAIR = re.compile(r'(?<!\S)(?P<key>[^\s="\[\]{}]+)=(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>\S*))')
_ESCAPE = re.compile(r"\\(.)")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d+)?")
_MILLISECONDS_FROM = 100_000_000_000
_DEEPEST = 5
_LONGEST_NAME = 120


def json_record(data: bytes, number: int, _: Instant) -> Record:
    """The record of a line of JSON. Raises InvalidInput for what is no object, or has no time."""
    text = text_of(data)
    try:
        told = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("line", f"is not JSON ({error}); each line must hold one object") from error
    if not isinstance(told, dict):
        raise InvalidInput("line", f"holds {type(told).__name__}; each line must hold one object")
    pairs: Pairs = {}
    _flatten(told, "", pairs, 0)
    return _record(pairs, text, number)


def logfmt_record(data: bytes, number: int, _: Instant) -> Record:
    """The record of a line of `key=value` pairs. Raises InvalidInput for what has none, or has no time."""
    text = text_of(data)
    pairs = {found["key"]: _unquoted(found) for found in _PAIR.finditer(text)}
    if not pairs:
        raise InvalidInput("line", 'has no key=value pairs; logfmt is such as level=info msg="it works"')
    return _record(pairs, text, number)


def _record(pairs: Pairs, raw: str, number: int) -> Record:
    names = {name.lower(): name for name in pairs}
    lower = {key: pairs[name] for key, name in names.items()}
    return Record(
        at=_time(lower),
        message=_text(lower, _MESSAGE) or raw,
        raw=raw,
        number=number,
        level=next((level for name in _LEVEL if (level := level_of(lower.get(name)))), ""),
        service=_text(lower, _SERVICE),
        host=_text(lower, _HOST),
        component=_text(lower, _COMPONENT),
        request=_text(lower, _REQUEST),
        subject=_subject(lower),
        fields={name: value for name, value in lower.items() if name not in _OWN},
    )


def _time(pairs: Mapping[str, Value]) -> Instant:
    told = next((pairs[name] for name in _TIME if pairs.get(name) not in (None, "")), None)
    if told is None:
        raise InvalidInput("time", f"is missing; a line needs one of {', '.join(_TIME[:5])}")
    number = _number(told) if isinstance(told, str) else told
    if isinstance(number, int | float) and not isinstance(number, bool):
        while abs(number) >= _MILLISECONDS_FROM:
            number = number / 1_000
        return parse_instant(number, "time")
    return parse_instant(told, "time")


def _text(pairs: Mapping[str, Value], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := pairs.get(name), str) and value.strip()), "")


def _subject(pairs: Mapping[str, Value]) -> Entity | None:
    """What a line is about by its first id, such as `instance_id`; requests and people are not what has a state."""
    for name, value in pairs.items():
        found = _ID.fullmatch(name) if name not in _OWN and len(name) <= _LONGEST_NAME else None
        kind = re.split(r"[_.]", found["kind"])[-1] if found else ""
        if kind and kind not in _NOT_KINDS and isinstance(value, str | int) and f"{value}".strip():
            return Entity(f"{value}"[:_LONGEST_NAME], kind[:_LONGEST_NAME])
    return None


def _flatten(told: Mapping[str, object], prefix: str, into: Pairs, depth: int) -> None:
    for name, value in told.items():
        if isinstance(value, dict) and depth < _DEEPEST:
            _flatten(value, f"{prefix}{name}.", into, depth + 1)
        elif isinstance(value, str | int | float):
            into[f"{prefix}{name}"] = value


def _unquoted(found: re.Match[str]) -> Value:
    if found["quoted"] is None:
        return _number(found["plain"])
    return _ESCAPE.sub(r"\1", found["quoted"]) if "\\" in found["quoted"] else found["quoted"]


def _number(text: str) -> Value:
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


ReadLine = Callable[[bytes, int, Instant], Record]
KEYED: dict[str, ReadLine] = {"jsonlog": json_record, "logfmt": logfmt_record}
