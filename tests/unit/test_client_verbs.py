"""One verb, three ways to it: a memory in this process, over the network, and to await have the same names."""

import inspect

import pytest

from beliefmesh.aio import AsyncMemory
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory

HERE_ONLY = {
    "connect": "makes the other one",
    "export": "reads the log of the folder",
    "import_backup": "writes to the log of the folder",
    "holders": "walks through the graph",
    "set_policy": "is the matter of whoever runs the mesh",
}
TO_ITERATE = {"export", "import_backup", "holders", "set_policy"}


def verbs(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_the_client_has_every_verb_but_those_that_need_the_folder() -> None:
    assert verbs(Memory) - verbs(RemoteMemory) == HERE_ONLY.keys()


def test_every_verb_can_be_awaited_but_those_that_iterate_over_a_folder() -> None:
    assert verbs(Memory) - verbs(AsyncMemory) == TO_ITERATE


@pytest.mark.parametrize("verb", sorted(verbs(Memory) & verbs(AsyncMemory) - {"connect"}))
def test_what_is_awaited_says_what_it_does(verb: str) -> None:
    method = getattr(AsyncMemory, verb)

    assert inspect.iscoroutinefunction(method)
    assert inspect.getdoc(method)
