"""What /metrics tells: every family that the docs name, in the form asked for, counted where the work was done."""

import re
from pathlib import Path

import httpx
import msgspec
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text

from actors.shard import EntityShard
from beliefmesh.memory import Memory
from schemas.errors import Busy, StoreUnavailable
from schemas.instant import SECOND
from schemas.job import JobRun
from schemas.slot import Amendment
from stores.ledger import open_ledger
from stores.owner import new_owner

DOCS = Path(__file__).parents[2] / "docs" / "observing.md"


def scraped(url: str, accept: str = "") -> str:
    return httpx.get(f"{url}/metrics", headers={"accept": accept}, timeout=30.0).text


def sample(text: str, metric: str, **labels: str) -> float:
    """The value of one sample."""
    found = [
        each.value
        for family in plain_text(text)
        for each in family.samples
        if each.name == metric and each.labels == labels
    ]
    assert len(found) == 1, f"{metric}{labels} occurs {len(found)} times"
    return found[0]


def test_the_docs_name_exactly_the_families_that_are_exposed(memory: Memory, url: str) -> None:
    documented = set(
        re.findall(r"^\| `(beliefmesh_\w+?)(?:_total)?(?:\{[\w,]*\})?` \|", DOCS.read_text(), re.MULTILINE)
    )
    exposed = {family.name for family in plain_text(scraped(url)) if family.name.startswith("beliefmesh_")}

    assert documented == exposed


def test_a_scraper_that_knows_openmetrics_gets_that(memory: Memory, url: str) -> None:
    memory.retain("Free shipping from 200.")

    answer = httpx.get(
        f"{url}/metrics", headers={"accept": "application/openmetrics-text; version=1.0.0"}, timeout=30.0
    )

    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert {"beliefmesh_count", "beliefmesh_stage_seconds"} <= {family.name for family in open_metrics(answer.text)}
    assert httpx.get(f"{url}/metrics", timeout=30.0).headers["content-type"].startswith("text/plain")


def test_a_batch_counts_at_every_stage_with_its_seconds_and_its_size(memory: Memory, url: str) -> None:
    memory.retain(["Free shipping from 200.", "The shop opens at 9:00."])

    text = scraped(url)

    assert sample(text, "beliefmesh_accepted_total", bank="default") == 2
    assert sample(text, "beliefmesh_handled_total", kind="observations") == 2
    for stage in ("extract", "decide", "index"):
        assert sample(text, "beliefmesh_stage_seconds_count", stage=stage) >= 1
        assert sample(text, "beliefmesh_stage_records_sum", stage=stage) >= 1
    assert sample(text, "beliefmesh_cache_requests_total", cache="slots", result="miss") == 2
    assert sample(text, "beliefmesh_cache_requests_total", cache="vectors", result="miss") == 2


def test_a_question_counts_by_its_outcome_and_by_retriever(memory: Memory, url: str) -> None:
    memory.retain("Free shipping from 200.")
    memory.recall("From what amount is shipping free?")

    text = scraped(url)

    assert sample(text, "beliefmesh_recalls_total", outcome="answered") == 1
    assert sample(text, "beliefmesh_recall_seconds_count") == 1
    assert sample(text, "beliefmesh_retriever_calls_total", retriever="keyword", state="ok") == 1
    assert sample(text, "beliefmesh_retriever_candidates_total", retriever="keyword") == 1
    assert sample(text, "beliefmesh_retriever_seconds_count", retriever="semantic") == 1
    assert sample(text, "beliefmesh_retriever_calls_total", retriever="temporal", state="skipped") == 1


def test_a_retriever_that_fails_makes_the_answer_count_as_degraded(open_memory, tmp_path: Path) -> None:
    def broken(question: object, sources: object) -> None:
        raise StoreUnavailable("the map is away")

    with Memory(tmp_path / "own", retrievers={"map": broken}) as memory:
        memory.retain("Free shipping from 200.")
        memory.recall("From what amount is shipping free?")

        assert +memory.home.tally.recalls == {"degraded": 1}
        assert memory.home.tally.retrievers["map", "failed"] == 1


def test_a_line_that_is_set_aside_counts_at_its_stage(memory: Memory, url: str) -> None:
    memory.import_lines([b"{no json"])

    text = scraped(url)

    assert sample(text, "beliefmesh_dead_lettered_total", stage="intake") == 1
    assert sample(text, "beliefmesh_dead_letters") == 1


def test_a_run_of_a_job_counts_by_its_outcome(memory: Memory, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.retain("Free shipping from 200.")
    memory.run_job("decay")
    memory.run_job("decay", enough=lambda: True)
    memory.home.ledger.take("default", "other/1/x", memory.home.clock())
    with pytest.raises(Busy):
        memory.run_job("decay")

    text = scraped(url)

    outcomes = {
        outcome: sample(text, "beliefmesh_job_runs_total", name="decay", mode="apply", outcome=outcome)
        for outcome in ("done", "stopped", "busy")
    }
    assert outcomes == {"done": 1, "stopped": 1, "busy": 1}
    assert sample(text, "beliefmesh_job_seconds_count", name="decay") == 3


def test_a_write_that_meets_another_writer_counts_as_a_conflict(memory: Memory, url: str) -> None:
    def told(value: int) -> None:
        claim = {"entity": "shop", "attribute": "free shipping from", "value": value}
        memory.retain({"text": f"Free shipping from {value}.", "claims": [claim]})

    told(100)
    told(150)
    graph = memory.home.graph
    (stored,) = graph.load_slots("default", graph.scan("default", "", 1)).values()
    gone = Amendment(bank="default", slot=stored.slot.id, remove=(stored.evidence[0].id,))
    EntityShard(graph).amend([gone], memory.home.clock())
    told(200)

    text = scraped(url)

    assert sample(text, "beliefmesh_version_conflicts_total", outcome="met") == 1
    assert sample(text, "beliefmesh_version_conflicts_total", outcome="given up") == 0


def test_the_last_run_of_a_job_is_told_whichever_process_of_the_folder_ran_it(memory: Memory, url: str) -> None:
    folder, mine = memory.home.folder.path, new_owner()
    elsewhere = open_ledger(f"sqlite:///{folder / 'jobs.db'}")
    at = memory.home.clock()
    ran = JobRun(
        id="j1", job="decay", bank="shop", mode="apply", started=at, ended=at + 90 * SECOND, counts={"slots": 7}
    )
    elsewhere.take("shop", mine, at)
    elsewhere.save(ran, mine, at)
    elsewhere.save(msgspec.structs.replace(ran, id="j2", started=at + 1, ended=None, failed="away"), mine, at)
    elsewhere.close()

    text = scraped(url)

    assert sample(text, "beliefmesh_job_last_end_seconds", name="decay", bank="shop") == at / SECOND + 90
    assert sample(text, "beliefmesh_job_last_duration_seconds", name="decay", bank="shop") == 90
    assert sample(text, "beliefmesh_job_last_count", name="decay", bank="shop", kind="slots") == 7
    assert sample(text, "beliefmesh_job_last_failed", name="decay", bank="shop") == 1
    assert memory.stats("shop")["jobs"][0]["failed"] is True
    assert memory.stats("other")["jobs"] == []
