"""One verb, three ways to it: in this process, over the network, and to await have the same names and arguments."""

import inspect

import pytest

from beliefmesh.aio import AsyncMemory
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory

VERBS = [
    "retain",
    "import_fields",
    "import_lines",
    "wait",
    "recall",
    "reflect",
    "explain",
    "explanations",
    "history",
    "belief",
    "beliefs",
    "revoke",
    "feedback",
    "merge",
    "unmerge",
    "entities",
    "merge_proposals",
    "forget",
    "calibrate",
    "narrate",
    "summary",
    "refresh_summaries",
    "profile",
    "set_profile",
    "value_of",
    "budget",
    "learn_value",
    "run_job",
    "job_runs",
    "job_run",
    "job_sides",
    "stats",
    "doctor",
    "banks",
    "state_hash",
    "dead_letters",
    "dead_letter",
    "replay_dead_letter",
    "drop_dead_letter",
    "import_backup",
]

NOT_SENT = {
    "run_job": {"enough", "far"},
    "entities": {"after"},
    "merge_proposals": {"after", "fresh"},
    "job_runs": {"after"},
}
"""A function that ends a job early cannot be sent; the places in some lists are cursors over the network."""

BY_NAME = {"recall": {"principal"}}
"""One of the fields of a query, which goes by a header."""


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_the_same_arguments_over_the_network(verb: str) -> None:
    here, there = (inspect.signature(getattr(kind, verb)).parameters for kind in (Memory, RemoteMemory))

    assert here.keys() - there.keys() <= NOT_SENT.get(verb, set())
    assert there.keys() - here.keys() <= BY_NAME.get(verb, set())


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_can_be_awaited_and_says_what_it_does(verb: str) -> None:
    method = getattr(AsyncMemory, verb)

    assert inspect.iscoroutinefunction(method)
    assert inspect.getdoc(method) == inspect.getdoc(getattr(Memory, verb))
