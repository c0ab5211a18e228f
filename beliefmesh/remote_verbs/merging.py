"""The verbs about who is who, asked of a mesh that runs elsewhere."""

from beliefmesh.ask import principal_of
from beliefmesh.merging import MergeReport, Proposals, Roster
from beliefmesh.receipt import Receipt
from beliefmesh.remote_verbs.connected import Connected, Named, plain
from beliefmesh.remote_verbs.sending import Asker
from beliefs.likeness import Proposal
from recall.roster import Listed
from schemas.query import Principal


class RemoteMerging(Connected):
    """Merges, and who may be one."""

    def merge(
        self,
        entity: Named,
        into: Named,
        *,
        preview: bool = False,
        reason: str = "",
        agent: str = "",
        principal: Asker = None,
        bank: str | None = None,
        wait: bool = True,
        visibility: str = "bank",
        readers: tuple[str, ...] = (),
    ) -> MergeReport:
        """Let an entity be read as another one, as `Memory.merge` does."""
        body = {
            "entity": plain(entity),
            "into": plain(into),
            "preview": preview,
            "reason": reason,
            "agent": agent,
            "wait": wait,
            "visibility": visibility,
            "readers": list(readers),
        }
        return self._post(f"{self._in(bank)}/entities/merge", body, MergeReport, _sight(principal, agent))

    def unmerge(
        self,
        entity: Named,
        *,
        reason: str = "",
        agent: str = "",
        principal: Asker = None,
        bank: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """End the merge of an entity, as `Memory.unmerge` does."""
        body = {"entity": plain(entity), "reason": reason, "agent": agent, "wait": wait}
        return self._post(f"{self._in(bank)}/entities/unmerge", body, Receipt, _sight(principal, agent))

    def entities(
        self, name: str | None = None, *, bank: str | None = None, principal: Asker = None, limit: int = 100
    ) -> tuple[Listed, ...]:
        """The entities of a name, or the first ones, as `Memory.entities` tells them."""
        asked = {"name": name, "limit": limit}
        return self._get(f"{self._in(bank)}/entities", Roster, principal, asked).entities

    def merge_proposals(
        self,
        *,
        bank: str | None = None,
        principal: Asker = None,
        at_least: float = 0.5,
        limit: int = 50,
        fresh: bool = False,
    ) -> tuple[Proposal, ...]:
        """Pairs of entities that may be one, as `Memory.merge_proposals` tells them."""
        asked = {"at_least": at_least, "limit": limit, "fresh": int(fresh)}
        return self._get(f"{self._in(bank)}/entities/proposals", Proposals, principal, asked).proposals


def _sight(principal: Asker, agent: str) -> Principal:
    return principal_of(agent if principal is None else principal)
