"""Every error that Beliefmesh raises on purpose; each message says what to do.

BeliefmeshError
├── InvalidInput            a field of a request or message is wrong
│   ├── TooLarge            a text or message is over its limit
│   ├── KeyReused           an Idempotency-Key came with another request before
│   └── MalformedMessage    bytes that are not one of our envelopes
│       └── UnknownSchemaVersion
├── InvalidSetting          a setting or its file is wrong
├── NotFound
│   └── UnknownBank
├── VersionConflict         somebody wrote first: read again and decide again
├── NotAuthenticated        nobody is known by this key or token, or there is none
│   └── WrongSignature      a webhook is not signed with the secret that is set
├── InFlight                the same request is still running
├── ReplyErased             the request was done, and its reply is gone
├── AccessDenied            who asks is known, and may not
├── Busy                    too much in flight: retry after a while
│   └── OverLimit           a bank has used up what it may
├── FolderInUse             another process owns this folder
├── NewerSchema             the store was written by a newer Beliefmesh
├── MissingExtra            an optional package is not installed
├── ModelFailed             a language model gave no answer that can be used
└── StoreUnavailable        a store or service cannot be reached
"""

from collections.abc import Sequence


class BeliefmeshError(Exception):
    """Something went wrong in a way that Beliefmesh foresaw."""

    code = "error"


class InvalidInput(BeliefmeshError):
    """The input is not acceptable; `field` names the part, the message says what is allowed."""

    code = "invalid_input"

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def __reduce__(self) -> tuple[type["InvalidInput"], tuple[str, str]]:
        return type(self), (self.field, self.problem)


class TooLarge(InvalidInput):
    """The text or message is over the stated limit; split it and send the parts."""

    code = "too_large"


class MalformedMessage(InvalidInput):
    """The bytes are not an envelope that this system wrote."""

    code = "malformed_message"


class KeyReused(InvalidInput):
    """The Idempotency-Key came with another request before; take a new key for each request."""

    code = "idempotency_key_reused"


class UnknownSchemaVersion(MalformedMessage):
    """The envelope has a major schema version that this release does not know; upgrade the reader."""

    code = "unknown_schema_version"


class InvalidSetting(BeliefmeshError):
    """A setting is unknown or has a wrong value."""

    code = "invalid_setting"


class NotFound(BeliefmeshError):
    """There is nothing under this id."""

    code = "not_found"


class UnknownBank(NotFound):
    """The bank does not exist; retain something into it first."""

    code = "unknown_bank"


class VersionConflict(BeliefmeshError):
    """The slots named in `slots` have moved on since they were read; read them again and decide again."""

    code = "version_conflict"

    def __init__(self, slots: Sequence[str]) -> None:
        super().__init__(f"written by somebody else since they were read: {', '.join(slots)}")
        self.slots = tuple(slots)

    def __reduce__(self) -> tuple[type["VersionConflict"], tuple[tuple[str, ...]]]:
        return type(self), (self.slots,)


class NotAuthenticated(BeliefmeshError):
    """Nobody is known by this key or token; send `Authorization: Bearer KEY`."""

    code = "not_authenticated"


class InFlight(BeliefmeshError):
    """The same request is still running under this Idempotency-Key; ask again after the stated seconds."""

    code = "in_flight"


class ReplyErased(BeliefmeshError):
    """The request under this Idempotency-Key was done; its reply went with what was forgotten."""

    code = "reply_erased"


class AccessDenied(BeliefmeshError):
    """The principal may not do this."""

    code = "access_denied"


class WrongSignature(NotAuthenticated):
    """A webhook is not signed, or not with the secret that is set for its source."""

    code = "wrong_signature"


class Busy(BeliefmeshError):
    """Too much is in flight; retry after the stated seconds."""

    code = "busy"


class OverLimit(Busy):
    """The bank has used up what a limit allows; `field` names the setting, `seconds` is when there is some again."""

    code = "over_limit"

    def __init__(self, message: str, field: str = "", seconds: float = 1.0) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.seconds = seconds

    def __reduce__(self) -> tuple[type["OverLimit"], tuple[str, str, float]]:
        return type(self), (self.message, self.field, self.seconds)


class FolderInUse(BeliefmeshError):
    """Another process owns this folder; `address` is where it serves HTTP, empty if it does not."""

    code = "folder_in_use"

    def __init__(self, message: str, address: str = "") -> None:
        super().__init__(message)
        self.address = address


class NewerSchema(BeliefmeshError):
    """The store was written by a newer release; upgrade Beliefmesh before opening it."""

    code = "newer_schema"


class MissingExtra(BeliefmeshError):
    """An optional package is needed for this; the message names the extra to install."""

    code = "missing_extra"


class StoreUnavailable(BeliefmeshError):
    """A store or service cannot be reached; nothing was lost, the work is retried."""

    code = "store_unavailable"


class ModelFailed(BeliefmeshError):
    """A language model gave no answer that can be used.

    `reason` is one word: unreachable, timeout, busy, resting, budget, rejected, refusal, malformed, or
    elsewhere (it was told by another process).
    """

    code = "model_failed"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message

    def __reduce__(self) -> tuple[type["ModelFailed"], tuple[str, str]]:
        return type(self), (self.reason, self.message)
