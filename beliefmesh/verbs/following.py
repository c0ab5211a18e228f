"""The verb that follows a bank: what moved since a place, as one principal may see it."""

from beliefmesh.ask import principal_of
from beliefmesh.changes import ChangePage, changes_after, place_now
from beliefmesh.verbs.bound import Bound
from beliefmesh.verbs.listing import MOST_LISTED
from schemas.limits import check_number
from schemas.query import Principal

NOW = "now"


class Following(Bound):
    """Changes as they come."""

    def changes(
        self, *, bank: str | None = None, principal: Principal | str | None = None, after: str = "", limit: int = 100
    ) -> ChangePage:
        """What moved after a place: the `next` of the page before, `now`, or the beginning of what the log holds.

        None is lost between two pages; one may come twice after a failure. Without a background worker, what waits in
        the log has its effect first.
        """
        check_number(limit, "limit", 1, MOST_LISTED)
        name = self._bank(bank)
        self._keep_up()
        if after == NOW:
            return ChangePage((), (), place_now(self.home), more=False)
        return changes_after(self.home, name, principal_of(principal), after, limit)
