"""The dead letters of a log: list, show, replay (safe to repeat) and drop."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from schemas.dead_letter import DeadLetter
from schemas.errors import NotFound
from schemas.instant import Instant
from schemas.limits import check_name
from schemas.wire import pack, unpack
from stores.ports import Entry, Log
from streams.topics import DEAD_LETTERS, Topics

_PAGE = 500
_LOOKED_AT_AGAIN = 100


class DeadLetters:
    """What was set aside and has been neither replayed nor dropped; `added` counts by stage what was set aside here."""

    def __init__(self, log: Log, topics: Topics) -> None:
        self.added: Counter[str] = Counter()
        self._log = log
        self._topic = topics.name(DEAD_LETTERS)
        self._turn = Lock()
        self._counting = Lock()
        self._ids: dict[int, str] = {}
        self._read_to = 0
        self._looked_to = 0

    def add(self, letters: Sequence[DeadLetter], at: Instant) -> None:
        """Set messages aside. One that is set aside again, after a crash or a replay, stays one letter: ids tell."""
        self._log.append(self._topic, [Entry(letter.id, pack(letter, letter.id)) for letter in letters], at)
        with self._counting:
            self.added.update(letter.stage for letter in letters)

    def all(self) -> list[DeadLetter]:
        """Every dead letter, oldest first, each once."""
        return [letter for letter, _ in self._places().values()]

    def page(self, after: int, limit: int) -> list[tuple[int, DeadLetter]]:
        """Up to `limit` letters, oldest first, with the place at which each was first set aside, beyond `after`."""
        with self._turn:
            self._read_new()
            firsts: dict[str, int] = {}
            for offset in sorted(self._ids):
                firsts.setdefault(self._ids[offset], offset)
        found: list[tuple[int, DeadLetter]] = []
        offset, end = after + 1, self._log.ends(self._topic).get(0, 0)
        while offset < end and len(found) < limit:
            records = self._log.read(self._topic, 0, offset, _PAGE)
            if not records:
                break
            for record in records:
                earlier = firsts.get(record.key, record.offset)
                if len(found) < limit and (earlier >= record.offset or not self._is_at(record.key, earlier)):
                    firsts[record.key] = record.offset
                    found.append((record.offset, unpack(record.value, DeadLetter)))
            offset = records[-1].offset + 1
        return found

    def count(self) -> int:
        """How many there are, without reading them all each time.

        Each call reads what was appended since the last one, and looks at a hundred of the others in turn: one that
        another process took out is noticed at once where there are no more than that, else within a few calls.
        """
        with self._turn:
            self._read_new()
            self._look_again()
            return len(set(self._ids.values()))

    def get(self, id: str) -> DeadLetter:
        """One dead letter. Raises NotFound."""
        return self._find(id)[0]

    def replay(self, id: str, intake: Callable[[DeadLetter], Sequence[Entry]], topic: str, at: Instant) -> None:
        """Send a letter's message again to where it came from, then take the letter out.

        A letter that never had a place in the log goes through `intake` to `topic`; if it still cannot be read,
        the error of `intake` is raised and the letter stays.
        """
        letter, offsets = self._find(id)
        if letter.topic:
            entry = Entry(letter.key, letter.original, letter.headers)
            self._log.append(letter.topic, [entry], at)
        else:
            self._log.append(topic, intake(letter), at)
        self._log.forget(self._topic, 0, offsets)

    def drop(self, id: str) -> None:
        """Take a letter out for good, and its message out of its topic, unless others lie in one place with it."""
        letter, offsets = self._find(id)
        if letter.topic:
            there = self._log.read(letter.topic, letter.partition, letter.offset, 1)
            alone = [record.offset for record in there if record.value == letter.original]
            self._log.forget(letter.topic, letter.partition, alone)
        self._log.forget(self._topic, 0, offsets)

    def _find(self, id: str) -> tuple[DeadLetter, list[int]]:
        found = self._places().get(check_name(id, "id"))
        if found is None:
            raise NotFound(f"no dead letter {id}; `dlq list` shows what is there")
        return found

    def _read_new(self) -> None:
        end = self._log.ends(self._topic).get(0, 0)
        while self._read_to < end:
            page = self._log.read(self._topic, 0, self._read_to, _PAGE)
            self._ids |= {record.offset: record.key for record in page}
            self._read_to = page[-1].offset + 1 if page else end

    def _look_again(self) -> None:
        """Forget those of the next hundred places that were taken out."""
        if not self._ids:
            return
        page = self._log.read(self._topic, 0, self._looked_to, _LOOKED_AT_AGAIN)
        there = {record.offset for record in page}
        upto = page[-1].offset + 1 if len(page) == _LOOKED_AT_AGAIN else self._read_to
        for offset in [each for each in self._ids if self._looked_to <= each < upto and each not in there]:
            del self._ids[offset]
        self._looked_to = upto if upto < self._read_to else 0

    def _is_at(self, id: str, offset: int) -> bool:
        """Whether a letter still lies at a place; one that was taken out leaves the place empty."""
        there = self._log.read(self._topic, 0, offset, 1)
        return bool(there) and there[0].offset == offset and there[0].key == id

    def _places(self) -> Mapping[str, tuple[DeadLetter, list[int]]]:
        """Every letter by id with the offsets at which it lies."""
        places: dict[str, tuple[DeadLetter, list[int]]] = {}
        offset, end = 0, self._log.ends(self._topic).get(0, 0)
        while offset < end:
            records = self._log.read(self._topic, 0, offset, _PAGE)
            if not records:
                break
            for record in records:
                letter = unpack(record.value, DeadLetter)
                places.setdefault(letter.id, (letter, []))[1].append(record.offset)
            offset = records[-1].offset + 1
        return places
