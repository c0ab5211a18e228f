"""What the log tells and the graph lacks, as after a restored copy; how to read it again; what only the graph has."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from actors.mesh import Mesh
from beliefmesh.home import Home
from recall.tell import counted
from schemas.dead_letter import DeadLetter
from schemas.errors import MalformedMessage
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.observation import Observation
from schemas.tombstone import grave
from schemas.wire import unpack
from stores.pages import all_slots
from stores.ports import Record
from streams.bundles import messages_of
from streams.repeat import repeat
from streams.topics import CLAIMS, OBSERVATIONS
from streams.topology import DECIDE, EXTRACT, Stage

_PAGE = 500

ObservationRef = tuple[str, str]
"""The bank and id of an observation."""
Ends = Mapping[int, int]
Body = TypeVar("Body", Observation, Evidence)


class Gaps(msgspec.Struct, frozen=True):
    """How many observations the log tells; those of which the graph lacks evidence; what only the graph knows of.

    `lacking` says how many pieces an observation lacks, None where it lacks all. `returned` are, by bank, the graves
    of what was forgotten and lies in the log again. `untold` are, by bank, the pieces of evidence whose observations
    the log does not have, and how many observations these are.
    """

    observations: int
    lacking: dict[ObservationRef, int | None]
    returned: dict[str, set[str]]
    untold: dict[str, tuple[int, int]]

    def differences(self) -> Iterator[str]:
        """What is lacking, in words."""
        for (bank, id), pieces in self.lacking.items():
            what = "has no evidence" if pieces is None else f"lacks {pieces} of its pieces of evidence"
            yield f"observation {id} of bank {bank} {what}"

    def notes(self) -> Iterator[str]:
        """What cannot be checked against the log, in words."""
        for bank, (pieces, observations) in self.untold.items():
            yield (
                f"bank {bank} holds {counted(pieces, 'piece', 'pieces')} of evidence of "
                f"{counted(observations, 'observation')} that the log does not have: it dropped them by age, or is an "
                "older copy than the graph. They count as before and nothing is deleted, but a rebuild would be "
                "without them; keep a copy of the graph"
            )


class _Marks:
    """Very many ids, eight bytes each; two of them look alike once in billions of billions."""

    def __init__(self) -> None:
        self._marks = array("Q")
        self._sorted: NDArray[np.uint64] = np.empty(0, np.uint64)

    def add(self, bank: str, id: str) -> None:
        """Take an id up."""
        self._marks.append(_mark(bank, id))

    def add_all(self, some: Iterable[tuple[str, str]]) -> None:
        """Take (bank, id) pairs up."""
        self._marks.extend(_mark(bank, id) for bank, id in some)

    def add_mark(self, digest: str) -> None:
        """Take up an id of which only the digest, with its bank, is known."""
        self._marks.append(_short(digest))

    def values(self) -> NDArray[np.uint64]:
        """The marks of all ids, in the order in which they were taken up."""
        return np.frombuffer(self._marks, np.uint64) if self._marks else np.empty(0, np.uint64)

    def sorted(self) -> "_Marks":
        """Itself, made ready to be asked."""
        self._sorted = np.unique(self.values())
        return self

    def holds(self, bank: str, id: str) -> bool:
        """Whether an id was taken up before `sorted` was called."""
        mark = np.uint64(_mark(bank, id))
        place = int(np.searchsorted(self._sorted, mark))
        return place < len(self._sorted) and bool(self._sorted[place] == mark)


class _Held(msgspec.Struct, frozen=True):
    """What graph and archive hold: evidence, observations; and by bank the observation of each piece in the graph."""

    evidence: _Marks
    observations: _Marks
    witnesses: dict[str, _Marks]


def find_gaps(home: Home) -> Gaps:
    """Compare log and graph, given that nothing waits in the log.

    An observation lacks all evidence, or pieces that stand in the topic of claims, as far as that still has them. An
    observation that has all that this release reads in it lacks nothing: its claims may be of an earlier release.
    """
    ends = {topic: _ends(home, topic) for topic in (OBSERVATIONS, CLAIMS)}
    held = _held(home)
    letters = home.letters.all()
    aside = frozenset((letter.topic, letter.partition, letter.offset, letter.original) for letter in letters)
    missing = _missing_claims(home, ends[CLAIMS], held, aside)
    undecided = {_told_by(letter) for letter in letters}
    logged = _Marks()
    gaps = Gaps(0, {}, {}, {})
    count = 0
    told = _messages(home, OBSERVATIONS, _ends(home, OBSERVATIONS), Observation, aside)
    for page in iter(lambda: list(islice(told, _PAGE)), []):
        logged.add_all((observation.bank, observation.id) for _, observation in page)
        # Without what came while we looked.
        page = [(record, one) for record, one in page if record.offset < ends[OBSERVATIONS].get(record.partition, 0)]
        count += len(page)
        buried = _buried(home, [(one.bank, one.id) for _, one in page], gaps.returned)
        for record, observation in page:
            key = (observation.bank, observation.id)
            if key in undecided or key in buried:
                continue
            if not held.observations.holds(*key):
                gaps.lacking[key] = None
            elif key in missing and not _is_whole(home, record, observation, held):
                gaps.lacking[key] = len(missing[key])
    return Gaps(count, gaps.lacking, gaps.returned, dict(_untold(held, logged)))


def read_again(home: Home, gaps: Gaps, shards: Mesh) -> None:
    """Give what is lacking its effect from the records that tell it, as they were accepted; to repeat it is harmless.

    An observation without any evidence is extracted again, one that lacks pieces gets its claims again. Changes are
    announced; nothing else is appended. `shards` decide.
    """
    if not gaps.lacking:
        return
    none = {told for told, pieces in gaps.lacking.items() if pieces is None}
    some = gaps.lacking.keys() - none
    observations = _messages(home, OBSERVATIONS, _ends(home, OBSERVATIONS), Observation, frozenset())
    _repeat(home, shards, EXTRACT, (record for record, one in observations if (one.bank, one.id) in none))
    if some:
        claims = _messages(home, CLAIMS, _ends(home, CLAIMS), Evidence, frozenset())
        _repeat(
            home, shards, DECIDE, (record for record, piece in claims if (piece.bank, piece.observation_id) in some)
        )


def _repeat(home: Home, shards: Mesh, stage: Stage, records: Iterable[Record]) -> None:
    page: list[Record] = []
    for record in records:
        page.append(record)
        if len(page) == _PAGE:
            repeat(home.log, home.topics, home.mesh, shards, stage, page, home.clock())
            page = []
    if page:
        repeat(home.log, home.topics, home.mesh, shards, stage, page, home.clock())


def _held(home: Home) -> _Held:
    held = _Held(_Marks(), _Marks(), {})
    for bank in home.graph.banks():
        witnesses = held.witnesses.setdefault(bank, _Marks())
        for stored in all_slots(home.graph, bank):
            for piece in stored.evidence:
                held.evidence.add(bank, piece.id)
                held.observations.add(bank, piece.observation_id)
                witnesses.add(bank, piece.observation_id)
    for bank, id, observation in home.archive.everything():
        held.evidence.add(bank, id)
        held.observations.add(bank, observation)
    for _, erased in home.plans.erased():
        held.evidence.add_mark(erased)
        held.observations.add_mark(erased)
    held.evidence.sorted()
    held.observations.sorted()
    return held


_Place = tuple[str, int, int, bytes]


def _missing_claims(home: Home, ends: Ends, held: _Held, aside: frozenset[_Place]) -> dict[ObservationRef, set[str]]:
    """The evidence in the topic of claims that the graph lacks, by observation."""
    missing: dict[ObservationRef, set[str]] = {}
    for _, piece in _messages(home, CLAIMS, ends, Evidence, aside):
        if not held.evidence.holds(piece.bank, piece.id):
            missing.setdefault((piece.bank, piece.observation_id), set()).add(piece.id)
    return missing


def _buried(home: Home, some: Sequence[ObservationRef], returned: dict[str, set[str]]) -> set[ObservationRef]:
    """Those of these observations that were forgotten; their graves are noted."""
    found: set[ObservationRef] = set()
    for bank in {bank for bank, _ in some}:
        if home.graph.burials(bank):
            graves = {grave(bank, id): id for of, id in some if of == bank}
            buried = home.graph.buried(bank, sorted(graves))
            found.update((bank, graves[each]) for each in buried)
            if buried:
                returned.setdefault(bank, set()).update(buried)
    return found


def _is_whole(home: Home, record: Record, observation: Observation, held: _Held) -> bool:
    """Whether the graph has all evidence that this release reads in an observation."""
    (evidence,) = home.mesh.extract([(observation, record.at)])
    return all(held.evidence.holds(piece.bank, piece.id) for piece in evidence)


def _untold(held: _Held, logged: _Marks) -> Iterator[tuple[str, tuple[int, int]]]:
    known = logged.values()
    for bank, witnesses in held.witnesses.items():
        marks = witnesses.values()
        unknown = marks[np.isin(marks, known, invert=True)]
        if len(unknown):
            yield bank, (len(unknown), len(np.unique(unknown)))


def _told_by(letter: DeadLetter) -> ObservationRef | None:
    """The observation whose evidence a dead letter holds; None where it holds none."""
    try:
        evidence = unpack(letter.original, Evidence)
    except MalformedMessage:
        return None
    return evidence.bank, evidence.observation_id


def _messages(
    home: Home, topic: str, ends: Ends, kind: type[Body], aside: frozenset[_Place]
) -> Iterator[tuple[Record, Body]]:
    """Every readable message of a topic up to its ends, as it lies there, without those that were set aside."""
    name = home.topics.name(topic)
    for record in chain.from_iterable(map(messages_of, _records(home, name, ends))):
        if (record.topic, record.partition, record.offset, record.value) in aside:
            continue
        try:
            body = unpack(record.value, kind)
        except MalformedMessage:
            continue
        yield record, body


def _records(home: Home, topic: str, ends: Ends) -> Iterator[Record]:
    for partition, end in ends.items():
        offset = 0
        while offset < end and (records := home.log.read(topic, partition, offset, min(_PAGE, end - offset))):
            yield from (record for record in records if record.offset < end)
            offset = records[-1].offset + 1


def _ends(home: Home, topic: str) -> Ends:
    return home.log.ends(home.topics.name(topic))


def _mark(bank: str, id: str) -> int:
    return _short(digest(bank, id))


def _short(digested: str) -> int:
    return int(digested[:16], 16)
