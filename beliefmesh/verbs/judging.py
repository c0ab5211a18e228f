"""Verbs that say something about a belief: revoke it, or tell how it did."""

from contextlib import suppress
from typing import get_args

from beliefmesh.ask import principal_of
from beliefmesh.audience import audience_of
from beliefmesh.receipt import Receipt
from beliefmesh.verbs.asking import Asking
from beliefmesh.verbs.telling import Telling
from schemas.answer import Answer
from schemas.belief import Belief
from schemas.errors import InvalidInput, NotFound, VersionConflict
from schemas.intake import ANONYMOUS
from schemas.limits import MAX_NAME_BYTES, check_name, check_text
from schemas.query import Principal
from schemas.recall_record import Feedback, Usefulness
from schemas.reflection import Reflection

_ANSWER, _REFLECTION = "a", "r"
"""How the ids of answers and reflections begin; that of a belief begins with b (schemas/slot.py)."""

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
        return self.retain(
            self._words(held, "retracts", "instruction", reason, agent, sight), bank=held.bank, wait=wait
        )

    def feedback(
        self,
        of: str | Answer | Reflection,
        verdict: Usefulness,
        *,
        agent: str = "",
        principal: Principal | str | None = None,
        bank: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Say how a belief, or an answer, did: `right` supports it, `wrong` refutes it, `used` is only noted.

        Of a recalled answer (or its id) `right` and `wrong` mean the belief that leads it, `used` means all of it; of a
        reflection they mean every belief that it cites.
        `principal` is whose sight counts, the agent's unless given. Raises NotFound for what they cannot see.
        """
        if verdict not in _VERDICTS:
            raise InvalidInput("verdict", f"is {verdict!r}; use one of {', '.join(_VERDICTS)}")
        sight = principal_of(agent if principal is None else principal)
        agent = check_text(agent, "agent", limit=MAX_NAME_BYTES)
        judged = self._judged(of, verdict, self._bank(bank), sight)
        now = self.home.clock()
        for held in judged:
            self.home.recalls.note_feedback(Feedback(held.bank, held.id, held.version, verdict, agent, now))
        if verdict == "used":
            return Receipt((), "")
        stance = "supports" if verdict == "right" else "refutes"
        words = [self._words(held, stance, "observation", f"feedback: {verdict}", agent, sight) for held in judged]
        return self.retain(words, bank=judged[0].bank, wait=wait)

    def _judged(self, of: str | Answer | Reflection, verdict: Usefulness, bank: str, sight: Principal) -> list[Belief]:
        """The beliefs that feedback is about, at least one, as the judge may see them. Raises NotFound."""
        if not isinstance(of, Answer | Reflection):
            check_name(of, "id")
            if not of.startswith((_ANSWER, _REFLECTION)):
                return [self.belief(of, bank=bank, principal=sight)]
        name = of if isinstance(of, str) else of.id
        ids = self._used(of, bank)
        if verdict != "used" and not name.startswith(_REFLECTION):
            ids = ids[:1]
        seen = []
        for id in ids:
            with suppress(NotFound):
                seen.append(self.belief(id, bank=bank, principal=sight))
        if not seen:
            raise NotFound(f"answer {name:.80} rests on no belief that you may see; name the belief itself")
        return seen

    def _used(self, of: str | Answer | Reflection, bank: str) -> list[str]:
        """The ids of the beliefs of an answer, the leading one first."""
        if isinstance(of, Answer):
            return [found.belief.id for found in of.found]
        if isinstance(of, Reflection):
            return list(of.cited)
        return [used.id for used in self.home.recalls.find(bank, of).beliefs]

    def _words(
        self, held: Belief, stance: str, kind: str, reason: str, agent: str, sight: Principal
    ) -> dict[str, object]:
        """Something said of a belief, as a claim on its own slot, scope and value, for those who may see it.

        It names the version that it judges, so that the same verdict on a later version is another observation.
        """
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
        version = {"version": str(held.version)}
        told: dict[str, object] = {"text": reason, "claims": [claim], "agent": agent, "source": source}
        return told | {"metadata": version} | audience_of(self.home.mesh, held, sight, self.home.clock())
