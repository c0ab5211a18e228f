"""An item of a LangGraph store as an observation, and back: one slot an item, the newest put holds it.

The value stands in the claim as JSON, and comes back as it went in. The name of the entity is for people to read, and
ends in a digest, since names are compared without regard to case while namespaces and keys are not.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import msgspec

from schemas.belief import Belief
from schemas.errors import InvalidInput
from schemas.identity import digest
from schemas.instant import Instant
from schemas.limits import check_text

ATTRIBUTE = "item"
TYPE = "langgraph item"

_READABLE = 200
_SOURCE = {"id": "langgraph", "origin": "langgraph", "type": "tool"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Namespace = tuple[str, ...]


class KeptItem(msgspec.Struct, frozen=True):
    """An item as it is kept: `found` says whether a search by words may find it."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    found: bool = True


def slot_of_item(namespace: Namespace, key: str) -> dict[str, Any]:
    """The slot of an item, as `beliefs` takes it and a claim names it."""
    readable = f"{'.'.join(namespace)}/{key}".replace("\x00", " ")[:_READABLE]
    return {"entity": {"name": f"{readable} {digest(*namespace, key)}", "type": TYPE}, "attribute": ATTRIBUTE}


def put(
    namespace: Namespace, key: str, value: Mapping[str, Any], texts: Sequence[str] | None, created: datetime | None
) -> dict[str, object]:
    """The observation that an item has a value from now on; without `texts` no search by words finds it."""
    nonce = uuid4().hex
    kept = {"namespace": list(namespace), "key": key, "value": value, "found": texts is not None, "put": nonce}
    if created is not None:
        kept["created"] = created.isoformat()
    said = "\n".join(text for text in texts or () if text.strip()) or f"{'.'.join(namespace)}/{key}"
    said = said.replace("\x00", " ")
    claim = {
        **slot_of_item(namespace, key),
        "value": json_of(kept),
        "value_type": "text",
        "statement": said,
        "kind": "instruction",
    }
    return {"id": f"langgraph:{nonce}", "source": _SOURCE, "claims": [claim]}


def deletion(namespace: Namespace, key: str) -> dict[str, object]:
    """The observation that an item has no value any more."""
    claim = {**slot_of_item(namespace, key), "stance": "retracts", "kind": "instruction"}
    return {"id": f"langgraph:{uuid4().hex}", "source": _SOURCE, "claims": [claim]}


def stored_in(belief: Belief) -> KeptItem | None:
    """The item that a belief holds; None where it holds none."""
    if belief.entity.type != TYPE or belief.attribute != ATTRIBUTE or not isinstance(belief.value, str):
        return None
    kept = json.loads(belief.value)
    updated = _moment(belief.newest_support or 0)
    created = datetime.fromisoformat(kept["created"]) if "created" in kept else updated
    return KeptItem(tuple(kept["namespace"]), kept["key"], kept["value"], created, updated, kept["found"])


def json_of(value: Mapping[str, Any]) -> str:
    """JSON that is read back as it was. Raises InvalidInput for a value that JSON cannot hold exactly."""
    if not isinstance(value, Mapping):
        raise InvalidInput("value", f"must be an object, not {type(value).__name__}")
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("value", f"cannot be written as JSON ({error})") from error
    if json.loads(written) != value:
        raise InvalidInput("value", "would not come back as it is; use objects with text keys, and lists")
    return check_text(written, "value")


def leaves_of(value: Any) -> Iterator[str]:
    """What stands in a value, a text for each part that has no parts of its own."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            inner = list(leaves_of(part))
            yield from (f"{name}: {text}" for text in inner) if not isinstance(part, Mapping | list) else inner
    elif isinstance(value, list):
        for part in value:
            yield from leaves_of(part)
    elif value is not None:
        yield f"{value}"


def _moment(instant: Instant) -> datetime:
    return _EPOCH + timedelta(microseconds=instant)
