"""Going back: what "the previous setting" means in the history of slots, as a claim where there is one answer.

Nothing is guessed: only what somebody set counts, only what held right before is offered, and of several slots that
could be meant none is chosen.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

from beliefs.attest import attest
from beliefs.resolve import resolve
from beliefs.scope import narrower
from beliefs.statement import spell, spell_scope
from schemas.belief import LIVE, Belief
from schemas.claim import Claim
from schemas.evidence import Evidence
from schemas.observation import Observation
from schemas.policy import Policy

REVERT = "rule:revert"
"""How the rules mark a sentence that goes back; after a colon, the attribute that it names."""

_RIGHT_BEFORE = re.compile(r"(?i)\b(?:previous|last)\b|之前|先前|上一个|上次")


class WayBack(msgspec.Struct, frozen=True):
    """A slot that can go back: what holds, since the evidence that set it, and the claim that ends it."""

    held: Belief
    newest: Evidence
    claim: Claim

    def told(self) -> str:
        """One line that names it, as in "report, template: B (report: financial), ends"."""
        scope = f" ({spell_scope(self.held.scope)})" if self.held.scope else ""
        then = f"back to {spell(self.claim.value)}" if self.claim.stance == "supports" else "ends"
        return f"{self.held.entity.name}, {self.held.attribute}: {spell(self.held.value)}{scope}, {then}"


def reverted(observation: Observation) -> str | None:
    """The attribute that an observation asks to set back ("" for whichever it is); None where it asks no such thing."""
    if observation.claims:
        return None
    marks = [piece.extractor for piece in attest(observation, 0) if piece.extractor.startswith(REVERT)]
    return marks[0][len(REVERT) + 1 :] if len(marks) == 1 else None


def ways_back(evidence: Sequence[Evidence], policy: Policy, asked: Observation, attribute: str) -> tuple[WayBack, ...]:
    """How one slot may go back as of the asking, none if it cannot be meant; `evidence` is all of the slot's.

    "The previous" is what held right before. "The original", "the old" may be any of several earlier values.
    """
    then = [piece for piece in evidence if piece.effective_at < asked.observed_at]
    if not then or not _may_mean(then[0], asked, attribute):
        return ()
    beliefs = resolve(then, policy, asked.observed_at).beliefs
    held = max((belief for belief in beliefs if _set(belief)), key=_newest, default=None)
    if held is None:
        return ()
    newest = max((piece for piece in then if _supports(piece, held)), key=lambda piece: (piece.effective_at, piece.id))
    before = sorted((one for one in beliefs if one.scope == held.scope and one.by == held.id), key=_newest)
    if before:
        earlier = before[-1:] if _RIGHT_BEFORE.search(asked.text) else before
        return tuple(WayBack(held, newest, _claim(asked, held, one)) for one in earlier)
    if any(belief.status in LIVE and narrower(held.scope, belief.scope) for belief in beliefs):
        return (WayBack(held, newest, _claim(asked, held, None)),)
    return ()


def meant(ways: Iterable[WayBack], asked: Observation) -> tuple[WayBack, ...]:
    """Those that may be meant: of the asking session if there are any, else set by who asks, else all."""
    found = tuple(ways)
    same_session = tuple(way for way in found if asked.session and way.newest.session == asked.session)
    same_agent = tuple(way for way in found if asked.agent and way.newest.agent == asked.agent)
    return same_session or same_agent or found


def _may_mean(piece: Evidence, asked: Observation, attribute: str) -> bool:
    name = (piece.attribute or "").casefold()
    if not name or (attribute and name != attribute and not name.endswith(" " + attribute)):
        return False
    return asked.entity is None or (asked.entity.type, asked.entity.name) == (piece.entity.type, piece.entity.name)


def _supports(piece: Evidence, belief: Belief) -> bool:
    return piece.stance == "supports" and piece.scope == belief.scope and piece.value == belief.value


def _set(belief: Belief) -> bool:
    """Whether somebody set it: an instruction that holds."""
    return belief.status in LIVE and belief.kind == "instruction" and belief.newest_support is not None


def _newest(belief: Belief) -> tuple[int, str]:
    return belief.newest_support or 0, belief.id


def _claim(asked: Observation, held: Belief, earlier: Belief | None) -> Claim:
    """The earlier value set again; without one in its scope, the end of what holds, so that the wider applies."""
    return Claim(
        entity=held.entity,
        attribute=held.attribute,
        value=held.value if earlier is None else earlier.value,
        value_type=held.value_type if earlier is None else earlier.value_type,
        scope=held.scope,
        stance="retracts" if earlier is None else "supports",
        statement=asked.text.strip(),
        kind="instruction",
        tier="high",
        extractor=REVERT,
    )
