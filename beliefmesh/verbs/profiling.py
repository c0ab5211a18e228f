"""Verbs about the bank's own profile: its traits, which are policy, and its background, which is evidence."""

from collections.abc import Mapping

import msgspec

from beliefmesh.verbs.telling import Telling
from beliefs.sentences import sentence_spans
from recall.seen import Seen, Sight
from schemas.belief import LIVE, Belief
from schemas.entity import Entity, entity_id
from schemas.errors import InvalidInput
from schemas.limits import check_text
from schemas.profile import NEUTRAL, Persona, Profile, profile_with
from schemas.query import Principal

BANK_TYPE = "bank"
"""The type of the entity that stands for a bank itself."""

_SOURCE = {"id": "profile", "origin": "profile", "type": "document"}
_FOLDING = ("skepticism", "bias_strength")


class Profiling(Telling):
    """The profile of a bank."""

    def profile(self, bank: str | None = None) -> Persona:
        """The bank's traits, neutral until set, and what it holds of its background, newest first."""
        name = self._bank(bank)
        self._keep_up()
        policy = self.home.graph.policy(name)
        return Persona(policy.profile or NEUTRAL, tuple(belief.statement for belief in self._background(name)))

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
        """Change the traits that are given, and add to the background; the rest stays.

        Each sentence of the background is an observation about the bank itself: what contradicts an earlier one
        replaces it, everything else is kept. Raises InvalidInput for a trait out of its range; nothing changes then.
        """
        name = self._bank(bank)
        self._adopt_policy(name)
        check_text(background, "background")
        traits = {
            "skepticism": skepticism,
            "literalism": literalism,
            "empathy": empathy,
            "bias_strength": bias_strength,
        }
        given = {trait: value for trait, value in traits.items() if value is not None}
        if given:
            self._set_traits(name, given)
        if background.strip():
            sentences = [background[start:end] for start, end in sentence_spans(background)]
            about = {"name": name, "type": BANK_TYPE}
            self.retain(sentences, bank=name, entity=about, source=_SOURCE, agent=agent)
        return self.profile(name)

    def _set_traits(self, bank: str, given: Mapping[str, object]) -> None:
        if self._policy is not None and self._policy.profile is not None:
            raise InvalidInput("profile", "stands in the file that policy.file names; change it there")
        policy = self.home.graph.policy(bank)
        before = policy.profile or NEUTRAL
        profile = profile_with(before, given)
        changed = msgspec.structs.replace(policy, profile=profile)
        if _folds_alike(before, profile):
            self.home.graph.set_policy(bank, changed)
        else:
            self.set_policy(changed, bank=bank)

    def _background(self, bank: str) -> list[Belief]:
        sight = Sight(bank=bank, principal=Principal(), moment=self.home.clock())
        seen = Seen(self.home.graph, self.home.graph.policy(bank), sight)
        slots = seen.slots(self.home.graph.slots_of_entity(bank, entity_id(bank, Entity(bank, BANK_TYPE))))
        held = [belief for slot in slots.values() for belief in slot.slot.beliefs if belief.status in LIVE]
        told = [belief for belief in held if belief.network in ("world", "experience")]
        return sorted(told, key=lambda belief: (-(belief.newest_support or 0), belief.id))


def _folds_alike(one: Profile, other: Profile) -> bool:
    """Whether two profiles make the same of the same opinions, so that no slot has to be decided again."""
    return all(getattr(one, trait) == getattr(other, trait) for trait in _FOLDING)
