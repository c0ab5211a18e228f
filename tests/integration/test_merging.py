"""Merging entities, reading them as one, and parting them exactly."""

from itertools import permutations
from typing import Any

import pytest

from beliefmesh.memory import Memory
from schemas.entity import Entity
from schemas.errors import InvalidInput, NotFound

BOB = Entity("Bob", "person")
ROBERT = Entity("Robert Miller", "person")


def _said(entity: Entity, attribute: str, value: object, at: str, **more: Any) -> dict[str, object]:
    claim = {"entity": {"name": entity.name, "type": entity.type}, "attribute": attribute, "value": value}
    source = more.pop("source", f"{entity.name} {at}")
    return {"claims": [{**claim, **more.pop("claim", {})}], "observed_at": at, "source": source, **more}


@pytest.fixture
def people(memory: Memory) -> Memory:
    """Bob and Robert Miller, who are one, told apart: an older employer of the one, a newer of the other."""
    memory.retain(
        [
            _said(BOB, "employer", "Acme", "2024-05-01"),
            _said(ROBERT, "employer", "Globex", "2024-06-01"),
            _said(BOB, "hobby", "chess", "2024-05-02"),
        ]
    )
    return memory


def _held(memory: Memory, entity: Entity, **more: Any) -> dict[str, set[object]]:
    found = memory.recall("What about him?", entity=entity, limit=50, **more).found
    held: dict[str, set[object]] = {}
    for one in (one for one in found if one.belief.attribute != "same_as"):
        held.setdefault(one.belief.attribute or "", set()).add(one.belief.value)
    return held


def test_before_a_merge_both_hold_what_was_told_of_each(people: Memory) -> None:
    assert _held(people, BOB) == {"employer": {"Acme"}, "hobby": {"chess"}}
    assert _held(people, ROBERT) == {"employer": {"Globex"}}


def test_a_merge_reads_both_as_one_and_the_newer_value_holds(people: Memory) -> None:
    people.merge(BOB, ROBERT)

    expected = {"employer": {"Globex"}, "hobby": {"chess"}}
    assert _held(people, BOB) == expected
    assert _held(people, ROBERT) == expected
    holders = {(b.entity, b.attribute, b.value) for b in people.holders() if b.attribute != "same_as"}
    assert holders == {(ROBERT, "employer", "Globex"), (ROBERT, "hobby", "chess")}


def test_unmerge_gives_back_the_former_state_to_the_last_bit(people: Memory) -> None:
    before = people.state_hash()
    held = {entity: _held(people, entity) for entity in (BOB, ROBERT)}

    people.merge(BOB, ROBERT)
    together = people.state_hash()
    people.unmerge(BOB)

    assert together != before
    assert people.state_hash() == before
    assert {entity: _held(people, entity) for entity in (BOB, ROBERT)} == held


def test_merging_and_parting_again_and_again_works_at_one_moment(people: Memory) -> None:
    apart = people.state_hash()
    people.merge(BOB, ROBERT)
    together = people.state_hash()
    people.unmerge(BOB)
    people.merge(BOB, ROBERT)
    assert people.state_hash() == together
    people.unmerge(BOB)
    assert people.state_hash() == apart


def test_a_preview_tells_the_joined_slots_and_changes_nothing(people: Memory) -> None:
    before = people.state_hash()

    report = people.merge(BOB, ROBERT, preview=True)

    assert not report.applied
    assert report.canonical == ROBERT
    assert [joined.attribute for joined in report.joins] == ["employer"]
    assert report.joins[0].conflict
    assert {belief.value for belief in report.joins[0].before} == {"Acme", "Globex"}
    assert {belief.value for belief in report.joins[0].after} == {"Globex"}
    assert report.moves == 1
    assert people.state_hash() == before
    assert people.merge(BOB, ROBERT).joins == report.joins


def test_every_id_once_returned_answers_before_during_and_after_a_merge(people: Memory) -> None:
    ids = {b.value: b.id for b in people.holders()}
    slots = {b.value: b.slot for b in people.holders()}
    people.merge(BOB, ROBERT)
    later = {b.value: b.id for b in people.holders() if b.attribute != "same_as"}

    for value, id in ids.items():
        assert people.belief(id).value == value
        assert people.belief(id).entity == ROBERT
        assert people.explain(id).belief.value == value
        assert {turn.at for turn in people.history(id).turns} == {
            turn.at for turn in people.history(slots[value]).turns
        }
    assert people.belief(ids["Acme"]).status == "revoked"
    assert len(people.history(entity=BOB, attribute="employer").turns) == 2
    assert people.history(entity=BOB, attribute="employer") == people.history(entity=ROBERT, attribute="employer")

    people.unmerge(BOB)
    for value, id in later.items():
        assert people.belief(id).value == value
    assert people.belief(ids["Acme"]).status == "active"


def test_a_belief_of_a_merged_entity_can_be_revoked_by_its_old_id(people: Memory) -> None:
    id = next(b.id for b in people.holders() if b.value == "chess")
    people.merge(BOB, ROBERT)

    people.revoke(id, reason="he gave it up", agent="mira")

    assert _held(people, ROBERT) == {"employer": {"Globex"}}


def test_what_only_the_merge_makes_hold_is_found(memory: Memory) -> None:
    memory.retain(
        [
            _said(BOB, "employer", "Acme", "2024-05-01", source="a"),
            _said(BOB, "employer", "Initech", "2024-05-20", source="b"),
            _said(ROBERT, "employer", "Acme", "2024-06-08", source="c"),
        ]
    )
    assert _held(memory, BOB) == {"employer": {"Initech"}}

    memory.merge(BOB, ROBERT)

    assert _held(memory, BOB) == {"employer": {"Acme"}}


def test_what_each_entity_alone_has_given_up_is_found_where_together_they_hold_it(open_memory: Any) -> None:
    memory: Memory = open_memory(at="2024-06-12T00:00:00Z")
    memory.retain(
        [
            _said(BOB, "employer", "Acme", "2024-06-05", weight=1.4, source="a"),
            _said(BOB, "employer", "Initech", "2024-06-06", source="b"),
            _said(ROBERT, "employer", "Acme", "2024-06-10", weight=1.4, source="d"),
            _said(ROBERT, "employer", "Globex", "2024-06-11", source="e"),
        ]
    )
    assert _held(memory, BOB) == {"employer": {"Initech"}}
    assert _held(memory, ROBERT) == {"employer": {"Globex"}}

    memory.merge(BOB, ROBERT)

    assert _held(memory, BOB) == {"employer": {"Acme", "Globex"}}
    by_words = memory.recall("Who is the employer?", entity=BOB, retrievers=("keyword",)).found
    assert {one.belief.value for one in by_words} == {"Acme", "Globex"}
    memory.retain(_said(BOB, "role", "clerk", "2024-06-11"))
    memory.unmerge(BOB)
    assert _held(memory, BOB) == {"employer": {"Initech"}, "role": {"clerk"}}


def test_a_rebuilt_index_and_a_doctor_know_merges_too(people: Memory) -> None:
    people.merge(BOB, ROBERT)
    held = _held(people, BOB)
    people.home.mesh.reindex(people.bank, people.home.clock())

    assert _held(people, BOB) == held
    assert people.doctor().healthy


def test_a_private_merge_is_seen_by_its_owner_alone(people: Memory) -> None:
    before = people.state_hash()
    people.merge(BOB, ROBERT, agent="mira", visibility="private")

    assert _held(people, BOB, principal="mira") == {"employer": {"Globex"}, "hobby": {"chess"}}
    assert _held(people, BOB, principal="otto") == {"employer": {"Acme"}, "hobby": {"chess"}}
    assert _held(people, BOB) == {"employer": {"Acme"}, "hobby": {"chess"}}
    with pytest.raises(NotFound, match="not merged"):
        people.unmerge(BOB, principal="otto")

    people.unmerge(BOB, agent="mira")
    assert people.state_hash() == before
    assert _held(people, BOB, principal="mira") == {"employer": {"Acme"}, "hobby": {"chess"}}


def test_a_past_time_is_answered_by_the_merges_of_that_time(open_memory: Any, clock: Any) -> None:
    memory: Memory = open_memory(clock=clock)
    memory.retain([_said(BOB, "employer", "Acme", "2024-05-01"), _said(ROBERT, "employer", "Globex", "2024-06-01")])
    memory.merge(BOB, ROBERT)
    clock.set("2024-06-20T12:00:00Z")
    memory.unmerge(BOB)
    clock.set("2024-06-25T12:00:00Z")

    assert _held(memory, BOB) == {"employer": {"Acme"}}
    assert _held(memory, BOB, as_of="2024-06-15") == {"employer": {"Globex"}}
    assert _held(memory, BOB, as_of="2024-06-09") == {"employer": {"Acme"}}


def test_chains_lead_to_their_end(memory: Memory) -> None:
    rob = Entity("Rob", "person")
    memory.retain([_said(e, f"fact {e.name}", 1, "2024-06-01") for e in (BOB, rob, ROBERT)])
    memory.merge(BOB, rob)
    memory.merge(rob, ROBERT)

    assert {b.entity for b in memory.holders() if b.attribute != "same_as"} == {ROBERT}
    assert set(_held(memory, BOB)) == {"fact Bob", "fact Rob", "fact Robert Miller"}


def test_concurrent_merges_of_a_circle_and_observations_end_alike_in_any_order(open_memory: Any) -> None:
    rob = Entity("Rob", "person")
    told = [
        _said(BOB, "employer", "Acme", "2024-05-01"),
        _said(ROBERT, "employer", "Globex", "2024-06-01"),
        _said(rob, "employer", "Initech", "2024-05-15"),
        _said(BOB, "same_as", "person/Robert Miller", "2024-06-02", kind="instruction"),
        _said(ROBERT, "same_as", "person/Bob", "2024-06-02", kind="instruction"),
        _said(BOB, "same_as", "person/Rob", "2024-06-03", kind="instruction"),
    ]
    hashes = set()
    held = []
    for number, order in enumerate(list(permutations(told))[::60]):
        memory: Memory = open_memory(f"mesh-{number}")
        for one in order:
            memory.retain(one)
        hashes.add(memory.state_hash())
        held.append({(b.entity, b.attribute, b.value) for b in memory.holders() if b.attribute == "employer"})
    assert len(hashes) == 1
    assert held == [{(rob, "employer", "Globex")}] * len(held)


def test_same_name_and_different_type_stay_two_until_merged(memory: Memory) -> None:
    fruit, company = Entity("Apple", "fruit"), Entity("Apple", "company")
    memory.retain([_said(fruit, "colour", "green", "2024-06-01"), _said(company, "colour", "white", "2024-06-02")])
    assert _held(memory, fruit) == {"colour": {"green"}}

    with pytest.raises(InvalidInput, match="company, fruit"):
        memory.merge("Apple", into=company)
    memory.merge(fruit, into=company)
    assert _held(memory, fruit) == {"colour": {"white"}}


def test_bad_merges_are_refused_by_name(people: Memory) -> None:
    with pytest.raises(InvalidInput, match="itself"):
        people.merge(BOB, into=BOB)
    with pytest.raises(NotFound, match="Carol"):
        people.merge("Carol", into=BOB)
    with pytest.raises(NotFound, match="not merged"):
        people.unmerge(BOB)
    with pytest.raises(InvalidInput, match="two banks"):
        people.merge({"name": "Bob", "type": "person", "bank": "other"}, into=ROBERT)
    people.merge(BOB, into=ROBERT)
    with pytest.raises(InvalidInput, match="one already"):
        people.merge(ROBERT, into=BOB)
    with pytest.raises(NotFound, match=r"unmerge one of them"):
        people.unmerge(ROBERT)


def test_a_merge_that_is_told_again_is_done_already_and_changes_nothing(people: Memory) -> None:
    first = people.merge(BOB, into=ROBERT, agent="mira")
    before, told = people.state_hash(), len(list(people.export()))

    again = people.merge(BOB, into=ROBERT)
    preview = people.merge(BOB, into=ROBERT, preview=True)

    assert (again.applied, again.ids, again.canonical, again.joins) == (True, first.ids, ROBERT, ())
    assert preview == again
    assert (people.state_hash(), len(list(people.export()))) == (before, told)
    people.unmerge(BOB)
    assert people.merge(BOB, into=ROBERT).ids != first.ids


def test_a_merge_for_others_is_another_merge(people: Memory) -> None:
    people.merge(BOB, into=ROBERT, visibility="group", readers=("group:hr",), agent="mira")

    assert people.merge(BOB, into=ROBERT).applied
    assert people.entities(BOB.name)[0].canonical == ROBERT
    with pytest.raises(InvalidInput, match="one already"):
        people.merge(BOB, into=ROBERT, visibility="group", readers=("group:it",), agent="mira")


@pytest.mark.parametrize(
    ("claim", "field"),
    [
        ({"value": 7}, "value"),
        ({"value": "Robert"}, "value"),
        ({"value": "person/Bob"}, "value"),
        ({"value": "person/Robert", "scope": {"region": "EU"}}, "scope"),
        ({"attribute": "alias", "value": 7}, "value"),
    ],
)
def test_a_reserved_attribute_takes_only_what_it_can_mean(memory: Memory, claim: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.retain(_said(BOB, "same_as", "person/Robert", "2024-06-01", claim=claim))
    assert refused.value.field == f"claims[0].{field}"


def test_a_sighting_of_sameness_merges_nothing(people: Memory) -> None:
    people.retain(_said(BOB, "same_as", "person/Robert Miller", "2024-06-02"))

    assert _held(people, ROBERT) == {"employer": {"Globex"}}


def test_an_alias_once_told_resolves_both_ways(memory: Memory) -> None:
    wang, xiao = Entity("王小明", "person"), Entity("小明", "person")
    memory.retain(
        [
            _said(wang, "城市", "上海", "2024-06-01"),
            _said(xiao, "爱好", "围棋", "2024-06-02"),
            _said(wang, "alias", "小明", "2024-06-03"),
        ]
    )

    assert _held(memory, xiao)["城市"] == {"上海"}
    assert _held(memory, wang)["爱好"] == {"围棋"}
    listed = memory.entities("小明")
    assert [one.entity for one in listed] == [xiao, wang]
    assert listed[1].aliases == ("小明",)
    assert {b.entity for b in memory.holders()} == {wang, xiao}


def test_an_alias_told_in_passing_leads_there_beside_others(memory: Memory) -> None:
    memory.retain(["Robert Smith, also known as Bob, lives in Oslo.", "Robert Smith is also known as Robby."])

    for name in ("Bob", "Robby"):
        assert "Oslo" in [found.belief.value for found in memory.recall(f"Where does {name} live?").found]
    (listed,) = [one for one in memory.entities("Robert Smith") if one.entity.name == "Robert Smith"]
    assert sorted(listed.aliases) == ["Bob", "Robby"]


def test_a_private_alias_leads_nobody_else(memory: Memory) -> None:
    memory.retain(
        [
            _said(ROBERT, "city", "Oslo", "2024-06-01"),
            _said(ROBERT, "alias", "Falcon", "2024-06-02", agent="mira", visibility="private"),
        ]
    )

    assert [one.entity for one in memory.entities("Falcon", principal="mira")] == [ROBERT]
    assert memory.entities("Falcon") == ()
    assert _held(memory, Entity("Falcon"), principal="mira")["city"] == {"Oslo"}
    assert _held(memory, Entity("Falcon")) == {}
