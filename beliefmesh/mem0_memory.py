"""What mem0 calls a memory, made of a belief and its evidence; and what is told to make one, or to edit one."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any
from uuid import uuid4

import msgspec

from beliefmesh.mem0_whose import Whose, marked, whose_is
from schemas.answer import Contribution
from schemas.belief import Belief
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.instant import format_instant
from schemas.limits import MAX_ITEMS, MAX_NAME_BYTES, check_text

Plain = dict[str, Any]

ITEM = "mem0"
"""The type of the entity that stands for a memory once it was edited; its name is the id of the belief it was."""

SAYS = "text"
"""The attribute of that entity which holds what the memory says now; its newest word replaces the one before."""

_SOURCE = "mem0"
_ROLES = ("user", "assistant")


def memory_of(belief: Belief, terms: Sequence[Contribution], of: Whose) -> Plain | None:
    """A belief as a memory of these, or None where nothing that supports it was told for them."""
    pieces = sorted((term.evidence for term in terms if term.stance == "supports" and of.has(term.evidence)), key=_age)
    if not pieces:
        return None
    owners = whose_is(pieces[0])
    created, updated = pieces[0].effective_at, pieces[-1].effective_at
    text = belief.statement
    return {
        "id": marked(item_id(belief), owners),
        "memory": text,
        "hash": hashlib.md5(text.encode("utf-8"), usedforsecurity=False).hexdigest(),
        "metadata": metadata_in(pieces[-1]),
        "created_at": format_instant(created),
        "updated_at": format_instant(updated) if updated != created else None,
        **owners.named(),
    }


def item_id(belief: Belief) -> str:
    """The id that a memory keeps, also once it was edited."""
    return belief.entity.name if is_item(belief) else belief.id


def is_item(belief: Belief) -> bool:
    """Whether a belief is what an edited memory says."""
    return belief.entity.type == ITEM and belief.attribute == SAYS


def item_slot(id: str) -> dict[str, Any]:
    """The slot of a memory once it was edited, as `history` and `beliefs` take it."""
    return {"entity": {"name": id, "type": ITEM}, "attribute": SAYS}


def observations_of(
    messages: object, of: Whose, metadata: Mapping[str, Any] | None, infer: bool
) -> list[dict[str, object]]:
    """What messages say, an observation each. What an assistant says is a memory only of an agent, or word for word."""
    told = []
    for role, text, name in _words_in(messages):
        if role in _ROLES and text.strip() and (role == "user" or of.agent or not infer):
            voice = name or ((of.user if role == "user" else of.agent) or role)
            told.append(_observation(text, voice, of, metadata, infer))
    return told


def edit_of(id: str, text: str, metadata: Mapping[str, Any], of: Whose) -> dict[str, object]:
    """The observation that a memory says something else from now on."""
    claim = {**item_slot(id), "value": uuid4().hex, "statement": text, "kind": "instruction"}
    return {"id": f"mem0:{uuid4().hex}", "agent": of.voice, "claims": [claim], **_heading(of.voice, of, metadata)}


def end_of(beliefs: Sequence[Belief], of: Whose) -> dict[str, object]:
    """The observation that these beliefs, all of one slot, no longer hold, each in its scope."""
    claims = [
        {
            "entity": {"name": belief.entity.name, "type": belief.entity.type},
            **_value_of(belief),
            "scope": dict(belief.scope),
            "network": belief.network,
            "stance": "retracts",
            "kind": "instruction",
        }
        for belief in beliefs[:MAX_ITEMS]
    ]
    return {"id": f"mem0:{uuid4().hex}", "agent": of.voice, "claims": claims, **_heading(of.voice, of, None)}


def _value_of(belief: Belief) -> dict[str, object]:
    """What a belief holds, as a claim has it; of a free one its words."""
    if belief.attribute is None:
        return {"statement": belief.statement}
    return {"attribute": belief.attribute, "value": belief.value, "value_type": belief.value_type}


def is_told(source: str) -> bool:
    """Whether a source's id is of what was told as a memory, edited or ended."""
    return source == _SOURCE or source.startswith(f"{_SOURCE} {{")


def metadata_in(piece: Evidence) -> Plain:
    """The metadata that a memory was told with."""
    _, _, told = piece.source.id.partition(" ")
    try:
        return msgspec.json.decode(told, type=dict[str, Any]) if piece.source.id.startswith(_SOURCE) and told else {}
    except msgspec.DecodeError:
        return {}


def _observation(
    text: str, voice: str, of: Whose, metadata: Mapping[str, Any] | None, infer: bool
) -> dict[str, object]:
    claims = {} if infer else {"claims": [{"entity": voice, "statement": text}]}
    session = {"session": of.run} if of.run else {}
    return {"text": text, "agent": voice, **claims, **session, **_heading(voice, of, metadata)}


def _heading(voice: str, of: Whose, metadata: Mapping[str, Any] | None) -> dict[str, object]:
    return {"source": {"id": _source(metadata), "origin": voice, "type": "dialogue"}, **of.audience()}


def _source(metadata: Mapping[str, Any] | None) -> str:
    """The source's id, with the metadata: it stands on each piece of evidence, so that it is found with it."""
    if not metadata:
        return _SOURCE
    try:
        _require_json(metadata, "metadata")
        told = f"{_SOURCE} {msgspec.json.encode(dict(metadata)).decode()}"
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidInput("metadata", f"cannot be written as JSON ({error})") from error
    if len(told.encode("utf-8")) > MAX_NAME_BYTES:
        raise InvalidInput("metadata", f"has over {MAX_NAME_BYTES - len(_SOURCE) - 1} bytes as JSON; keep a key to it")
    return told


def _require_json(value: object, path: str) -> None:
    """Raises InvalidInput for what JSON has no word for and would come back as something else, or not at all."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInput(path, f"is {value}, which JSON has no word for; leave it out, or write it as text")
    if isinstance(value, AbstractSet):
        raise InvalidInput(path, "is a set, which JSON has no word for; use a list")
    if isinstance(value, Mapping):
        for name, each in value.items():
            _require_json(each, f"{path}.{name!s:.80}")
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            _require_json(each, f"{path}[{place}]")


def _words_in(messages: object) -> list[tuple[str, str, str]]:
    """Role, text and name of each message."""
    if isinstance(messages, str):
        return [("user", check_text(messages, "messages"), "")]
    several = [messages] if isinstance(messages, Mapping) else messages
    if not isinstance(several, Sequence):
        raise InvalidInput("messages", "must be a text, a message or a list of messages")
    words = []
    for place, message in enumerate(several):
        if not isinstance(message, Mapping) or "content" not in message:
            raise InvalidInput(f"messages[{place}]", "must be an object with `role` and `content`")
        text = _text_in(message["content"], f"messages[{place}].content")
        words.append((str(message.get("role", "user")), text, str(message.get("name") or "")))
    return words


def _text_in(content: object, path: str) -> str:
    """The text of a message; of one in parts, that of its texts, since images are not looked at."""
    if content is None:
        return ""
    if isinstance(content, str):
        return check_text(content, path)
    parts = [content] if isinstance(content, Mapping) else content
    if not isinstance(parts, Sequence):
        raise InvalidInput(path, "must be text, or a list of parts")
    texts = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text"]
    return "\n".join(check_text(text, path) for text in texts)


def _age(piece: Evidence) -> tuple[int, str]:
    return (piece.effective_at, piece.id)
