"""The budget job makes room by what is worth least, drops nothing that holds, and loses nothing to writers or kills."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from beliefmesh.memory import Memory
from beliefmesh.settings import JobSettings
from beliefmesh.work import work_on
from jobs.catalogue import JOBS
from jobs.run import run_job
from schemas.budget import Budget
from schemas.policy import Policy

COMPACTOR = Path(__file__).with_name("compactor.py")
ROOT = Path(__file__).parents[2]
ASKED = 1_718_020_800_000_000
RULE = {
    "id": "rule",
    "kind": "instruction",
    "tier": "high",
    "claims": [{"entity": "shop", "attribute": "free shipping from", "value": 200}],
}
PINNED = {"id": "pin", "pinned": True, "claims": [{"entity": "Wei", "statement": "Wei is allergic to nuts."}]}


def chatter(count: int, first: int = 0) -> list[dict[str, object]]:
    return [
        {"id": f"c{n}", "claims": [{"entity": "hall", "statement": f"In the hall bell {n} rang."}]}
        for n in range(first, first + count)
    ]


def repeats(count: int) -> list[dict[str, object]]:
    """What one monitor said of a host again and again."""
    claim = {"entity": "host", "attribute": "state", "value": "up"}
    return [
        {"id": f"r{n}", "observed_at": f"2024-05-{n + 1:02}", "source": {"id": "monitor"}, "claims": [claim]}
        for n in range(count)
    ]


@pytest.fixture
def full(open_memory) -> Memory:
    """A rule, something pinned, twenty repeats and a hundred free statements; at most fifty beliefs are to be kept."""
    memory: Memory = open_memory(embedder="none:")
    memory.retain([RULE, PINNED, *repeats(20), *chatter(100)])
    memory.set_policy(Policy(budget=Budget(beliefs=50)))
    return memory


def beliefs(memory: Memory) -> int:
    return int(memory.stats("default")["banks"]["default"]["beliefs"])


def test_a_bank_over_its_budget_is_brought_down_and_the_rest_lies_in_the_archive(full: Memory) -> None:
    whole = full.state_hash(now=ASKED)

    run = full.run_job("budget")

    assert run.counts["slots"] == 103
    assert run.counts["archive slots"] == 61
    assert run.reasons == {"archived: worth less than what stays": 61}
    assert run.notes == ("beliefs: 103 of 50, to become 42",)
    assert "archive, worth" in run.examples[0]
    assert run.bytes > 0
    assert beliefs(full) == 42 == full.budget().use.beliefs
    assert full.home.archive.size("default") == 61
    assert {"up", 200} <= {belief.value for belief in full.holders()}
    assert any("nuts" in belief.statement for belief in full.holders())
    assert full.doctor().differences == ()
    assert full.run_job("budget").notes == ("beliefs: 42 of 50",)
    full.run_job("restore")
    assert full.state_hash(now=ASKED) == whole


def test_repeats_are_compressed_first_and_nothing_leaves_if_that_is_enough(open_memory) -> None:
    memory: Memory = open_memory(embedder="none:")
    memory.retain([RULE, *repeats(28), *chatter(10)])
    bytes_now = memory.budget(measure=True).use.bytes
    memory.set_policy(Policy(budget=Budget(bytes=bytes_now)))

    run = memory.run_job("budget")

    assert run.counts["compress slots"] == 1
    assert run.counts["compress pieces"] == 27
    assert "archive slots" not in run.counts
    assert beliefs(memory) == 12
    assert memory.budget(measure=True).use.bytes == bytes_now - run.counts["bytes freed"]


@pytest.mark.parametrize("mode", ["dry run", "shadow"])
def test_a_run_that_only_decides_says_what_would_go_and_changes_nothing(full: Memory, mode) -> None:
    run = full.run_job("budget", mode=mode)

    assert run.counts["archive slots"] == 61
    assert run.notes == ("beliefs: 103 of 50, to become 42",)
    assert beliefs(full) == 103
    assert full.home.archive.size("default") == 0
    assert full.run_job("budget").counts["archive slots"] == 61


def test_a_bank_without_a_budget_stays_as_it_is(open_memory) -> None:
    memory: Memory = open_memory(embedder="none:")
    memory.retain(chatter(3))

    assert memory.run_job("budget").notes == ("the policy of the bank has no budget",)
    assert beliefs(memory) == 3


def test_holders_that_exceed_the_budget_alone_are_kept_and_the_report_says_so(open_memory) -> None:
    memory: Memory = open_memory(embedder="none:")
    hosts = [
        {"id": f"h{n}", "claims": [{"entity": f"host {n}", "attribute": "state", "value": "up"}]} for n in range(9)
    ]
    memory.retain([*hosts, *chatter(5)])
    memory.set_policy(Policy(budget=Budget(beliefs=4)))

    run = memory.run_job("budget")

    assert beliefs(memory) == 9
    assert run.notes[1].startswith("use stays at 225% of the budget: what may be dropped is not enough")
    assert memory.budget().note == run.notes[1]


def test_a_refuted_statement_is_kept_since_it_would_be_believed_if_told_again(open_memory) -> None:
    memory: Memory = open_memory(embedder="none:")
    memory.retain(chatter(40))
    wrong = next(belief.id for belief in memory.holders() if "bell 7 " in belief.statement)
    memory.feedback(wrong, "wrong", agent="ana")
    memory.set_policy(Policy(budget=Budget(beliefs=10)))

    memory.run_job("budget")

    assert beliefs(memory) <= 10
    assert memory.home.graph.beliefs("default", [wrong])[wrong].status == "revoked"


def test_what_a_conclusion_comes_to_rest_on_or_somebody_pins_after_the_plan_was_made_stays(full: Memory) -> None:
    pages: list[int] = []
    full.run_job("budget", told=lambda run: pages.append(run.pages), enough=lambda: len(pages) == 2)
    planned = [step.slot for step in full.home.plans.steps("default", "apply", 0, 10)]
    premise, other = (full.home.graph.slots("default", planned)[slot].beliefs[0] for slot in planned[:2])

    claim = {"entity": "hall", "statement": "The hall is in use.", "kind": "derivation", "premises": [premise.id]}
    full.retain({"id": "conclusion", "claims": [claim]})
    full.retain({"id": "kept", "pinned": True, "claims": [{"entity": "hall", "statement": other.statement}]})
    run = full.run_job("budget")

    assert run.counts["moved on"] == 2
    assert run.counts["archive slots"] == 59
    assert full.home.graph.beliefs("default", [premise.id, other.id]).keys() == {premise.id, other.id}
    assert full.doctor().differences == ()


def without_archive(memory: Memory) -> None:
    """Let the archive have no room."""
    memory.home.settings = msgspec.structs.replace(memory.home.settings, jobs=JobSettings(archive_megabytes=0.0))


def test_what_no_archive_takes_is_erased_only_if_the_budget_allows_it(full: Memory) -> None:
    without_archive(full)
    kept = full.run_job("budget")
    full.set_policy(Policy(budget=Budget(beliefs=50, erase=True)))

    gone = full.run_job("budget")

    assert "the budget does not allow to erase" in kept.notes[1]
    assert kept.counts == {"slots": 103}
    assert gone.counts["erase slots"] == 61
    assert beliefs(full) == 42
    assert full.home.archive.size("default") == 0
    assert full.doctor().differences == ()
    assert len(full.recall("bell rang in the hall", limit=100).found) <= 42


def test_a_hundred_writers_lose_nothing_to_a_slow_run(full: Memory, open_memory) -> None:
    reached, go = threading.Event(), threading.Event()

    class Slow:
        """A mesh of which an amendment waits, after the archive is written, until others have written."""

        def amend(self, amendments, now):
            reached.set()
            assert go.wait(60)
            return full.home.mesh.amend(amendments, now)

        def __getattr__(self, name: str):
            return getattr(full.home.mesh, name)

    work = msgspec.structs.replace(work_on(full.home, "default", JOBS["budget"]), mesh=Slow())
    running = threading.Thread(target=lambda: run_job(JOBS["budget"], work, full.home.ledger))
    again = [one | {"id": f"w{n}", "agent": f"writer {n}"} for n, one in enumerate(chatter(100))]

    running.start()
    assert reached.wait(60)
    writers = [threading.Thread(target=full.retain, args=(one,)) for one in again]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    go.set()
    running.join()
    full.home.worker.drain()

    assert full.doctor().differences == ()
    run = full.job_runs("budget")[0]
    assert run.counts["moved on"] == 61
    kept = full.home.graph.evidence_of_observations("default", [f"w{n}" for n in range(100)])
    assert len(kept) == 100
    full.run_job("budget")
    assert beliefs(full) == 42
    full.run_job("restore")
    undisturbed: Memory = open_memory("undisturbed", embedder="none:")
    undisturbed.retain([RULE, PINNED, *repeats(20), *chatter(100), *again])
    assert full.state_hash(now=ASKED) == undisturbed.state_hash(now=ASKED)


@pytest.mark.slow
@pytest.mark.parametrize(("job", "left"), [("budget", 4), ("budget-erase", 4), ("budget-demote", 10)])
def test_a_run_killed_before_any_step_is_completed_by_the_next(
    job: str, left: int, open_memory, tmp_path: Path
) -> None:
    """A process kills itself before the n-th call that the job makes of mesh, graph, archive, plans or ledger."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(COMPACTOR), str(tmp_path), job]
    done = subprocess.run(command, env=environment, timeout=240, capture_output=True, text=True, check=True)

    def state(folder: str) -> tuple[str, tuple[str, ...], int, int, int]:
        embedder = "hashing:256" if job == "budget-demote" else "none:"
        memory: Memory = open_memory(folder, embedder=embedder, at="2026-06-10T12:00:00Z")
        found = (
            memory.state_hash(now=ASKED),
            memory.doctor().differences,
            memory.home.archive.size("default"),
            memory.budget(measure=True).use.beliefs,
            memory.budget().use.bytes,
        )
        memory.close()
        return found

    kills = int(done.stdout)
    assert kills > 10
    assert {state(f"killed-{step}") for step in range(1, kills + 1)} == {state("whole")}
    assert state("whole")[1] == ()
    assert state("whole")[3] == left
