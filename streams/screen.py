"""What a message on the log must be beyond its shape: others than this library may write there, past its intake."""

import math
from datetime import UTC, datetime
from functools import lru_cache

from schemas.claim import Claim, Value
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.instant import Instant, instant_of
from schemas.limits import MAX_WEIGHT, check_bank, check_name, check_number, check_text
from schemas.observation import Observation
from schemas.slot import Change, slot_id

_EARLIEST = instant_of(datetime(1, 1, 1, tzinfo=UTC))
_LATEST = instant_of(datetime(9999, 12, 31, tzinfo=UTC))
_known_bank = lru_cache(maxsize=1024)(check_bank)
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
    for n, claim in enumerate(observation.claims):
        _check_claim(claim, f"claims[{n}].")


def _check_claim(claim: Claim, path: str) -> None:
    check_name(claim.entity.name, f"{path}entity")
    if claim.weight is not None:
        check_number(claim.weight, f"{path}weight", 0.0, MAX_WEIGHT)
    _check_times(claim, path, _PERIODS)
    _check_value(claim.value, f"{path}value")


def _check_evidence(evidence: Evidence) -> None:
    check_name(evidence.entity.name, "entity")
    check_number(evidence.weight, "weight", 0.0, MAX_WEIGHT)
    _check_times(evidence, "", ("observed_at", "ingested_at", *_PERIODS))
    _check_value(evidence.value, "value")
    if evidence.slot != slot_id(evidence.bank, evidence.entity, evidence.attribute, evidence.statement):
        raise InvalidInput("slot", "is not the slot of its bank, entity and attribute")


def _check_times(body: Observation | Claim | Evidence, path: str, names: tuple[str, ...]) -> None:
    for name in names:
        at: Instant | None = getattr(body, name)
        if at is not None and not _EARLIEST <= at <= _LATEST:
            raise InvalidInput(f"{path}{name}", f"is {at}, which lies outside the years 1 to 9999")


def _check_value(value: Value | None, path: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(path, f"is {value}; numbers must be finite")
