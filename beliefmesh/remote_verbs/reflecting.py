"""Verbs by which a mesh elsewhere speaks in the bank's own voice: reflections, summaries, narratives, the profile."""

from beliefmesh.ask import entity_of
from beliefmesh.narrate import Narrative
from beliefmesh.remote_verbs.connected import Connected, Named, plain, question
from beliefmesh.remote_verbs.sending import Asker
from schemas.profile import Persona
from schemas.reflection import Reflection, Summary


class RemoteReflecting(Connected):
    """What a bank concludes and tells, and who it is."""

    def reflect(
        self,
        text: str,
        *,
        max_tokens: int | None = None,
        opinions: bool = True,
        bank: str | None = None,
        wait_for: str = "",
        principal: Asker = None,
        **fields: object,
    ) -> Reflection:
        """Answer in the bank's voice, as `Memory.reflect` does."""
        body = question(text, wait_for, fields) | {"max_tokens": max_tokens, "opinions": opinions}
        return self._post(f"{self._in(bank)}/reflect", body, Reflection, principal)

    def summary(self, entity: Named, *, bank: str | None = None, principal: Asker = None) -> Summary:
        """What is held of an entity, as `Memory.summary` does."""
        body = {"entity": plain(entity_of(entity))}
        return self._post(f"{self._in(bank)}/summary", body, Summary, principal)

    def refresh_summaries(self, bank: str | None = None) -> int:
        """Write every stored summary again that has moved; returns how many."""
        refreshed: int = self._json("POST", f"{self._in(bank)}/summaries/refresh")["refreshed"]
        return refreshed

    def narrate(
        self, session: str, *, bank: str | None = None, principal: Asker = None, wait: bool = True
    ) -> Narrative:
        """Keep the turns of a session as one narrative, as `Memory.narrate` does."""
        return self._post(f"{self._in(bank)}/narratives", {"session": session, "wait": wait}, Narrative, principal)

    def profile(self, bank: str | None = None) -> Persona:
        """The bank's profile with its background."""
        return self._get(f"{self._in(bank)}/profile", Persona)

    def set_profile(
        self,
        *,
        skepticism: int | None = None,
        literalism: int | None = None,
        empathy: int | None = None,
        bias_strength: float | None = None,
        background: str = "",
        agent: str = "",
        bank: str | None = None,
    ) -> Persona:
        """Change traits of the profile, or add to its background, as `Memory.set_profile` does."""
        traits = {"literalism": literalism, "empathy": empathy, "bias_strength": bias_strength}
        body = {"skepticism": skepticism, **traits, "background": background, "agent": agent}
        return self._post(f"{self._in(bank)}/profile", body, Persona, agent)
