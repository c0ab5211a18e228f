"""Trust that is learned from known answers and feedback, and who may instruct, through the product."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.memory import Memory
from beliefmesh.settings import MeshSettings, PolicySettings, Settings, StoreSettings
from recall.render import explanation_text
from schemas.errors import InvalidInput
from schemas.policy import DEFAULT_POLICY, Authority, Policy

AIRPORT, BLOGS = "airport", ("blog", "copy", "mirror")
DAY = "2024-06-09"


def sighting(flight: str, gate: str, source: str, **more: Any) -> dict[str, Any]:
    told = {"entity": flight, "agent": source, "source": {"id": source, "origin": source}, "observed_at": DAY}
    return {**told, "claims": [{"attribute": "gate", "value": gate, "kind": "observation"}], **more}


def fill(memory: Memory, flights: int = 30) -> None:
    """The airport is always right; three blogs copy one another and are wrong on two flights of three."""
    memory.retain([sighting(f"UA {n}", f"B{n}", AIRPORT) for n in range(flights)])
    wrong = [(f"UA {n}", f"B{n}" if n % 3 == 0 else f"X{n}") for n in range(flights)]
    memory.retain([sighting(flight, gate, blog) for flight, gate in wrong for blog in BLOGS])


def gate_of(memory: Memory, flight: str) -> object:
    return memory.recall("gate", entity=flight, attribute="gate", statuses=("active",)).found[0].belief.value


def known(*numbers: int) -> list[dict[str, object]]:
    return [{"entity": f"UA {n}", "attribute": "Gate", "value": f"B{n}"} for n in numbers]


def test_a_source_that_proved_right_outweighs_three_that_copy_each_other(memory: Memory) -> None:
    fill(memory)
    assert gate_of(memory, "UA 29") == "X29"

    learned = memory.calibrate(known(*range(20)))

    assert gate_of(memory, "UA 29") == "B29"
    assert (learned.version, learned.outcomes, learned.from_gold, learned.unanswered) == (1, 20, 20, 0)
    by_origin = {one.origin: one for one in learned.sources}
    assert (by_origin[AIRPORT].outcomes, by_origin[AIRPORT].right, by_origin[AIRPORT].before) == (20, 1.0, 1.0)
    assert by_origin["blog"].right == 0.35
    assert by_origin["blog"].after < by_origin[AIRPORT].after
    assert learned.after.brier < learned.before.brier
    assert learned.after.ece < learned.before.ece


def test_explain_shows_the_weight_and_from_how_many_outcomes_it_comes(memory: Memory) -> None:
    fill(memory)
    learned = memory.calibrate(known(*range(20)))
    weight = next(one.after for one in learned.sources if one.origin == AIRPORT)

    account = memory.explain(memory.recall("gate", entity="UA 29", attribute="gate").found[0].belief.id)

    terms = {term.evidence.origin: term for term in account.contributions}
    assert terms[AIRPORT].outcomes == 20
    assert terms[AIRPORT].reliability == pytest.approx(weight, abs=1e-4)
    assert f"reliability {weight:.2f} (from 20 outcomes)" in explanation_text(account)


def test_a_dry_run_says_what_would_be_learned_and_changes_nothing(memory: Memory) -> None:
    fill(memory)
    before = memory.state_hash()

    learned = memory.calibrate(known(*range(20)), dry_run=True)

    assert not learned.applied
    assert memory.state_hash() == before
    assert memory.home.graph.policy("default") == DEFAULT_POLICY
    assert memory.calibrate(known(*range(20))).sources == learned.sources


def test_a_second_calibration_replaces_the_first_and_bears_a_higher_version(memory: Memory) -> None:
    fill(memory)
    memory.calibrate(known(*range(20)))

    again = memory.calibrate(known(0, 1, 2))

    assert (again.version, again.outcomes) == (2, 3)
    assert memory.home.graph.policy("default").trust.version == 2


def test_feedback_of_people_teaches_as_gold_does(memory: Memory) -> None:
    fill(memory)
    for n in range(1, 15):
        for found in memory.recall("gate", entity=f"UA {n}", attribute="gate").found:
            right = found.belief.value == f"B{n}"
            memory.feedback(found.belief.id, "right" if right else "wrong", agent="ann")

    learned = memory.calibrate()

    by_origin = {one.origin: one for one in learned.sources}
    assert learned.from_gold == 0
    assert learned.from_feedback >= 14
    assert set(by_origin) == {AIRPORT, *BLOGS}
    assert by_origin[AIRPORT].after > by_origin["blog"].after
    assert gate_of(memory, "UA 29") == "B29"


def test_feedback_without_authority_teaches_nothing(memory: Memory) -> None:
    fill(memory, 3)
    memory.set_policy(Policy(authorities=(Authority(agent="ann"), Authority(may_instruct=False))))
    memory.feedback(memory.recall("gate", entity="UA 0").found[0].belief.id, "wrong", agent="mallory")

    with pytest.raises(InvalidInput, match="gold: names nothing"):
        memory.calibrate()


def test_gold_that_no_source_spoke_of_is_counted_and_gold_alone_of_that_kind_is_refused(memory: Memory) -> None:
    fill(memory)

    assert memory.calibrate([*known(1, 2), *known(99)], dry_run=True).unanswered == 1
    with pytest.raises(InvalidInput, match="check their entities"):
        memory.calibrate(known(99))
    with pytest.raises(InvalidInput, match=r"gold\[0\].*value is missing"):
        memory.calibrate([{"entity": "UA 1", "attribute": "gate"}])


def test_a_claim_is_judged_as_of_the_time_of_the_answer(memory: Memory) -> None:
    memory.retain(sighting("UA 1", "A1", AIRPORT, observed_at="2024-06-01"))
    memory.retain(sighting("UA 1", "A2", AIRPORT, observed_at="2024-06-05"))

    early = memory.calibrate(
        [{"entity": "UA 1", "attribute": "gate", "value": "A1", "as_of": "2024-06-02"}], dry_run=True
    )
    late = memory.calibrate([{"entity": "UA 1", "attribute": "gate", "value": "A1"}], dry_run=True)

    assert [one.right for one in early.sources] == [1.0]
    assert [one.right for one in late.sources] == [0.0]


def test_private_sightings_teach_nothing_to_others(memory: Memory) -> None:
    memory.retain(sighting("UA 1", "A1", "diary", visibility="private", owner="ann"))
    memory.retain(sighting("UA 1", "A1", AIRPORT))

    learned = memory.calibrate([{"entity": "UA 1", "attribute": "gate", "value": "A1"}])

    assert [one.origin for one in learned.sources] == [AIRPORT]


def test_what_was_learned_outlives_a_restart_with_a_policy_file(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("stale_below: 0.6\n", encoding="utf-8")
    settings = Settings(
        mesh=MeshSettings(folder=str(tmp_path / "mesh"), runtime="inline"),
        stores=StoreSettings(embedder="none:"),
        policy=PolicySettings(file=str(tmp_path / "policy.yaml")),
    )
    with Memory(settings=settings) as memory:
        fill(memory, 6)
        memory.calibrate(known(*range(5)))

    with Memory(settings=settings) as memory:
        memory.retain(sighting("UA 50", "C1", AIRPORT))
        policy = memory.home.graph.policy("default")

    assert (policy.stale_below, policy.trust.version, policy.trust.outcomes) == (0.6, 1, 5)


def test_the_command_prints_what_it_learned_and_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    folder = str(tmp_path / "mesh")
    with Memory(folder) as memory:
        fill(memory, 12)
    lines = ["entity\tattribute\tvalue", *(f"UA {n}\tgate\tB{n}" for n in range(10))]
    (tmp_path / "gold.tsv").write_text("\n".join(lines), encoding="utf-8")
    arguments = ["calibrate", "--folder", folder, "--gold", str(tmp_path / "gold.tsv")]

    dry = CliRunner().invoke(beliefmesh, [*arguments, "--dry-run"], catch_exceptions=False)
    told = json.loads(CliRunner().invoke(beliefmesh, [*arguments, "--json"], catch_exceptions=False).stdout)

    assert "a dry run: nothing was changed" in dry.output
    assert "brier" in dry.output
    assert (told["version"], told["outcomes"], told["applied"]) == (1, 10, True)
    assert {one["origin"] for one in told["sources"]} == {AIRPORT, *BLOGS}


# Field case 33: an untrusted agent poisons a belief that another owns.
def test_an_agent_without_authority_cannot_end_or_replace_the_rule_of_one_who_has_it(memory: Memory) -> None:
    memory.set_policy(
        Policy(authorities=(Authority(agent="treasurer", attribute="payee*"), Authority(may_instruct=False)))
    )
    rule = [{"attribute": "payee account", "value": "DE-1", "kind": "instruction"}]
    memory.retain({"entity": "invoice", "agent": "treasurer", "observed_at": "2024-06-01", "claims": rule})
    owned = memory.recall("payee account", entity="invoice").found[0].belief.id

    poison = [{"attribute": "payee account", "value": "XX-9", "kind": "instruction"}]
    for n in range(5):
        source = {"id": f"note-{n}", "origin": f"note-{n}", "type": "document"}
        memory.retain({"entity": "invoice", "agent": "mallory", "source": source, "claims": poison})
    spoof = {"id": "treasurer", "origin": "treasurer"}
    memory.retain({"entity": "invoice", "agent": "mallory", "source": spoof, "claims": poison})
    memory.revoke(owned, reason="old account", agent="mallory")

    first = memory.recall("payee account", entity="invoice").found[0]
    held = memory.belief(owned)
    assert (held.value, held.kind, held.status) == ("DE-1", "instruction", "contested")
    assert first.belief.id == owned
    rivals = [belief for belief in memory.history(owned).beliefs if belief.value == "XX-9"]
    assert [(belief.kind, belief.status) for belief in rivals] == [("observation", "contested")]
    account = memory.explain(rivals[0].id)
    assert {term.note for term in account.contributions if term.kind == "observation" and term.log_odds > 0} == {
        "an instruction without authority, heard as an observation"
    }
    assert {term.evidence.agent for term in account.contributions if term.log_odds > 0} == {"mallory"}


def test_the_poison_of_a_source_that_proved_wrong_does_not_lead_among_sightings(memory: Memory) -> None:
    fill(memory)
    memory.calibrate(known(*range(20)))

    memory.retain([sighting("UA 77", "B77", AIRPORT), *(sighting("UA 77", "X77", blog) for blog in BLOGS)])

    assert gate_of(memory, "UA 77") == "B77"


def test_without_authorities_anybody_may_instruct(memory: Memory) -> None:
    for day, agent, value in (("2024-06-01", "ann", "A"), ("2024-06-02", "mallory", "B")):
        claims = [{"attribute": "template", "value": value, "kind": "instruction"}]
        memory.retain({"entity": "reports", "agent": agent, "observed_at": day, "claims": claims})

    (found,) = memory.recall("template", entity="reports").found

    assert (found.belief.value, found.belief.kind) == ("B", "instruction")


def test_naming_an_authority_decides_the_slots_again(memory: Memory) -> None:
    test_without_authorities_anybody_may_instruct(memory)

    memory.set_policy(
        msgspec.structs.replace(DEFAULT_POLICY, authorities=(Authority(agent="ann"), Authority(may_instruct=False)))
    )

    held = {found.belief.value: found.belief.kind for found in memory.recall("template", entity="reports").found}
    assert held == {"A": "instruction", "B": "observation"}
