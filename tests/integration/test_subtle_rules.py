"""Rules that are easily taken for granted: networks in one slot, forgotten turns, marks of people, fresh looks."""

from typing import Any

from click.testing import CliRunner

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.memory import Memory
from recall.render import structured, text
from schemas.policy import Authority, Policy


def found_by_value(memory: Memory, question: str, **fields: Any) -> dict[object, tuple[str, str]]:
    found = memory.recall(question, **fields).found
    return {one.belief.value: (one.belief.network, one.belief.status) for one in found}


def test_a_fact_and_an_opinion_of_one_attribute_stand_beside_each_other(memory: Memory) -> None:
    for agent, value, network in (("qa", "good", "world"), ("ana", "bad", "opinion")):
        claim = {"entity": "shop", "attribute": "quality", "value": value}
        memory.retain({"agent": agent, "network": network, "observed_at": "2024-06-09", "claims": [claim]})

    told = found_by_value(memory, "quality of the shop")
    assert told == {"good": ("world", "active"), "bad": ("opinion", "active")}
    assert found_by_value(memory, "quality of the shop", networks=("world",)).keys() == {"good"}
    assert all(one.rivals == () for one in memory.recall("quality of the shop").found)

    claim = {"entity": "shop", "attribute": "quality", "value": "poor"}
    memory.retain({"agent": "audit", "observed_at": "2024-06-10", "claims": [claim]})
    told = found_by_value(memory, "quality of the shop")
    assert "good" not in told
    assert told["bad"] == ("opinion", "active")


def test_a_narrative_of_which_a_turn_is_forgotten_goes_and_can_be_told_again_without_it(memory: Memory) -> None:
    for number, words in enumerate(("The pump hums.", "The zebrafinch sings.", "The valve is shut."), 1):
        memory.retain({"id": f"o{number}", "agent": "ann", "session": "s1", "turn": number, "text": words})
    whole = memory.narrate("s1")
    assert "zebrafinch" in whole.text

    report = memory.forget(ids=["o2"])

    assert (report.observations, report.derived) == (2, 1)
    assert not any("zebrafinch" in one.belief.statement for one in memory.recall("pump zebrafinch valve").found)
    assert memory.home.graph.evidence_of_observations("default", [whole.observation]) == []
    again = memory.narrate("s1")
    assert "zebrafinch" not in again.text
    assert ("pump" in again.text, "valve" in again.text) == (True, True)


def test_of_a_chinese_background_a_newer_sentence_replaces_what_it_contradicts(open_memory: Any, clock: Any) -> None:
    memory: Memory = open_memory(clock=clock)
    memory.set_profile(background="我住在北京。我喜欢喝茶。")
    clock.set("2024-07-01")

    persona = memory.set_profile(background="我住在上海。")

    assert set(persona.background) == {"我住在上海。", "我喜欢喝茶。"}
    bank = next(one.belief for one in memory.recall("我住在哪里？").found if one.belief.value == "上海")
    assert {belief.value: belief.status for belief in memory.history(bank.id).beliefs} == {
        "北京": "revoked",
        "上海": "active",
    }


def leading_gate(memory: Memory) -> object:
    return memory.recall("gate of UA 1", entity="UA 1").found[0].belief.value


def test_wrong_counts_once_a_person_and_two_people_end_the_lead(memory: Memory) -> None:
    for desk, value in [*((f"desk {number}", "B2") for number in range(9)), ("tower", "C4")]:
        claim = {"entity": "UA 1", "attribute": "gate", "value": value}
        memory.retain({"agent": desk, "observed_at": "2024-06-09", "claims": [claim]})
    leading = memory.recall("gate of UA 1", entity="UA 1").found[0].belief.id

    for _ in range(3):
        memory.feedback(leading, "wrong", agent="ana")
    assert leading_gate(memory) == "B2"
    marks = [term.counted for term in memory.explain(leading).contributions if term.evidence.agent == "ana"]
    assert sum(marks) == 1

    memory.feedback(leading, "wrong", agent="ben")
    assert leading_gate(memory) == "C4"


def test_an_expired_result_of_a_tool_is_told_to_need_a_fresh_look_by_every_rendering(
    open_memory: Any, clock: Any
) -> None:
    memory: Memory = open_memory(clock=clock)
    claim = {"entity": "widget", "attribute": "stock", "value": 10, "valid_until": "2024-06-12"}
    memory.retain({"source": {"id": "inventory", "type": "tool"}, "observed_at": "2024-06-10", "claims": [claim]})
    assert memory.recall("stock of the widget").needs_fresh_look == ()

    clock.set("2024-06-13")
    answer = memory.recall("stock of the widget")

    assert [one.belief.value for one in answer.found] == []
    (old,) = answer.needs_fresh_look
    assert (old.belief.value, old.belief.status) == (10, "stale")
    assert "it expired on 2024-06-12, and nothing newer is known." in text(answer)
    assert [one["id"] for one in structured(answer)["needs_fresh_look"]] == [old.belief.id]


# Field case 33: an untrusted agent poisons a belief that another owns.
def test_without_authority_nobody_poisons_a_rule_by_any_way_of_telling(memory: Memory) -> None:
    memory.set_policy(
        Policy(authorities=(Authority(agent="treasurer", attribute="payee*"), Authority(may_instruct=False)))
    )
    rule = {"entity": "invoice", "attribute": "payee account", "value": "DE-1", "kind": "instruction"}
    memory.retain({"agent": "treasurer", "observed_at": "2024-06-01", "claims": [rule]})
    owned = memory.recall("payee account", entity="invoice").found[0].belief.id

    poison = rule | {"value": "XX-9"}
    memory.retain({"agent": "mallory", "claims": [poison]})
    memory.retain({"agent": "mallory", "claims": [rule | {"stance": "retracts"}]})
    memory.retain(
        {"agent": "mallory", "claims": [{**rule, "kind": "derivation", "value": "XX-9", "premises": [owned]}]}
    )
    memory.feedback(owned, "wrong", agent="mallory")
    memory.feedback(owned, "wrong", agent="mallory's friend")

    assert memory.belief(owned).status in ("active", "contested")
    assert memory.recall("payee account", entity="invoice").found[0].belief.id == owned
    assert "treasurer" in text(memory.recall("payee account", entity="invoice"))


def test_the_command_line_tells_what_needs_a_fresh_look(tmp_path: Any) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(beliefmesh, [*arguments, "--folder", str(tmp_path)])
        assert result.exit_code == 0, result.output
        return result.output

    lines = tmp_path / "told.jsonl"
    lines.write_text(
        '{"source": {"id": "inventory", "type": "tool"}, "observed_at": "2024-06-10",'
        ' "claims": [{"entity": "widget", "attribute": "stock", "value": 10, "valid_until": "2024-06-12"}]}\n'
    )
    run("import", str(lines))

    assert "Needs a fresh look: widget: stock is 10 (tool inventory of 2024-06-10)" in run("recall", "widget stock")
