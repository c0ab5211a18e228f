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
    "summariser": "is a part of the jobs of this process",
}
HERE_ONLY_ARGUMENTS = {
    "run_job": {"enough", "far"},
    "entities": {"after"},
    "merge_proposals": {"after", "fresh"},
    "job_runs": {"after"},
}
"""A function that ends a job early cannot be sent; the places in some lists are cursors over the network."""

THERE_BY_NAME = {"recall": {"principal"}}
"""One of the fields of a query, which goes by a header."""

TO_ITERATE = {"export", "import_backup", "holders", "set_policy", "summariser"}


def verbs(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_the_client_has_every_verb_but_those_that_need_the_folder() -> None:
    assert verbs(Memory) - verbs(RemoteMemory) == HERE_ONLY.keys()


@pytest.mark.parametrize("verb", sorted(verbs(Memory) & verbs(RemoteMemory)))
def test_a_verb_takes_the_same_arguments_over_the_network(verb: str) -> None:
    here, there = (inspect.signature(getattr(kind, verb)).parameters for kind in (Memory, RemoteMemory))

    assert here.keys() - there.keys() <= HERE_ONLY_ARGUMENTS.get(verb, set())
    assert there.keys() - here.keys() <= THERE_BY_NAME.get(verb, set())


def test_every_verb_can_be_awaited_but_those_that_iterate_over_a_folder() -> None:
    assert verbs(Memory) - verbs(AsyncMemory) == TO_ITERATE


@pytest.mark.parametrize("verb", sorted(verbs(Memory) & verbs(AsyncMemory) - {"connect"}))
def test_what_is_awaited_says_what_it_does(verb: str) -> None:
    method = getattr(AsyncMemory, verb)

    assert inspect.iscoroutinefunction(method)
    assert inspect.getdoc(method)
