"""Moves evidence, or its words, out of slots into the archive; no kill, failure or writer ever loses any of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from jobs.job import PAGE, Page, Work
from schemas.archived import Archived
from schemas.digest import bytes_of, own, wordless
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.slot import Amendment, Change, Slot, StoredSlot
from schemas.wire import dump

WHY_VOICES = "said alike by several: a voice of a digest stays, its words lie in the archive"
_ROUNDS = 3


class Digested(msgspec.Struct, frozen=True, kw_only=True):
    """Pieces that stay in their slot as voices of a digest, and whose words go; what all its voices weigh together."""

    id: str
    words: tuple[Archived, ...]
    voices: int
    mass: float


class Going(msgspec.Struct, frozen=True):
    """What of a slot goes: pieces that leave it, and words of pieces that stay."""

    leaves: Sequence[Archived] = ()
    digests: Sequence[Digested] = ()

    @property
    def pieces(self) -> list[Archived]:
        """All that goes into the archive."""
        return [*self.leaves, *(piece for each in self.digests for piece in each.words)]

    def amendment(self, slot: Slot) -> Amendment:
        """What makes it go, if the slot is as it was read."""
        pieces = self.pieces
        voices = tuple(wordless(piece.evidence) for each in self.digests for piece in each.words)
        ids = tuple(piece.evidence.id for piece in pieces)
        return Amendment(bank=slot.bank, slot=slot.id, remove=ids, add=voices, version=slot.version)


NOTHING = Going()

Choose = Callable[[Mapping[str, StoredSlot]], Mapping[str, Going]]
"""Says what of some slots goes, by slot; a slot of which nothing goes is left out."""


class Moved(msgspec.Struct):
    """What went of which slot, by slot id; the bytes written to the archive; slots that others kept writing."""

    gone: dict[str, Going] = {}
    bytes: int = 0
    moved_on: int = 0

    @property
    def pieces(self) -> int:
        """How many pieces of evidence left, or their words."""
        return sum(len(going.pieces) for going in self.gone.values())

    @property
    def leaves(self) -> int:
        """How many pieces of evidence left their slots."""
        return sum(len(going.leaves) for going in self.gone.values())

    @property
    def digests(self) -> list[Digested]:
        """The digests that pieces became voices of."""
        return [each for going in self.gone.values() for each in going.digests]


def one_by_one(choose: Callable[[StoredSlot], Sequence[Archived]]) -> Choose:
    """Looks at each slot alone; what it chooses leaves."""

    def chosen(stored: Mapping[str, StoredSlot]) -> dict[str, Going]:
        return {id: Going(pieces) for id, slot in stored.items() if (pieces := choose(slot))}

    return chosen


def move_page(work: Work, after: str, choose: Choose, why: str, few: int | None = None) -> Page:
    """Do one page of slots, or of so many where a slot takes long; `choose` says what of a slot goes."""
    size = few or PAGE
    ids = work.graph.scan(work.bank, after, size)
    moved = move(work, ids, choose)
    words = [piece.evidence for each in moved.digests for piece in each.words]
    counts = Counter({"slots": len(ids), "archived": moved.leaves, "moved on": moved.moved_on})
    counts |= Counter({"digests": len(moved.digests), "voices": len(words), "bytes freed": _freed(moved.digests)})
    reasons = Counter({why: moved.leaves, WHY_VOICES: len(words)})
    return Page(
        after=ids[-1] if len(ids) == size else None,
        counts=dict(+counts),
        reasons=dict(+reasons),
        sums={"mass of digests": sum(each.mass for each in moved.digests)} if moved.digests else {},
        examples=tuple(_told(moved.gone)),
        bytes=moved.bytes,
    )


def move(work: Work, ids: Sequence[str], choose: Choose) -> Moved:
    """Move what is chosen of these slots; where nothing is to be changed, say what would go.

    The order of durable writes; each is safe to repeat, and a kill between two repeats from the first:
    1. what goes into the archive: its file, then its catalogue, with the changes that are to be told;
    2. out of its slots, each only if it is at the version that was read, since somebody may have written meanwhile;
       where only words go, in the same step the piece takes its place without them;
    3. the changes, for the index; those of a page that was cut short are told first.
    A slot that moved on is read and decided again, a few times; then it stays as it is until the next run.
    """
    if work.applies:
        tell(work, work.archive.untold(work.bank))
    moved, left = Moved(), list(ids)
    for _ in range(_ROUNDS):
        stored = work.graph.load_slots(work.bank, left)
        going = choose(stored)
        if not going:
            break
        if not work.applies:
            moved.gone |= going
            break
        everything = [piece for each in going.values() for piece in each.pieces]
        changes = [coming(stored[id], work.clock()) for id in going]
        moved.bytes += work.archive.put(work.bank, everything, changes)
        done = take_out(work, [each.amendment(stored[id].slot) for id, each in going.items()])
        moved.gone |= {id: going[id] for id in going if id in done}
        left = [id for id in going if id not in done]
        if left:
            _disown(work, [piece.evidence for id in left for piece in going[id].pieces])
    else:
        moved.moved_on += len(left)
    return moved


def take_out(work: Work, amendments: Sequence[Amendment]) -> set[str]:
    """Amend slots that are at these versions, and tell of it; returns the slots that were."""
    changes = work.mesh.amend(amendments, work.clock())
    tell(work, changes)
    return {change.slot for change in changes}


def _disown(work: Work, pieces: Sequence[Evidence]) -> None:
    """Let the archive drop what stays where it was; but the words of what has become a voice all the same stay there.

    A store without transactions may have written voices for a decision that it then lost to another writer.
    """
    there = work.graph.evidence(work.bank, [piece.id for piece in pieces])
    work.archive.disown(work.bank, [there.get(piece.id, piece) for piece in pieces])


def tell(work: Work, changes: Sequence[Change]) -> None:
    """Announce changes, after which none waits to be told."""
    work.announce(changes)
    work.archive.told(work.bank)


def coming(stored: StoredSlot, now: Instant) -> Change:
    """The most that can change for an index: all rows of the slot anew, without those that are gone by then."""
    slot = stored.slot
    return Change(
        bank=slot.bank,
        slot=slot.id,
        entity=slot.entity,
        slot_version=slot.version + 1,
        at=now,
        gone=tuple(sorted({belief.id for belief in slot.beliefs} | slot.aliases.keys())),
        refresh=(slot.id,),
    )


def _freed(digests: Iterable[Digested]) -> int:
    """Bytes that slots are smaller by: of words, and of all but the first time that something shared is said."""
    freed = 0
    for each in digests:
        pieces = [piece.evidence for piece in each.words]
        voices = [wordless(piece) for piece in pieces]
        freed += bytes_of(pieces) - bytes_of(voices)
        if each.voices > len(voices):  # the digest was there
            freed += bytes_of(voices[:1]) - len(dump(own(voices[0])))
    return freed


def _told(going: Mapping[str, Going]) -> Iterator[str]:
    for id, each in going.items():
        for piece in each.leaves:
            yield f"slot {id}: {piece.evidence.id}" + (f", for which {piece.stands} stands" if piece.stands else "")
        for one in each.digests:
            yield (
                f"slot {id}: digest {one.id} of {one.voices} voices, {len(one.words)} of them new, which weigh "
                f"{one.mass:.3f} in all; words are kept by {', '.join(sorted({piece.stands for piece in one.words}))}"
            )
