"""What the key, headers and time of a record become, whoever produced it; both readers of Kafka take them from here."""

from collections.abc import Iterable
from datetime import UTC, datetime

from schemas.instant import Instant, instant_of

_MS = 1_000
_LATEST_MS = instant_of(datetime(9999, 12, 31, tzinfo=UTC)) // _MS
_KEY_BYTES = 65_536
_HEADER_BYTES = 4_096
_MOST_HEADERS = 64


def time_of(milliseconds: int) -> Instant:
    """A record's time. Producers set it, and some brokers pass any number: it is kept within 1970 and 9999."""
    return min(max(milliseconds, 0), _LATEST_MS) * _MS


def key_of(raw: bytes | None) -> str:
    """A record's key as text, of one that is very long its beginning: spelled-out bytes are four times as many."""
    return text_of((raw or b"")[:_KEY_BYTES])


def headers_of(pairs: Iterable[tuple[str, bytes | None]] | None) -> dict[str, str]:
    """A record's headers as text, the last of each name.

    They go on with all that a record gives, so large ones (over 4 KiB) and those after the 64th are left out: a
    record that the topic took must not give others that no topic takes.
    """
    small = [(name, value) for name, value in pairs or () if len(name.encode()) + len(value or b"") <= _HEADER_BYTES]
    return {name: text_of(value) for name, value in small[:_MOST_HEADERS]}


def text_of(raw: bytes | None) -> str:
    """Bytes as text, whatever another producer made them of; none is empty."""
    return (raw or b"").decode(errors="backslashreplace")
