"""A digest of several voices: what they all share, which a store keeps once, and what each has of its own.

A voice is evidence without words of its own: what the rules weigh is all there, so nothing that is believed depends on
whether a piece is a voice. Its words lie in the archive.
"""

from collections.abc import Iterable

import msgspec

from schemas.claim import Kind, Network, Scope, Stance, Tier, Value, ValueType
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import Instant
from schemas.observation import Source, SourceType, Visibility
from schemas.wire import dump


class Shared(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What all voices of a digest have in common: what is said of what, and who may read it."""

    bank: str
    slot: str
    entity: Entity
    attribute: str | None
    value: Value | None
    value_type: ValueType | None
    scope: Scope
    stance: Stance
    kind: Kind
    network: Network
    tier: Tier
    session: str
    valid_until: Instant | None
    occurred_start: Instant | None
    occurred_end: Instant | None
    pinned: bool
    owner: str
    visibility: Visibility
    readers: tuple[str, ...]
    mentions: tuple[Entity, ...]
    premises: tuple[str, ...]


class Own(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What one voice has of its own: who says it, when, and how much it weighs."""

    id: str
    observation_id: str
    source: str
    origin: str
    source_type: SourceType
    agent: str
    effective_at: Instant
    observed_at: Instant
    weight: float
    turn: int | None
    ingested_at: Instant
    scheduled: bool
    extractor: str


def shared(piece: Evidence) -> Shared:
    """What a piece has in common with others that say the same to the same readers."""
    return Shared(
        piece.bank,
        piece.slot,
        piece.entity,
        piece.attribute,
        piece.value,
        piece.value_type,
        piece.scope,
        piece.stance,
        piece.kind,
        piece.network,
        piece.tier,
        piece.session,
        piece.valid_until,
        piece.occurred_start,
        piece.occurred_end,
        piece.pinned,
        piece.owner,
        piece.visibility,
        piece.readers,
        piece.mentions,
        piece.premises,
    )


def own(piece: Evidence) -> Own:
    """What a piece has of its own, its words aside."""
    source = piece.source
    return Own(
        piece.id,
        piece.observation_id,
        source.id,
        source.origin,
        source.type,
        piece.agent,
        piece.effective_at,
        piece.observed_at,
        piece.weight,
        piece.turn,
        piece.ingested_at,
        piece.scheduled,
        piece.extractor,
    )


def digest_id(common: Shared) -> str:
    """Identity of a digest: all that its voices share, so that a slot has one digest of what is said alike."""
    return "d" + digest(dump(common).hex())


def wordless(piece: Evidence) -> Evidence:
    """The piece as a voice of the digest of what it says: without its words."""
    return msgspec.structs.replace(piece, statement="", digest=digest_id(shared(piece)))


def is_voice(piece: Evidence) -> bool:
    """Whether a piece can be kept as a voice and come back as it is: one that claims to be a voice may not be one."""
    return bool(piece.digest) and not piece.statement and piece.digest == digest_id(shared(piece))


def bytes_of(evidence: Iterable[Evidence]) -> int:
    """What evidence takes as stores keep it: what the voices of a digest share counts once."""
    total = 0
    digests: dict[str, Shared] = {}
    for piece in evidence:
        if is_voice(piece):
            digests[piece.digest] = shared(piece)
        total += len(dump(own(piece) if piece.digest in digests else piece))
    return total + sum(len(dump(common)) for common in digests.values())


def joined(id: str, common: Shared, part: Own) -> Evidence:
    """The voice of a digest, from both parts."""
    return Evidence(
        id=part.id,
        bank=common.bank,
        slot=common.slot,
        entity=common.entity,
        observation_id=part.observation_id,
        source=Source(part.source, part.origin, part.source_type),
        effective_at=part.effective_at,
        observed_at=part.observed_at,
        statement="",
        attribute=common.attribute,
        value=common.value,
        value_type=common.value_type,
        scope=common.scope,
        stance=common.stance,
        kind=common.kind,
        network=common.network,
        tier=common.tier,
        weight=part.weight,
        agent=part.agent,
        session=common.session,
        turn=part.turn,
        ingested_at=part.ingested_at,
        scheduled=part.scheduled,
        valid_until=common.valid_until,
        occurred_start=common.occurred_start,
        occurred_end=common.occurred_end,
        pinned=common.pinned,
        owner=common.owner,
        visibility=common.visibility,
        readers=common.readers,
        mentions=common.mentions,
        premises=common.premises,
        extractor=part.extractor,
        digest=id,
    )
