"""The verb that follows a bank of a mesh elsewhere, page by page."""

from beliefmesh.changes import ChangePage
from beliefmesh.remote_verbs.connected import Connected
from beliefmesh.remote_verbs.sending import Asker
from beliefmesh.verbs.following import NOW


class RemoteFollowing(Connected):
    """Changes as they come."""

    def changes(
        self, *, bank: str | None = None, principal: Asker = None, after: str = "", limit: int = 100
    ) -> ChangePage:
        """What moved after a place, as `Memory.changes` gives it."""
        asked: dict[str, object] = {"limit": limit, "since": "now" if after == NOW else "start"}
        if after not in ("", NOW):
            asked["cursor"] = after
        return self._get(f"{self._in(bank)}/changes", ChangePage, principal, asked)
