"""Facts as tests tell them to a memory, and short ways to ask what it holds."""

from typing import Any

from beliefmesh.memory import Memory


def values(memory: Memory, question: str, **fields: Any) -> list[object]:
    """The values of the beliefs found, best first."""
    return [one.belief.value for one in memory.recall(question, **fields).found]


def statements(memory: Memory, question: str, **fields: Any) -> list[str]:
    """The statements of the beliefs found, best first."""
    return [one.belief.statement for one in memory.recall(question, **fields).found]


def fact(entity: str, attribute: str, value: object, day: str = "2024-06-01", **more: Any) -> dict[str, Any]:
    """An observation by ann with one claim."""
    claim = {"attribute": attribute, "value": value}
    return {"entity": entity, "agent": "ann", "observed_at": day, "claims": [claim], **more}


def evidence_count(memory: Memory) -> int:
    """How many pieces of evidence the memory's own bank holds."""
    return int(memory.stats(memory.bank)["banks"][memory.bank]["evidence"])
