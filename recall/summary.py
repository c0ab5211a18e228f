"""What is held of an entity, as sentences that cite the beliefs they come from.

    1. rules and facts that hold, instructions first; 2. what was lived; 3. opinions, called so; 4. free statements;
    within each the newest first, twelve sentences at most, chatter and summaries left out.

The text says nothing that changes by itself, no ages and no figures of confidence, so that a summary is written again
only when what it cites, or what there is to cite, has moved.
"""

from collections.abc import Sequence

import msgspec

from recall.render import cited, joined
from recall.seen import Seen, SeenSlot
from recall.tell import ended, told_of, value_of
from schemas.belief import LIVE, Belief
from schemas.entity import Entity, entity_id
from schemas.reflection import Sentence
from schemas.slot import Slot, slot_id

SUMMARY = "summary"
"""The attribute under which an entity's summary is kept, in the network `observation`."""

SUMMARISED = "beliefmesh:summary"
"""The source, and the one origin, of every summary."""

MAX_SENTENCES = 12
_MAX_SLOTS = 1_000
_GROUPS = {"world": 0, "experience": 1, "opinion": 2}
_FREE = 3


class Draft(msgspec.Struct, frozen=True):
    """The sentences of a summary, and the stored summary that stands now, if one does."""

    sentences: tuple[Sentence, ...]
    stored: Belief | None

    @property
    def text(self) -> str:
        """The sentences with their citations; equal texts are equal summaries."""
        return " ".join(cited(sentence) for sentence in self.sentences)


def draft(seen: Seen, entity: Entity) -> Draft:
    """The summary of an entity as one reader may see it."""
    bank = seen.sight.bank
    same = seen.identity.members([entity_id(bank, entity)])
    ids = [slot for one in same for slot in seen.graph.slots_of_entity(bank, one, _MAX_SLOTS)]
    place = slot_id(bank, entity, SUMMARY, network="observation")
    slots = seen.slots([*ids, place])
    held = {
        belief.id: (belief, one)
        for one in slots.values()
        for belief in one.slot.beliefs
        if belief.status in LIVE and belief.network != "observation" and belief.tier != "low"
    }
    ordered = sorted(held.values(), key=lambda pair: _order(pair[0]))
    return Draft(
        joined(_sentence(belief, one) for belief, one in ordered[:MAX_SENTENCES]),
        _standing(slots[place].slot.beliefs) if place in slots else None,
    )


def is_summary(slot: Slot) -> bool:
    """Whether a slot holds the summary of its entity."""
    return slot.attribute == SUMMARY and any(belief.network == "observation" for belief in slot.beliefs)


def _standing(beliefs: Sequence[Belief]) -> Belief | None:
    live = [belief for belief in beliefs if belief.status in LIVE]
    return max(live, key=lambda belief: (belief.newest_support or 0, belief.id), default=None)


def _sentence(belief: Belief, seen: SeenSlot) -> Sentence:
    told = told_of(belief, seen.evidence)
    if belief.network == "opinion":
        told = f"Opinion: {told}"
    rivals = [other for other in seen.slot.beliefs if other.id in belief.rivals]
    if rivals:
        told = f"{told} (disputed by {', '.join(value_of(rival) for rival in rivals)})"
    return Sentence(ended(told), (belief.id, *(rival.id for rival in rivals)))


def _order(belief: Belief) -> tuple[int, bool, int, str]:
    group = _FREE if belief.attribute is None and belief.network != "opinion" else _GROUPS[belief.network]
    return (group, belief.kind != "instruction", -(belief.newest_support or 0), belief.id)
