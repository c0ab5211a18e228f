"""Reads lines of a log whose format nobody named: JSON, a known pattern, or logfmt, whichever fits the line."""

from schemas.errors import InvalidInput
from schemas.instant import Instant
from streams.sources.keyed import ReadLine, json_record, logfmt_record
from streams.sources.pattern_lines import PatternLines
from streams.sources.record import Record


def any_line(patterns: PatternLines) -> ReadLine:
    """A reader of lines in any of the formats; the error for a line in none is that of the patterns."""

    def read(data: bytes, number: int, now: Instant) -> Record:
        if data.lstrip()[:1] == b"{":
            return json_record(data, number, now)
        try:
            return patterns(data, number, now)
        except InvalidInput as error:
            try:
                return logfmt_record(data, number, now)
            except InvalidInput:
                raise error from None

    return read
