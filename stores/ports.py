"""The ports: what the house asks of a graph, a search index, a log and an embedder. Every adapter passes one contract.

All methods are synchronous and batched; a caller that must not block calls them from a thread. Every adapter may
be used from several threads at once. Errors of a client library leave an adapter only as `StoreUnavailable`.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from schemas.audience import PUBLIC as PUBLIC
from schemas.belief import Belief, Status
from schemas.claim import Network
from schemas.edge import Edge
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.instant import Instant
from schemas.policy import Policy
from schemas.slot import Decision, Slot, StoredSlot
from stores.language.options import LanguageOptions
from stores.tracing.options import TracingOptions

Vectors = NDArray[np.float32]


class GraphStore(Protocol):
    """Entities, beliefs, evidence and slots of every bank; the truth from which the index is made."""

    def banks(self) -> list[str]:
        """Every bank that holds anything or has a policy, sorted."""

    def policy(self, bank: str) -> Policy:
        """The bank's policy, else the default one."""

    def set_policy(self, bank: str, policy: Policy) -> None:
        """Keep a policy for the bank, making the bank if needed."""

    def load_slots(self, bank: str, ids: Sequence[str]) -> dict[str, StoredSlot]:
        """The slots that exist, each with its beliefs and all its evidence in id order."""

    def apply(self, decisions: Sequence[Decision]) -> None:
        """Write decisions: evidence, edges, beliefs, then slot version, all durable on return.

        A decision whose slot is not at `expected_version` (0: absent) raises VersionConflict naming every such slot,
        and then nothing of the call is written. At most one decision a slot. Of one evidence id with two
        contents the smaller stays (`schemas.evidence.contents`). Beliefs of the slot that are not in
        `slot.beliefs` vanish; their ids live on through `slot.aliases`.
        Evidence in `removed` vanishes, with entities that nothing names any more; what is in `evidence` as well is
        replaced by that. A decision that `ends` its slot erases it as `erase` does.
        """

    def beliefs(self, bank: str, ids: Sequence[str]) -> dict[str, Belief]:
        """Beliefs by id, as stored; an id that was merged away leads to the belief that bears its value now."""

    def slots(self, bank: str, ids: Sequence[str]) -> dict[str, Slot]:
        """The slots that exist, with their beliefs, without evidence."""

    def slots_of_entity(self, bank: str, entity_id: str, limit: int = 1000) -> list[str]:
        """Ids of the slots of an entity, in id order."""

    def evidence(self, bank: str, ids: Sequence[str]) -> dict[str, Evidence]:
        """Evidence by id."""

    def evidence_of_observations(self, bank: str, observation_ids: Sequence[str]) -> list[Evidence]:
        """All evidence that these observations gave."""

    def session(self, bank: str, session: str, places: int) -> list[Evidence]:
        """The evidence of the session's last `places`, in session order.

        That is (turn, effective time, id), evidence without a turn by effective time, id. Evidence of one observation
        shares a place, that of its first piece.
        """

    def windows(self, bank: str, around: Sequence[Evidence], reach: int) -> dict[str, list[Evidence]]:
        """By session, its evidence within `reach` places of any of `around` that stands there, in session order."""

    def entities(self, bank: str, names: Sequence[str]) -> list[tuple[str, Entity]]:
        """(id, entity) for every entity, of any type, whose normalised name is among the normalised `names`."""

    def neighbours(self, bank: str, nodes: Sequence[str], limit: int) -> list[Edge]:
        """Edges that touch these nodes in either direction, at most `limit` for each node, strongest first."""

    def dependents(self, bank: str, premises: Sequence[str]) -> list[str]:
        """Ids of the slots that state a `derived_from` edge to any of these beliefs, sorted; cheap where none do."""

    def due(self, now: Instant, limit: int) -> list[tuple[str, str]]:
        """(bank, slot) whose `review_at` has come, earliest first."""

    def unindexed(self, limit: int) -> list[tuple[str, str]]:
        """(bank, belief) whose rows in the index are older than the belief, oldest write first."""

    def behind(self, bank: str, ids: Sequence[str]) -> set[str]:
        """Those of these beliefs whose rows in the index are older than the belief."""

    def mark_indexed(self, bank: str, versions: Mapping[str, int]) -> None:
        """Note that these beliefs are in the index at these versions; never lowers a mark."""

    def mark_unindexed(self, bank: str) -> int:
        """Forget every mark of the bank, so that the index is rebuilt; returns how many beliefs that are."""

    def scan(self, bank: str, after: str, limit: int) -> list[str]:
        """Slot ids greater than `after`, in order."""

    def scan_entities(self, bank: str, after: str, limit: int) -> list[tuple[str, Entity]]:
        """(id, entity) of every entity, of any type, whose id is greater than `after`, in order."""

    def erase(self, bank: str, slots: Sequence[str]) -> int:
        """Remove slots for good: evidence, beliefs, edges, ids they once issued, entities that nothing names any more.

        Returns how many there were. After StoreUnavailable some may be gone; to repeat the call removes the others.
        A slot of the same id may be written anew, from version 0.
        """

    def bury(self, bank: str, graves: Sequence[str]) -> None:
        """Note for good what was forgotten (`schemas/tombstone.py`), durable on return."""

    def buried(self, bank: str, graves: Sequence[str]) -> set[str]:
        """Those of these graves that were noted."""

    def burials(self, bank: str) -> int:
        """A number that grows with every `bury` of the bank; 0 while there was none."""

    def wipe(self) -> None:
        """Return once nothing that was removed is in a file of the store, as far as the store's files are its own.

        Costs a pass over all of it. Raises StoreUnavailable while others hinder it; to repeat the call finishes it.
        """

    def counts(self, bank: str) -> dict[str, int]:
        """Numbers of entities, slots, beliefs, evidence, unindexed beliefs, and beliefs by `status.active` etc."""

    def close(self) -> None:
        """Release everything."""


class IndexRow(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What is searchable of one belief for one audience.

    `audience` names the row together with the belief; `readers` are the tokens that may see it (`PUBLIC`, `u:ID`,
    `g:GROUP`). `text` is embedded; `keywords` is the text with its neighbours in the session. `checked` says that
    `status` is the whole bank's and a reader's own may differ: such rows pass every status filter.
    """

    bank: str
    belief: str
    audience: str
    readers: tuple[str, ...]
    version: int
    network: Network
    status: Status
    text: str
    keywords: str
    entities: tuple[str, ...]
    at: Instant
    occurred_start: Instant | None = None
    occurred_end: Instant | None = None
    embedded: bool = True
    checked: bool = False


class IndexFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What a search may return; applied inside the store's query. Empty tuples do not filter, except `readers`.

    `periods` are (first, last) instants; what overlaps none of them does not pass.
    """

    bank: str
    readers: tuple[str, ...]
    statuses: tuple[Status, ...] = ()
    networks: tuple[Network, ...] = ()
    entities: tuple[str, ...] = ()
    occurred_from: Instant | None = None
    occurred_to: Instant | None = None
    periods: tuple[tuple[Instant, Instant], ...] = ()


class Hit(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A belief and its score from one search; higher is better."""

    belief: str
    score: float


class SearchIndex(Protocol):
    """Vectors, keywords and times of beliefs, always within one bank and for given readers.

    Derived data: it can be dropped and made again from the graph. A belief appears at most once in a result, with
    its best row's score.
    """

    def upsert(self, rows: Sequence[IndexRow], vectors: Vectors | None) -> None:
        """Replace *all* rows of the beliefs named by these rows; durable and searchable on return.

        `vectors` has shape (rows, dimensions), unit length; rows with `embedded` False are not in semantic search,
        and without vectors none is.
        """

    def delete(self, bank: str, beliefs: Sequence[str]) -> None:
        """Remove every row of these beliefs of this bank."""

    def drop(self, bank: str) -> None:
        """Remove every row of a bank."""

    def prepare(self, bank: str) -> None:
        """Do what would make the bank's first search slow, so that no deadline pays for it; returns at once later."""

    def semantic(self, filter: IndexFilter, vector: Vectors, limit: int) -> list[Hit]:
        """Nearest rows by cosine to one vector of shape (dimensions,); score is the cosine."""

    def keyword(self, filter: IndexFilter, text: str, limit: int) -> list[Hit]:
        """Best rows by BM25 over `text` and `keywords`; the question is analysed as the rows are."""

    def by_time(self, filter: IndexFilter, start: Instant, end: Instant, limit: int) -> list[Hit]:
        """Rows that occurred (else: whose newest support lies) in [start, end]; the nearer its middle, the better."""

    def vectors(self, bank: str, beliefs: Sequence[str], readers: Sequence[str]) -> dict[str, Vectors]:
        """The stored vector of each belief's row that these readers may see."""

    def versions(self, bank: str) -> dict[str, int]:
        """The indexed version of every belief of the bank."""

    def wipe(self) -> None:
        """Return once no text that was removed is in a file of the index, as far as the files are its own."""

    def close(self) -> None:
        """Flush and release everything."""


class Embedder(Protocol):
    """Texts to unit vectors. Vectors of different `model_id` are never compared."""

    model_id: str
    dimensions: int

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched, shape (texts, dimensions)."""

    def query(self, text: str) -> Vectors:
        """The vector of a question, shape (dimensions,)."""


class LanguageModel(Protocol):
    """A model of language, which is optional everywhere: whoever asks has an answer without it, too."""

    model_id: str

    def complete(self, system: str, user: str, schema: Mapping[str, Any] | None = None) -> str:
        """The model's answer, never empty; with a JSON schema the model is asked for JSON that fits, to be checked.

        What comes from outside belongs into `user`, marked as data. Raises ModelFailed, whose `reason` says why.
        """


class StoreUrls(msgspec.Struct, frozen=True):
    """Where the stores are; what an actor is made from, since a URL can be sent and a connection cannot."""

    graph: str
    log: str
    index: str
    embedder: str
    embedder_key: str = ""
    language: LanguageOptions = LanguageOptions()
    record: str = ""
    tracing: TracingOptions = TracingOptions()


class Entry(msgspec.Struct, frozen=True, gc=False):
    """What a producer appends: routing key, bytes, headers."""

    key: str
    value: bytes
    headers: dict[str, str] = {}


class Record(msgspec.Struct, frozen=True, gc=False):
    """What a consumer reads: an entry with its place; `at` is when the log accepted it, kept to the millisecond."""

    topic: str
    partition: int
    offset: int
    key: str
    value: bytes
    at: Instant
    headers: dict[str, str] = {}


class TopicPlan(msgspec.Struct, frozen=True):
    """How a topic is made: its partitions; whether only the newest record of each key must stay; days to keep, 0: all.

    A log that never drops records by itself need not heed the latter two.
    """

    partitions: int
    compacted: bool = False
    days: int = 0


class Log(Protocol):
    """Partitioned, ordered, durable topics with consumer groups. Entries of one key stay in order."""

    def create(self, topic: str, plan: TopicPlan) -> None:
        """Make a topic if it is not there; an existing one stays as it is."""

    def partitions(self, topic: str) -> int:
        """The partition count; raises NotFound for an unknown topic."""

    def topics(self) -> list[str]:
        """Names of all topics, sorted."""

    def append(self, topic: str, entries: Sequence[Entry], at: Instant) -> list[tuple[int, int]]:
        """Add entries, durable on return; returns each one's (partition, offset).

        After an error none may be in the log, or some, or all: to repeat the call is harmless to readers, who know ids.
        """

    def read(self, topic: str, partition: int, offset: int, limit: int) -> list[Record]:
        """Up to `limit` records from `offset` on, in order; none at the end."""

    def committed(self, group: str, topic: str) -> dict[int, int]:
        """The next offset to read for each partition (0 where nothing was committed)."""

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Note the next offsets to read, durable on return. Going back is allowed: it replays."""

    def ends(self, topic: str) -> dict[int, int]:
        """The offset that the next entry of each partition will get."""

    def forget(self, topic: str, partition: int, offsets: Sequence[int]) -> None:
        """Take single records from every reader for good; their offsets stay and are skipped.

        Their bytes are overwritten where the log can blank them, else they go when its topic drops them; copies that
        the file keeps elsewhere go with `wipe`.
        """

    def replace(self, records: Sequence[Record]) -> None:
        """Put records in the place of those at their topic, partition and offset, durable on return.

        A log that cannot write in place appends them, accepted when the others were, and forgets those; a repeat after
        an error may append them once more. What was forgotten stays so.
        """

    def wipe(self) -> None:
        """Return once nothing that was forgotten is in a file of the log, as far as the log's files are its own.

        Costs a pass over all of it. Raises StoreUnavailable while others hinder it; to repeat the call finishes it.
        """

    def drop_before(self, topic: str, before: Instant) -> int:
        """Drop records accepted before a time; returns how many. Offsets never move."""

    def close(self) -> None:
        """Release everything."""


SpanValue = str | int | float | bool


class Noted(Protocol):
    """Notes further values on a span."""

    def __call__(self, **values: SpanValue) -> None:
        """Note them."""


class Tracer(Protocol):
    """Where spans go. Values are names and counts, never words of what is remembered."""

    def span(
        self, name: str, values: Mapping[str, SpanValue], parents: Sequence[Mapping[str, str]] = ()
    ) -> AbstractContextManager[Noted]:
        """A span around a block: in the trace of the first of the contexts, linked with the others, one in each too.

        Without any it is below the current span.
        """

    def carried(self) -> dict[str, str]:
        """The context of the current span, as headers."""

    def recording(self) -> bool:
        """Whether the current span is one that is kept."""

    def close(self) -> None:
        """Send what waits, and end."""
