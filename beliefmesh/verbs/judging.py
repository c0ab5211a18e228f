"""Verbs that say something about a belief: revoke it, or tell how it did."""

from typing import get_args

from beliefmesh.ask import principal_of
from beliefmesh.audience import audience_of
from beliefmesh.receipt import Receipt
from beliefmesh.verbs.asking import Asking
from beliefmesh.verbs.telling import Telling
from schemas.belief import Belief
from schemas.errors import InvalidInput, VersionConflict
from schemas.intake import ANONYMOUS
from schemas.limits import MAX_NAME_BYTES, check_text
from schemas.query import Principal
from schemas.recall_record import Feedback, Usefulness

_VERDICTS = get_args(Usefulness)


class Judging(Telling, Asking):
    """Revocation and feedback; both are evidence, told like any other."""

    def revoke(
        self,
        belief: str,
        *,
        reason: str,
        agent: str = "",
        principal: Principal | str | None = None,
        bank: str | None = None,
        expected_version: int | None = None,
        wait: bool = True,
    ) -> Receipt:
        """End a belief from now on by an instruction that retracts its value in its scope; history keeps it.

        `principal` is whose sight counts, the agent's unless given. Raises NotFound for what they cannot see.
        """
        check_text(reason, "reason", empty=False)
        sight = principal_of(agent if principal is None else principal)
        held = self.belief(belief, bank=bank, principal=sight)
        if expected_version is not None and held.version != expected_version:
            raise VersionConflict([held.slot])
        return self._speak(held, "retracts", "instruction", reason, agent, sight, wait)

    def feedback(
        self,
        belief: str,
        verdict: Usefulness,
        *,
        agent: str = "",
        principal: Principal | str | None = None,
        bank: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Say how a recalled belief did: `right` supports it, `wrong` refutes it, `used` is only noted.

        `principal` is whose sight counts, the agent's unless given. Raises NotFound for what they cannot see.
        """
        if verdict not in _VERDICTS:
            raise InvalidInput("verdict", f"is {verdict!r}; use one of {', '.join(_VERDICTS)}")
        sight = principal_of(agent if principal is None else principal)
        held = self.belief(belief, bank=bank, principal=sight)
        agent = check_text(agent, "agent", limit=MAX_NAME_BYTES)
        self.home.recalls.note_feedback(Feedback(held.bank, held.id, held.version, verdict, agent, self.home.clock()))
        if verdict == "used":
            return Receipt((), "")
        stance = "supports" if verdict == "right" else "refutes"
        return self._speak(held, stance, "observation", f"feedback: {verdict}", agent, sight, wait)

    def _speak(
        self, held: Belief, stance: str, kind: str, reason: str, agent: str, sight: Principal, wait: bool
    ) -> Receipt:
        """Say something about a belief, as a claim on its own slot, scope and value, to those who may see it."""
        claim: dict[str, object] = {
            "entity": {"name": held.entity.name, "type": held.entity.type},
            "stance": stance,
            "kind": kind,
            "network": held.network,
            "statement": held.statement if held.attribute is None else reason,
            "scope": dict(held.scope),
        }
        if held.attribute is not None:
            claim |= {"attribute": held.attribute, "value": held.value, "value_type": held.value_type}
        voice = agent or ANONYMOUS
        source = {"id": voice, "origin": voice, "type": "feedback"}
        told: dict[str, object] = {"text": reason, "claims": [claim], "agent": agent, "source": source}
        audience = audience_of(self.home.mesh, held, sight, self.home.clock())
        return self.retain(told | audience, bank=held.bank, wait=wait)
