"""Verbs that list: what is told from a place on, page by page, each once however much is written meanwhile.

A page names in `next` the place to go on from, which is the caller's `after`; it is empty at the end alone.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar, get_args

import msgspec

from beliefmesh.ask import entity_of, principal_of
from beliefmesh.letters import Letters
from beliefmesh.merging import seen_by
from beliefmesh.verbs.bound import Bound
from recall.listing import BEGINNING, BeliefFilter, Place, beliefs_after
from schemas.belief import Belief, Status
from schemas.claim import Network
from schemas.entity import Entity
from schemas.errors import InvalidInput
from schemas.limits import check_name, check_number, shown
from schemas.query import Principal

MOST_LISTED = 1_000

Name = TypeVar("Name")


class BeliefPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Beliefs, and the place to go on from."""

    beliefs: tuple[Belief, ...]
    next: str = ""


class Listing(Bound):
    """Lists of what is there; none of them is cut short in silence."""

    def beliefs(
        self,
        *,
        bank: str | None = None,
        principal: Principal | str | None = None,
        entity: str | Mapping[str, object] | Entity | None = None,
        attribute: str = "",
        networks: Sequence[str] = (),
        statuses: Sequence[str] = (),
        limit: int = 100,
        after: str = "",
    ) -> BeliefPage:
        """The beliefs that the principal may see, in a fixed order; a page may be short, or empty, before the end."""
        check_number(limit, "limit", 1, MOST_LISTED)
        wanted = BeliefFilter(
            entity=None if entity is None else entity_of(entity),
            attribute=check_name(attribute, "attribute") if attribute else "",
            networks=_among(networks, get_args(Network), "network"),
            statuses=_among(statuses, get_args(Status), "status"),
        )
        place = self._bank(bank)
        self._keep_up()
        seen = seen_by(self.home.graph, place, principal_of(principal), self.home.clock())
        found, upto = beliefs_after(seen, wanted, _place(after), limit)
        return BeliefPage(tuple(found), "/".join(upto) if upto else "")

    def letters(self, *, limit: int = 100, after: str = "") -> Letters:
        """A page of dead letters, oldest first."""
        check_number(limit, "limit", 1, MOST_LISTED)
        if after and not after.isdecimal():
            raise not_a_place(after)
        self.home.require_open()
        found = self.home.letters.page(int(after) if after else -1, limit)
        last = str(found[-1][0]) if len(found) == limit else ""
        return Letters(tuple(letter for _, letter in found), last)


def not_a_place(after: object) -> InvalidInput:
    """The error for what no page of a list gave as its next place."""
    return InvalidInput("after", f"is {shown(after)}; take what the page before gave as its next place")


def _place(after: str) -> Place:
    if not after:
        return BEGINNING
    slot, slash, belief = check_name(after, "after").partition("/")
    if not slash:
        raise not_a_place(after)
    return slot, belief


def _among(given: Sequence[str], known: tuple[Name, ...], field: str) -> tuple[Name, ...]:
    for name in given:
        if name not in known:
            raise InvalidInput(field, f"is {shown(name)}; use one of {', '.join(map(str, known))}")
    return tuple(name for name in known if name in given)
