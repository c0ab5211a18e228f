"""What an error of NebulaGraph means for the statement: send it again, wait for the schema, log in again, or give up.

Storage reports most errors under one code, so they are told apart by their text (those of NebulaGraph 3.8).
"""

from typing import Literal

from schemas.errors import BeliefmeshError, InvalidSetting, StoreUnavailable

Meaning = Literal["again", "login", "settling", "absent", "mine", "settings"]
"""again: not run or unknown, send it again; login: the session is gone; settling: only right after a change of the
schema; absent: UPDATE of a row that is not there; mine: never again, a mistake of ours; settings: what the user set.
"""

_SESSION = (-1002, -1003)
_LOGIN = (-1001, -1008)
_AGAIN = (
    "Not the leader of",
    "Please retry later",
    "Term of part",
    "raft buffer is full",
    "Write is blocked when creating snapshot",
    "Atomic operation failed",
    "More than one request trying to",
    "E_CONSENSUS_ERROR",
    "E_WRITE_STALLED",
    "E_RAFT_",
    "RPC failure, probably timeout",
)
_SETTLING = (
    "SpaceNotFound",
    "TagNotFound",
    "EdgeNotFound",
    "IndexNotFound",
    "No schema found for",
    "Unknown column",
    "not found in space",
    "Part ",
    "Space not found",
    "Tag not found",
    "Edge not found",
    "Tag prop not found",
    "Edge prop not found",
)
_ABSENT = "Vertex or edge not found"
_SHOWN = 300


class NebulaRefused(Exception):
    """A statement that the server did not run as it was sent; stays inside the adapter."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{text[:_SHOWN]} ({code})")
        self.meaning = meaning_of(code, text)

    def ours(self) -> BeliefmeshError:
        """The error that callers see."""
        if self.meaning == "settings":
            return InvalidSetting(f"stores.graph: NebulaGraph refuses the login or lacks the role for it: {self}")
        return StoreUnavailable(f"NebulaGraph refuses a statement: {self}")


class NebulaBroken(Exception):
    """No reply came; `sent` says whether the statement may have been run, `slow` that nothing but time ran out."""

    def __init__(self, problem: object, *, sent: bool) -> None:
        super().__init__(str(problem)[:_SHOWN])
        self.sent = sent
        self.slow = "timed out" in str(problem)


def meaning_of(code: int, text: str) -> Meaning:
    """Which of the meanings an error code and its text have."""
    if code in _SESSION:
        return "login"
    if code in _LOGIN:
        return "settings"
    if _ABSENT in text:
        return "absent"
    if any(part in text for part in _AGAIN):
        return "again"
    if any(part in text for part in _SETTLING):
        return "settling"
    return "mine"
