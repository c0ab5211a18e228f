"""What rests on beliefs that moved: the slots of conclusions, over however many steps (design 3.7)."""

from collections.abc import Collection, Iterable, Sequence

from schemas.belief import LIVE, Status
from schemas.slot import Change
from stores.ports import GraphStore

_BEHIND = 100_000
"""How many beliefs that are not indexed yet are looked at for what rests on them."""

SlotKey = tuple[str, str]


def dependents(graph: GraphStore, changes: Iterable[Change]) -> list[SlotKey]:
    """(bank, slot) of everything that rests on what these changes moved."""
    by_bank: dict[str, set[str]] = {}
    for change in changes:
        if moved := moved_by(change):
            by_bank.setdefault(change.bank, set()).update(moved)
    return _resting_on(graph, by_bank)


def dependents_of_unindexed(graph: GraphStore) -> list[SlotKey]:
    """(bank, slot) of everything that rests on a belief that is not indexed yet.

    A belief is indexed after what rests on it was decided again; so this is what a crash, of whatever, has left over.
    """
    by_bank: dict[str, set[str]] = {}
    for bank, belief in graph.unindexed(_BEHIND):
        by_bank.setdefault(bank, set()).add(belief)
    return _resting_on(graph, by_bank)


def moved_by(change: Change) -> list[str]:
    """The beliefs that may have begun or ceased to be held, or to need a fresh look, or to exist.

    What is announced of evidence told again may have been written before and never announced, so all of it counts.
    """
    moves = (
        change.beliefs
        if change.repeated
        else [one for one in change.beliefs if _footing(one.status) != _footing(one.before)]
    )
    return [*(one.id for one in moves), *change.gone]


def _footing(status: Status | None) -> str:
    """As what a belief counts for what rests on it."""
    if status in LIVE:
        return "held"
    return "stale" if status == "stale" else "fallen"


def _resting_on(graph: GraphStore, moved: dict[str, set[str]]) -> list[SlotKey]:
    return sorted((bank, slot) for bank, beliefs in moved.items() for slot in _upward(graph, bank, beliefs))


def _upward(graph: GraphStore, bank: str, beliefs: Collection[str]) -> set[str]:
    """Layer by layer: the slots that rest on these beliefs, then what rests on any belief of those."""
    found: set[str] = set()
    layer: Sequence[str] = sorted(beliefs)
    while layer:
        slots = [slot for slot in graph.dependents(bank, layer) if slot not in found]
        found.update(slots)
        layer = sorted(belief.id for slot in graph.slots(bank, slots).values() for belief in slot.beliefs)
    return found
