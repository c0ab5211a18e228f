"""The jobs that learn, propose, summarise and evaluate: each decides dry, takes effect once, and tells its figures."""

from pathlib import Path

import msgspec
import pytest

from beliefmesh.memory import Memory
from beliefmesh.work import work_on
from jobs.catalogue import JOBS
from jobs.compare import all_sides
from jobs.run import run_job
from schemas.errors import InvalidInput
from schemas.query import Principal


def person(number: int, name: str, **facts: str) -> dict[str, object]:
    claims = [{"attribute": attribute, "value": value} for attribute, value in facts.items()]
    return {
        "id": f"p{number}",
        "entity": {"name": name, "type": "person"},
        "claims": claims,
        "source": f"desk {number}",
    }


@pytest.fixture
def people(memory: Memory) -> Memory:
    """Two that are one by their email, and one more."""
    memory.retain(
        [
            person(1, "Bob Miller", email="bob@acme.example", city="Oslo"),
            person(2, "Robert Miller", email="bob@acme.example", city="Oslo"),
            person(3, "Ann Lee", email="ann@acme.example"),
        ]
    )
    return memory


def pairs(memory: Memory, **asked) -> list[tuple[str, str]]:
    return [(one.entity.name, one.into.name) for one in memory.merge_proposals(**asked)]


def test_proposed_merges_are_kept_shown_with_their_time_and_gone_once_merged(people: Memory) -> None:
    assert people.run_job("merge-proposals", mode="dry run").counts == {"entities": 3, "proposals": 1}
    assert people.merge_proposals()[0].found_at is None

    run = people.run_job("merge-proposals")

    assert run.counts == {"entities": 3, "proposals": 1}
    assert "Miller" not in run.examples[0]
    (kept,) = people.merge_proposals()
    assert (kept.found_at, kept.score) == (people.home.clock(), people.merge_proposals(fresh=True)[0].score)
    people.retain(person(4, "Anne Lee", email="ann@acme.example"))
    assert len(pairs(people)) == 1
    assert len(pairs(people, fresh=True)) == 2
    assert len(pairs(people, principal=Principal("ann"))) == 2
    people.merge("Bob Miller", into="Robert Miller")
    assert pairs(people) == []


def test_a_lower_score_than_the_job_looked_for_is_looked_for_anew(people: Memory) -> None:
    people.run_job("merge-proposals", arguments={"at_least": "0.99999"})

    assert pairs(people, at_least=0.99999) == []
    assert len(pairs(people)) == 1


def test_forgetting_takes_what_was_proposed_along(people: Memory) -> None:
    people.run_job("merge-proposals")

    people.forget(ids=["p1"])

    files = [file for file in people.home.folder.path.rglob("*") if file.is_file()]
    assert not [file for file in files if b"Bob Miller" in file.read_bytes()]
    assert pairs(people) == []


@pytest.fixture
def gates(open_memory) -> Memory:
    """An airport that is right about the gates of nine flights, and a blog that is wrong."""
    memory: Memory = open_memory(embedder="none:")
    for origin, gate in (("airport", "B2"), ("blog", "C9")):
        memory.retain(
            [
                {
                    "entity": f"UA {flight}",
                    "observed_at": "2024-06-10T08:00:00Z",
                    "source": {"id": origin, "origin": origin},
                    "claims": [{"attribute": "gate", "value": gate}],
                }
                for flight in range(1, 10)
            ]
        )
    return memory


def gold_file(folder: Path) -> str:
    file = folder / "gold.jsonl"
    file.write_text(
        "".join(f'{{"entity": "UA {flight}", "attribute": "gate", "value": "B2"}}\n' for flight in range(1, 9))
    )
    return str(file)


def test_calibration_as_a_job_decides_every_slot_by_what_was_learned(gates: Memory, tmp_path: Path) -> None:
    def told() -> set[object]:
        return {found.belief.value for found in gates.recall("gate of UA 9", limit=1).found}

    gold = {"gold": gold_file(tmp_path)}
    dry = gates.run_job("calibrate", mode="dry run", arguments=gold)
    assert (dry.counts["outcomes"], gates.home.graph.policy("default").trust.version) == (8, 0)

    run = gates.run_job("calibrate", arguments=gold)

    assert (run.counts["from gold"], run.counts["slots"], run.arguments) == (8, 9, gold)
    assert run.figures["brier after"] < run.figures["brier before"]
    assert told() == {"B2"}
    assert gates.doctor().differences == ()
    assert gates.home.graph.policy("default").trust.version == 1
    assert gates.run_job("calibrate", arguments=gold).figures["trust version"] == 1


def test_a_calibration_that_stopped_after_learning_goes_on_with_the_slots(gates: Memory, tmp_path: Path) -> None:
    gold = {"gold": gold_file(tmp_path)}
    pages: list[int] = []

    stopped = gates.run_job("calibrate", arguments=gold, told=lambda run: pages.append(1), enough=lambda: bool(pages))
    assert (stopped.ended, stopped.cursor) == (None, "learned/")
    done = gates.run_job("calibrate", arguments=gold)

    assert (done.id, done.counts["slots"]) == (stopped.id, 9)


def test_calibration_without_anything_known_says_so_and_a_file_that_is_none_is_named(gates: Memory) -> None:
    assert list(gates.run_job("calibrate").reasons) == [
        "neither a known answer nor feedback says anything about what a source has stated"
    ]
    with pytest.raises(InvalidInput, match="cannot read gold"):
        gates.run_job("calibrate", arguments={"gold": "/nowhere/gold.jsonl"})
    assert "cannot read gold.jsonl" in "".join(run.failed for run in gates.job_runs("calibrate"))


def test_another_argument_begins_another_run(gates: Memory) -> None:
    stopped = gates.run_job("archive", enough=lambda: True)

    assert gates.run_job("archive", arguments={"after_days": "7"}).arguments == {"after_days": "7"}
    assert [run.ended is None for run in gates.job_runs("archive")].count(False) == 1
    assert stopped.ended is None


def test_value_is_learned_from_the_recall_log_with_figures_or_the_reason_why_not(open_memory) -> None:
    memory: Memory = open_memory()
    memory.retain([{"text": f"Host {number} is in rack {number % 7}.", "agent": "ann"} for number in range(80)])

    assert memory.run_job("learn-value").counts.get("outcomes", 0) == 0
    for number in range(60):
        answer = memory.recall(f"Host {number}", limit=1)
        if number % 2:
            memory.feedback(answer, "used", agent="ann")
    dry = memory.run_job("learn-value", mode="dry run")
    assert memory.value_of(answer.found[0].belief.id).by == "heuristic"
    run = memory.run_job("learn-value")

    assert run.counts == dry.counts
    assert run.counts["outcomes"] >= 40
    assert {"auc", "heuristic auc", "version"} == set(run.figures)
    (reason,) = run.reasons
    assert "held-out beliefs" in reason


def test_summaries_that_are_out_of_date_are_written_again(memory: Memory) -> None:
    memory.retain(
        {"id": "a", "entity": "UA 1", "observed_at": "2024-06-01", "claims": [{"attribute": "gate", "value": "B2"}]}
    )
    memory.summary("UA 1")
    assert memory.run_job("summaries").counts == {"slots": 2, "summaries": 1}
    memory.retain(
        {"id": "b", "entity": "UA 1", "observed_at": "2024-06-02", "claims": [{"attribute": "gate", "value": "C4"}]}
    )

    assert memory.run_job("summaries", mode="dry run").counts["refreshed"] == 1
    run = memory.run_job("summaries")

    assert run.counts["refreshed"] == 1
    assert not memory.summary("UA 1").refreshed
    assert "C4" in memory.summary("UA 1").text
    assert memory.run_job("summaries").counts == {"slots": 2, "summaries": 1}


def test_an_evaluation_runs_and_its_figures_are_kept(memory: Memory) -> None:
    run = memory.run_job("evaluate", arguments={"evaluation": "entities"})

    precision = [figure for name, figure in run.figures.items() if "precision" in name]
    assert precision
    assert all(0.0 <= figure <= 1.0 for figure in precision)
    assert memory.job_run(run.id).figures == run.figures
    with pytest.raises(InvalidInput, match="data: nothing is no folder"):
        memory.run_job("evaluate", arguments={"evaluation": "config"})


def test_what_each_job_is_told_stands_in_the_settings(memory: Memory) -> None:
    for job in JOBS.values():
        work = work_on(memory.home, "default", job, "dry run")
        assert set(work.arguments) == {argument.name for argument in job.arguments}
        if job.name != "restore":
            assert hasattr(memory.home.settings.jobs, job.interval)
            assert run_job(job, work, memory.home.ledger).ended is not None


def test_banks_that_jobs_change_are_held_against_those_in_shadow_mode(open_memory) -> None:
    memory: Memory = open_memory(embedder="none:")
    for bank in ("a", "b", "c"):
        memory.retain([person(number, f"Bob {number}", city="Oslo") for number in range(4)], bank=bank)
    settings = msgspec.structs.replace(memory.home.settings.jobs, banks="a")
    memory.home.settings = msgspec.structs.replace(memory.home.settings, jobs=settings)
    memory.feedback(memory.recall("Bob 1", bank="a", limit=1), "used", agent="ann", bank="a")
    memory.run_job("archive", bank="a")
    memory.run_job("archive", bank="b", mode="shadow")
    memory.run_job("archive", bank="c", mode="dry run")

    treated, shadow = memory.job_sides().sides

    assert (treated.treated, treated.banks, treated.kept) == (True, 1, {"beliefs": 4, "evidence": 4, "slots": 4})
    assert treated.usage == {"recalled": 1, "right or used": 1}
    assert (shadow.banks, shadow.kept["evidence"], shadow.usage) == (2, 8, {})
    assert (treated.runs["archive runs"], shadow.runs) == (1, {"archive runs": 1, "archive slots": 4})


def test_a_bank_that_is_archived_whole_is_held_against_the_others_too(open_memory) -> None:
    memory: Memory = open_memory(embedder="none:")
    old = {"claims": [{"entity": "UA 1", "attribute": "gate", "value": "B2"}], "valid_until": "2020-05-02"}
    memory.retain(old, bank="old", observed_at="2020-05-01")
    memory.retain("The desk opens at 9.", bank="new")
    memory.run_job("archive", bank="old")

    (treated, _) = memory.job_sides().sides

    assert memory.banks() == ["new"]
    assert (treated.banks, treated.archived, treated.runs["archive runs"]) == (2, 1, 1)


def test_the_pages_of_a_comparison_add_up_to_the_whole(open_memory) -> None:
    memory: Memory = open_memory(embedder="none:")
    for bank in ("a", "b", "c"):
        memory.retain([person(number, f"Bob {number}", city="Oslo") for number in range(2)], bank=bank)
        memory.run_job("archive", bank=bank)
    settings = msgspec.structs.replace(memory.home.settings.jobs, banks="a,c")
    memory.home.settings = msgspec.structs.replace(memory.home.settings, jobs=settings)

    first = memory.job_sides(limit=2)
    second = memory.job_sides(limit=2, after=first.next)

    assert [side.banks for page in (first, second) for side in page.sides] == [1, 1, 1, 0]
    assert second.next == ""
    assert all_sides(lambda place: memory.job_sides(limit=2, after=place)) == memory.job_sides()
    assert memory.job_sides().sides[0].kept == {"beliefs": 4, "evidence": 4, "slots": 4}
