"""A memory of which a copy is put back: what is told before and after it, and what must be so again."""

from collections.abc import Sequence

from beliefmesh.memory import Memory
from schemas.evidence import Evidence
from schemas.slot import Amendment
from stores.pages import all_slots

EARLY = [
    {"id": f"o{at}", "agent": "ann", "entity": name, "claims": [{"attribute": "colour", "value": "red"}]}
    for at, name in enumerate(("door", "gate", "mill"))
]
LATE = [
    {
        "id": "o7",
        "agent": "bob",
        "entity": "door",
        "claims": [{"attribute": "colour", "value": "blue"}, {"attribute": "width", "value": 90}],
    },
    {"id": "o8", "agent": "bob", "entity": "barn", "claims": [{"attribute": "colour", "value": "green"}]},
]


def evidence(memory: Memory) -> dict[str, Evidence]:
    """Every piece of evidence of the graph, by id."""
    return {piece.id: piece for stored in all_slots(memory.home.graph, "default") for piece in stored.evidence}


def lose(memory: Memory, observation: str, attributes: Sequence[str]) -> None:
    """Take evidence of one observation about these attributes out of the graph, and nothing from the log."""
    memory.home.mesh.amend(
        [
            Amendment(bank="default", slot=stored.slot.id, remove=(piece.id,))
            for stored in all_slots(memory.home.graph, "default")
            for piece in stored.evidence
            if piece.observation_id == observation and piece.attribute in attributes
        ],
        memory.home.clock(),
    )
