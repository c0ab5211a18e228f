"""The evaluations on tiny data, through the product: from files to one JSON object."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from beliefmesh.evaluate.bench import table
from beliefmesh.evaluate.bench_data import BANK, World
from beliefmesh.evaluate.bench_jobs import jobs
from beliefmesh.evaluate.bench_logs import importing, log_lines
from beliefmesh.evaluate.bench_sections import building, machine, recalling
from beliefmesh.evaluate.cli import eval_group
from beliefmesh.evaluate.locomo import evaluate_locomo
from beliefmesh.evaluate.place import memory_in
from schemas.errors import InvalidInput

CHANGES = [
    {"id": "c1", "at": 1700000000, "agent": "ann", "entity": "app.toml", "attribute": "log.level", "value": "info"},
    {"id": "c2", "at": 1700000000, "agent": "ann", "entity": "app.toml", "attribute": "log.file", "value": ""},
    {"id": "c3", "at": 1700000100, "agent": "bob", "entity": "app.toml", "attribute": "log.level", "value": "debug"},
    {"id": "c4", "at": 1700000200, "agent": "ann", "entity": "app.toml", "attribute": "log.file", "value": None},
    {"id": "c5", "at": 1700000200, "agent": "bob", "entity": "app.toml", "attribute": "port", "value": "80"},
]
TRUTH: list[dict[str, Any]] = [
    {
        "as_of": 1700000050,
        "state": [
            {"entity": "app.toml", "attribute": "log.level", "value": "info"},
            {"entity": "app.toml", "attribute": "log.file", "value": ""},
        ],
        "absent": [{"entity": "app.toml", "attribute": "port"}],
    },
    {
        "as_of": 1700000200,
        "state": [
            {"entity": "app.toml", "attribute": "log.level", "value": "debug"},
            {"entity": "app.toml", "attribute": "port", "value": "80"},
        ],
        "absent": [{"entity": "app.toml", "attribute": "log.file"}],
    },
]
CLAIMS = """\
orbitz\tAA-1\t1:55pDec 1\t2:07pDec 1\tGate D28\t3:00pDec 1\t\t
flightview\tAA-1\t1:55 PM, Dec 01\t2:10 PM, Dec 01\tD28\t3:00 PM, Dec 01\t\t--
flights\tAA-1\t2011-12-01 01:55 PM\t2011-12-01 02:40 PM\tTerminal D - D30\t\t\t
aa\tAA-1\t2011-12-01 09:00 AM\t\tZ1\t\t\t
orbitz\tAA-2\t9:00aDec 1\t\t\t\t\t
"""
GOLD = "AA-1\t12/01/2011 01:55 PM\t12/01/2011 02:40 PM\t D28 \t12/01/2011 03:00 PM\t\tB2\n"
CONVERSATIONS = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a greyhound called Comet last week."},
                {"speaker": "Bob", "dia_id": "D1:2", "text": "My violin lesson starts at noon."},
                {"speaker": "Ann", "dia_id": "D1:3", "text": "", "blip_caption": "a kayak on a frozen river"},
            ],
        },
        "qa": [
            {"question": "Who adopted a greyhound?", "answer": "Ann", "evidence": ["D1:1"], "category": 4},
            {"question": "What is on the frozen river, a kayak?", "answer": "yes", "evidence": ["D1:3"], "category": 1},
        ],
    }
]


def run(*arguments: str) -> Result:
    """The command, as the command line calls it."""
    return CliRunner().invoke(eval_group, list(arguments), catch_exceptions=False)


def config_files(folder: Path, truth: list[dict[str, Any]]) -> list[str]:
    """Both files of a settings history, one of them packed, as options."""
    observations, known = folder / "observations.jsonl.gz", folder / "truth.json"
    observations.write_bytes(gzip.compress("\n".join(json.dumps(one) for one in CHANGES).encode()))
    known.write_text(json.dumps(truth), "utf-8")
    return ["--observations", str(observations), "--truth", str(known)]


@pytest.mark.parametrize(
    "options",
    [[], ["--shuffle", "1"], ["--shuffle", "2", "--duplicate", "0.6", "--batch", "2"], ["--batch", "1", "--json"]],
)
def test_every_setting_is_right_at_every_time_in_any_order_and_with_duplicates(
    tmp_path: Path, options: list[str]
) -> None:
    result = run("config", *config_files(tmp_path, TRUTH), *options)

    printed = json.loads(result.stdout)
    assert (printed["accuracy_current"], printed["accuracy_as_of"]) == (1.0, 1.0)
    assert (printed["checked_as_of"], printed["checked_current"]) == (6, 6)
    assert printed["wrong"] == []
    assert printed["evidence"] == 5
    assert printed["observations_per_second"] > 0


def test_a_setting_that_is_not_as_the_truth_says_lowers_the_accuracy(tmp_path: Path) -> None:
    false = [
        {
            "as_of": 1700000050,
            "state": [{"entity": "app.toml", "attribute": "log.level", "value": "trace"}],
            "absent": [{"entity": "app.toml", "attribute": "port"}],
        }
    ]

    printed = json.loads(run("config", *config_files(tmp_path, false)).stdout)

    assert printed["accuracy_as_of"] == pytest.approx(1 / 3)
    assert printed["wrong"][0] == "app.toml log.level: ['info'] instead of 'trace'"


def test_settings_seen_in_a_repository_are_right_after_jobs_but_where_the_archive_says_so_and_wholly_once_restored(
    tmp_path: Path,
) -> None:
    port = {"entity": "app.toml", "attribute": "port"}
    seen = [(1700000000, "80"), (1700000100, "81"), (1700000200, "80")]
    changes = [{"id": f"c{at}", "at": at, "agent": "ann", "value": value, **port} for at, value in seen]
    truth = [{"as_of": at + 50, "state": [{"value": value, **port}]} for at, value in seen]
    (tmp_path / "o.jsonl").write_text("\n".join(map(json.dumps, changes)), "utf-8")
    (tmp_path / "t.json").write_text(json.dumps(truth), "utf-8")
    files = ["--observations", str(tmp_path / "o.jsonl"), "--truth", str(tmp_path / "t.json")]

    printed = json.loads(run("config", *files, "--sightings", "--forgetting").stdout)

    assert printed["archived"] == 1
    assert (printed["accuracy_current_archived"], printed["unsaid_archived"]) == (1.0, 0)
    assert printed["accuracy_as_of_archived"] == pytest.approx(2 / 3)
    assert printed["wrong_archived"] == ["app.toml port: [] instead of '80'"]
    assert (printed["accuracy_current"], printed["accuracy_as_of"]) == (1.0, 1.0)
    assert printed["evidence"] == 3


def test_flights_are_judged_by_cell_with_the_excluded_sources_left_out(tmp_path: Path) -> None:
    (tmp_path / "claims-20111201.tsv").write_text(CLAIMS, "utf-8")
    (tmp_path / "gold-20111201.tsv").write_text(GOLD, "utf-8")

    printed = json.loads(run("flight", "--claims", str(tmp_path), "--gold", str(tmp_path), "--exclude", "AA").stdout)

    assert printed["cells"] == 4
    assert printed["columns"]["scheduled_departure"] == 1.0
    assert printed["columns"]["departure_gate"] == 1.0
    assert printed["columns"]["actual_departure"] == 0.0
    assert printed["precision"] == 0.75
    assert printed["vote_precision"] == 0.75
    assert (printed["observations"], printed["claims"]) == (4, 12)
    assert 0.0 < printed["brier"] < 1.0


def test_only_flights_with_a_known_truth_are_fed_when_asked(tmp_path: Path) -> None:
    (tmp_path / "claims-20111201.tsv").write_text(CLAIMS, "utf-8")
    (tmp_path / "gold-20111201.tsv").write_text(GOLD, "utf-8")

    printed = json.loads(run("flight", "--claims", str(tmp_path), "--gold", str(tmp_path), "--only-gold").stdout)

    assert (printed["observations"], printed["claims"]) == (3, 11)


def test_trust_is_learned_from_the_first_days_and_judged_on_the_others(tmp_path: Path) -> None:
    for day in ("20111201", "20111202"):
        (tmp_path / f"claims-{day}.tsv").write_text(CLAIMS, "utf-8")
        (tmp_path / f"gold-{day}.tsv").write_text(GOLD, "utf-8")
    options = ["--claims", str(tmp_path), "--gold", str(tmp_path), "--exclude", "aa", "--calibrate-days", "8"]

    printed = json.loads(run("flight", *options, "--labels", "3", "--seed", "2").stdout)

    learned = printed["calibration"]
    assert printed["cells"] == 4
    assert (learned["labels"], learned["seed"], learned["judged_days"]) == (3, 2, 1)
    assert learned["before"]["precision"] == 0.75
    assert {"precision", "brier", "ece"} <= set(printed)


def test_trust_cannot_be_judged_on_a_single_day(tmp_path: Path) -> None:
    (tmp_path / "claims-20111201.tsv").write_text(CLAIMS, "utf-8")
    (tmp_path / "gold-20111201.tsv").write_text(GOLD, "utf-8")

    with pytest.raises(InvalidInput, match="calibrate_days: needs two days"):
        run("flight", "--claims", str(tmp_path), "--gold", str(tmp_path), "--calibrate-days", "8")


def test_the_turns_that_answer_a_question_are_recalled(tmp_path: Path) -> None:
    data = tmp_path / "locomo.json"
    data.write_text(json.dumps(CONVERSATIONS), "utf-8")
    told: list[str] = []

    printed = evaluate_locomo(data, embedder="hashing:64", report=told.append)

    assert (printed["recall@5"], printed["recall@10"], printed["questions"], printed["turns"]) == (1.0, 1.0, 2, 3)
    assert printed["categories"]["single-hop"]["questions"] == 1
    assert printed["degraded"] == 0
    assert told[0].startswith("conv-1: 3 turns")


def test_a_missing_file_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"data: cannot read nowhere\.json"):
        run("locomo", "--data", str(tmp_path / "nowhere.json"))


def test_a_folder_without_tables_is_an_error_that_names_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"gold: holds no file gold-\*"):
        run("flight", "--claims", str(tmp_path), "--gold", str(tmp_path))


def test_every_line_of_a_log_is_accounted_for_and_what_it_tells_is_counted(tmp_path: Path) -> None:
    lines = [
        "2024-06-10 09:00:00 INFO worker 1 is ready",
        "2024-06-10 09:00:01 INFO looked at 12 jobs",
        "2024-06-10 09:00:02 INFO looked at 13 jobs",
        "",
        "this line fits no format",
        "2024-06-10 09:00:03 INFO state=stopping",
        "2024-06-10 09:00:04 INFO state=ready",
    ]
    (tmp_path / "worker.log").write_text("\n".join(lines), "utf-8")

    figures = json.loads(run("logs", "--data", str(tmp_path), "--embedder", "none:").stdout)["worker.log"]

    assert (figures["lines"], figures["lost"], figures["dead"]) == (6, 0, 1)
    assert (figures["accepted"], figures["repeats"]) == (5, 1)  # of five good lines, and one for their hour
    assert figures["state_changes"] == 1
    assert figures["lines_per_second"] > 0


def test_the_benchmarks_log_gives_every_job_its_states() -> None:
    figures = importing(60, lambda _: None)

    assert (figures["lines"], figures["dead"]) == (60, 0)
    assert figures["state_changes"] == 16
    assert list(log_lines(60)) == list(log_lines(60))


def test_the_benchmarks_world_is_the_same_for_the_same_seed() -> None:
    assert list(World(3).conversations(30)) == list(World(3).conversations(30))
    assert World(3).questions(5) != World(4).questions(5)


def test_the_benchmark_fills_a_folder_and_recalls_from_it_in_another_opening(tmp_path: Path) -> None:
    built = building(tmp_path, 60, lambda _: None)
    answered: list[str] = []

    recalled = recalling(tmp_path, 5, lambda: answered.append("first"), lambda _: None)

    assert built["evidence"] == 66
    assert answered == ["first"]
    assert recalled["questions"] == 5
    assert recalled["degraded"] == 0
    assert recalled["mean_found"] > 0
    with memory_in(tmp_path, BANK, "hashing:384") as memory:
        assert memory.home.graph.counts(BANK)["unindexed"] == 0


def test_jobs_are_measured_over_what_is_due_and_what_is_spent() -> None:
    said: list[str] = []

    figures = jobs(200, said.append)

    assert (figures["decay_some"], figures["decay_rest"]) == (2, 198)
    assert (figures["compaction_evidence"], figures["compaction_archived"]) == (50, 45)
    assert (figures["budget_slots"], figures["budget_archived"]) == (20, 12)
    assert figures["ingestion_claims"] == 20
    assert (figures["digest_evidence"], figures["digest_saved"] > 0.5) == (45, True)
    assert [line.split()[1] for line in said] == ["decay", "digests", "ingestion"]


def test_the_table_names_the_machine_and_what_is_wanted() -> None:
    recall = {
        "p50_ms": 1.0,
        "p99_ms": 2.0,
        "mean_cpu_ms": 1.0,
        "retriever_p50_ms": {"keyword": 0.5},
        "degraded": 0,
        "degraded_before_first": 0,
        "questions": 9,
        "peak_rss_mb": 100.0,
        "peak_rss_with_embedder_mb": 200.0,
        "first_answer_seconds": 0.5,
        "embedder_first_query_seconds": 0.25,
    }
    build = {
        "beliefs": 10,
        "turns_per_second": 5.0,
        "turns_per_cpu_second": 6.0,
        "vector_graph_seconds": 1.0,
        "disk_mb": 1.0,
        "peak_rss_mb": 90.0,
    }
    names = [
        f"{way}_{by}"
        for way in ("single", "several", "single_streamed", "several_streamed")
        for by in ("per_second", "per_cpu_second")
    ]
    pipeline = dict.fromkeys([*names, "bare_inserts_per_second", "bare_inserts_to_pipeline"], 4000.0)
    upkeep = {
        "slots": 100,
        "decay_some": 1,
        "decay_some_seconds": 0.01,
        "decay_rest": 99,
        "decay_rest_seconds": 0.5,
        "decay_share": 0.02,
        "compaction_per_second": 5000.0,
        "budget_slots": 10,
        "weighed_per_second": 9000.0,
        "budget_archived_per_second": 2000.0,
        "ingestion_per_second": 3000.0,
        "ingestion_share": 0.85,
        "ingestion_cpu_share": 0.9,
    }
    figures = {
        "machine": machine(),
        "pipeline": pipeline,
        "resolve": {"pieces_1": 20000.0},
        "logs": {"lines": 9, "lines_per_second": 6000.0, "lines_per_cpu_second": 7000.0},
        "jobs": upkeep,
        "forget": {"observations": 9, "seconds": 1.0, "cpu_seconds": 1.0, "single_seconds": 0.1},
        "build": build,
        "recall": recall,
    }

    lines = table(figures).splitlines()

    assert "cores" in lines[0]
    assert any(line.split() == ["recall", "p50,", "ms", "1.0", "<=", "15"] for line in lines)
    assert any("resolve/CPU s, 1 pieces of evidence" in line and ">= 10,000" in line for line in lines)
