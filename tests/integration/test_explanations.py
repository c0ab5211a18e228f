"""Many explanations in one call: by beliefs and by observations, in this process and over the network."""

import pytest

from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.errors import InvalidInput

DOOR = {"entity": "door", "attribute": "colour"}


def test_an_observation_leads_to_the_beliefs_that_it_speaks_for(memory: Memory) -> None:
    one = memory.retain({"claims": [{**DOOR, "value": "red"}, {"entity": "door", "statement": "It creaks."}]})
    memory.retain({"claims": [{**DOOR, "value": "blue"}]}, agent="bob")

    found = memory.explanations(observations=one.ids)

    assert sorted(each.belief.statement for each in found) == ["It creaks.", "door: colour is red"]
    assert all(each == memory.explain(each.belief.id) for each in found)


def test_beliefs_come_in_the_order_asked_each_once_and_unknown_ones_are_left_out(memory: Memory) -> None:
    told = memory.retain(["The yard is shut.", "The shop is open."])
    shut, opened = memory.explanations(observations=told.ids)

    found = memory.explanations([opened.belief.id, "b0", shut.belief.id], observations=[*told.ids, "o0"])

    assert [each.belief.id for each in found] == [opened.belief.id, shut.belief.id]


def test_what_is_private_is_explained_to_its_owner_alone(memory: Memory) -> None:
    told = memory.retain("The vault is open.", agent="ann", visibility="private")

    assert memory.explanations(observations=told.ids) == ()
    assert memory.explanations(observations=told.ids, principal="bob") == ()
    assert len(memory.explanations(observations=told.ids, principal="ann")) == 1


def test_over_the_network_they_are_the_same(memory: Memory, url: str) -> None:
    told = memory.retain(["The yard is shut.", "The shop is open."])

    assert RemoteMemory(url).explanations(observations=told.ids) == memory.explanations(observations=told.ids)


@pytest.mark.parametrize("ids", ["b1", 5, ["x"] * 1_001, [""], [5]])
def test_what_is_no_list_of_ids_is_refused_on_each_way(memory: Memory, url: str, ids: object) -> None:
    for one in (memory, RemoteMemory(url)):
        with pytest.raises(InvalidInput, match="observations"):
            one.explanations(observations=ids)  # type: ignore[attr-defined]
