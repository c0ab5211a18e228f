"""The message format: a msgpack envelope with schema version, id, type and trace context. Alone knows msgpack."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgpack
import msgspec

from schemas.errors import MalformedMessage, UnknownSchemaVersion

MAJOR = 1
MINOR = 3
"""MINOR rises with a field that may be left out, and with a listed value; MAJOR with all else (docs/producing.md)."""

Body = TypeVar("Body", bound=msgspec.Struct)


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """A message as it travels: who wrote which version of what, under which id, in which trace."""

    major: int
    minor: int
    id: str
    type: str
    body: dict[str, Any]
    trace: dict[str, str] = {}


class _Message(msgspec.Struct, Generic[Body], frozen=True, gc=False):
    """A whole message of a known kind, as it is read in one go."""

    v: tuple[int, ...]
    type: str
    body: Body


class _Traced(msgspec.Struct, frozen=True, gc=False):
    """What of a message `trace_of` reads."""

    trace: dict[str, str] = {}


_ENCODER = msgspec.msgpack.Encoder()
_TRACE = msgspec.msgpack.Decoder(_Traced)
_TRACE_KEY = b"\xa5trace"
"""How msgpack writes the key; most messages have none, and to look for it costs next to nothing."""
_BUNDLE = msgspec.msgpack.Decoder(list[bytes])


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
    return _ENCODER.encode(envelope)


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
        message = _reader(kind).decode(data)
        if message.v[0] == MAJOR and message.type == kind.__name__.lower():
            body: Body = message.body
            return body
    except (msgspec.DecodeError, RecursionError, IndexError):
        pass  # the slow way says what exactly is wrong
    envelope = open_envelope(data)
    if envelope.type != kind.__name__.lower():
        raise MalformedMessage("type", f"is {envelope.type!r}; expected {kind.__name__.lower()!r}")
    return read_body(envelope.body, kind)


def trace_of(data: bytes) -> dict[str, str]:
    """The trace context of a message, without reading the rest; nothing where it has none or cannot be read."""
    if _TRACE_KEY not in data:
        return {}
    try:
        return _TRACE.decode(data).trace
    except (msgspec.DecodeError, RecursionError):
        return {}


@lru_cache
def _reader(kind: type[Body]) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(_Message[kind])  # type: ignore[valid-type]


def read_body(body: object, kind: type[Body]) -> Body:
    """Turn plain data into a struct. Raises MalformedMessage with the path of what is wrong."""
    try:
        return msgspec.convert(body, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise MalformedMessage(kind.__name__.lower(), str(error)) from error


def bundle(messages: Sequence[bytes]) -> bytes:
    """Several messages as one, for one place in a topic: an array of them as they were packed. One stays as it is."""
    return messages[0] if len(messages) == 1 else _ENCODER.encode(messages)


def unbundle(data: bytes) -> list[bytes]:
    """The messages that `bundle` put together; what is no bundle is one message, readable or not."""
    try:
        return _BUNDLE.decode(data) or [data]
    except msgspec.DecodeError:
        return [data]


def dump(body: msgspec.Struct) -> bytes:
    """Bytes of a struct alone, for a column of a store; msgpack by msgspec's own codec, which is four times faster."""
    return _ENCODER.encode(body)


def load(data: bytes, kind: type[Body]) -> Body:
    """Read what `dump` wrote."""
    body: Body = _loader(kind).decode(data)
    return body


@lru_cache
def _loader(kind: type[Body]) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)
