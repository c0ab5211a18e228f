"""The mesh as its callers see it: batches to extractors, shards, indexers and recallers, however they run."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from schemas.answer import NEWEST_TURNS, Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.observation import Observation
from schemas.query import Principal, Query
from schemas.slot import Amendment, Change

Batches = Mapping[int, Sequence[Evidence]]
"""Evidence by claims partition."""
Applied = dict[int, list[Change] | Exception]
"""By claims partition, the changes that came of it, or why it failed."""
Watch = Callable[["Mesh", Batches, Instant], Applied]
"""Stands before `Mesh.apply` and has it do all of the work, in whatever portions."""


class Mesh(ABC):
    """One way to run the actors. Every call blocks; everything but recall may be repeated with the same effect.

    `parallel` says that the actors compute elsewhere, so that calls from several threads really run at once. `watch`
    is whoever sees to it that what comes in finds room.
    """

    parallel = False
    watch: Watch | None = None

    def admit(self, batches: Batches, now: Instant) -> Applied:
        """Apply what comes in by the stream: through the watch, where there is one."""
        return self.apply(batches, now) if self.watch is None else self.watch(self, batches, now)

    @abstractmethod
    def extract(self, observations: Sequence[tuple[Observation, Instant]]) -> list[tuple[Evidence, ...]]:
        """The evidence of each (observation, time of acceptance), in order."""

    @abstractmethod
    def apply(self, batches: Batches, now: Instant) -> Applied:
        """Write each claims partition's evidence through the shard that owns the partition.

        Partitions fail apart from each other: a failed one has its error as its value.
        """

    @abstractmethod
    def review(self, slots: Sequence[tuple[str, str]], now: Instant) -> list[Change]:
        """Decide (bank, slot) pairs again, each by its own shard."""

    @abstractmethod
    def amend(self, amendments: Sequence[Amendment], now: Instant) -> list[Change]:
        """Remove evidence from slots for good and add other; on return no shard keeps what was removed in memory."""

    @abstractmethod
    def dependents(self, changes: Sequence[Change] | None) -> list[tuple[str, str]]:
        """(bank, slot) of everything that rests on what these changes moved; None: on what is not indexed yet."""

    def cascade(self, changes: Sequence[Change], now: Instant) -> list[Change]:
        """Decide again, each by its own shard, whatever rests on what these changes moved (design 3.7)."""
        slots = self.dependents(changes)
        return self.review(slots, now) if slots else []

    @abstractmethod
    def index(self, changes: Sequence[Change], now: Instant) -> int:
        """Index the beliefs that these changes name."""

    def catch_up(self, now: Instant) -> int:
        """Decide again what rests on what was not indexed, then index everything that the graph says is behind."""
        slots = self.dependents(None)
        if slots:
            self.review(slots, now)
        return self.index_rest(now)

    @abstractmethod
    def index_rest(self, now: Instant) -> int:
        """Index everything that the graph says is behind."""

    @abstractmethod
    def reindex(self, bank: str, now: Instant) -> int:
        """Make the bank's rows of the index anew, all of them."""

    @abstractmethod
    def drop_kept(self) -> None:
        """Drop the slots that shards keep in memory, because another process may write them from now on."""

    @abstractmethod
    def wipe(self) -> None:
        """Return once no text that was removed is in a file of the index."""

    @abstractmethod
    def recall(self, query: Query) -> Answer:
        """Answer a question."""

    @abstractmethod
    def explain(
        self, bank: str, belief: str, principal: Principal, moment: Instant, as_of: Instant | None
    ) -> Explanation:
        """Every term of a belief's confidence, from what the principal may see and what held as of a time."""

    @abstractmethod
    def history(
        self,
        bank: str,
        of: str | tuple[Entity, str],
        principal: Principal,
        now: Instant,
        after: Instant | None = None,
        limit: int = NEWEST_TURNS,
    ) -> History:
        """The turns of a slot (its id, a belief's id, or entity and attribute) as the principal may see it.

        The newest `limit`, or the next `limit` after a time.
        """

    @abstractmethod
    def belief(self, bank: str, belief: str, principal: Principal, now: Instant) -> Belief:
        """One belief as the principal may see it."""

    @abstractmethod
    def counts(self) -> Mapping[str, int]:
        """What the actors have counted since they began, summed: `cache.NAME.hit` and `.miss`, `version_conflicts`.

        Asked for often and never worth a wait: of an actor that is busy or away, what it last said.
        """

    @abstractmethod
    def close(self) -> None:
        """Stop the actors and release what they hold."""


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """What several actors have counted, together; a count of nothing stays."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(dict(each))
    return dict(total)
