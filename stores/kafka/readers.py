"""Consumers that each stand somewhere in one partition: a read that goes on where another ended need not seek."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

from schemas.errors import StoreUnavailable
from stores.kafka.client import REQUEST_SECONDS, closed, meaning
from stores.kafka.driver import KafkaError, TopicPartition

_KEPT = 16
_POLL_MS = 1_000
_SECONDS = 3 * REQUEST_SECONDS


class Readers:
    """A few idle consumers; each is used by one thread at a time."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._turn = Lock()
        self._idle: OrderedDict[int, _Reader] = OrderedDict()
        self._closed = False

    def read(
        self, place: TopicPartition, offset: int, end: int, limit: int, wanted: Callable[[int], bool]
    ) -> list[Any]:
        """Up to `limit` wanted records of kafka-python from `offset` on, before `end`; gaps are stepped over."""
        reader = self._take(place, offset)
        try:
            records = reader.read(place, offset, end, limit, wanted)
        except (KafkaError, RuntimeError) as error:
            reader.close()
            raise (closed() if self._closed else meaning(error, f"reading {place.topic}")) from error
        except BaseException:
            reader.close()
            raise
        self._put(reader)
        return records

    def close(self) -> None:
        """End those that are idle; one in use ends when its read does."""
        with self._turn:
            self._closed = True
            idle = list(self._idle.values())
            self._idle.clear()
        for reader in idle:
            reader.close()

    def _take(self, place: TopicPartition, offset: int) -> "_Reader":
        with self._turn:
            if self._closed:
                raise closed()
            here = [reader for reader in self._idle.values() if reader.place == place]
            exact = [reader for reader in here if reader.offset == offset]
            if exact or here:
                found = (exact or here)[0]
                return self._idle.pop(id(found))
            if len(self._idle) >= _KEPT:
                return self._idle.popitem(last=False)[1]
        return _Reader(self._make())

    def _put(self, reader: "_Reader") -> None:
        """Keep it for later; the one that was longest without use goes where there are too many."""
        with self._turn:
            if not self._closed:
                self._idle[id(reader)] = reader
                if len(self._idle) <= _KEPT:
                    return
                _, reader = self._idle.popitem(last=False)
        reader.close()


class _Reader:
    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self.place: TopicPartition | None = None
        self.offset = -1

    def read(
        self, place: TopicPartition, offset: int, end: int, limit: int, wanted: Callable[[int], bool]
    ) -> list[Any]:
        self._stand(place, offset)
        found: list[Any] = []
        deadline = time.monotonic() + _SECONDS
        while self.offset < end and len(found) < limit:
            polled = self._consumer.poll(_POLL_MS, max_records=limit - len(found)).get(place, [])
            found += [record for record in polled if wanted(record.offset)]
            # Behind a gap, as after compaction, only the consumer knows how far it has come.
            self.offset = polled[-1].offset + 1 if polled else self._position(place)
            if not polled and time.monotonic() > deadline:
                raise StoreUnavailable(f"Kafka does not deliver {place.topic} in time; try again")
        return found

    def close(self) -> None:
        self._consumer.close()

    def _stand(self, place: TopicPartition, offset: int) -> None:
        if self.place != place:
            self._consumer.assign([place])
        if self.place != place or self.offset != offset:
            self._consumer.seek(place, offset)
        self.place, self.offset = place, offset

    def _position(self, place: TopicPartition) -> int:
        position = self._consumer.position(place, timeout_ms=_POLL_MS)
        return self.offset if position is None else int(position)
