"""Keeps the search index up with the graph: changed beliefs are embedded in batches and written; safe to repeat."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from actors.dependents import SlotKey, dependents, dependents_of_unindexed
from actors.merged import merged_among, slots_of_merges
from actors.searchable import needs_evidence, rows_of
from schemas.entity import entity_id
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.slot import Change, StoredSlot
from stores.ports import Embedder, GraphStore, IndexRow, SearchIndex, Vectors

_BATCH = 500
_KEPT_VECTORS = 4_096
_LONGEST_KEPT = 4_000
"""The vector of a longer text is not kept: it seldom comes again, and its words would take the room of many."""
_REFRESHED_BELIEFS = 4
"""A neighbour in the session is indexed again for its window if its slot is small; larger ones wait for a change."""

Kept = Callable[[str, Iterable[str]], Mapping[str, StoredSlot]]
"""Of a bank's slots, those that a shard of this process still has, as it wrote them last."""


def _nothing_kept(_bank: str, _slots: Iterable[str]) -> Mapping[str, StoredSlot]:
    return {}


class Indexer:
    """Writes a belief's rows at its version; the graph keeps the mark of what is indexed.

    Evidence that is `kept` is not read again where the graph has the very slot that it was kept with.
    `counts` tells of texts whose vectors were kept and not.
    """

    def __init__(
        self, graph: GraphStore, index: SearchIndex, embedder: Embedder | None, kept: Kept = _nothing_kept
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._graph = graph
        self._kept = kept
        self._index = index
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}
        self._looked = False

    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """Index the beliefs that these changes name, as they are now in the graph; returns how many."""
        by_bank: dict[str, dict[str, set[str]]] = {}
        gone: dict[str, set[str]] = {}
        again: dict[str, set[str]] = {}
        amended: set[tuple[str, str]] = set()
        for change in changes:
            again.setdefault(change.bank, set()).update(change.refresh)
            if change.removed:
                self._vectors.clear()
                amended.add((change.bank, change.slot))
            wanted = by_bank.setdefault(change.bank, {}).setdefault(change.slot, set())
            wanted.update(moved.id for moved in change.beliefs)
            gone.setdefault(change.bank, set()).update(change.gone)
        for bank, ids in gone.items():
            alive = self._graph.beliefs(bank, sorted(ids)) if ids else {}
            vanished = sorted(id for id in ids if id not in alive or alive[id].id != id)
            if vanished:
                self._index.delete(bank, vanished)
        for bank, slots in slots_of_merges(self._graph, changes).items():
            again.setdefault(bank, set()).update(slots)
        done = sum(self._index_slots(bank, slots, now) for bank, slots in by_bank.items())
        for bank, slots in again.items():
            mine = {slot for slot in slots if (bank, slot) in amended}
            done += self._index_again(bank, mine, now) + self._index_again(bank, slots - mine, now, beside=True)
        return done

    def dependents(self, changes: Sequence[Change] | None) -> list[SlotKey]:
        """(bank, slot) of everything that rests on what these changes moved; None: on what is not indexed yet."""
        return dependents_of_unindexed(self._graph) if changes is None else dependents(self._graph, changes)

    def catch_up(self, now: Instant) -> int:
        """Index everything that the graph says is behind; returns how many beliefs that was.

        The first time, a bank of which the index holds nothing counts as behind: its files were lost or removed.
        """
        if not self._looked:
            self._looked = True
            for bank in self._graph.banks():
                if not self._index.versions(bank):
                    self._graph.mark_unindexed(bank)
        done = 0
        while behind := self._graph.unindexed(_BATCH):
            by_bank: dict[str, list[str]] = {}
            for bank, id in behind:
                by_bank.setdefault(bank, []).append(id)
            for bank, ids in by_bank.items():
                slots: dict[str, set[str]] = {}
                for id, belief in self._graph.beliefs(bank, ids).items():
                    slots.setdefault(belief.slot, set()).add(id)
                done += self._index_slots(bank, slots, now)
        return done

    def reindex(self, bank: str, now: Instant) -> int:
        """Make the bank's rows anew, all of them; returns how many beliefs that was, of other banks too if behind."""
        self._vectors.clear()
        self._index.drop(bank)
        self._graph.mark_unindexed(bank)
        return self.catch_up(now)

    def wipe(self) -> None:
        """Return once no text that was removed is in a file of the index."""
        self._index.wipe()

    def _index_slots(self, bank: str, asked_for: dict[str, set[str]], now: Instant) -> int:
        """Index what is behind, and what stands beside it in its session; announced twice, a belief is indexed once."""
        behind = self._graph.behind(bank, sorted({id for some in asked_for.values() for id in some}))
        wanted = {slot: some & behind for slot, some in asked_for.items() if some & behind}
        if not wanted:
            return 0
        stored = self._load(bank, wanted)
        around, beside = self._neighbours(bank, stored)
        stored |= beside
        for id, slot in beside.items():
            wanted.setdefault(id, set()).update(belief.id for belief in slot.slot.beliefs)
        self._write(bank, stored, wanted, around, now)
        return len(behind)

    def _index_again(self, bank: str, slots: set[str], now: Instant, *, beside: bool = False) -> int:
        """Make all rows of these slots anew, behind or not, since words in them were removed or an entity merged.

        Where they only stood `beside` in a session, what is embedded is as it was, and so are its vectors.
        """
        done = 0
        for some in _pages(sorted(slots)):
            stored = self._graph.load_slots(bank, some)
            wanted = {id: {belief.id for belief in slot.slot.beliefs} for id, slot in stored.items()}
            around, _ = self._neighbours(bank, stored)
            self._write(bank, stored, wanted, around, now, embedded=beside)
            done += sum(map(len, wanted.values()))
        return done

    def _write(
        self,
        bank: str,
        stored: Mapping[str, StoredSlot],
        wanted: Mapping[str, set[str]],
        around: Mapping[str, list[Evidence]],
        now: Instant,
        *,
        embedded: bool = False,
    ) -> None:
        """Make the rows of the wanted beliefs of these slots, write them, and mark what is in the index by then.

        With `embedded` the index's own vectors are taken where it has one for the only row of a belief.
        """
        policy = self._graph.policy(bank)
        rows: list[IndexRow] = []
        owners = {id: entity_id(bank, slot.slot.entity) for id, slot in stored.items()}
        merged = merged_among(self._graph, bank, owners.values())
        for id, slot in stored.items():
            made = rows_of(slot, sorted(wanted[id]), around, policy, now)
            rows += [msgspec.structs.replace(row, checked=True) for row in made] if owners[id] in merged else made
        if rows:
            known = self._known_vectors(bank, rows) if embedded else {}
            fresh = [row.embedded and row.belief not in known for row in rows]
            vectors = self._embed([row.text for row in rows], fresh)
            if vectors is not None:
                for place, row in enumerate(rows):
                    if row.belief in known:
                        vectors[place] = known[row.belief]
            self._index.upsert(rows, vectors)
        alive = {belief.id: belief.version for slot in stored.values() for belief in slot.slot.beliefs}
        asked = {id for ids in wanted.values() for id in ids}
        self._graph.mark_indexed(bank, {id: alive[id] for id in sorted(asked & alive.keys())})

    def _known_vectors(self, bank: str, rows: Sequence[IndexRow]) -> dict[str, Vectors]:
        """By belief, the vector of those of which there is but one row, and one that is embedded and up to date."""
        many = Counter(row.belief for row in rows)
        single = [row for row in rows if row.embedded and many[row.belief] == 1]
        behind = self._graph.behind(bank, [row.belief for row in single])
        current = [row for row in single if row.belief not in behind]
        readers = sorted({reader for row in current for reader in row.readers})
        return self._index.vectors(bank, [row.belief for row in current], readers) if current else {}

    def _load(self, bank: str, wanted: dict[str, set[str]]) -> dict[str, StoredSlot]:
        """The slots, with their evidence only where rows cannot be made without it."""
        slots = self._graph.slots(bank, list(wanted))
        whole = [id for id, slot in slots.items() if needs_evidence(slot, wanted[id])]
        found = {id: StoredSlot(slot, ()) for id, slot in slots.items()}
        found.update((id, kept) for id, kept in self._kept(bank, whole).items() if kept.slot == slots[id])
        missing = [id for id in whole if not found[id].evidence]
        return found | self._graph.load_slots(bank, missing) if missing else found

    def _neighbours(
        self, bank: str, stored: dict[str, StoredSlot]
    ) -> tuple[dict[str, list[Evidence]], dict[str, StoredSlot]]:
        """What stands beside each piece of these slots in its session, and the small slots beside them.

        The window of the latter has changed too. Their own neighbours lie within two places of the first ones.
        """
        pieces = [piece for slot in stored.values() for piece in slot.evidence]
        windows = self._graph.windows(bank, pieces, reach=2)
        around = {id: others for window in windows.values() for id, others in _beside(window).items()}
        beside = {other.slot for piece in pieces for other in around.get(piece.id, ())} - stored.keys()
        extra = self._graph.load_slots(bank, sorted(beside)) if beside else {}
        small = {id: slot for id, slot in extra.items() if len(slot.slot.beliefs) <= _REFRESHED_BELIEFS}
        return around, small

    def _embed(self, texts: Sequence[str], wanted: Sequence[bool]) -> Vectors | None:
        """Vectors of shape (texts, dimensions); zeros where none is wanted. Each text is embedded once."""
        if self._embedder is None:
            return None
        missing = sorted({text for text, want in zip(texts, wanted, strict=True) if want and text not in self._vectors})
        fresh = dict(zip(missing, self._embedder.passages(missing), strict=True)) if missing else {}
        self.counts.update({"cache.vectors.miss": len(missing), "cache.vectors.hit": sum(wanted) - len(missing)})
        zero = np.zeros(self._embedder.dimensions, np.float32)
        found = [
            (fresh[text] if text in fresh else self._vectors[text]) if want else zero
            for text, want in zip(texts, wanted, strict=True)
        ]
        self._remember(fresh.items())
        return np.asarray(found, np.float32)

    def _remember(self, fresh: Iterable[tuple[str, Vectors]]) -> None:
        self._vectors.update((text, vector) for text, vector in fresh if len(text) <= _LONGEST_KEPT)
        while len(self._vectors) > _KEPT_VECTORS:
            del self._vectors[next(iter(self._vectors))]


def _beside(window: Sequence[Evidence]) -> dict[str, list[Evidence]]:
    """By evidence id, the words of the places directly before and after its own; one observation is one place."""
    places: list[list[Evidence]] = []
    for piece in window:
        if places and places[-1][0].observation_id == piece.observation_id:
            places[-1].append(piece)
        else:
            places.append([piece])
    around = {}
    for number, place in enumerate(places):
        near = [other for side in (number - 1, number + 1) if 0 <= side < len(places) for other in places[side]]
        for piece in place:
            around[piece.id] = near
    return around


def _pages(slots: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(slots), _BATCH):
        yield slots[start : start + _BATCH]
