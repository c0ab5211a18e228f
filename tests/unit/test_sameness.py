"""Which groups merges make, whatever their order, and what they never do."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from beliefs.sameness import Link, groups_of
from schemas.entity import Entity, entity_id

A, B, C, D = (Entity(name, "person") for name in "ABCD")
IDS = {entity: entity_id("bank", entity) for entity in (A, B, C, D)}


def test_a_chain_leads_to_its_end() -> None:
    groups = groups_of("bank", [Link(A, B), Link(B, C)])
    assert {group.canonical for group in groups.values()} == {C}
    assert groups[IDS[A]].members == tuple(sorted([IDS[A], IDS[B], IDS[C]]))


def test_a_circle_is_led_by_its_smallest_id_and_a_tail_follows() -> None:
    groups = groups_of("bank", [Link(A, B), Link(B, A), Link(D, A)])
    smallest = min((A, B), key=lambda entity: IDS[entity])
    assert {group.canonical for group in groups.values()} == {smallest}
    assert len(groups) == 3


def test_what_no_link_touches_is_in_no_group() -> None:
    assert IDS[D] not in groups_of("bank", [Link(A, B)])


_NAMES = st.sampled_from("abcdefgh")


@given(st.dictionaries(_NAMES, _NAMES, max_size=8), st.data())
def test_groups_depend_on_the_set_of_links_alone(into: dict[str, str], data: st.DataObject) -> None:
    links = [Link(Entity(one), Entity(other)) for one, other in into.items() if one != other]
    shuffled = data.draw(st.permutations(links))

    groups = groups_of("bank", links)

    assert groups_of("bank", shuffled) == groups
    for link in links:
        assert groups[entity_id("bank", link.entity)] is groups[entity_id("bank", link.into)]
    for id, group in groups.items():
        assert id in group.members
        assert entity_id("bank", group.canonical) in group.members


def test_every_order_of_three_links_gives_one_grouping() -> None:
    links = [Link(A, B), Link(B, C), Link(C, A)]
    assert all(groups_of("bank", order) == groups_of("bank", links) for order in permutations(links))
