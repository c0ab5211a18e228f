"""Verbs about who is who: merge and unmerge entities, and list them with their names."""

from collections.abc import Mapping

import msgspec

from beliefmesh.ask import principal_of
from beliefmesh.audience import audience_of
from beliefmesh.merging import (
    MergeReport,
    after_all_said,
    entity_meant,
    is_open,
    merged_into,
    place_of_entity,
    place_of_proposal,
    preview_of,
    repeated,
    seen_by,
)
from beliefmesh.receipt import Receipt
from beliefmesh.verbs.asking import Asking
from beliefmesh.verbs.telling import Telling
from beliefmesh.work import proposed_files
from beliefs.likeness import Proposal, proposals
from recall.profiles import profiles_of
from recall.roster import Listed, everybody, known_by, listed
from recall.seen import Seen
from schemas.entity import Entity
from schemas.errors import NotFound
from schemas.instant import datetime_of
from schemas.limits import MAX_NAME_BYTES, check_name, check_number, check_text
from schemas.query import Principal
from schemas.reserved import SAME_AS, entity_value

_MOST_LISTED = 1_000

Named = str | Mapping[str, object] | Entity


class Merging(Telling, Asking):
    """Merges are evidence: instructions on the reserved attribute `same_as`, which a retraction ends exactly."""

    def merge(
        self,
        entity: Named,
        into: Named,
        *,
        preview: bool = False,
        reason: str = "",
        agent: str = "",
        principal: Principal | str | None = None,
        bank: str | None = None,
        wait: bool = True,
        visibility: str = "bank",
        readers: tuple[str, ...] = (),
    ) -> MergeReport:
        """Let an entity be read as another one from now on; with `preview` only tell what that would change.

        Both keep their evidence. `visibility` and `readers` say who sees them as one, as in an observation. Where just
        this merge holds already nothing is told again, and the report is that of one that is done.
        Raises NotFound for an entity of which nothing is known, InvalidInput for two that are one by other merges.
        """
        name, agent = self._bank(bank), check_text(agent, "agent", limit=MAX_NAME_BYTES)
        who = principal_of(agent if principal is None else principal)
        self._keep_up()
        seen = seen_by(self.home.graph, name, who, self.home.clock())
        one, other = entity_meant(seen, entity, "entity"), entity_meant(seen, into, "into")
        done = repeated(seen, one, other, visibility, readers)
        if done is not None:
            return done
        report = preview_of(seen, one, other)
        if preview:
            return report
        told: dict[str, object] = {
            "text": check_text(reason, "reason")
            or f"{one.name} ({one.type}) is the same as {other.name} ({other.type}).",
            "claims": [_claim(one, {"value": entity_value(other), "mentions": [_plain(other)]})],
            "visibility": visibility,
            "readers": list(readers),
        }
        receipt = self._tell_merge(told, seen, one, agent, wait)
        return msgspec.structs.replace(report, applied=True, ids=receipt.ids, token=receipt.token)

    def unmerge(
        self,
        entity: Named,
        *,
        reason: str = "",
        agent: str = "",
        principal: Principal | str | None = None,
        bank: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """End the merge of an entity; what is believed of both is then what it would be without the merge.

        Raises NotFound where the entity is not merged into another one.
        """
        name, agent = self._bank(bank), check_text(agent, "agent", limit=MAX_NAME_BYTES)
        who = principal_of(agent if principal is None else principal)
        self._keep_up()
        seen = seen_by(self.home.graph, name, who, self.home.clock())
        one = entity_meant(seen, entity, "entity")
        held = merged_into(seen, one)
        if held is None:
            raise NotFound(f"{one.name!r:.80} is not merged into another entity; {_others(listed(seen, one))}")
        told: dict[str, object] = {
            "text": check_text(reason, "reason") or f"{one.name} ({one.type}) is no longer {held.value}.",
            "claims": [_claim(one, {"value": held.value, "stance": "retracts"})],
        }
        return self._tell_merge(
            told | audience_of(self.home.mesh, held, who, self.home.clock()), seen, one, agent, wait
        )

    def entities(
        self,
        name: str | None = None,
        *,
        bank: str | None = None,
        principal: Principal | str | None = None,
        limit: int = 100,
        after: str = "",
    ) -> tuple[Listed, ...]:
        """The entities that bear a name or have it as an alias, else all; each with names and group.

        At most `limit`, from after the place of the last one that is known already (`place_of_entity`).
        """
        check_number(limit, "limit", 1, _MOST_LISTED)
        place = self._bank(bank)
        self._keep_up()
        seen = seen_by(self.home.graph, place, principal_of(principal), self.home.clock())
        if name is None:
            return tuple(listed(seen, entity) for _, entity in everybody(seen, limit, after))
        found = {place_of_entity(place, entity, name): entity for _, entity in known_by(seen, check_name(name, "name"))}
        places = sorted(at for at in found if at > after)[:limit]
        return tuple(listed(seen, found[at]) for at in places)

    def merge_proposals(
        self,
        *,
        bank: str | None = None,
        principal: Principal | str | None = None,
        at_least: float = 0.5,
        limit: int = 50,
        fresh: bool = False,
        after: str = "",
    ) -> tuple[Proposal, ...]:
        """Pairs of entities that may be one, the likeliest first, with a score and reasons; nothing is merged.

        At most `limit`, from after the place of the last one that is known already (`place_of_proposal`).

        Those that the job merge-proposals found, without what was merged or forgotten since; where it has not run, for
        a principal who may see more, for a lower score, and with `fresh` the whole bank is read, which takes a while.
        """
        check_number(at_least, "at_least", 0.0, 1.0)
        check_number(limit, "limit", 1, _MOST_LISTED)
        place = self._bank(bank)
        self._keep_up()
        who = principal_of(principal)
        seen = seen_by(self.home.graph, place, who, self.home.clock())
        kept = None if fresh or who != Principal() else proposed_files(self.home).read(place)
        if kept is None or kept.at_least > at_least:
            found = proposals(profiles_of(seen), at_least)
        else:
            likely = (one for one in kept.proposals if one.score >= at_least)
            found = [msgspec.structs.replace(one, found_at=kept.at) for one in likely if is_open(seen, one)]
        rest = {at: pair for pair in found if (at := place_of_proposal(place, pair)) > after}
        return tuple(rest[at] for at in sorted(rest)[: int(limit)])

    def _tell_merge(self, told: dict[str, object], seen: Seen, entity: Entity, agent: str, wait: bool) -> Receipt:
        """Tell it as an instruction that is newer than all that was said of the entity's merges."""
        at = datetime_of(after_all_said(seen, entity))
        whole = {**told, "agent": agent, "kind": "instruction", "observed_at": at}
        return self.retain(whole, bank=seen.sight.bank, wait=wait)


def _claim(entity: Entity, rest: dict[str, object]) -> dict[str, object]:
    return {"entity": _plain(entity), "attribute": SAME_AS, "value_type": "name", **rest}


def _plain(entity: Entity) -> dict[str, str]:
    return {"name": entity.name, "type": entity.type}


def _others(one: Listed) -> str:
    """What to do instead, for who would unmerge an entity that others are merged into."""
    if not one.same_as:
        return "nothing is to be undone"
    names = ", ".join(f"{other.name} ({other.type})" for other in one.same_as[:5])
    return f"these are merged into it: {names}; unmerge one of them"
