"""Intake: what a producer may write, as JSON or Python data, becomes an observation or is refused by field.

The keys are the field names of `Observation` and `Claim`; null means absent. Beyond them:

    entity      a name, or {"name", "type"}; a claim without one is about the observation's entity
    source      an id, or {"id", "origin", "type"}; the id defaults to the agent, else "anonymous" (all one voice)
    scope       an object, as metadata is: names to texts; numbers become text
    statement   of a claim without an attribute defaults to the observation's text
    times       ISO 8601, Unix seconds, or a datetime; naive means UTC; `observed_at` defaults to now
    id          defaults to a hash of all that is said, so that a retry has the same id
    owner       defaults to the agent where visibility is not "bank"
    readers     who may see it besides the owner, with visibility "group": principal ids, and groups as "group:NAME"
"""

from collections.abc import Mapping
from typing import get_args

import msgspec

from schemas.audience import GROUP_PREFIX, PUBLIC
from schemas.claim import Claim, Kind, Network, Stance, Tier, ValueType
from schemas.errors import InvalidInput
from schemas.fields import (
    Fields,
    Reader,
    list_of,
    object_of,
    one_of,
    read_entity,
    read_flag,
    read_label,
    read_object,
    read_pairs,
    read_scope,
    read_turn,
    read_value,
    read_weight,
)
from schemas.identity import digest
from schemas.instant import MINUTE, Instant, format_instant, parse_instant
from schemas.limits import check_bank, check_belief_id, check_name, check_text, shown
from schemas.observation import Observation, Source, SourceType, Visibility
from schemas.reserved import check_reserved

ANONYMOUS = "anonymous"

_CANONICAL = msgspec.json.Encoder(order="deterministic")
_NOTHING: Fields = {}


def observation_from(
    data: Mapping[str, object] | str, *, bank: str, now: Instant, skew: Instant = 10 * MINUTE
) -> Observation:
    """Make an observation of a message to `bank`; a plain text is the observation's text.

    Raises InvalidInput (TooLarge for a size) naming the field, as in `claims[2].weight`, and what to do.
    """
    check_bank(bank)
    fields = read_object({"text": data} if isinstance(data, str) else data, "", _OBSERVATION, _IN_CLAIMS)
    dated = "observed_at" in fields
    fields["bank"] = _same_bank(fields, bank)
    fields["observed_at"] = _not_in_future(fields.get("observed_at", now), now + skew)
    fields["source"] = Source(**{"id": fields.get("agent") or ANONYMOUS, **fields.get("source", _NOTHING)})
    _check_times(fields, "")
    _check_audience(fields)
    claims = enumerate(fields.get("claims", ()))
    fields["claims"] = tuple([_claim(given, f"claims[{n}]", fields) for n, given in claims])
    if not fields["claims"] and not fields.get("text", "").strip():
        raise InvalidInput("text", "is empty and there are no claims; an observation needs one of them")
    if "id" in fields:
        return Observation(**fields)
    return _with_id(Observation(id="", **fields), dated)


def observation_from_json(data: bytes | str, *, bank: str, now: Instant, skew: Instant = 10 * MINUTE) -> Observation:
    """Make an observation of JSON: an object, or a string that is its text. Raises InvalidInput."""
    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("observation", f"is not JSON ({error}); send one object") from error
    return observation_from(decoded, bank=bank, now=now, skew=skew)


def _same_bank(fields: Fields, bank: str) -> str:
    named = fields.get("bank", bank)
    if named != bank:
        raise InvalidInput("bank", f"is {shown(named)}, but this message goes to {bank!r}; leave the field out")
    return bank


def _not_in_future(observed: Instant, latest: Instant) -> Instant:
    if observed > latest:
        when = format_instant(observed)
        raise InvalidInput("observed_at", f"{when} is in the future; for what holds from a later date use effective_at")
    return observed


def _check_times(given: Fields, path: str, outer: Fields = _NOTHING) -> None:
    """Refuse a period that ends before it begins; a claim takes the times that it does not name from `outer`."""
    prefix = path and f"{path}."
    until = given.get("valid_until", outer.get("valid_until"))
    if until is not None:
        effective = given.get("effective_at", outer.get("effective_at"))
        if effective is not None and until <= effective:
            raise InvalidInput(f"{prefix}valid_until", f"must be after effective_at, {format_instant(effective)}")
    end = given.get("occurred_end", outer.get("occurred_end"))
    if end is not None:
        start = given.get("occurred_start", outer.get("occurred_start"))
        if start is None:
            raise InvalidInput(f"{prefix}occurred_start", "is missing; an occurred_end needs it")
        if end < start:
            raise InvalidInput(f"{prefix}occurred_end", f"is before occurred_start, {format_instant(start)}")


def _check_audience(fields: Fields) -> None:
    """Refuse an audience that is nobody, or that its visibility would not keep to; the owner defaults to the agent."""
    visibility = fields.get("visibility", "bank")
    if visibility != "group" and fields.get("readers"):
        raise InvalidInput("readers", f"do not apply to visibility {visibility!r}; set visibility to 'group'")
    if visibility == "bank":
        return
    fields["owner"] = fields.get("owner") or fields.get("agent", "")
    if visibility == "private" and not fields["owner"]:
        raise InvalidInput("owner", "is missing; private means for its owner only, so name one, or the agent")
    if visibility == "group" and not fields.get("readers"):
        raise InvalidInput("readers", f"are missing; name principals, or groups as '{GROUP_PREFIX}NAME'")


def _claim(given: Fields, path: str, observation: Fields) -> Claim:
    """Complete a claim by what its observation says, and check that it says something."""
    if "entity" not in given:
        given["entity"] = observation.get("entity")
    if given["entity"] is None:
        raise InvalidInput(f"{path}.entity", "is missing; name whom or what the claim is about")
    if "attribute" not in given:
        _complete_free(given, path, observation)
    elif "value" not in given and given.get("stance") != "retracts":
        raise InvalidInput(f"{path}.value", "is missing; give one, or stance 'retracts' to end what was said")
    _check_times(given, path, observation)
    claim = Claim(**given)
    if claim.attribute is not None:
        check_reserved(claim, f"{path}.")
    return claim


def _complete_free(given: Fields, path: str, observation: Fields) -> None:
    if "value" in given:
        raise InvalidInput(f"{path}.attribute", "is missing; say which attribute has this value")
    statement = given.get("statement") or observation.get("text", "")
    if not statement.strip():
        raise InvalidInput(f"{path}.statement", "is missing; a claim without an attribute needs a statement or text")
    given["statement"] = statement


def _with_id(observation: Observation, dated: bool) -> Observation:
    """Name an observation by all that it says; the time of arrival, which a retry changes, stays out."""
    rest = msgspec.structs.replace(observation, text="", observed_at=observation.observed_at if dated else 0)
    said = _CANONICAL.encode(rest).decode()
    id = "o" + digest("dated" if dated else "undated", said, observation.text)
    return msgspec.structs.replace(observation, id=id)


def _read_reader(value: object, path: str) -> str:
    name = check_name(value, path)
    if name == PUBLIC:
        raise InvalidInput(path, "is not a principal; for everybody set visibility to 'bank'")
    if name == GROUP_PREFIX:
        raise InvalidInput(path, f"names no group; write '{GROUP_PREFIX}NAME'")
    return name


_SOURCE: Mapping[str, Reader] = {"id": check_name, "origin": read_label, "type": one_of(get_args(SourceType))}
_SHARED: Mapping[str, Reader] = {
    "entity": read_entity,
    "kind": one_of(get_args(Kind)),
    "network": one_of(get_args(Network)),
    "tier": one_of(get_args(Tier)),
    "weight": read_weight,
    "effective_at": parse_instant,
    "valid_until": parse_instant,
    "occurred_start": parse_instant,
    "occurred_end": parse_instant,
}
_CLAIM: Mapping[str, Reader] = {
    "attribute": check_name,
    "value": read_value,
    "value_type": one_of(get_args(ValueType)),
    "scope": read_scope,
    "stance": one_of(get_args(Stance)),
    "statement": check_text,
    "mentions": list_of(read_entity),
    "premises": list_of(check_belief_id),
    "extractor": check_name,
    **_SHARED,
}
_OBSERVATION: Mapping[str, Reader] = {
    "id": check_name,
    "bank": check_text,
    "text": check_text,
    "claims": list_of(object_of(_CLAIM)),
    "source": object_of(_SOURCE, short="id"),
    "observed_at": parse_instant,
    "agent": read_label,
    "session": read_label,
    "turn": read_turn,
    "pinned": read_flag,
    "owner": read_label,
    "visibility": one_of(get_args(Visibility)),
    "readers": list_of(_read_reader),
    "metadata": read_pairs,
    **_SHARED,
}
_IN_CLAIMS = {
    name: f'belongs to a claim; write it as {{"claims": [{{"{name}": …}}]}}'
    for name in _CLAIM
    if name not in _OBSERVATION
}
