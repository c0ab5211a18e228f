"""From an observation to evidence: every claim with the observation's source, times, weight and readers."""

import re
from sys import intern

from beliefs.extract import extract
from schemas.claim import Claim
from schemas.entity import Entity
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import Instant
from schemas.observation import Observation, Source
from schemas.reserved import ALIAS_TYPE, is_alias
from schemas.slot import slot_id

_OWN_RECALL = re.compile(r"\[memory b[0-9a-f]{8,32}\b")
"""How recalled beliefs are marked when they are given to a model (recall/render.py)."""


def attest(
    observation: Observation, ingested_at: Instant, claims: tuple[Claim, ...] | None = None
) -> tuple[Evidence, ...]:
    """All evidence that an observation gives; the same observation always gives the same evidence, ids included.

    `claims` are given where a language model read the text; else they are the observation's own, or the rules'.
    """
    source = observation.source
    if source.type != "recall" and _OWN_RECALL.search(observation.text):
        source = Source(source.id, source.origin, "recall")
    return tuple(
        _evidence(observation, claim, place, source, ingested_at)
        for place, claim in enumerate(extract(observation) if claims is None else claims)
    )


def _evidence(observation: Observation, claim: Claim, place: int, source: Source, ingested_at: Instant) -> Evidence:
    effective = claim.effective_at if claim.effective_at is not None else observation.effective_at
    network = claim.network or observation.network or "world"
    slot = slot_id(observation.bank, claim.entity, claim.attribute, claim.statement, network)
    return Evidence(
        id="e" + digest(slot, observation.id, str(place)),
        bank=observation.bank,
        slot=slot,
        entity=claim.entity,
        observation_id=observation.id,
        source=source,
        effective_at=observation.observed_at if effective is None else effective,
        observed_at=observation.observed_at,
        statement=claim.statement,
        attribute=claim.attribute,
        value=claim.value,
        value_type=claim.value_type,
        scope=claim.scope,
        stance=claim.stance,
        kind=claim.kind or observation.kind or "observation",
        network=network,
        tier=claim.tier or observation.tier or "medium",
        weight=observation.weight if claim.weight is None else claim.weight,
        agent=observation.agent,
        session=observation.session,
        turn=observation.turn,
        ingested_at=ingested_at,
        scheduled=effective is not None,
        valid_until=observation.valid_until if claim.valid_until is None else claim.valid_until,
        occurred_start=observation.occurred_start if claim.occurred_start is None else claim.occurred_start,
        occurred_end=observation.occurred_end if claim.occurred_end is None else claim.occurred_end,
        pinned=observation.pinned,
        owner=observation.owner,
        visibility=observation.visibility,
        readers=observation.readers,
        mentions=_mentions(claim),
        premises=claim.premises,
        extractor=intern(claim.extractor),
    )


def _mentions(claim: Claim) -> tuple[Entity, ...]:
    """What a claim mentions; an alias mentions itself, so that the name leads to it."""
    if is_alias(claim.attribute) and isinstance(claim.value, str):
        return (*claim.mentions, Entity(claim.value, ALIAS_TYPE))
    return claim.mentions
