"""Which records of a topic readers skip: kept as keys of a compacted sibling topic, since Kafka blanks no record."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from stores.kafka.driver import TopicPartition
from stores.kafka.readers import Readers
from stores.ports import Entry

SUFFIX = ".forgotten"
_PAGE = 10_000
_MARK = b"1"

_NONE: frozenset[tuple[int, int]] = frozenset()


class Marks:
    """The marks of every topic, as far as they were read; asking again reads only what was added."""

    def __init__(
        self,
        exists: Callable[[str], bool],
        ends: Callable[[Sequence[TopicPartition]], Mapping[TopicPartition, int]],
        readers: Readers,
    ) -> None:
        self._exists = exists
        self._ends = ends
        self._readers = readers
        self._turn = Lock()
        self._read: dict[str, tuple[int, frozenset[tuple[int, int]]]] = {}

    def of(self, topic: str) -> frozenset[tuple[int, int]]:
        """(partition, offset) of the topic's marked records."""
        if not self._exists(topic + SUFFIX):
            return _NONE
        place = TopicPartition(topic + SUFFIX, 0)
        end = self._ends([place])[place]
        with self._turn:
            offset, marks = self._read.get(topic, (0, _NONE))
            while offset < end:
                found = self._readers.read(place, offset, end, _PAGE, lambda _: True)
                marks |= {mark for mark in (_mark(record.key) for record in found) if mark is not None}
                offset = found[-1].offset + 1 if len(found) == _PAGE else end
            self._read[topic] = offset, marks
        return marks

    def entries(self, partition: int, offsets: Sequence[int]) -> list[Entry]:
        """What to append to the sibling so that these records are marked."""
        return [Entry(f"{partition}:{offset}", _MARK) for offset in offsets]


def _mark(key: bytes | None) -> tuple[int, int] | None:
    partition, colon, offset = (key or b"").partition(b":")
    return (int(partition), int(offset)) if colon and partition.isdigit() and offset.isdigit() else None
