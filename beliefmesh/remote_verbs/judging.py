"""Verbs that say something to a mesh elsewhere about a belief: revoke it, or tell how it did."""

from beliefmesh.receipt import Receipt
from beliefmesh.remote_verbs.connected import Connected
from beliefmesh.remote_verbs.sending import Asker
from schemas.answer import Answer
from schemas.recall_record import Usefulness
from schemas.reflection import Reflection


class RemoteJudging(Connected):
    """Revocation and feedback."""

    def revoke(
        self,
        belief: str,
        *,
        reason: str,
        agent: str = "",
        principal: Asker = None,
        bank: str | None = None,
        expected_version: int | None = None,
        wait: bool = True,
    ) -> Receipt:
        """End a belief from now on, as `Memory.revoke` does."""
        body = {"reason": reason, "agent": agent, "expected_version": expected_version, "wait": wait}
        return self._post(f"{self._belief(bank, belief)}/revoke", body, Receipt, principal or agent)

    def feedback(
        self,
        of: str | Answer | Reflection,
        verdict: Usefulness,
        *,
        agent: str = "",
        principal: Asker = None,
        bank: str | None = None,
        wait: bool = True,
    ) -> Receipt:
        """Say how a belief or an answer did, as `Memory.feedback` does."""
        body = {"verdict": verdict, "agent": agent, "wait": wait}
        id = of.id if isinstance(of, Answer | Reflection) else of
        return self._post(f"{self._belief(bank, id)}/feedback", body, Receipt, principal or agent)
