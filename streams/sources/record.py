"""A log line as it was read: when, how grave, which service on which host, and what it says."""

import msgspec

from schemas.claim import Value
from schemas.entity import Entity
from schemas.instant import Instant

LEVELS = ("TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL")
"""What levels are called here, the least grave first."""

_SPELLINGS = {
    "TRACE": "trace trc finest finer verbose v t",
    "DEBUG": "debug dbg fine d debug1 debug2 debug3 debug4 debug5 7",
    "INFO": "info information informational inf i log config 6 audit statement",
    "NOTICE": "notice note n 5",
    "WARNING": "warning warn wrn w 4",
    "ERROR": "error err eror e severe 3 failure failed stderr",
    "CRITICAL": "critical crit fatal f c alert a emerg emergency panic p ftl 2 1 0",
}
_BY_SPELLING = {word: level for level, words in _SPELLINGS.items() for word in words.split()}
_PINO = {10: "TRACE", 20: "DEBUG", 30: "INFO", 40: "WARNING", 50: "ERROR", 60: "CRITICAL"}
_SEVERITIES = ("CRITICAL", "CRITICAL", "CRITICAL", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")

_GRAVITIES = {level: place for place, level in enumerate(LEVELS)}
GRAVE = LEVELS.index("ERROR")
WARNING = LEVELS.index("WARNING")


class Record(msgspec.Struct, kw_only=True, gc=False):
    """One line. `fields` are its named values; `component` is the part of the service that speaks."""

    at: Instant
    message: str
    raw: str
    number: int
    level: str = ""
    service: str = ""
    host: str = ""
    component: str = ""
    request: str = ""
    subject: Entity | None = None
    scope: dict[str, str] = {}
    fields: dict[str, Value] = {}
    more: int = 0


def level_of(told: object) -> str:
    """The level that a log means by a word or a number; empty where it is none."""
    if isinstance(told, int) and not isinstance(told, bool):
        return _PINO.get(told) or (_SEVERITIES[told] if 0 <= told < len(_SEVERITIES) else "")
    return _BY_SPELLING.get(told.strip().lower(), "") if isinstance(told, str) else ""


def severity_level(priority: int) -> str:
    """The level of a syslog priority (RFC 5424, section 6.2.1): its severity is the priority modulo eight."""
    return _SEVERITIES[priority % 8]


def gravity(level: str) -> int:
    """How grave a level is, as its place in LEVELS; -1 for none."""
    return _GRAVITIES.get(level, -1)
