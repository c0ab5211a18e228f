"""Joins the actors at an address and does what standard input says, a JSON value a line; answers in the same way."""

import json
import sys
from collections.abc import Callable
from typing import Any

from beliefmesh.failure import error_to_builtins
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, Settings, StoreSettings
from schemas.errors import BeliefmeshError


def main(folder: str, address: str, shards: str) -> None:
    """Open a memory, then answer until standard input ends."""
    settings = Settings(
        mesh=MeshSettings(folder=folder, address=address, shards=int(shards)), stores=StoreSettings(embedder="none:")
    )
    memory = _told(lambda: Memory(settings=settings, clock=lambda: 1_718_020_800_000_000))
    for line in sys.stdin if memory else ():
        verb, *words = json.loads(line)
        _told(lambda verb=verb, words=words: _DEEDS[verb](memory, *words))
    if memory:
        memory.close()


def _told(deed: Callable[[], Any]) -> Any:
    try:
        done = deed()
    except BeliefmeshError as error:
        print(json.dumps(error_to_builtins(error)), flush=True)
        return None
    print(json.dumps(done if isinstance(done, list) else "done"), flush=True)
    return done


def _retain(memory: Memory, entity: str, value: str) -> None:
    memory.retain({"entity": entity, "agent": "ann", "claims": [{"attribute": "colour", "value": value}]})


def _colours(memory: Memory, entity: str) -> list[object]:
    return [found.belief.value for found in memory.recall(f"colour of the {entity}", entity=entity).found]


def _changes(memory: Memory, after: str) -> list[object]:
    """The place to go on from, then each change as its entity and the values that are held of it."""
    page = memory.changes(after=after)
    held = [[belief.value for belief in moved.beliefs if belief.status == "active"] for moved in page.changes]
    return [page.next, *([moved.entity.name, *values] for moved, values in zip(page.changes, held, strict=True))]


def _processes(memory: Memory) -> list[int]:
    return memory.home.mesh.processes()


_DEEDS: dict[str, Callable[..., Any]] = {
    "retain": _retain,
    "colours": _colours,
    "changes": _changes,
    "processes": _processes,
}


if __name__ == "__main__":
    main(*sys.argv[1:])
