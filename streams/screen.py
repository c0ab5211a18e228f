"""What a message on the log must be beyond its shape: others than this library may write there, past its intake."""

import math
from datetime import UTC, datetime
from functools import lru_cache

from schemas.claim import Claim
from schemas.entity import DEFAULT_TYPE, Entity
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.instant import Instant, instant_of
from schemas.limits import MAX_NAME_BYTES, MAX_WEIGHT, check_bank, check_name, check_number, check_text
from schemas.observation import Observation
from schemas.reserved import check_reserved
from schemas.slot import Change, slot_id

_EARLIEST = instant_of(datetime(1, 1, 1, tzinfo=UTC))
_LATEST = instant_of(datetime(9999, 12, 31, tzinfo=UTC))
_known_bank = lru_cache(maxsize=1024)(check_bank)
_LABELS = ("agent", "session", "owner")
_PERIODS = ("effective_at", "valid_until", "occurred_start", "occurred_end")


def screen(body: Observation | Evidence | Change) -> None:
    """Let a message pass that the stages can work on; raises InvalidInput, by field, for one that breaks a rule."""
    _known_bank(body.bank)
    match body:
        case Observation():
            _check_observation(body)
        case Evidence():
            _check_evidence(body)


def _check_observation(observation: Observation) -> None:
    check_name(observation.id, "id")
    check_text(observation.text, "text")
    if not observation.claims and not observation.text.strip():
        raise InvalidInput("text", "is empty and there are no claims; an observation needs one of them")
    check_number(observation.weight, "weight", 0.0, MAX_WEIGHT)
    _check_times(observation, "", ("observed_at", *_PERIODS))
    if observation.visibility == "private" and not observation.owner:
        raise InvalidInput("owner", "is missing; private means for its owner only")
    if observation.turn is not None and observation.turn < 0:
        raise InvalidInput("turn", f"is {observation.turn}; turns count from 0")
    check_name(observation.source.id, "source.id")
    for name in _LABELS:
        check_text(getattr(observation, name), name, limit=MAX_NAME_BYTES)
    for reader in observation.readers:
        check_name(reader, "readers")
    if observation.entity is not None:
        _check_entity(observation.entity, "entity")
    for n, claim in enumerate(observation.claims):
        _check_claim(claim, f"claims[{n}].")


def _check_claim(claim: Claim, path: str) -> None:
    _check_entity(claim.entity, f"{path}entity")
    if claim.weight is not None:
        check_number(claim.weight, f"{path}weight", 0.0, MAX_WEIGHT)
    _check_times(claim, path, _PERIODS)
    _check_said(claim, path)


def _check_evidence(evidence: Evidence) -> None:
    _check_entity(evidence.entity, "entity")
    check_number(evidence.weight, "weight", 0.0, MAX_WEIGHT)
    _check_times(evidence, "", ("observed_at", "ingested_at", *_PERIODS))
    _check_said(evidence, "")
    if evidence.digest:
        raise InvalidInput("digest", "is for the graph alone, which keeps the words elsewhere; leave it out")
    place = (evidence.bank, evidence.entity, evidence.attribute, evidence.statement, evidence.network)
    if evidence.slot != slot_id(*place):
        raise InvalidInput("slot", "is not the slot of its bank, entity, attribute and network")


def _check_times(body: Observation | Claim | Evidence, path: str, names: tuple[str, ...]) -> None:
    for name in names:
        at: Instant | None = getattr(body, name)
        if at is not None and not _EARLIEST <= at <= _LATEST:
            raise InvalidInput(f"{path}{name}", f"is {at}, which lies outside the years 1 to 9999")


def _check_entity(entity: Entity, path: str) -> None:
    check_name(entity.name, path)
    if entity.type != DEFAULT_TYPE:
        check_name(entity.type, f"{path}.type")


def _check_said(body: Claim | Evidence, path: str) -> None:
    """Attribute and value belong together; a scope that was not in order would be another one than it means."""
    value = body.value
    check_reserved(body, path)
    if body.attribute is not None:
        check_name(body.attribute, f"{path}attribute")
        if value is None and body.stance != "retracts":
            raise InvalidInput(f"{path}value", "is missing; give one, or stance 'retracts' to end what was said")
    elif value is not None:
        raise InvalidInput(f"{path}attribute", "is missing; say which attribute has this value")
    if isinstance(value, str):
        check_text(value, f"{path}value")
    elif isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(f"{path}value", f"is {value}; numbers must be finite")
    if body.scope:
        names = [name for name, _ in body.scope]
        if names != sorted(set(names)):
            raise InvalidInput(f"{path}scope", "must be sorted by name, each name once")
        for name, qualifier in body.scope:
            check_name(name, f"{path}scope")
            check_text(qualifier, f"{path}scope", limit=MAX_NAME_BYTES)
