"""The verb that explains several beliefs at once, also those that came of an observation."""

from collections.abc import Sequence

import msgspec

from beliefmesh.archived import with_archived
from beliefmesh.ask import principal_of
from beliefmesh.merging import seen_by
from beliefmesh.verbs.bound import Bound
from recall.explained import explained
from schemas.answer import Explanation
from schemas.errors import InvalidInput
from schemas.limits import MAX_ITEMS, check_name
from schemas.query import Principal


class Explanations(msgspec.Struct, frozen=True):
    """Accounts of several beliefs, as they go over the wire."""

    explanations: tuple[Explanation, ...]


class Explaining(Bound):
    """Many explanations in one call."""

    def explanations(
        self,
        beliefs: Sequence[str] = (),
        *,
        observations: Sequence[str] = (),
        bank: str | None = None,
        principal: Principal | str | None = None,
    ) -> tuple[Explanation, ...]:
        """Every term of several beliefs: of those named, then of those that these observations speak for.

        Each comes once; what is unknown, or not for the principal to see, is left out. At most 1,000 ids in a call.
        """
        wanted = _ids(beliefs, "beliefs"), _ids(observations, "observations")
        name = self._bank(bank)
        self._keep_up()
        who = principal_of(principal)
        seen = seen_by(self.home.graph, name, who, self.home.clock())
        return tuple(with_archived(self.home.archive, name, one, who) for one in explained(seen, *wanted))


def _ids(given: Sequence[str], field: str) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidInput(field, "must be a list of ids")
    if len(given) > MAX_ITEMS:
        raise InvalidInput(field, f"are {len(given)}; at most {MAX_ITEMS} go in one call")
    return [check_name(id, field) for id in given]
