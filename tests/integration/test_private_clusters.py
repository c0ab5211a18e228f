"""Values that count as one for those alone who see a private value beside them are found by these readers too."""

from collections.abc import Callable

import pytest

from beliefmesh.memory import Memory
from schemas.policy import AttributeRule, Policy


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """Everybody knows of 18:07 on Mondays; to Eve alone, who knows of 18:05, that is the same time."""
    memory = open_memory()
    memory.set_policy(Policy(attributes=(AttributeRule(pattern="departure", type="time", tolerance=180.0),)))
    public = {"attribute": "departure", "value": "18:07", "scope": {"day": "monday"}}
    private = {"attribute": "departure", "value": "18:05", "scope": {"day": "tuesday"}}
    at = {"entity": "flight 7", "observed_at": "2024-06-09"}
    memory.retain([{**at, "claims": [public]}, {**at, "claims": [private], "visibility": "private", "owner": "eve"}])
    return memory


@pytest.mark.parametrize("who", [None, "eve", "bob"])
def test_whoever_sees_a_private_value_is_told_of_the_public_ones_beside_it(memory: Memory, who: str | None) -> None:
    answer = memory.recall("When does flight 7 depart on Monday?", scope={"day": "monday"}, principal=who)

    (found,) = answer.found
    assert (found.belief.value, found.belief.status) == ("18:07", "active")


def test_every_belief_of_such_a_slot_is_in_the_index(memory: Memory) -> None:
    assert memory.doctor().differences == ()
