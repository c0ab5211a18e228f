"""Messages that travel together: what a log costs for each record is then shared among them."""

from collections.abc import Callable, Hashable, Iterable
from functools import partial

import msgspec

from schemas.routing import partition_of
from schemas.wire import bundle, unbundle
from stores.ports import Entry, Record

_MOST_BYTES = 65_536


def bundled(entries: Iterable[Entry], together: Callable[[str], Hashable] = str) -> list[Entry]:
    """Entries as fewer ones, which hold those whose keys are the same to `together` (by default: the same key).

    A bundle has the key of its first entry, and headers where all of it have the same ones; each message carries its
    own trace in any case. Entries of one key stay in order; a bundle ends where it would grow beyond 64 KiB.
    """
    growing: dict[Hashable, list[Entry]] = {}
    sizes: dict[Hashable, int] = {}
    done: list[list[Entry]] = []
    for entry in entries:
        group = together(entry.key)
        size = sizes.get(group, _MOST_BYTES) + len(entry.value)
        if size > _MOST_BYTES:
            growing[group] = []
            done.append(growing[group])
            size = len(entry.value)
        growing[group].append(entry)
        sizes[group] = size
    return [_one(some) for some in done]


def bundled_by_bank(entries: Iterable[Entry], partitions: int) -> list[Entry]:
    """Observations as fewer entries: those of one bank that go to one partition travel together."""
    return bundled(entries, partial(_bank_and_partition, partitions=partitions))


def messages_of(record: Record) -> list[Record]:
    """A record as one for each message in it, all at the record's place."""
    messages = unbundle(record.value)
    if messages == [record.value]:
        return [record]
    return [msgspec.structs.replace(record, value=message) for message in messages]


def _bank_and_partition(key: str, partitions: int) -> tuple[str, int]:
    """What the key of an observation, which begins with its bank and a slash, tells of where it goes."""
    return key.partition("/")[0], partition_of(key, partitions)


def _one(entries: list[Entry]) -> Entry:
    first = entries[0]
    if len(entries) == 1:
        return first
    same = all(entry.headers == first.headers for entry in entries)
    return Entry(first.key, bundle([entry.value for entry in entries]), first.headers if same else {})
