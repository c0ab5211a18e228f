"""What decisions must be before any store writes them."""

from collections.abc import Sequence

from schemas.belief import Belief
from schemas.errors import InvalidInput
from schemas.evidence import Evidence
from schemas.slot import Decision

SlotKey = tuple[str, str]
"""A slot by bank and id."""


def by_slot(decisions: Sequence[Decision]) -> dict[SlotKey, Decision]:
    """The decisions by slot, in order. Raises InvalidInput for two of one slot, or for parts that do not fit."""
    found = {(decision.slot.bank, decision.slot.id): decision for decision in decisions}
    if len(found) < len(decisions):
        raise InvalidInput("decisions", "hold one slot twice; join the two, or apply them in two calls")
    for decision in found.values():
        _check(decision)
    return found


def _check(decision: Decision) -> None:
    slot = decision.slot
    if decision.ends and (decision.evidence or slot.beliefs):
        raise InvalidInput("decision", f"ends slot {slot.id} and states something in it; do one of the two")
    if slot.version != decision.expected_version + 1:
        raise InvalidInput(
            "slot.version", f"is {slot.version}; it must be expected_version + 1 = {decision.expected_version + 1}"
        )
    parts: tuple[Evidence | Belief, ...] = (*decision.evidence, *slot.beliefs, *decision.beliefs)
    for part in parts:
        if part.slot != slot.id or part.bank != slot.bank:
            home = f"slot {part.slot} of bank {part.bank}"
            raise InvalidInput("decision", f"{part.id} belongs to {home}, not to {slot.id} of {slot.bank}")
