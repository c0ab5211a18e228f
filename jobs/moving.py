"""Moves evidence out of slots into the archive; no kill, failure or other writer at any point loses any of it."""

from collections import Counter
from collections.abc import Callable, Sequence

import msgspec

from jobs.job import PAGE, Page, Work
from schemas.archived import Archived
from schemas.instant import Instant
from schemas.slot import Amendment, Change, StoredSlot

_ROUNDS = 3

Choose = Callable[[StoredSlot], Sequence[Archived]]


class Moved(msgspec.Struct):
    """What left which slot, by slot id; the bytes written to the archive; slots that others kept writing."""

    gone: dict[str, Sequence[Archived]] = {}
    bytes: int = 0
    moved_on: int = 0

    @property
    def pieces(self) -> int:
        """How many pieces of evidence left."""
        return sum(map(len, self.gone.values()))


def move_page(work: Work, after: str, choose: Choose, why: str) -> Page:
    """Do one page of slots; `choose` says what of a slot goes."""
    ids = work.graph.scan(work.bank, after, PAGE)
    moved = move(work, ids, choose)
    counts = Counter({"slots": len(ids), "archived": moved.pieces, "moved on": moved.moved_on})
    return Page(
        after=ids[-1] if len(ids) == PAGE else None,
        counts=dict(+counts),
        reasons={why: moved.pieces} if moved.gone else {},
        examples=tuple(_told(moved.gone)),
        bytes=moved.bytes,
    )


def move(work: Work, ids: Sequence[str], choose: Choose) -> Moved:
    """Move what is chosen of these slots; where nothing is to be changed, say what would go.

    The order of durable writes; each is safe to repeat, and a kill between two repeats from the first:
    1. what goes into the archive: its file, then its catalogue, with the changes that are to be told;
    2. out of its slots, each only if it is at the version that was read, since somebody may have written meanwhile;
    3. the changes, for the index; those of a page that was cut short are told first.
    A slot that moved on is read and decided again, a few times; then it stays as it is until the next run.
    """
    if work.applies:
        tell(work, work.archive.untold(work.bank))
    moved, left = Moved(), list(ids)
    for _ in range(_ROUNDS):
        stored = work.graph.load_slots(work.bank, left)
        going = {id: pieces for id, slot in stored.items() if (pieces := choose(slot))}
        if not going:
            break
        if not work.applies:
            moved.gone |= going
            break
        everything = [piece for pieces in going.values() for piece in pieces]
        changes = [coming(stored[id], work.clock()) for id in going]
        moved.bytes += work.archive.put(work.bank, everything, changes)
        done = take_out(
            work, {id: [piece.evidence.id for piece in pieces] for id, pieces in going.items()}, _versions(stored)
        )
        moved.gone |= {id: going[id] for id in going if id in done}
        left = [id for id in going if id not in done]
        work.archive.disown(work.bank, [piece.evidence.id for id in left for piece in going[id]])
    else:
        moved.moved_on += len(left)
    return moved


def take_out(work: Work, going: dict[str, list[str]], versions: dict[str, int]) -> set[str]:
    """Take evidence out of slots that are at these versions, and tell of it; returns the slots that were."""
    changes = work.mesh.amend(
        [
            Amendment(bank=work.bank, slot=id, remove=tuple(pieces), version=versions[id])
            for id, pieces in going.items()
        ],
        work.clock(),
    )
    tell(work, changes)
    return {change.slot for change in changes}


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


def _versions(stored: dict[str, StoredSlot]) -> dict[str, int]:
    return {id: slot.slot.version for id, slot in stored.items()}


def _told(going: dict[str, Sequence[Archived]]) -> list[str]:
    return [
        f"slot {id}: {piece.evidence.id}" + (f", for which {piece.stands} stands" if piece.stands else "")
        for id, pieces in going.items()
        for piece in pieces
    ]
