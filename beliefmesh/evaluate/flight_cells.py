"""Reads the cells of flight tables: times in many shapes, gates, and cells that say nothing."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

import msgspec

from beliefmesh.evaluate.reading import read_lines
from schemas.errors import InvalidInput
from schemas.instant import MINUTE, Instant, instant_of

SAME_TIME_MINUTES = 10
GATE_WORDS = ("gate", "terminal", "term")
TIMES = ("scheduled_departure", "actual_departure", "scheduled_arrival", "actual_arrival")
GATES = ("departure_gate", "arrival_gate")
COLUMNS = (
    "scheduled_departure",
    "actual_departure",
    "departure_gate",
    "scheduled_arrival",
    "actual_arrival",
    "arrival_gate",
)

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?\s*(midnight|noon|[ap](?=\.?m|\b|(?-i:[A-Z])))?", re.IGNORECASE)
_DATE = re.compile(r"\b(?:\d{4}-\d\d-\d\d|(?:[a-z]{3},\s)?[a-z]{3}\s\d\d?\b)(?:\s-)?", re.IGNORECASE)
_FILE_DAY = re.compile(r"-(\d{8})\.")
_WORD = re.compile(r"[^\W_]+")
_TERMINAL_ONLY = re.compile(r"(?:terminal|term)\s+\S+|\S+\s+(?:terminal|term)", re.IGNORECASE)
_NOTHING_KNOWN = ("not available", "not provided by airline", "contact airline", "tba", "tbd", "unknown")
_DAY_TURNS = 3
"""The hour at which an operating day ends: what flies earlier belongs to the night before."""


class Row(msgspec.Struct, frozen=True):
    """One line of a table: who tells, of which flight, on which day, and what, by column."""

    source: str
    flight: str
    day: date
    cells: dict[str, str]

    @property
    def entity(self) -> str:
        """The name of a flight on a day."""
        return f"{self.flight} {self.day.isoformat()}"


def read_claims(path: Path) -> list[Row]:
    """The claims of one day's file: source, flight and six cells a line."""
    return _rows(path, "claims", 2)


def read_gold(path: Path) -> list[Row]:
    """The true values of one day's file: flight and six cells a line; the source is empty."""
    return _rows(path, "gold", 1)


def day_of(path: Path, option: str) -> date:
    """The day in a file's name, as in claims-20111201.tsv.gz."""
    found = _FILE_DAY.search(path.name)
    if found is None:
        raise InvalidInput(option, f"{path.name} names no day; expected NAME-YYYYMMDD.tsv")
    return datetime.strptime(found[1], "%Y%m%d").date()


def value_of(column: str, cell: str, day: date) -> str | None:
    """What a cell claims: a local time, a gate, else the cell's text; None where it says that nothing is known."""
    if not says_something(cell):
        return None
    if column in TIMES:
        minutes = clock_of(cell)
        return " ".join(cell.split()) if minutes is None else local_time(minutes, day)
    return gate_of(cell)


def clock_of(cell: str) -> int | None:
    """Minutes after midnight of the first clock time in a cell; zones are local to the airport and left out."""
    found = _CLOCK.search(cell)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2])
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() in ("p", "noon") else 0)
    return hour * 60 + minute if hour < 24 and minute < 60 else None


def local_time(minutes: int, day: date) -> str:
    """A clock time on a flight's operating day, as ISO text.

    Cells disagree on the date of what happens after midnight: some give the calendar's, others the day of departure,
    the truth does both. So the clock alone counts, and what lies before 3 a.m. is taken for the following night's.
    """
    at = day + timedelta(days=1) if minutes < _DAY_TURNS * 60 else day
    return f"{at.isoformat()}T{minutes // 60:02}:{minutes % 60:02}"


def gate_of(cell: str) -> str | None:
    """The gate in a cell such as `Terminal D - D28`; None where only the terminal is told."""
    gate = cell.rpartition(" - ")[2].strip()
    return None if not gate_key(gate) or _TERMINAL_ONLY.fullmatch(gate) else gate


def gate_key(gate: str) -> str:
    """A gate as it is compared: no punctuation, no case, none of the words gate and terminal."""
    return "".join(word for word in _WORD.findall(gate.casefold()) if word not in GATE_WORDS)


def says_something(cell: str) -> bool:
    """Whether a cell states anything: not only dashes, and not that nothing is available."""
    words = " ".join(_WORD.findall(_DATE.sub(" ", cell).casefold()))
    return bool(_WORD.search(cell)) and words not in _NOTHING_KNOWN


def same(column: str, one: str, other: str) -> bool:
    """Whether two values are equal: times within ten minutes, gates by their key."""
    if column in GATES:
        return gate_key(one) == gate_key(other)
    first, second = instant_in(one), instant_in(other)
    if first is None or second is None:
        return one == other
    return abs(first - second) <= SAME_TIME_MINUTES * MINUTE


def instant_in(value: str) -> Instant | None:
    """The instant of a time that `local_time` wrote; None for other text."""
    try:
        return instant_of(datetime.fromisoformat(value))
    except ValueError:
        return None


def _rows(path: Path, option: str, names: int) -> list[Row]:
    day = day_of(path, option)
    lines = enumerate(read_lines(path, option), 1)
    return [_row(line.split("\t"), names, day, f"{option}: {path.name} line {n}") for n, line in lines if line.strip()]


def _row(fields: Sequence[str], names: int, day: date, place: str) -> Row:
    if len(fields) != names + len(COLUMNS):
        raise InvalidInput(place, f"has {len(fields)} fields; expected {names + len(COLUMNS)}, separated by tabs")
    cells = dict(zip(COLUMNS, fields[names:], strict=True))
    return Row(source=fields[0] if names > 1 else "", flight=fields[names - 1], day=day, cells=cells)
