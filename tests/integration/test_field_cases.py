"""Failures that users of memory systems reported, with the right value here; numbered as in the list of field cases.

Cases about texts and times: test_odd_texts.py. 13, 14: test_concurrency.py. 15: test_compaction_job.py. 17:
test_pipeline.py. 21: test_doctor.py. 22, 36: test_freshness.py. 32: test_access.py.
"""

import pytest
from facts import evidence_count, fact, statements, values

from beliefmesh.memory import Memory
from schemas.policy import AttributeRule, Policy


# 1
def test_of_two_names_told_one_after_the_other_one_is_active_and_the_other_in_the_history(memory: Memory) -> None:
    memory.retain("My name is Tom.", agent="u1", observed_at="2024-06-01")
    memory.retain("My name is Robert.", agent="u1", observed_at="2024-06-02")
    (held,) = memory.recall("What is my name?", attribute="name").found
    assert held.belief.value == "Robert"
    told = memory.history(held.belief.id)
    assert {belief.value: belief.status for belief in told.beliefs} == {"Robert": "active", "Tom": "revoked"}
    assert [len(turn.evidence) for turn in told.turns] == [1, 1]


# 2
@pytest.mark.parametrize("days", [("2024-06-01", "2024-06-01"), ("2024-06-01", "2024-06-02")])
def test_a_contradiction_leaves_something_believed_and_both_pieces_of_evidence(
    memory: Memory, days: tuple[str, str]
) -> None:
    memory.retain(fact("office", "city", "Paris", days[0], agent="ann"))
    memory.retain(fact("office", "city", "Lyon", days[1], agent="bob"))
    found = memory.recall("Which city is the office in?").found
    assert {one.belief.status for one in found} <= {"active", "contested"}
    assert "Lyon" in [one.belief.value for one in found]
    assert evidence_count(memory) == 2


# 3
@pytest.mark.parametrize("again", [{}, {"id": "second", "agent": "ann"}, {"id": "third", "agent": "bob"}])
def test_the_identical_text_again_keeps_one_belief_no_less_sure(memory: Memory, again: dict[str, str]) -> None:
    text = "The kiln is fired on Mondays."
    memory.retain(text, agent="ann", observed_at="2024-06-01", entity="kiln")
    before = memory.recall("When is the kiln fired?").found
    memory.retain({"text": text, "entity": "kiln", "observed_at": "2024-06-01", "agent": "ann"} | again)
    after = memory.recall("When is the kiln fired?").found
    assert [one.belief.id for one in after] == [one.belief.id for one in before]
    assert after[0].confidence >= before[0].confidence
    assert evidence_count(memory) == (2 if again else 1)
    assert memory.home.worker.counts["duplicates"] == (0 if again else 1)


# 4
def test_a_sentence_that_mentions_a_person_retires_nothing_else_about_them(memory: Memory) -> None:
    memory.retain(fact("Mei", "employer", "Lumen", "2024-05-01"))
    memory.retain(fact("Mei", "city", "Oslo", "2024-05-02"))
    memory.retain("Mei no longer likes tea, says her brother.", agent="bob", observed_at="2024-06-02")
    memory.retain("I met Mei's new manager.", agent="bob", observed_at="2024-06-03", entity="Mei")
    assert values(memory, "Where does Mei work?", attribute="employer") == ["Lumen"]
    assert values(memory, "Where does Mei live?", attribute="city") == ["Oslo"]
    assert memory.history(entity="Mei", attribute="employer").beliefs[0].refutes == 0


# 5
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_an_older_fact_that_arrives_late_does_not_win(memory: Memory, order: tuple[int, ...]) -> None:
    told = [
        fact("shop", "free shipping from", amount, day, kind="instruction")
        for amount, day in ((50, "2024-01-01"), (100, "2024-03-01"), (200, "2024-05-20"))
    ]
    for place in order:
        memory.retain(told[place])
    assert values(memory, "From what amount is shipping free?") == [200]
    assert values(memory, "From what amount is shipping free?", as_of="2024-04-01") == [100]


# 6
def test_a_setting_that_was_removed_is_not_on_today_and_was_on_then(memory: Memory) -> None:
    memory.retain(fact("app", "dark mode", True, "2024-06-01", kind="instruction"))
    removed = {"attribute": "dark mode", "stance": "retracts", "kind": "instruction"}
    memory.retain({"entity": "app", "agent": "ann", "observed_at": "2024-06-02", "claims": [removed]})
    assert values(memory, "Is dark mode on in the app?", attribute="dark mode") == []
    assert values(memory, "Is dark mode on?", attribute="dark mode", as_of="2024-06-01T12:00:00Z") == [True]
    assert list(memory.holders()) == []


# 7
def test_two_subjects_and_two_values_are_never_merged(memory: Memory) -> None:
    memory.retain(["Alice is the CEO.", "Sarah is the CTO."], agent="ann", observed_at="2024-06-01")
    memory.retain(
        [fact("Acme", "office", "San Francisco", agent="ann"), fact("Acme", "office", "New York", agent="bob")]
    )
    people = " ".join(statements(memory, "Who is the CEO and who is the CTO?"))
    assert "Alice is the CEO." in people
    assert "Sarah is the CTO." in people
    offices = memory.history(entity="Acme", attribute="office").beliefs
    assert {belief.value: belief.supports for belief in offices} == {"San Francisco": 1, "New York": 1}


# 8
def test_the_same_twenty_facts_told_ten_times_stay_twenty_beliefs(memory: Memory) -> None:
    for batch in range(10):
        memory.retain(
            [
                fact(f"machine {n}", "speed", f"{n} rpm", f"2024-05-{batch + 1:02}", agent=f"agent {batch}", text=words)
                for n in range(20)
                for words in (f"Batch {batch}: machine {n} runs at {n} rpm",)
            ]
        )
    counts = memory.stats("default")["banks"]["default"]
    assert (counts["beliefs"], counts["evidence"], counts["entities"]) == (20, 200, 20)


# 9
def test_what_was_recalled_and_is_stored_again_adds_no_support(memory: Memory) -> None:
    memory.retain("The kiln is fired on Mondays.", agent="ann", observed_at="2024-06-01", entity="kiln")
    for _ in range(5):
        (found,) = memory.recall("When is the kiln fired?", principal="bob").found
        memory.retain(found.belief.statement, agent="bob", entity="kiln")
    (now,) = memory.recall("When is the kiln fired?").found
    assert now.belief.supports == 1
    assert now.confidence == found.confidence
    assert len(list(memory.holders())) == 1


def test_recalled_text_pasted_into_a_prompt_and_stored_adds_no_support(memory: Memory) -> None:
    memory.retain(fact("kiln", "day", "Monday"))
    (found,) = memory.recall("kiln day").found
    pasted = f"[memory {found.belief.id}] {found.belief.statement}"
    memory.retain(pasted, agent="bob", entity="kiln")
    (kept,) = memory.home.graph.evidence_of_observations(
        "default", memory.retain(pasted, agent="cid", entity="kiln").ids
    )[:1]
    assert kept.source.type == "recall"
    assert values(memory, "kiln day", attribute="day") == ["Monday"]
    assert all("[memory" not in belief.statement for belief in memory.holders())


# 10
def test_different_attributes_of_one_thing_never_conflict(memory: Memory) -> None:
    memory.retain([fact("interface", "theme", "dark"), fact("interface", "font size", "one size larger", "2024-06-02")])
    found = memory.recall("What does the interface look like?").found
    assert {one.belief.value: (one.belief.status, one.rivals) for one in found} == {
        "dark": ("active", ()),
        "one size larger": ("active", ()),
    }


# 16
def test_a_retry_after_a_timeout_has_one_effect(memory: Memory) -> None:
    told = fact("door", "colour", "red")
    first = memory.retain(told, wait=False)
    assert memory.retain(told).ids == first.ids
    assert memory.retain({**told, "id": "mine"}).ids == memory.retain({**told, "id": "mine"}).ids == ("mine",)
    assert evidence_count(memory) == 2


def test_a_retry_of_what_bears_no_date_has_one_effect_although_time_has_passed(open_memory, clock) -> None:
    memory = open_memory(clock=clock)
    told = {"entity": "door", "text": "The door is red", "agent": "ann"}
    first = memory.retain(told)
    clock.set("2024-06-10T12:00:30Z")
    assert memory.retain(told).ids == first.ids
    assert evidence_count(memory) == 1


# 18
def test_concurrent_banks_keep_to_themselves(memory: Memory) -> None:
    memory.home.start()
    tokens = [
        memory.retain(fact("door", "colour", f"{bank}-{n}", agent=f"a{n}"), bank=bank, wait=False).token
        for n in range(10)
        for bank in ("north", "south")
    ]
    for token in tokens:
        memory.wait(token)
    for bank in ("north", "south"):
        stored = memory.home.graph.load_slots(bank, memory.home.graph.scan(bank, "", 100))
        assert {piece.bank for slot in stored.values() for piece in slot.evidence} == {bank}
        assert {str(piece.value)[:5] for slot in stored.values() for piece in slot.evidence} == {bank}


# 25
def test_an_id_once_returned_is_valid_after_the_value_moved_and_after_a_restart(open_memory) -> None:
    memory = open_memory()
    memory.retain(fact("door", "colour", "red"))
    id = memory.recall("colour of the door").found[0].belief.id
    memory.retain(fact("door", "colour", "blue", "2024-06-05", kind="instruction"))
    memory.revoke(memory.recall("colour of the door").found[0].belief.id, reason="wrong", agent="ann")
    memory.close()
    again = open_memory(at="2025-06-10")
    assert again.belief(id).value == "red"
    assert again.explain(id).belief.id == id
    assert again.history(id).turns


def test_an_id_whose_value_was_merged_with_a_close_one_leads_to_it(memory: Memory) -> None:
    memory.home.graph.set_policy(
        "default", Policy(attributes=(AttributeRule(pattern="departure", type="time", tolerance=600.0),))
    )
    memory.retain(fact("UA 1", "departure", "18:07", agent="b"))
    id = memory.recall("departure of UA 1").found[0].belief.id
    memory.retain([fact("UA 1", "departure", "18:05", agent="a"), fact("UA 1", "departure", "18:05", agent="c")])
    found = memory.recall("departure of UA 1").found
    assert len(found) == 1
    assert memory.belief(id).id == found[0].belief.id
    assert memory.belief(id).supports == 3
