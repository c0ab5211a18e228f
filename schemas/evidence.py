"""Evidence: a claim as kept in the graph, with its source, times, weight and readers. Evidence is the truth."""

from collections.abc import Iterable

import msgspec

from schemas.claim import EVERYWHERE, Kind, Network, Scope, Stance, Tier, Value, ValueType
from schemas.entity import Entity
from schemas.instant import Instant
from schemas.observation import Source, Visibility
from schemas.wire import dump, load

_ENCODER = msgspec.msgpack.Encoder()


class Evidence(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """One claim from one observation.

    `effective_at` is the one time that orders evidence: the date from which it says it holds, else
    `observed_at`. `scheduled` says that such a date was given: then it counts from that date only.
    `ingested_at` is when the log accepted it; it never decides anything but `known_at` questions. `digest` names the
    digest that it is a voice of (schemas/digest.py): then its own words lie in the archive, and `statement` is empty.
    """

    id: str
    bank: str
    slot: str
    entity: Entity
    observation_id: str
    source: Source
    effective_at: Instant
    observed_at: Instant
    statement: str
    attribute: str | None = None
    value: Value | None = None
    value_type: ValueType | None = None
    scope: Scope = EVERYWHERE
    stance: Stance = "supports"
    kind: Kind = "observation"
    network: Network = "world"
    tier: Tier = "medium"
    weight: float = 1.0
    agent: str = ""
    session: str = ""
    turn: int | None = None
    ingested_at: Instant = 0
    scheduled: bool = False
    valid_until: Instant | None = None
    occurred_start: Instant | None = None
    occurred_end: Instant | None = None
    pinned: bool = False
    owner: str = ""
    visibility: Visibility = "bank"
    readers: tuple[str, ...] = ()
    mentions: tuple[Entity, ...] = ()
    premises: tuple[str, ...] = ()
    extractor: str = "structured"
    digest: str = ""

    @property
    def origin(self) -> str:
        """Whose voice this is: the stated origin, else the source itself."""
        return self.source.origin or self.source.id

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to another process as a store keeps it, so that it is written there in as many bytes as here."""
        return load, (dump(self), Evidence)


def observations_by_session(evidence: Iterable[Evidence]) -> dict[str, set[str]]:
    """The observations of these pieces by session; those outside of any session are left out."""
    found: dict[str, set[str]] = {}
    for piece in evidence:
        if piece.session:
            found.setdefault(piece.session, set()).add(piece.observation_id)
    return found


def contents(piece: Evidence) -> tuple[Instant, bytes, Instant]:
    """What decides where one id has two contents: the smaller stays, whichever came first.

    Words are compared last, and a voice of a digest, which has none, comes after what has its own: so a piece that has
    become a voice stays before the same others as it did with its words, and gives way to itself as it was told. Of
    what is told twice the first that the log accepted stays. Every field is written: which defaults msgspec leaves out
    goes by the identity of objects, so that bytes of equal evidence may differ by the way that it came.
    """
    told = _plain(msgspec.structs.replace(piece, statement="", ingested_at=0, digest=""))
    return (
        piece.effective_at,
        b"%b%d%b" % (_ENCODER.encode(told), piece.digest != "", piece.statement.encode()),
        piece.ingested_at,
    )


def _plain(value: object) -> object:
    if isinstance(value, msgspec.Struct):
        return [_plain(field) for field in msgspec.structs.astuple(value)]
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
