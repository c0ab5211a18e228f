"""The benchmark: figures and ratios on this machine, as one table or one JSON object (`make bench`)."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click

from beliefmesh.evaluate.bench_forgetting import forgetting
from beliefmesh.evaluate.bench_jobs import jobs
from beliefmesh.evaluate.bench_logs import importing
from beliefmesh.evaluate.bench_sections import building, machine, pipeline, recalling, resolving
from beliefmesh.logs import configure_logs
from beliefmesh.settings import LogSettings
from schemas.errors import StoreUnavailable
from schemas.extras import load_with

FULL = {
    "beliefs": 100_000,
    "claims": 20_000,
    "questions": 400,
    "burst": 50_000,
    "slots": 200_000,
    "forgotten": 10_000,
    "lines": 20_000,
}
QUICK = {
    "beliefs": 10_000,
    "claims": 5_000,
    "questions": 100,
    "burst": 10_000,
    "slots": 10_000,
    "forgotten": 1_000,
    "lines": 2_000,
}
_FIRST = "first answer"
_SECTIONS = ("pipeline", "resolve", "logs", "kafka", "trips", "jobs", "forget", "build", "recall")


@click.command()
@click.option("--quick", is_flag=True, help="A tenth of the size, for a first look.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Fill this folder and keep it.")
@click.option("--kafka", metavar="HOST:PORT", default="", help="Measure over this broker too.")
@click.option("--nebula", metavar="URL", default="", help="Count round trips to this empty space, and to Milvus Lite.")
@click.option("--section", type=click.Choice(_SECTIONS), hidden=True)
def main(quick: bool, as_json: bool, folder: Path | None, kafka: str, nebula: str, section: str | None) -> None:
    """Measure the pipeline, resolving, recall over many beliefs, memory and restart; about ten minutes."""
    configure_logs(LogSettings())
    size = QUICK if quick else FULL
    if section is not None:
        click.echo(json.dumps(_section(section, size, folder, kafka, nebula)))
        return
    with tempfile.TemporaryDirectory(prefix="beliefmesh-bench-") as passing:
        figures = _measure(quick, Path(passing) if folder is None else folder, kafka, nebula)
    click.echo(json.dumps(figures, indent=2) if as_json else table(figures))


def table(figures: dict[str, Any]) -> str:
    """The figures as lines of name, figure, and what is wanted of it."""
    on, build, recall = figures["machine"], figures["build"], figures["recall"]
    rows = [
        *_pipeline_rows(figures["pipeline"]),
        *(
            (f"resolve/CPU s, {name.removeprefix('pieces_')} pieces of evidence", f"{rate:,.0f}", ">= 10,000")
            for name, rate in figures["resolve"].items()
        ),
        *_logs_rows(figures["logs"]),
        *_kafka_rows(figures.get("kafka")),
        *_trips_rows(figures.get("trips")),
        *_jobs_rows(figures["jobs"]),
        *_forget_rows(figures["forget"]),
        ("beliefs", f"{build['beliefs']:,}", ""),
        ("turns/s into them (vectors by hashing)", f"{build['turns_per_second']:,.0f}", ""),
        ("  the same by CPU second", f"{build['turns_per_cpu_second']:,.0f}", ""),
        ("  then seconds for the graph of vectors", f"{build['vector_graph_seconds']:,.1f}", ""),
        ("disk, MB", f"{build['disk_mb']:,.0f}", ""),
        ("recall p50, ms", f"{recall['p50_ms']:.1f}", "<= 15"),
        ("recall p99, ms", f"{recall['p99_ms']:.1f}", "<= 50"),
        ("  mean CPU, ms", f"{recall['mean_cpu_ms']:.1f}", ""),
        *((f"  {name} p50, ms", f"{took:.1f}", "") for name, took in recall["retriever_p50_ms"].items()),
        ("degraded answers", f"{recall['degraded']} of {recall['questions']}", "0"),
        ("peak memory while recalling, MB", f"{recall['peak_rss_mb']:,.0f}", "<= 1,536"),
        ("  with the shipped embedder loaded", f"{recall['peak_rss_with_embedder_mb']:,.0f}", "<= 1,536"),
        ("peak memory while building, MB", f"{build['peak_rss_mb']:,.0f}", "<= 1,536"),
        ("fresh process to first complete answer, s", f"{recall['first_answer_seconds']:.2f}", "<= 5"),
        ("  degraded answers before it", f"{recall['degraded_before_first']}", "0"),
        ("  more for the shipped embedder, s", f"{recall['embedder_first_query_seconds']:.2f}", ""),
    ]
    wide = max(len(name) for name, _, _ in rows)
    lines = [f"{name:<{wide}}  {figure:>12}  {wanted}".rstrip() for name, figure, wanted in rows]
    head = f"{on['cores']} cores, {on['memory_gb']} GB, {on['architecture']}, Python {on['python']}"
    return "\n".join([f"{head}, load {on['load_average']}", "", *lines])


def _pipeline_rows(done: dict[str, Any]) -> list[tuple[str, str, str]]:
    ways = {
        "single": "one an observation, awaited by 500",
        "several": "five an observation, awaited by 500",
        "single_streamed": "one an observation, logged first, then drained",
        "several_streamed": "five an observation, logged first, then drained",
    }
    rows = []
    for name, way in ways.items():
        rows.append((f"structured claims/s, {way}", f"{done[f'{name}_per_second']:,.0f}", ">= 3,000"))
        rows.append(("  the same by CPU second", f"{done[f'{name}_per_cpu_second']:,.0f}", ""))
    rows.append(("bare SQLite inserts/s of the same bytes", f"{done['bare_inserts_per_second']:,.0f}", ""))
    rows.append(("  that is, times the pipeline", f"{done['bare_inserts_to_pipeline']:,.1f}", ""))
    return rows


def _logs_rows(done: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (
            f"log lines imported/s, of {done['lines']:,}, without embedding",
            f"{done['lines_per_second']:,.0f}",
            ">= 5,000",
        ),
        ("  the same by CPU second", f"{done['lines_per_cpu_second']:,.0f}", ""),
    ]


def _kafka_rows(done: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    if done is None:
        return [("over Kafka", "not measured", "make kafka-jars")]
    ways = {"single": "one an observation", "several": "five an observation"}
    rows = []
    for name, way in ways.items():
        rows.append((f"structured claims/s over Kafka, {way}", f"{done[f'{name}_kafka_per_second']:,.0f}", ">= 1,500"))
        rows.append(("  the embedded log beside it", f"{done[f'{name}_embedded_per_second']:,.0f}", ""))
        rows.append(("  Kafka to embedded, of pairs", f"{done[f'{name}_kafka_to_embedded']:.0%}", ">= 60%"))
    rows.append((f"burst of {done['burst']:,} claims, s until nothing waits", _burst(done), ""))
    rows.append(("kafka-python alone: messages produced/s", f"{done['bare_produce_per_second']:,.0f}", ""))
    rows.append(("  and consumed/s", f"{done['bare_consume_per_second']:,.0f}", ""))
    return rows


def _trips_rows(done: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    if done is None:
        return [("round trips to NebulaGraph and Milvus", "not counted", "--nebula URL")]
    return [
        ("requests to NebulaGraph a new claim, batches of 200", f"{done['nebula_requests_a_new_claim']:.3f}", "<= 0.2"),
        ("  a claim that changes its slot", f"{done['nebula_requests_a_changing_claim']:.3f}", "<= 0.2"),
        ("  a claim through the whole pipeline", f"{done['nebula_requests_a_claim_in_all']:.3f}", ""),
        ("searches of Milvus a recall, at most", f"{done['milvus_searches_a_recall']}", "<= 3"),
        ("  other reads of it, at most", f"{done['milvus_queries_a_recall']}", ""),
        ("requests to NebulaGraph a recall, at most", f"{done['nebula_requests_a_recall']}", ""),
    ]


def _jobs_rows(done: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (f"decay of {done['slots']:,} slots, 1% due, to all due", f"{done['decay_share']:.1%}", "<= 3%"),
        (f"  seconds for the {done['decay_some']:,} that are due", f"{done['decay_some_seconds']:.2f}", ""),
        (f"  seconds for the other {done['decay_rest']:,}", f"{done['decay_rest_seconds']:.2f}", ""),
        ("compaction, pieces of evidence/s", f"{done['compaction_per_second']:,.0f}", ">= 2,000"),
        (f"budget: slots weighed/s, of {done['budget_slots']:,}", f"{done['weighed_per_second']:,.0f}", ""),
        ("  moved to the archive/s", f"{done['budget_archived_per_second']:,.0f}", ""),
        ("claims/s streamed, alone", f"{done['ingestion_per_second']:,.0f}", ""),
        ("  beside compaction and budget, share of that", f"{done['ingestion_share']:.0%}", ">= 80%"),
        ("  the same by CPU seconds", f"{done['ingestion_cpu_share']:.0%}", ">= 80%"),
    ]


def _forget_rows(done: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (f"forgetting {done['observations']:,} of twice as many, s", f"{done['seconds']:,.1f}", "<= 10"),
        ("  CPU seconds", f"{done['cpu_seconds']:,.1f}", ""),
        ("  one more, s", f"{done['single_seconds']:,.2f}", ""),
    ]


def _burst(done: dict[str, Any]) -> str:
    return f"{done['burst_seconds_until_nothing_waits']:,.1f}"


def _measure(quick: bool, folder: Path, kafka: str, nebula: str) -> dict[str, Any]:
    figures: dict[str, Any] = {"machine": machine()}
    figures["pipeline"] = _run("pipeline", quick, folder)
    figures["resolve"] = _run("resolve", quick, folder)
    figures["logs"] = _run("logs", quick, folder)
    if kafka:
        figures["kafka"] = _run("kafka", quick, folder, kafka)
    if nebula:
        figures["trips"] = _run("trips", quick, folder, nebula=nebula)
    figures["jobs"] = _run("jobs", quick, folder)
    figures["forget"] = _run("forget", quick, folder)
    figures["build"] = _run("build", quick, folder)
    figures["recall"] = _run("recall", quick, folder)
    return figures


def _section(section: str, size: dict[str, int], folder: Path | None, kafka: str, nebula: str) -> dict[str, Any]:
    if section == "pipeline":
        return pipeline(size["claims"], _report)
    if section == "resolve":
        return resolving(_report)
    if section == "logs":
        return importing(size["lines"], _report)
    if section == "jobs":
        return jobs(size["slots"], _report)
    if section == "kafka":
        if not kafka:
            raise click.UsageError("section kafka needs --kafka")
        # Loaded only here: a machine without the client measures everything else.
        over_kafka = load_with("kafka", "kafka-python", "beliefmesh.evaluate.bench_kafka").over_kafka
        return dict(over_kafka(f"kafka://{kafka}", size["claims"], size["burst"], _report))
    if section == "trips":
        # Loaded only here, for the same reason.
        counted = load_with("pymilvus", "pymilvus", "beliefmesh.evaluate.bench_trips").round_trips
        return dict(counted(nebula, _report))
    if section == "forget":
        return forgetting(size["forgotten"], _report)
    if folder is None:
        raise click.UsageError(f"section {section} needs --folder")
    if section == "build":
        return building(folder, size["beliefs"], _report)
    return recalling(folder, size["questions"], lambda: click.echo(_FIRST), _report)


def _run(section: str, quick: bool, folder: Path, kafka: str = "", nebula: str = "") -> dict[str, Any]:
    """A section in a fresh process; notes how long its first answer took from the start of the process."""
    stores = ["--kafka", kafka, "--nebula", nebula]
    command = [sys.executable, "-m", __spec__.name, "--section", section, "--folder", str(folder), *stores]
    started = time.perf_counter()
    waited: float | None = None
    last = ""
    with subprocess.Popen(command + ["--quick"] * quick, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            last = line.strip()
            if last == _FIRST:
                waited = time.perf_counter() - started
    if process.returncode:
        raise StoreUnavailable(f"section {section} ended with {process.returncode}; its reason stands above")
    figures: dict[str, Any] = json.loads(last)
    return figures if waited is None else {**figures, "first_answer_seconds": round(waited, 3)}


def _report(line: str) -> None:
    click.echo(line, err=True)


if __name__ == "__main__":
    main()
