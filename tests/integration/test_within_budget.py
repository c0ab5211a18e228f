"""While a mesh is up its banks stay within their budgets, during a stream ten times as large, and use stays high."""

from itertools import count
from pathlib import Path

import pytest

from beliefmesh.memory import Memory
from beliefmesh.scheduled import scheduled
from schemas.budget import MEASURES, Budget, Use
from schemas.instant import parse_instant
from schemas.policy import Policy

WORDS = ("paper", "queue", "window", "gate", "ticket", "lamp", "crane", "meter")


def noted(number: int, **fields) -> dict[str, object]:
    words = f"{WORDS[number % 8]} {number} was checked by team {number % 7}, {WORDS[number // 8 % 8]} next"
    return {"id": f"n{number}", "claims": [{"entity": f"hall {number % 9}", "statement": words}], **fields}


def use_now(memory: Memory) -> Use:
    return memory.budget(measure=True).use


@pytest.fixture
def told(open_memory) -> Memory:
    """A rule, something pinned, and five hosts that are up, none of which may ever go."""
    ticking = count(parse_instant("2024-06-10T12:00:00Z", "at"))
    memory: Memory = open_memory(embedder="none:", clock=ticking.__next__)
    rule = {"attribute": "free shipping from", "value": 200}
    memory.retain({"id": "rule", "kind": "instruction", "claims": [{"entity": "shop", **rule}]})
    memory.retain({"id": "pin", "pinned": True, "claims": [{"entity": "Wei", "statement": "Wei eats no nuts."}]})
    up = {"attribute": "state", "value": "up"}
    memory.retain([{"id": f"h{n}", "claims": [{"entity": f"host {n}", **up}]} for n in range(5)])
    return memory


@pytest.mark.parametrize("measure", MEASURES)
def test_a_stream_ten_times_the_budget_never_takes_a_bank_over_it(told: Memory, measure: str) -> None:
    bound = {"beliefs": 100, "bytes": 75_000, "importance": 300.0}[measure]
    told.set_policy(Policy(budget=Budget(**{measure: bound})))
    shares: list[float] = []

    with scheduled(told):
        for start in range(0, 1_000, 50):
            told.retain([noted(number) for number in range(start, start + 50)])
            shares.append(getattr(use_now(told), measure) / bound)

    assert max(shares) <= 1.01
    assert min(shares[5:]) >= 0.8
    held = {belief.value for belief in told.holders() if belief.attribute}
    assert held == {200, "up"}
    assert sum(belief.attribute == "state" for belief in told.holders()) == 5
    assert any("nuts" in belief.statement for belief in told.holders())
    assert told.doctor().differences == ()


def test_one_call_that_brings_ten_budgets_is_let_in_by_portions(told: Memory) -> None:
    told.set_policy(Policy(budget=Budget(beliefs=60)))
    seen: list[int] = []
    apply = told.home.mesh.apply

    def counted(batches, now):
        applied = apply(batches, now)
        seen.append(told.home.graph.counts("default")["beliefs"])
        return applied

    told.home.mesh.apply = counted  # type: ignore[method-assign]
    with scheduled(told):
        told.retain([noted(number) for number in range(600)])

    assert max(seen) <= 60
    assert seen[-1] >= 48
    assert told.home.archive.size("default") == 600 + 7 - seen[-1]


def test_holders_that_fill_the_budget_are_all_let_in_and_it_is_said(told: Memory) -> None:
    told.set_policy(Policy(budget=Budget(beliefs=50)))
    up = {"attribute": "state", "value": "up"}

    with scheduled(told):
        told.retain([{"id": f"x{n}", "claims": [{"entity": f"rack {n}", **up}]} for n in range(100)])

    assert use_now(told).beliefs == 107
    assert "the rest is pinned or holds a slot" in told.budget().note
    assert told.stats("default")["budgets"]["default"]["note"] == told.budget().note
    assert len(told.job_runs("budget")) < 40


def test_a_run_that_is_not_yet_at_its_plan_leaves_what_the_one_before_said(told: Memory) -> None:
    told.set_policy(Policy(budget=Budget(beliefs=5)))
    told.run_job("budget")
    pages: list[str] = []

    stopped = told.run_job("budget", told=lambda run: pages.append(run.cursor), enough=lambda: bool(pages))

    assert stopped.ended is None
    assert stopped.notes == ()
    assert "the rest is pinned or holds a slot" in told.budget().note


def test_where_the_archive_cannot_be_written_all_is_let_in_and_other_banks_go_on(told: Memory) -> None:
    (Path(told.home.folder.path) / "archive").write_text("no folder")
    told.set_policy(Policy(budget=Budget(beliefs=50)))

    with scheduled(told):
        told.retain([noted(number) for number in range(100)])
        told.retain([noted(number) for number in range(10)], bank="other")

    assert use_now(told).beliefs == 107
    assert told.stats("other")["banks"]["other"]["evidence"] == 10


def test_another_bank_and_one_in_shadow_are_left_alone(told: Memory) -> None:
    told.set_policy(Policy(budget=Budget(beliefs=50)), bank="small")

    with scheduled(told):
        told.retain([noted(number) for number in range(200)])
        told.retain([noted(number) for number in range(200)], bank="small")

    assert use_now(told).beliefs == 207
    assert told.budget(bank="small", measure=True).use.beliefs <= 50
