"""Verbs that ask: recall, explain, history, single beliefs, and the state of a bank as a whole."""

import time
from collections.abc import Iterator, Mapping

import msgspec

from beliefmesh.archived import why_missing, with_archived
from beliefmesh.ask import principal_of, query_of, slot_name
from beliefmesh.state import live_beliefs, state_hash
from beliefmesh.verbs.bound import Bound
from beliefmesh.verbs.listing import MOST_LISTED, not_a_place
from schemas.answer import NEWEST_TURNS, Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.errors import NotFound, StoreUnavailable, UnknownBank
from schemas.instant import Instant, parse_instant
from schemas.limits import check_name, check_number
from schemas.query import Principal, Query
from schemas.slot import slot_id
from stores.tracing.spans import span

_MOST_DIGITS = 19


class Asking(Bound):
    """Questions; none of them changes what is believed."""

    def recall(self, /, text: str, *, bank: str | None = None, wait_for: str = "", **fields: object) -> Answer:
        """Ask. `fields` are those of a Query (schemas/query.py); times may be ISO text, `principal` a name.

        `wait_for` takes the token of a receipt and answers once that is recallable; Busy if it takes too long.
        """
        self.wait(wait_for)
        self._keep_up()
        query = query_of(text, self._bank(bank), self.home.clock(), self.home.settings.recall, fields)
        answer = self._with_archived(query, self._answered(query))
        self.home.recalls.note(query, answer)
        self._echoes.returned(query, answer)
        return answer

    def _answered(self, query: Query) -> Answer:
        began = time.monotonic()
        try:
            with span("recall", bank=query.bank) as noted:
                answer = self.home.mesh.recall(query)
                noted(found=len(answer.found))
        except StoreUnavailable:
            self.home.tally.not_answered()
            raise
        except UnknownBank as error:
            if not self.home.archive.size(query.bank):
                raise
            told = f"all that bank {query.bank!r} held is archived; the job restore brings it back"
            raise UnknownBank(told) from error
        self.home.tally.answered(answer, time.monotonic() - began)
        return answer

    def _with_archived(self, query: Query, answer: Answer) -> Answer:
        """The answer, saying so where what it was asked about lies in part in the archive."""
        if query.as_of is None and query.known_at is None:
            return answer
        lacking = self.home.archive.lacking(query.bank, query.as_of, query.known_at)
        return msgspec.structs.replace(answer, archived=True) if lacking else answer

    def explain(
        self, belief: str, *, bank: str | None = None, principal: Principal | str | None = None, as_of: object = None
    ) -> Explanation:
        """Every term of a belief's confidence, now or as of a time. Raises NotFound."""
        past = None if as_of is None else parse_instant(as_of, "as_of")
        moment = self.home.clock() if past is None else past
        name, who = self._bank(bank), principal_of(principal)
        return with_archived(self.home.archive, name, self.home.mesh.explain(name, belief, who, moment, past), who)

    def history(
        self,
        of: str | None = None,
        *,
        entity: str | Mapping[str, object] | Entity | None = None,
        attribute: str | None = None,
        bank: str | None = None,
        principal: Principal | str | None = None,
        oldest_first: bool = False,
        limit: int = NEWEST_TURNS,
        after: str = "",
    ) -> History:
        """The turns of a slot: by the id of the slot or of one of its beliefs, or by entity and attribute.

        The newest `limit` of them; with `oldest_first` the first ones, and those `after` the `next` of a page.
        """
        check_number(limit, "limit", 1, MOST_LISTED)
        asked = check_name(of, "slot") if of else slot_name(entity, attribute)
        since = _turn_at(after) if oldest_first or after else None
        name, who = self._bank(bank), principal_of(principal)
        try:
            found = self.home.mesh.history(name, asked, who, self.home.clock(), since, limit)
        except NotFound as error:
            slot = asked if isinstance(asked, str) else slot_id(name, *asked)
            told = why_missing(self.home.archive, name, slot, who)
            if not told:
                raise
            raise NotFound(told) from error
        return with_archived(self.home.archive, name, found, who)

    def belief(self, id: str, *, bank: str | None = None, principal: Principal | str | None = None) -> Belief:
        """One belief as it is now. Raises NotFound."""
        return self.home.mesh.belief(self._bank(bank), id, principal_of(principal), self.home.clock())

    def holders(self, bank: str | None = None, as_of: Instant | None = None) -> Iterator[Belief]:
        """Every belief of a bank that is active or contested, now or as of a time, slot by slot."""
        moment = self.home.clock() if as_of is None else as_of
        return live_beliefs(self.home.graph, self._bank(bank), moment, as_of)

    def state_hash(self, bank: str | None = None, now: Instant | None = None) -> str:
        """A hash of everything that a bank believes at a time; equal for equal evidence, whatever the way there."""
        return state_hash(self.home.graph, self._bank(bank), self.home.clock() if now is None else now)


def _turn_at(after: str) -> Instant:
    """The time of the turn that a page ended with; before all times where there was none."""
    if not after:
        return -(2**63)
    if not after.removeprefix("-").isdecimal() or len(after) > _MOST_DIGITS:
        raise not_a_place(after)
    return int(after)
