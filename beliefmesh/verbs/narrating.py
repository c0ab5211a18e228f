"""The verb that keeps several turns of one session as one memory."""

import structlog

from beliefmesh.ask import principal_of
from beliefmesh.narrate import NARRATOR, Gathered, Narrative, audience_of_all, gather
from beliefmesh.verbs.telling import Telling
from beliefs.narrative import ATTRIBUTE, SCHEMA, SYSTEM, question, retold, tell
from schemas.entity import Entity
from schemas.errors import InvalidInput, ModelFailed
from schemas.evidence import Evidence
from schemas.identity import digest
from schemas.instant import datetime_of
from schemas.limits import check_name
from schemas.query import Principal
from schemas.slot import slot_id

_TRIES = 2

log_events = structlog.get_logger("beliefmesh")


class Narrating(Telling):
    """Narratives, told like any other observation: a derivation whose premises are its turns."""

    def narrate(
        self, session: str, *, bank: str | None = None, principal: Principal | str | None = None, wait: bool = True
    ) -> Narrative:
        """Keep the turns of a session that hold, and that the principal may see, as one narrative for those who may.

        It stands only while each of its turns does. Told again with the same turns, nothing is added. Raises NotFound
        where there is no turn.
        """
        name = self._bank(bank)
        check_name(session, "session")
        sight = principal_of(principal)
        self._keep_up()
        now = self.home.clock()
        gathered = gather(self.home.graph, name, session, sight, now)
        premises = tuple(turn.belief for turn in gathered.turns)
        audience = audience_of_all(gathered.seen, sight)
        known = self._told_before(name, session, premises, audience)
        if known is not None:
            by = "template" if known.extractor == NARRATOR else "llm"
            return Narrative(
                session, known.statement, premises, known.observation_id, by, left_out=gathered.left_out, kept=False
            )
        text, by = self._worded(session, gathered)
        id = "narrative:" + digest(name, session, str(now), *premises)
        receipt = self.retain(
            {
                "id": id,
                "agent": sight.id,
                "source": {"id": NARRATOR, "origin": NARRATOR},
                "observed_at": datetime_of(now),
                "occurred_start": datetime_of(min(turn.at for turn in gathered.turns)),
                "occurred_end": datetime_of(max(turn.at for turn in gathered.turns)),
                "claims": [_claim(session, text, gathered, by)],
                **audience,
            },
            bank=name,
            wait=wait,
        )
        return Narrative(session, text, premises, receipt.ids[0], by, receipt.token, gathered.left_out)

    def _told_before(
        self, bank: str, session: str, premises: tuple[str, ...], audience: dict[str, object]
    ) -> Evidence | None:
        """The newest narrative of this session for this audience, if it is of these turns."""
        slot = slot_id(bank, Entity(session, "session"), ATTRIBUTE, "")
        stored = self.home.graph.load_slots(bank, [slot]).get(slot)
        everything = stored.evidence if stored else ()
        wanted = (audience.get("visibility", "bank"), audience.get("owner", ""))
        told = [piece for piece in everything if piece.premises and (piece.visibility, piece.owner) == wanted]
        newest = max(told, key=lambda piece: (piece.effective_at, piece.id), default=None)
        if newest is None or newest.premises != premises:
            return None
        taken_back = any(
            piece.stance != "supports" and piece.effective_at > newest.effective_at for piece in everything
        )
        return None if taken_back else newest

    def _worded(self, session: str, gathered: Gathered) -> tuple[str, str]:
        """The text, by the language model if there is one and it gives one, else from the template."""
        model = self.home.language
        if model is None:
            return tell(session, gathered.turns), "template"
        for _ in range(_TRIES):
            try:
                return retold(model.complete(SYSTEM, question(session, gathered.turns), SCHEMA)), "llm"
            except ModelFailed as error:
                log_events.warning("narrate.by_template", session=session, reason=error.reason)
                break
            except InvalidInput as error:
                log_events.warning("narrate.by_template", session=session, reason=str(error)[:200])
        return tell(session, gathered.turns), "template"


def _claim(session: str, text: str, gathered: Gathered, by: str) -> dict[str, object]:
    decided = any(turn.kind == "instruction" or turn.tier == "high" for turn in gathered.turns)
    return {
        "entity": {"name": session, "type": "session"},
        "attribute": ATTRIBUTE,
        "value": text,
        "value_type": "text",
        "statement": text,
        "kind": "derivation",
        "network": "experience",
        "tier": "high" if decided else "medium",
        "premises": [turn.belief for turn in gathered.turns],
        "mentions": [{"name": entity.name, "type": entity.type} for entity in gathered.mentions],
        "extractor": NARRATOR if by == "template" else f"{NARRATOR}:llm",
    }
