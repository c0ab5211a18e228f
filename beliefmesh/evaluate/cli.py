"""The commands `eval config`, `flight`, `locomo`, `logs` (a JSON object each), and those that print a table."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from beliefmesh.evaluate.budget import evaluate_budget
from beliefmesh.evaluate.budget import table_of as curve_of
from beliefmesh.evaluate.config import evaluate_config
from beliefmesh.evaluate.entities.evaluate import HALVES as PAIR_HALVES
from beliefmesh.evaluate.entities.evaluate import LANGUAGES as PAIR_LANGUAGES
from beliefmesh.evaluate.entities.evaluate import evaluate_entities
from beliefmesh.evaluate.entities.evaluate import table_of as pairs_table
from beliefmesh.evaluate.flight import evaluate_flight
from beliefmesh.evaluate.flight_trust import Labels
from beliefmesh.evaluate.locomo import evaluate_locomo
from beliefmesh.evaluate.log_import import evaluate_logs
from beliefmesh.evaluate.rules.cases import HALVES, LANGUAGES, Language
from beliefmesh.evaluate.rules.evaluate import Halves, evaluate_rules, table_of
from beliefmesh.settings import StoreSettings
from streams.sources.registry import ANY_LOG

Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)
_keep = click.option("--folder", type=_FOLDER, help="Keep the memory in this folder (default: a temporary one).")
_STORES = {
    "log": "Stream over this log (kafka://host:port).",
    "graph": "Keep beliefs in this graph (nebula://user:password@host:9669/space); an empty one.",
    "index": "Search in this index (milvus:///file.db, milvus://token@host:19530/db); an empty one.",
}
_json = click.option("--json", "_json", is_flag=True, expose_value=False, help="Print JSON; the result always is.")


def _with_stores(command: Command) -> Command:
    """Give an evaluation the flags that name stores."""
    for name, told in _STORES.items():
        command = click.option(f"--{name}", metavar="URL", default="", help=told)(command)
    return command


@click.group("eval")
def eval_group() -> None:
    """Send known data through the mesh and compare what it believes with the truth."""


@eval_group.command("config")
@click.option("--observations", type=_FILE, required=True, help="Settings changes, one JSON object a line (.gz too).")
@click.option("--truth", type=_FILE, required=True, help="The true settings at known times, JSON (.gz too).")
@click.option("--shuffle", type=int, default=None, metavar="SEED", help="Send in an order drawn by this seed.")
@click.option("--duplicate", type=click.FloatRange(0, 1), default=0.0, help="Send this share a second time.")
@click.option("--batch", type=click.IntRange(1), default=500, show_default=True, help="Observations a call.")
@click.option("--sightings", is_flag=True, help="Tell changes as seen in one repository, not as instructions.")
@click.option("--forgetting", is_flag=True, help="Compare after compaction and archive, too, then restore.")
@_keep
@_with_stores
@_json
def config_command(
    observations: Path,
    truth: Path,
    shuffle: int | None,
    duplicate: float,
    batch: int,
    sightings: bool,
    forgetting: bool,
    folder: Path | None,
    **urls: str,
) -> None:
    """Settings changes: is every setting right at every known time, in any order?"""
    _print(
        evaluate_config(
            observations,
            truth,
            shuffle=shuffle,
            duplicate=duplicate,
            batch=batch,
            sightings=sightings,
            forgetting=forgetting,
            folder=folder,
            stores=StoreSettings(**urls),
            report=_report,
        )
    )


@eval_group.command("flight")
@click.option("--claims", type=_FOLDER, required=True, help="Folder of claims-YYYYMMDD.tsv (.gz too).")
@click.option("--gold", type=_FOLDER, required=True, help="Folder of gold-YYYYMMDD.tsv.")
@click.option("--exclude", default="aa,ua,co", show_default=True, help="Sources to leave out, separated by commas.")
@click.option("--only-gold", is_flag=True, help="Feed only the flights whose truth is known.")
@click.option("--batch", type=click.IntRange(1), default=2_000, show_default=True, help="Rows a call.")
@click.option(
    "--calibrate-days",
    type=click.IntRange(1),
    default=None,
    help="Learn trust from the first N days (half of all, if there are no more) and judge the others only.",
)
@click.option("--labels", type=click.IntRange(1), default=200, show_default=True, help="Cells to learn from.")
@click.option("--seed", type=int, default=1, show_default=True, help="Draws the labels.")
@_keep
@_with_stores
@_json
def flight_command(
    claims: Path,
    gold: Path,
    exclude: str,
    only_gold: bool,
    batch: int,
    calibrate_days: int | None,
    labels: int,
    seed: int,
    folder: Path | None,
    **urls: str,
) -> None:
    """Flights as many sources tell them: how often is the belief true, and as sure as it should be?"""
    names = [name.strip() for name in exclude.split(",") if name.strip()]
    _print(
        evaluate_flight(
            claims,
            gold,
            exclude=names,
            only_gold=only_gold,
            batch=batch,
            labels=None if calibrate_days is None else Labels(calibrate_days, labels, seed),
            folder=folder,
            stores=StoreSettings(**urls),
            report=_report,
        )
    )


@eval_group.command("locomo")
@click.option("--data", type=_FILE, required=True, help="LoCoMo conversations, JSON (.gz too).")
@click.option(
    "--limit-questions", type=click.IntRange(1), default=None, help="Ask only the first N of each conversation."
)
@click.option("--embedder", default=None, metavar="URL", help="Another embedder than the default one.")
@_keep
@_with_stores
@_json
def locomo_command(
    data: Path, limit_questions: int | None, embedder: str | None, folder: Path | None, **urls: str
) -> None:
    """Long conversations: are the turns that answer a question among the first that are recalled?"""
    _print(
        evaluate_locomo(
            data,
            limit_questions=limit_questions,
            folder=folder,
            embedder=embedder,
            stores=StoreSettings(**urls),
            report=_report,
        )
    )


@eval_group.command("logs")
@click.option("--data", type=_FOLDER, required=True, help="Folder of log files, *.log* (.gz too).")
@click.option("--source", default=ANY_LOG, show_default=True, metavar="NAME", help="What reads their lines.")
@click.option("--embedder", default=None, metavar="URL", help="Another embedder than the default one; none: for none.")
@_keep
@_json
def logs_command(data: Path, source: str, embedder: str | None, folder: Path | None) -> None:
    """Log files: is every line accounted for, what is known by then, and how many lines a second is that?"""
    _print(evaluate_logs(data, _report, source=source, embedder=embedder, folder=folder))


@eval_group.command("budget")
@click.option("--data", type=_FILE, required=True, help="LoCoMo conversations, JSON (.gz too).")
@click.option(
    "--limit-questions", type=click.IntRange(1), default=None, help="Ask only the first N of each conversation."
)
@click.option("--embedder", default=None, metavar="URL", help="Another embedder than the default one.")
@_keep
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def budget_command(
    data: Path, limit_questions: int | None, embedder: str | None, folder: Path | None, as_json: bool
) -> None:
    """Long conversations, mostly forgotten: are the turns that answer a question still recalled?"""
    result = evaluate_budget(data, limit_questions=limit_questions, folder=folder, embedder=embedder, report=_report)
    if as_json:
        _print(result)
    else:
        for line in curve_of(result):
            click.echo(line)


@eval_group.command("rules")
@click.option("--half", type=click.Choice([*HALVES, "all"]), default="all", show_default=True, help="Which cases.")
@click.option("--language", type=click.Choice(LANGUAGES), default=None, help="Only this language.")
@click.option("--show-misses", is_flag=True, help="Print what was missed or wrong; of the scoring half only by name.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def rules_command(half: Halves, language: Language | None, show_misses: bool, as_json: bool) -> None:
    """Hand-written cases: do the rules find the slots, and which texts conflict?"""
    result = evaluate_rules(half, language, show_misses)
    if as_json:
        _print(result)
    else:
        for line in table_of(result):
            click.echo(line)


@eval_group.command("entities")
@click.option("--half", type=click.Choice([*PAIR_HALVES, "all"]), default="all", show_default=True, help="Which pairs.")
@click.option("--language", type=click.Choice(PAIR_LANGUAGES), default=None, help="Only this language.")
@click.option("--at-least", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="What is proposed.")
@click.option("--show-misses", is_flag=True, help="Print what was missed or wrong of the half to build on.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def entities_command(half: str, language: str | None, at_least: float, show_misses: bool, as_json: bool) -> None:
    """Hand-written pairs: which entities are one, and are they proposed as such?"""
    result = evaluate_entities(half, language, at_least, show_misses)
    if as_json:
        _print(result)
    else:
        for line in pairs_table(result):
            click.echo(line)


def _print(result: dict[str, Any]) -> None:
    click.echo(json.dumps(result, ensure_ascii=False))


def _report(line: str) -> None:
    click.echo(line, err=True)
