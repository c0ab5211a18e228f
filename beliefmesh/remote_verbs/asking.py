"""Verbs that ask a mesh elsewhere: recall, explain, history, single beliefs, and the state of a bank as a whole."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from beliefmesh.ask import entity_of
from beliefmesh.remote_verbs.connected import Connected, question
from beliefmesh.remote_verbs.sending import Asker
from beliefmesh.verbs.explaining import Explanations
from beliefmesh.verbs.listing import BeliefPage
from schemas.answer import NEWEST_TURNS, Answer, Explanation, History
from schemas.belief import Belief
from schemas.entity import Entity
from schemas.instant import Instant, format_instant, parse_instant


class RemoteAsking(Connected):
    """Questions; none of them changes what is believed."""

    def recall(
        self, text: str, *, bank: str | None = None, wait_for: str = "", principal: Asker = None, **fields: object
    ) -> Answer:
        """Ask, as `Memory.recall` does."""
        body = question(text, wait_for, fields)
        return self._post(f"{self._in(bank)}/recall", body, Answer, principal, writes=False)

    def explain(
        self, belief: str, *, bank: str | None = None, principal: Asker = None, as_of: object = None
    ) -> Explanation:
        """Every term of a belief's confidence."""
        past = None if as_of is None else format_instant(parse_instant(as_of, "as_of"))
        return self._get(f"{self._belief(bank, belief)}/explain", Explanation, principal, {"as_of": past})

    def explanations(
        self,
        beliefs: Sequence[str] = (),
        *,
        observations: Sequence[str] = (),
        bank: str | None = None,
        principal: Asker = None,
    ) -> tuple[Explanation, ...]:
        """Every term of several beliefs, as `Memory.explanations` tells them."""
        body = {"beliefs": beliefs, "observations": observations}
        return self._post(f"{self._in(bank)}/explanations", body, Explanations, principal, writes=False).explanations

    def history(
        self,
        of: str | None = None,
        *,
        entity: str | Mapping[str, object] | Entity | None = None,
        attribute: str | None = None,
        bank: str | None = None,
        principal: Asker = None,
        oldest_first: bool = False,
        limit: int = NEWEST_TURNS,
        after: str = "",
    ) -> History:
        """The turns of a slot, as `Memory.history` tells them; `after` takes the `next` of a page from here."""
        asked: dict[str, object] = {"belief": of, "attribute": attribute, "limit": limit, "cursor": after or None}
        asked["oldest_first"] = "true" if oldest_first or after else None
        if entity is not None:
            subject = entity_of(entity)
            asked |= {"entity": subject.name, "type": subject.type}
        return self._get(f"{self._in(bank)}/slots/history", History, principal, asked)

    def belief(self, id: str, *, bank: str | None = None, principal: Asker = None) -> Belief:
        """One belief as it is now."""
        return self._get(self._belief(bank, id), Belief, principal)

    def beliefs(
        self,
        *,
        bank: str | None = None,
        principal: Asker = None,
        entity: str | Mapping[str, object] | Entity | None = None,
        attribute: str = "",
        networks: Sequence[str] = (),
        statuses: Sequence[str] = (),
        limit: int = 100,
        after: str = "",
    ) -> BeliefPage:
        """A page of beliefs, as `Memory.beliefs` gives it."""
        asked = [("limit", f"{limit}"), *(("network", one) for one in networks), *(("status", one) for one in statuses)]
        asked += [("attribute", attribute)] if attribute else []
        asked += [("cursor", after)] if after else []
        if entity is not None:
            subject = entity_of(entity)
            asked += [("entity", subject.name), ("type", subject.type)]
        return self._get(f"{self._in(bank)}/beliefs?{urlencode(asked)}", BeliefPage, principal)

    def state_hash(self, bank: str | None = None, now: Instant | None = None) -> str:
        """A hash of everything that a bank believes at a time."""
        moment = None if now is None else format_instant(now)
        told: str = self._json("GET", f"{self._in(bank)}/state-hash", {"now": moment})["state_hash"]
        return told
