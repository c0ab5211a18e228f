"""Reads log lines by patterns: the first that fits says what is the time, the service, the level and the message."""

import re
from collections.abc import Sequence

from schemas.claim import Value
from schemas.errors import InvalidInput
from schemas.instant import Instant
from schemas.limits import shown
from streams.sources.lines import text_of
from streams.sources.masks import masked_path
from streams.sources.pattern_file import LinePattern, filled
from streams.sources.record import LEVELS, Record, level_of, severity_level

_OWN = frozenset(("time", "message", "level", "priority", "service", "host", "component", "request", "pairs"))
_PAIR = re.compile(r'(?<![\w.@-])([\w.@-]+)="((?:[^"\\\]]|\\.)*)"')
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d+)?")
_LEADING = re.compile(
    r"\W{0,2}(trace|debug|info|notice|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|panic|alert|emerg)\b\W", re.IGNORECASE
)
_NIL = "-"
_CLIENT_ERROR, _SERVER_ERROR = 400, 500


class PatternLines:
    """Reads lines by several patterns; the one that fitted the last line is tried first."""

    def __init__(self, patterns: Sequence[LinePattern]) -> None:
        self._patterns = tuple(patterns)
        self._last = 0

    def __call__(self, data: bytes, number: int, now: Instant) -> Record:
        """The record of a line. Raises InvalidInput where no pattern fits, or where its time is none."""
        text = text_of(data).rstrip()
        wrong: InvalidInput | None = None
        last = self._last
        for place in (last, *range(len(self._patterns))) if last else range(len(self._patterns)):
            pattern = self._patterns[place]
            found = pattern.regex.match(text)
            if found is None:
                continue
            try:
                at = pattern.time(found["time"], now)
            except InvalidInput as error:
                wrong = wrong or error
                continue
            self._last = place
            return _record(pattern, found.groupdict(), at, text, number)
        if wrong is not None:
            raise wrong
        raise InvalidInput("line", f"fits no pattern: {shown(text)}; name another source, or write a pattern file")


def _record(pattern: LinePattern, groups: dict[str, str | None], at: Instant, text: str, number: int) -> Record:
    given = {name: value for name, value in groups.items() if value and value != _NIL}
    own = {**pattern.set, **given} if pattern.set else given
    message = filled(pattern.message, given) if pattern.message else own.get("message", "")
    fields = {name: _value(value) for name, value in given.items() if name not in _OWN}
    if pairs := given.get("pairs"):
        fields |= {name: _value(value) for name, value in _PAIR.findall(pairs)}
    return Record(
        at=at,
        message=message.strip() or text,
        raw=text,
        number=number,
        level=_level(own, message, fields),
        service=own.get("service", ""),
        host=own.get("host", ""),
        component=own.get("component", ""),
        request=own.get("request", ""),
        scope={name: masked_path(filled(told, given)) for name, told in pattern.scope.items()} if pattern.scope else {},
        fields=fields,
    )


def _level(own: dict[str, str], message: str, fields: dict[str, Value]) -> str:
    """The level that is named, else that of the priority, of a request's status, or of the message's first word."""
    if level := level_of(own.get("level")):
        return level
    if priority := own.get("priority"):
        return severity_level(int(priority))
    status = fields.get("status")
    if isinstance(status, int) and status >= _CLIENT_ERROR:
        return LEVELS[5] if status >= _SERVER_ERROR else LEVELS[4]
    found = _LEADING.match(message)
    return level_of(found[1]) if found else ""


def _value(text: str) -> Value:
    if not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)
