"""The message format: a msgpack envelope with schema version, id, type and trace context. Alone knows msgpack."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgpack
import msgspec

from schemas.errors import MalformedMessage, UnknownSchemaVersion

MAJOR = 1
MINOR = 0

Body = TypeVar("Body", bound=msgspec.Struct)


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """A message as it travels: who wrote which version of what, under which id, in which trace."""

    major: int
    minor: int
    id: str
    type: str
    body: dict[str, Any]
    trace: dict[str, str] = {}


class _Sealed(msgspec.Struct, frozen=True, gc=False):
    """An envelope whose body has not been read yet."""

    v: list[int]
    id: str
    type: str
    body: msgspec.Raw
    trace: dict[str, str] = {}


_SEALED = msgspec.msgpack.Decoder(_Sealed)


def pack(body: msgspec.Struct, id: str, trace: Mapping[str, str] | None = None) -> bytes:
    """Write one message. The type is the name of the body's class in lower case."""
    envelope: dict[str, Any] = {
        "v": [MAJOR, MINOR],
        "id": id,
        "type": type(body).__name__.lower(),
        "body": msgspec.to_builtins(body),
    }
    if trace:
        envelope["trace"] = dict(trace)
    packed: bytes = msgpack.packb(envelope)
    return packed


def open_envelope(data: bytes) -> Envelope:
    """Read the envelope and leave the body as plain data.

    Raises MalformedMessage, or UnknownSchemaVersion for a major version other than ours.
    """
    try:
        raw = msgpack.unpackb(data)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise MalformedMessage("message", f"is not msgpack ({error})") from error
    if not isinstance(raw, dict):
        raise MalformedMessage("message", "is not an envelope (a map with v, id, type and body)")
    match raw.get("v"):
        case [int(major), int(minor), *_]:
            if major != MAJOR:
                raise UnknownSchemaVersion("v", f"major version {major} is unknown; this release reads {MAJOR}")
        case _:
            raise MalformedMessage("v", "must be [major, minor]")
    id, kind, body, trace = raw.get("id"), raw.get("type"), raw.get("body"), raw.get("trace", {})
    if not (isinstance(id, str) and isinstance(kind, str) and isinstance(body, dict) and isinstance(trace, dict)):
        raise MalformedMessage("message", "needs id and type as text, body as a map")
    return Envelope(major=major, minor=minor, id=id, type=kind, body=body, trace=trace)


def unpack(data: bytes, kind: type[Body]) -> Body:
    """Read one message of a known kind; unknown fields are ignored. Raises MalformedMessage."""
    try:
        sealed = _SEALED.decode(data)
        if sealed.v[0] == MAJOR and sealed.type == kind.__name__.lower():
            return msgspec.msgpack.decode(sealed.body, type=kind)
    except (msgspec.DecodeError, RecursionError, IndexError):
        pass  # the slow way says what exactly is wrong
    envelope = open_envelope(data)
    if envelope.type != kind.__name__.lower():
        raise MalformedMessage("type", f"is {envelope.type!r}; expected {kind.__name__.lower()!r}")
    return read_body(envelope.body, kind)


def read_body(body: object, kind: type[Body]) -> Body:
    """Turn plain data into a struct. Raises MalformedMessage with the path of what is wrong."""
    try:
        return msgspec.convert(body, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise MalformedMessage(kind.__name__.lower(), str(error)) from error


def dump(body: msgspec.Struct) -> bytes:
    """Bytes of a struct alone, for a column of a store; msgpack by msgspec's own codec, which is four times faster."""
    return msgspec.msgpack.encode(body)


def load(data: bytes, kind: type[Body]) -> Body:
    """Read what `dump` wrote."""
    return msgspec.msgpack.decode(data, type=kind)
