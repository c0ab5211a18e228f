"""The way to a store for LangGraph; it needs `pip install beliefmesh[langgraph]`, which nothing else here does."""

from collections.abc import Sequence
from typing import Any

from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.extras import load_with


def belief_store(memory: Memory | RemoteMemory, *, bank: str | None = None, fields: Sequence[str] = ("$",)) -> Any:
    """A `BaseStore` over a bank of a memory, which no other use should share.

    `fields` are the paths whose texts a search looks at, where `put` names none; `$` is all of the value. Raises
    MissingExtra where LangGraph is not installed.
    """
    module = load_with("langgraph", "LangGraph", "beliefmesh.langgraph_store", "langgraph")
    return module.BeliefStore(memory, bank=bank, fields=fields)
