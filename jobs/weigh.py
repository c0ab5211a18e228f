"""What each slot of a live bank is worth and takes, in pages; and how much there is of the bank."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from statistics import median

import msgspec

from actors.searchable import is_embedded
from beliefs.appraise import Surroundings, appraise, corrects, holds
from beliefs.compaction import spent, without
from beliefs.digest import digests_of, in_digests
from beliefs.information import frequencies
from beliefs.worth import Features, birth, value
from schemas.belief import Belief
from schemas.budget import Use, added
from schemas.digest import bytes_of
from schemas.edge import Edge
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.plan import BudgetCandidate
from schemas.slot import StoredSlot
from schemas.usage import UNUSED, Usage
from schemas.wire import dump
from stores.analysis import row_tokens, tokens
from stores.ports import GraphStore

_PAGE = 200
_SAMPLE = 2_000
"""Slots whose words tell which words are rare: the first by id, and since ids are digests, as good as drawn."""
_SOME = 500
"""Slots whose values tell the median of all, drawn in the same way."""
_EDGES = 64
"""Edges of a belief that are counted; what has more is a hub, and rested upon."""

UsageOf = Callable[[str, Sequence[str]], Mapping[str, Usage]]
"""The usage of those of a bank's beliefs that were ever used."""
Valued = Callable[[Features], float]


class Weighed(msgspec.Struct, frozen=True):
    """A slot as the planner takes it, and the features of each of its beliefs by id."""

    candidate: BudgetCandidate
    features: dict[str, Features]


class Scales:
    """Weighs a bank's slots at one moment. The value is the heuristic one unless another is given.

    `vector_bytes` is what the vector of a belief takes, 0 where there is none; `digest_age` how old evidence must be to
    become a voice of a digest, None where there are to be none.
    """

    def __init__(
        self,
        graph: GraphStore,
        bank: str,
        now: Instant,
        usage: UsageOf,
        valued: Valued = value,
        *,
        vector_bytes: int = 0,
        digest_age: Instant | None = None,
    ) -> None:
        self._vector_bytes = vector_bytes
        self._digest_age = digest_age
        self._graph = graph
        self._bank = bank
        self._usage = usage
        self._valued = valued
        policy = graph.policy(bank)
        texts = list(_sample(graph, bank))
        self.around = Surroundings(policy=policy, now=now, seen_in=frequencies(texts), texts=len(texts))
        self._goals = [words for goal in policy.goals if (words := frozenset(tokens(goal)))]

    def all(self) -> Iterator[Weighed]:
        """Every slot of the bank, page by page in id order."""
        after = ""
        while ids := self._graph.scan(self._bank, after, _PAGE):
            yield from self.page(ids)
            after = ids[-1]

    @cached_property
    def median(self) -> float:
        """The value that half of the bank's slots are worth at most, of up to 500 of them."""
        some = self._graph.scan(self._bank, "", _SOME)
        pages = (self._graph.load_slots(self._bank, some[at : at + _PAGE]) for at in range(0, len(some), _PAGE))
        values = [value for page in pages for value in self.values(page.values()).values()]
        return median(values) if values else 0.0

    def values(self, slots: Iterable[StoredSlot]) -> dict[str, float]:
        """What slots are worth, by id."""
        known = list(slots)
        beliefs = [belief.id for one in known for belief in one.slot.beliefs]
        edges = self.edges(beliefs)
        usage = self._usage(self._bank, beliefs)
        return {one.slot.id: self._value(self._features(one, edges, usage)) for one in known}

    def page(self, ids: Sequence[str]) -> list[Weighed]:
        """Those of these slots that exist, in the order given."""
        stored = self._graph.load_slots(self._bank, ids)
        found = [stored[id] for id in ids if id in stored and stored[id].evidence]
        beliefs = [belief.id for one in found for belief in one.slot.beliefs]
        edges = self.edges(beliefs)
        usage = self._usage(self._bank, beliefs)
        return [self._weighed(one, edges, usage) for one in found]

    def edges(self, beliefs: Sequence[str]) -> dict[str, list[Edge]]:
        """The edges that touch each belief, at most 64 each."""
        touching: dict[str, list[Edge]] = {belief: [] for belief in beliefs}
        for edge in self._graph.neighbours(self._bank, beliefs, _EDGES) if beliefs else ():
            for node in {edge.src, edge.dst} & touching.keys():
                touching[node].append(edge)
        return touching

    def features(self, belief: Belief, evidence: Sequence[Evidence], usage: Usage, degree: int) -> Features:
        """The features of one belief in its slot's evidence."""
        return appraise(belief, evidence, self.around, usage=usage, degree=degree, relevance=self.relevance(belief))

    def relevance(self, belief: Belief) -> float:
        """The largest share of one goal's words that stand in the belief, its entity or its attribute; 0 to 1."""
        if not self._goals:
            return 0.0
        words = set(row_tokens(f"{belief.statement} {belief.entity.name} {belief.attribute or ''}"))
        return max(len(goal & words) / len(goal) for goal in self._goals)

    def _weighed(self, stored: StoredSlot, edges: Mapping[str, Sequence[Edge]], usage: Mapping[str, Usage]) -> Weighed:
        slot, evidence = stored.slot, stored.evidence
        features = self._features(stored, edges, usage)
        held = bytes_of(evidence)
        plain = msgspec.structs.replace(slot, edges=())
        vectors = self._vector_bytes * sum(is_embedded(belief, slot) for belief in slot.beliefs)
        candidate = BudgetCandidate(
            slot=slot.id,
            value=self._value(features),
            use=Use(
                beliefs=len(slot.beliefs),
                bytes=len(dump(plain)) + held + vectors,
                importance=sum(map(birth, features.values())),
            ),
            version=slot.version,
            demotion=Use(bytes=vectors),
            spare=self._spare(evidence, held),
            pinned=any(piece.pinned for piece in evidence),
            holds=holds(slot)
            or corrects(slot, evidence)
            or any(_rested_upon(belief.id, edges[belief.id]) for belief in slot.beliefs),
        )
        return Weighed(candidate, features)

    def _features(
        self, stored: StoredSlot, edges: Mapping[str, Sequence[Edge]], usage: Mapping[str, Usage]
    ) -> dict[str, Features]:
        return {
            belief.id: self.features(belief, stored.evidence, usage.get(belief.id, UNUSED), len(edges[belief.id]))
            for belief in stored.slot.beliefs
        }

    def _value(self, features: Mapping[str, Features]) -> float:
        return max(map(self._valued, features.values()), default=0.0)

    def _spare(self, evidence: Sequence[Evidence], held: int) -> int:
        """Of so many bytes of a slot's evidence those that go when it is compressed."""
        now, age = self.around.now, self._digest_age
        replaced = spent(evidence, now)
        left = without(evidence, replaced)
        digests = [] if age is None else digests_of(left, self.around.policy, now, age)
        return held - bytes_of(in_digests(left, digests)) if replaced or digests else 0


def use_of(weighed: Iterable[Weighed]) -> Use:
    """How much all of these are together."""
    return total_use(one.candidate for one in weighed)


def total_use(candidates: Iterable[BudgetCandidate]) -> Use:
    """How much all of these take."""
    total = Use()
    for each in candidates:
        total = added(total, each.use)
    return total


def _sample(graph: GraphStore, bank: str) -> Iterator[str]:
    ids = graph.scan(bank, "", _SAMPLE)
    for at in range(0, len(ids), _PAGE):
        slots = graph.slots(bank, ids[at : at + _PAGE])
        for id in islice(ids, at, at + _PAGE):
            if id in slots and not slots[id].restricted:  # how rare a word is tells nobody of what others keep
                yield from (belief.statement for belief in slots[id].beliefs)


def _rested_upon(belief: str, edges: Sequence[Edge]) -> bool:
    """Whether a conclusion was drawn from it; of a hub not all edges are known, so it counts as rested upon."""
    return len(edges) >= _EDGES or any(edge.type == "derived_from" and edge.dst == belief for edge in edges)
