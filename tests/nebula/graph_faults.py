"""What may go wrong at graphd's door on a test's word, and what was asked there."""

from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import Any

from graph_errors import BAD_PERMISSION, BUSY, SESSION_INVALID, Refused, not_leader, storage


class Fault(Enum):
    """How a request fails; the comment says whether it was applied."""

    CUT = "the connection closes before the request runs"  # not applied
    LEADER_CHANGED = "the leader of partition 3 changed before the request ran"  # not applied
    BUSY = "another client is writing the same row"  # not applied
    SESSION_INVALID = "the session is gone"  # not applied; the session stays gone
    FORBIDDEN = "the user lacks the role for it"  # not applied
    HALF = "the leader of some partitions changed while a write ran"  # applied in part
    STORAGE_SILENT = "storaged did the work, and its answer did not reach graphd in time"  # applied
    REPLY_LOST = "the connection closes after the request ran"  # applied
    TOO_LATE = "the reply does not come while the client waits"  # applied

    def refusal(self) -> Refused | None:
        """What graphd answers instead of running the request, if it answers."""
        match self:
            case Fault.LEADER_CHANGED:
                return not_leader(3)
            case Fault.BUSY:
                return storage(BUSY)
            case Fault.FORBIDDEN:
                return Refused(BAD_PERMISSION, "PermissionError: No permission to write data.")
            case Fault.SESSION_INVALID:
                return Refused(SESSION_INVALID, "Session not existed!")
        return None

    def doubt(self) -> Refused | None:
        """What graphd answers though the request ran."""
        return storage("RPC failure, probably timeout") if self is Fault.STORAGE_SILENT else None


@dataclass(frozen=True)
class Asked:
    """A request as it came to graphd: its text, its parameters, and its session."""

    text: str
    parameters: dict[str, Any]
    session: int


@dataclass
class _Planned:
    match: str
    fault: Fault
    skip: int
    times: int


class Faults:
    """Which of the coming requests fail, and how."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._planned: list[_Planned] = []

    def plan(self, match: str, fault: Fault, *, times: int, after: int) -> None:
        """Of the coming requests whose text has `match` in it, let `after` pass and `times` fail."""
        with self._lock:
            self._planned.append(_Planned(match, fault, after, times))

    def of(self, text: str) -> Fault | None:
        """How this request fails; the plan that was made first decides."""
        with self._lock:
            for planned in self._planned:
                if planned.match not in text:
                    continue
                if planned.skip:
                    planned.skip -= 1
                    continue
                planned.times -= 1
                if not planned.times:
                    self._planned.remove(planned)
                return planned.fault
        return None

    def waiting(self) -> int:
        """How many failures are planned and have not come about."""
        with self._lock:
            return sum(planned.times for planned in self._planned)

    def clear(self) -> None:
        """No more failures."""
        with self._lock:
            self._planned.clear()
