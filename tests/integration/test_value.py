"""What a belief of a live bank is worth, how full the bank is, and what a plan takes from it."""

import math

import msgspec
import pytest

from beliefmesh.keeping import scales_of
from beliefmesh.memory import Memory
from beliefs.forget import FLOOR, fullness, plan
from beliefs.worth import Features, value
from jobs.weigh import use_of
from schemas.budget import Budget
from schemas.errors import NotFound
from schemas.policy import Policy

OLD = {
    "id": "o1",
    "observed_at": "2024-03-01",
    "agent": "archive",
    "claims": [{"entity": "shop", "attribute": "free shipping from", "value": 100, "weight": 2}],
}
NEW = OLD | {
    "id": "o2",
    "observed_at": "2024-05-20",
    "agent": "desk",
    "claims": [{"entity": "shop", "attribute": "free shipping from", "value": 200, "weight": 2}],
}
NOTE = {"id": "o3", "observed_at": "2024-05-21", "claims": [{"entity": "Wei", "statement": "Wei met Ana in Lisbon."}]}


def held(memory: Memory, text: str) -> str:
    """The belief that answers a question."""
    return memory.recall(text).found[0].belief.id


def test_the_value_of_a_belief_is_the_sum_of_its_named_terms(open_memory) -> None:
    memory = open_memory()
    memory.retain([OLD, NEW, NOTE])
    belief = held(memory, "From what amount is shipping free?")

    worth = memory.value_of(belief)

    assert worth.by == "heuristic"
    assert worth.value == pytest.approx(math.fsum(worth.terms.values()))
    assert worth.value == pytest.approx(value(msgspec.convert(worth.features, Features)))
    assert worth.holds
    assert worth.terms["surprise"] > 0  # from 100 had been believed surely before
    assert worth.features["recalled"] == 1


def test_use_raises_and_a_wrong_verdict_lowers_the_value(open_memory) -> None:
    memory = open_memory()
    memory.retain([NOTE])
    belief = held(memory, "Whom did Wei meet?")
    before = memory.value_of(belief).terms

    memory.feedback(belief, "used", agent="ana")
    memory.feedback(belief, "used", agent="ana")
    memory.feedback(belief, "used", agent="ben")
    memory.feedback(belief, "wrong", agent="dora")
    after = memory.value_of(belief)

    assert after.features["useful"] == 2
    assert after.features["wrong"] == 1
    assert after.terms["useful"] > before["useful"]
    assert after.terms["wrong"] < before["wrong"]


def test_what_bears_on_the_goals_of_the_bank_is_worth_more(open_memory) -> None:
    memory = open_memory()
    memory.retain([OLD, NEW, NOTE])
    shipping, note = held(memory, "From what amount is shipping free?"), held(memory, "Whom did Wei meet?")

    memory.set_policy(Policy(goals=("shipping costs",)))

    assert memory.value_of(shipping).features["relevance"] == pytest.approx(0.5)
    assert memory.value_of(note).features["relevance"] == 0.0


def test_a_private_rival_does_not_show_in_the_value_that_others_see(open_memory) -> None:
    memory = open_memory()
    private = OLD | {"visibility": "private", "owner": "lena", "agent": "lena"}
    memory.retain([private, NEW])
    belief = held(memory, "From what amount is shipping free?")

    assert memory.value_of(belief, principal="lena").terms["surprise"] > 0
    assert memory.value_of(belief).terms["surprise"] == 0
    hidden = next(
        found.belief.id for found in memory.recall("free shipping", principal="lena", statuses=("revoked",)).found
    )
    with pytest.raises(NotFound):
        memory.value_of(hidden)


def test_use_in_one_bank_is_no_use_in_another(open_memory) -> None:
    memory = open_memory()
    memory.retain([NOTE], bank="one")
    memory.retain([NOTE], bank="two")
    memory.recall("Whom did Wei meet?", bank="one")
    two = next(iter(memory.holders("two"))).id

    assert memory.value_of(two, bank="two").features["recalled"] == 0


def test_a_bank_is_measured_and_the_figure_kept_for_stats_and_metrics(open_memory) -> None:
    memory = open_memory()
    memory.set_policy(Policy(budget=Budget(beliefs=10)))
    memory.retain([OLD, NEW, NOTE])
    assert memory.budget().measured_at is None

    report = memory.budget(measure=True)

    assert report.use.beliefs == 3
    assert report.use.bytes > 300
    assert report.use.importance > 3
    assert report.fullness == pytest.approx(0.3)
    assert memory.budget() == report
    told = memory.stats("default")["budgets"]["default"]
    assert told["bounds"] == {"beliefs": 10}
    assert told["use"]["bytes"] == report.use.bytes
    assert told["measured_at"] == "2024-06-10T12:00:00Z"


def test_a_plan_over_a_live_bank_keeps_its_budget_and_never_drops_what_holds_or_is_pinned(open_memory) -> None:
    memory = open_memory()
    pinned = {"id": "o-pinned", "pinned": True, "claims": [{"entity": "Wei", "statement": "Wei is allergic to nuts."}]}
    chatter = [
        {"id": f"c{n}", "claims": [{"entity": "hall", "statement": f"In the hall bell {n} rang."}]} for n in range(60)
    ]
    memory.retain([OLD, NEW, pinned, *chatter])
    weighed = list(scales_of(memory.home, "default").all())
    use = use_of(weighed)
    budget = Budget(beliefs=20, bytes=use.bytes // 3)

    made = plan(budget, use, [one.candidate for one in weighed])

    dropped = {step.slot for step in made.steps if step.action in ("archive", "erase")}
    kept = {one.candidate.slot for one in weighed if one.candidate.pinned or one.candidate.holds}
    assert len(kept) == 2
    assert dropped
    assert not dropped & kept
    assert made.notes == ()
    assert FLOOR <= fullness(made.after, budget) <= 1.0


def test_without_outcomes_nothing_is_learned_and_the_heuristic_holds(open_memory) -> None:
    memory = open_memory()
    memory.retain([NOTE])

    learned = memory.learn_value()

    assert learned.by == "heuristic"
    assert learned.model is None
    assert "too few" in learned.reason


def test_what_recalls_teach_replaces_the_heuristic_where_it_ranks_better(open_memory) -> None:
    memory = open_memory()
    orders = [
        {
            "id": f"r{n}",
            "kind": "instruction",
            "tier": "high",
            "claims": [{"entity": f"desk {n}", "statement": f"Agents at desk {n} must log invoice {n} before noon."}],
        }
        for n in range(60)
    ]
    notes = [
        {
            "id": f"n{n}",
            "network": "opinion",
            "tier": "low",
            "claims": [{"entity": f"guest {n}", "statement": f"Guest {n} waved."}],
        }
        for n in range(60)
    ]
    memory.retain([*orders, *notes])
    for belief in list(memory.holders()):
        memory.recall(belief.statement, limit=5)
        memory.feedback(belief.id, "used" if belief.network == "opinion" else "wrong", agent="ana", wait=False)
    learned = memory.learn_value()

    assert learned.model is not None
    assert learned.by == "learned 1"
    assert learned.model.auc > 0.9 > learned.model.heuristic_auc
    note = next(belief.id for belief in memory.holders() if belief.network == "opinion")
    worth = memory.value_of(note)
    assert worth.by == "learned 1"
    assert worth.value == pytest.approx(math.fsum(worth.terms.values()))


def test_a_model_that_cannot_be_read_leaves_the_heuristic_in_force(open_memory) -> None:
    memory = open_memory()
    memory.retain([NOTE])
    folder = memory.home.folder.path / "value"
    folder.mkdir()
    (folder / "default.json").write_text("{", encoding="utf-8")

    assert memory.value_of(held(memory, "Whom did Wei meet?")).by == "heuristic"


def test_what_is_forgotten_leaves_no_trace_of_its_use_and_the_use_of_the_rest_stays(open_memory) -> None:
    memory = open_memory()
    memory.retain([NOTE, NEW])
    note, shipping = held(memory, "Whom did Wei meet?"), held(memory, "From what amount is shipping free?")
    memory.feedback(note, "used", agent="ana")
    memory.value_of(note)
    usage = memory.home.usage

    memory.forget(ids=["o3"])

    assert note not in usage.usage("default", [note, shipping])
    assert usage.usage("default", [shipping])[shipping].recalled > 0
    assert all(outcome.belief != note for outcome in usage.outcomes("default"))
