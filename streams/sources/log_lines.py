"""A log, line by line, to observations: each line is folded in, belongs to the one before, or is refused by name."""

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from schemas.errors import InvalidInput, TooLarge
from schemas.instant import Instant, format_instant
from schemas.limits import MAX_TEXT_BYTES
from streams.sources.fold import Fold
from streams.sources.keyed import ReadLine
from streams.sources.lines import Line, text_of
from streams.sources.record import Record
from streams.sources.slots import SlotReader
from streams.sources.told import Reading, Refused, refused

LIMIT = MAX_TEXT_BYTES
"""A longer line is refused."""

_CONTINUES = re.compile(
    r"\s+\S|at [\w.$]+\(|Caused by:|Traceback \(|\.\.\. \d+ (?:more|common)|[\w.$]+(?:Exception|Error)\b|\}|\]|\)"
)
_MOST_KEPT = 65_536
_LONGEST_NAME = 200
_ENDINGS = re.compile(r"(?:\.(?:gz|log|txt|json|jsonl|out|\d+)|[.-]\d{4}-?\d{2}-?\d{2})+$")


def observe_log(
    read: ReadLine, slots: SlotReader, lines: Iterable[Line], file: str, now: Instant, latest: Instant, joined: bool
) -> Iterator[Reading]:
    """What the lines of a file give. `latest` is the newest time that is believed.

    With `joined`, an indented line or one of a stack trace belongs to the line before it.
    """
    fold = Fold(slots, file)
    service = service_of(file)
    held: Record | None = None
    for line in lines:
        try:
            record = _read(read, line, now, latest)
        except InvalidInput as error:
            if joined and held is not None and _continues(line):
                _join(held, line)
            else:
                yield _refusal(line, error)
            continue
        if held is not None:
            fold.add(held)
            if fold.full:
                yield from fold.flush()
        held = record
        if not held.service and not held.host:
            held.service = service
    if held is not None:
        fold.add(held)
    yield from fold.flush()


def service_of(file: str) -> str:
    """The service whose log a file is, where its lines name none: its name without endings, dates and counters."""
    name = PurePath(file).name
    return _ENDINGS.sub("", name) or name or "log"


def _read(read: ReadLine, line: Line, now: Instant, latest: Instant) -> Record:
    if line.size > LIMIT + 1:
        raise TooLarge("line", f"has {line.size} bytes; at most {LIMIT} are read. Split it")
    record = read(line.data, line.number, now)
    if record.at > latest:
        raise InvalidInput("time", f"{format_instant(record.at)} is in the future; set the clock of that machine")
    record.service, record.host = record.service[:_LONGEST_NAME], record.host[:_LONGEST_NAME]
    record.component, record.request = record.component[:_LONGEST_NAME], record.request[:_LONGEST_NAME]
    return record


def _continues(line: Line) -> bool:
    return line.size <= LIMIT and _CONTINUES.match(text_of(line.data[:500])) is not None


def _join(held: Record, line: Line) -> None:
    held.more += 1
    if len(held.raw) < _MOST_KEPT:
        held.raw = f"{held.raw}\n{text_of(line.data)}"


def _refusal(line: Line, error: InvalidInput) -> Refused:
    return refused(line.data, error, f"line {line.number}")
