"""How each error looks from outside: its exit code, its HTTP status and its JSON, and back from that JSON.

exit code   0 done; 1 failed (a store is down, doctor found differences); 2 bad input or setting;
            3 not found; 4 conflict (a version has moved on, the folder is in use);
            5 told to stop, with something left unfinished
"""

from typing import Any

from schemas.errors import (
    AccessDenied,
    BeliefmeshError,
    Busy,
    FolderInUse,
    InFlight,
    InvalidInput,
    InvalidSetting,
    KeyReused,
    MalformedMessage,
    MissingExtra,
    ModelFailed,
    NewerSchema,
    NotAuthenticated,
    NotFound,
    OverLimit,
    ReplyErased,
    StoreUnavailable,
    TooLarge,
    UnknownBank,
    UnknownSchemaVersion,
    VersionConflict,
    WrongSignature,
)

OK, FAILED, BAD_INPUT, NOT_FOUND, CONFLICT, UNFINISHED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

RETRY_AFTER_SECONDS = 1

_OUTWARD: dict[type[BeliefmeshError], tuple[int, int]] = {
    UnknownSchemaVersion: (BAD_INPUT, 400),
    MalformedMessage: (BAD_INPUT, 400),
    TooLarge: (BAD_INPUT, 413),
    KeyReused: (BAD_INPUT, 422),
    InvalidInput: (BAD_INPUT, 422),
    InvalidSetting: (BAD_INPUT, 422),
    MissingExtra: (BAD_INPUT, 501),
    UnknownBank: (NOT_FOUND, 404),
    NotFound: (NOT_FOUND, 404),
    VersionConflict: (CONFLICT, 409),
    InFlight: (CONFLICT, 409),
    ReplyErased: (CONFLICT, 409),
    FolderInUse: (CONFLICT, 409),
    NewerSchema: (FAILED, 500),
    WrongSignature: (FAILED, 401),
    NotAuthenticated: (FAILED, 401),
    AccessDenied: (FAILED, 403),
    OverLimit: (FAILED, 429),
    Busy: (FAILED, 429),
    ModelFailed: (FAILED, 502),
    StoreUnavailable: (FAILED, 503),
    BeliefmeshError: (FAILED, 500),
}
"""The nearest class in an error's own line of descent decides: (exit code, HTTP status)."""

_KINDS: dict[str, type[BeliefmeshError]] = {kind.code: kind for kind in _OUTWARD}


def exit_code(error: BeliefmeshError) -> int:
    """The exit code of a command that ended with this error."""
    return _outward(error)[0]


def http_status(error: BeliefmeshError) -> int:
    """The status of a request that ended with this error."""
    return _outward(error)[1]


def error_to_builtins(error: BeliefmeshError) -> dict[str, Any]:
    """The one shape in which an error leaves the house; `field` is empty where no field is at fault."""
    return error_shape(error.code, str(error) or (type(error).__doc__ or ""), getattr(error, "field", ""))


def error_shape(code: str, message: str, field: str = "") -> dict[str, Any]:
    """The same shape, for what has no error of ours; what is not valid Unicode is spelled out."""
    return {"error": {"code": code, "message": _printable(message), "field": _printable(field)}}


def error_from_builtins(plain: object, status: int) -> BeliefmeshError:
    """The error that another process told in the one shape; StoreUnavailable for anything else."""
    told = plain.get("error") if isinstance(plain, dict) else None
    if not isinstance(told, dict):
        return StoreUnavailable(f"the mesh answered with status {status} and no reason")
    code, message, field = (str(told.get(name, "")) for name in ("code", "message", "field"))
    if code == VersionConflict.code:
        return VersionConflict(message.rpartition(": ")[2].split(", "))
    if code == ModelFailed.code:
        return ModelFailed("elsewhere", message)
    kind = _KINDS.get(code, BeliefmeshError)
    if issubclass(kind, InvalidInput):
        return kind(field, message.removeprefix(f"{field}: "))
    return kind(message)


def _outward(error: BeliefmeshError) -> tuple[int, int]:
    return next(_OUTWARD[kind] for kind in type(error).__mro__ if kind in _OUTWARD)


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
