"""How a bank is gone through in id order on NebulaGraph, which has no cursor and sorts all that it finds."""

from collections.abc import Mapping
from typing import Any

from stores.nebula.script import number
from stores.nebula.session import NebulaSessions

Row = Mapping[str, Any]

_DEEPEST = 8
_LAST_PLAIN = 0xD7FE
"""Up to here the next character is one too, and sorts next in UTF-8."""


class Scanner:
    """Asks, by two statements, for ids up to one that shares fewer of the last one's letters, as far as a page needs.

    An unbounded question makes the server sort all the rest of a bank for every page. The bound that sufficed is
    tried first the next time; what is returned does not depend on it.
    """

    def __init__(self, sessions: NebulaSessions, after: str, between: str) -> None:
        self._sessions = sessions
        self._after = after
        self._between = between
        self._depth = _DEEPEST

    def scan(self, bank: str, after: str, limit: int) -> list[Row]:
        """Rows whose `id` is greater than `after`, in order."""
        depth = min(self._depth, len(after))
        while True:
            before = _above(after[:depth])
            rows = self._ask(bank, after, before, limit)
            if before is None or len(rows) >= limit:
                self._depth = min(depth + 1, _DEEPEST)
                return rows
            depth -= 1

    def _ask(self, bank: str, after: str, before: str | None, limit: int) -> list[Row]:
        most = number(max(limit, 0))
        if before is None:
            return list(self._sessions.read(self._after, bank=bank, after=after, limit=most))
        return list(self._sessions.read(self._between, bank=bank, after=after, before=before, limit=most))


def _above(prefix: str) -> str | None:
    """The smallest text above all that begin with the prefix; None where there is none that is easily said."""
    if not prefix or ord(prefix[-1]) > _LAST_PLAIN:
        return None
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
