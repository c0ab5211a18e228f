"""The compaction job: what a source said again leaves its slot, and of what several say alike the words leave it.

Both go to the archive (beliefs/compaction.py, beliefs/digest.py); neither changes what is believed.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from beliefs.compaction import spent, without
from beliefs.digest import Closeness, Gathering, Joining, alike, gatherings, in_digests, mass
from jobs.job import Page, Work, digest_age
from jobs.moving import Choose, Digested, Going, move_page
from schemas.archived import Archived, archived, words_of
from schemas.evidence import Evidence
from schemas.slot import StoredSlot
from stores.ports import Embedder, Vectors

_PAGE_TO_EMBED = 50
"""Slots in a page where texts are embedded, which takes far longer than all else."""
_WHY = "the same voice said the same again later"


def compact(work: Work, after: str) -> Page:
    """Move what is spent in a page of slots, and the words of digests of those that are worth least."""
    return move_page(work, after, _chooser(work), _WHY, None if work.embedder is None else _PAGE_TO_EMBED)


def compressed(work: Work) -> Choose:
    """Chooses of each slot as much as can go by what it says alone, as `Scales` measures it for a budget."""
    look = _Look(work)

    def chosen(stored: Mapping[str, StoredSlot]) -> dict[str, Going]:
        slots = look.at(stored)
        return {id: going for id, slot in slots.items() if (going := look.going(slot, alike(slot.open)))}

    return chosen


class _Slot(msgspec.Struct, frozen=True):
    """What of a slot leaves, the evidence that is left, and the digests that this may have."""

    leaves: list[Archived]
    left: list[Evidence]
    open: list[Gathering]


class _Look:
    """How one run looks at slots."""

    def __init__(self, work: Work) -> None:
        self._policy, self._now = work.graph.policy(work.bank), work.clock()
        self._age = digest_age(work.arguments)

    def at(self, stored: Mapping[str, StoredSlot]) -> dict[str, _Slot]:
        """What may go of each slot."""
        return {id: self._slot(slot.evidence) for id, slot in stored.items()}

    def going(self, slot: _Slot, digests: Sequence[Joining]) -> Going | None:
        """What goes of a slot; None where nothing does."""
        if not slot.leaves and not digests:
            return None
        after = in_digests(slot.left, digests)
        return Going(slot.leaves, [self._digested(each, after) for each in digests])

    def _slot(self, evidence: Sequence[Evidence]) -> _Slot:
        known = {piece.id: piece for piece in evidence}
        replaced = spent(evidence, self._now)
        left = without(evidence, replaced)
        leaves = [archived(known[id], known[stands]) for id, stands in replaced.items()]
        open = [] if self._age is None else gatherings(left, self._policy, self._now, self._age)
        return _Slot(leaves, left, open)

    def _digested(self, joining: Joining, after: Sequence[Evidence]) -> Digested:
        """As the report tells of it; `after` is what the slot's evidence will be."""
        voices = {piece.id for piece in after if piece.digest == joining.id}
        return Digested(
            id=joining.id,
            words=tuple(words_of(piece, leader) for piece, leader in joining.pieces),
            voices=len(voices),
            mass=mass(after, voices, self._policy, self._now),
        )


def _chooser(work: Work) -> Choose:
    look = _Look(work)

    def chosen(stored: Mapping[str, StoredSlot]) -> dict[str, Going]:
        slots = look.at(stored)
        digests = _digests(work, stored, {id: slot.open for id, slot in slots.items() if slot.open})
        return {id: going for id, slot in slots.items() if (going := look.going(slot, digests.get(id, ())))}

    return chosen


def _digests(
    work: Work, stored: Mapping[str, StoredSlot], open_ones: Mapping[str, list[Gathering]]
) -> dict[str, list[Joining]]:
    """The digests, by slot, of those that are worth no more than half of the bank's slots are."""
    if not open_ones:
        return {}
    scales = work.budgeting.scales()
    values = scales.values(stored[id] for id in open_ones)
    cheap = {id: some for id, some in open_ones.items() if values[id] <= scales.median}
    embedder = work.embedder() if cheap and work.embedder else None
    closeness = _closeness(embedder, cheap.values()) if embedder else None
    return {id: alike(some, closeness) for id, some in cheap.items()}


def _closeness(embedder: Embedder, slots: Iterable[Iterable[Gathering]]) -> Closeness:
    """How close texts are to each other; those for which that is likely to decide are embedded at once."""
    asked: dict[str, None] = {}

    def ask(one: str, other: str) -> float:
        asked.update({one: None, other: None})
        return 1.0

    for some in slots:
        alike(some, ask)
    vectors: dict[str, Vectors] = {}
    if asked:
        vectors.update(zip(asked, embedder.passages(list(asked)), strict=True))

    def vector(text: str) -> Vectors:
        if text not in vectors:
            vectors[text] = embedder.passages([text])[0]
        return vectors[text]

    def close(one: str, other: str) -> float:
        return float(np.dot(vector(one), vector(other)))

    return close
