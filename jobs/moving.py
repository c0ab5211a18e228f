"""Moves evidence out of slots into the archive; no kill, failure or other writer at any point loses any of it."""

from collections import Counter
from collections.abc import Callable, Sequence

from jobs.job import PAGE, Page, Work
from schemas.archived import Archived
from schemas.instant import Instant
from schemas.slot import Amendment, Change, StoredSlot

_ROUNDS = 3

Choose = Callable[[StoredSlot], Sequence[Archived]]


def move_page(work: Work, after: str, choose: Choose, why: str) -> Page:
    """Do one page of slots; `choose` says what of a slot goes.

    The order of durable writes; each is safe to repeat, and a kill between two repeats from the first:
    1. what goes into the archive: its file, then its catalogue, with the changes that are to be told;
    2. out of its slots, each only if it is at the version that was read, since somebody may have written meanwhile;
    3. the changes, for the index; those of a page that was cut short are told first.
    A slot that moved on is read and decided again, a few times; then it stays as it is until the next run.
    """
    if work.applies:
        _tell(work, work.archive.untold(work.bank))
    ids = work.graph.scan(work.bank, after, PAGE)
    counts = Counter({"slots": len(ids)})
    examples: list[str] = []
    size, left = 0, list(ids)
    for _ in range(_ROUNDS):
        stored = work.graph.load_slots(work.bank, left)
        going = {id: pieces for id, slot in stored.items() if (pieces := choose(slot))}
        if not going:
            break
        everything = [piece for pieces in going.values() for piece in pieces]
        if not work.applies:
            counts["archived"] += len(everything)
            examples += _told(going)
            break
        size += work.archive.put(work.bank, everything, [_change(stored[id], work.clock()) for id in going])
        changes = work.mesh.amend(
            [
                Amendment(
                    bank=work.bank,
                    slot=id,
                    remove=tuple(piece.evidence.id for piece in pieces),
                    version=stored[id].slot.version,
                )
                for id, pieces in going.items()
            ],
            work.clock(),
        )
        _tell(work, changes)
        done = {change.slot for change in changes}
        counts["archived"] += sum(len(going[id]) for id in done)
        examples += _told({id: going[id] for id in going if id in done})
        left = [id for id in going if id not in done]
        work.archive.disown(work.bank, [piece.evidence.id for id in left for piece in going[id]])
    else:
        counts["moved on"] += len(left)
    return Page(
        after=ids[-1] if len(ids) == PAGE else None,
        counts=dict(+counts),
        reasons={why: counts["archived"]} if counts["archived"] else {},
        examples=tuple(examples),
        bytes=size,
    )


def _tell(work: Work, changes: Sequence[Change]) -> None:
    work.announce(changes)
    work.archive.told(work.bank)


def _change(stored: StoredSlot, now: Instant) -> Change:
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


def _told(going: dict[str, Sequence[Archived]]) -> list[str]:
    return [
        f"slot {id}: {piece.evidence.id}" + (f", for which {piece.stands} stands" if piece.stands else "")
        for id, pieces in going.items()
        for piece in pieces
    ]
