"""Who is logged in at one graphd, and in which space each session is (sections 4 and 5)."""

import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from graph_errors import BAD_LOGIN, EXECUTION, SESSION_INVALID, Refused

MOST_OF_A_USER = 300
_IDS = itertools.count(1_700_000_000_000_001)
"""Of all graphd of this process, so that no other knows the session."""


@dataclass
class Session:
    """A login: its user, the space it uses, and when it was last heard of."""

    id: int
    user: str
    used_at: float
    space: str = ""


class Sessions:
    """All sessions; an idle one is gone after `idle_seconds` of the clock."""

    def __init__(self, clock: Callable[[], float], users: Mapping[str, str] | None, idle_seconds: float) -> None:
        """Without `users` every name and password will do, as with `enable_authorize=false`."""
        self._clock = clock
        self._users = users
        self._idle = idle_seconds
        self._lock = Lock()
        self._sessions: dict[int, Session] = {}

    def open(self, user: str, password: str) -> Session:
        """Log in."""
        if self._users is not None and self._users.get(user) != password:
            raise Refused(BAD_LOGIN, "Invalid password" if user in self._users else "User not exist")
        with self._lock:
            if Counter(session.user for session in self._sessions.values())[user] >= MOST_OF_A_USER:
                raise Refused(EXECUTION, f"Create Session failed: Too many sessions created by user {user}.")
            session = Session(next(_IDS), user, self._clock())
            self._sessions[session.id] = session
        return session

    def use(self, id: int) -> Session:
        """The session that a request names."""
        now = self._clock()
        with self._lock:
            session = self._sessions.get(id)
            if session is None or now - session.used_at > self._idle:
                self._sessions.pop(id, None)
                raise Refused(SESSION_INVALID, f"Session not existed! SessionId[{id}]")
            session.used_at = now
        return session

    def close(self, id: int) -> None:
        """Log out; a session that is not there is left alone."""
        with self._lock:
            self._sessions.pop(id, None)

    def close_all(self) -> None:
        """Forget every login, as a graphd does that died."""
        with self._lock:
            self._sessions.clear()

    def count(self) -> int:
        """How many are logged in."""
        with self._lock:
            return len(self._sessions)
