"""The commands for the topics of the log: make those that lack, and see how far the workers are."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beliefmesh.cli.session import Session, session_of, with_flags
from beliefmesh.folder import Folder
from beliefmesh.home import store_urls, topics_of
from beliefmesh.settings import Settings
from beliefmesh.space import current_space
from schemas.errors import FolderInUse
from stores.open import is_kafka, open_log
from stores.ports import Log, TopicPlan
from streams.topics import CHANGES, CLAIMS, OBSERVATIONS, Topics

Command = TypeVar("Command", bound=Callable[..., Any])

_STAGES = (OBSERVATIONS, CLAIMS, CHANGES)


class Made(msgspec.Struct, frozen=True):
    """A topic after `topics create`: its partitions are those it has, which an older one may have by other settings."""

    topic: str
    partitions: int
    keeps: str
    made: bool


class Listed(msgspec.Struct, frozen=True):
    """A topic as it is, by partition; `lag` is None where the stages do not read it."""

    topic: str
    partitions: int
    ends: Mapping[int, int]
    lag: Mapping[int, int] | None


def _with_log(command: Command) -> Command:
    """Give a command the flags of every command here."""
    return with_flags(click.option("--log", metavar="URL", help="The log, as kafka://host:port.")(command))


@click.group()
def topics() -> None:
    """Topics of the log."""


@topics.command("create")
@_with_log
@click.option("--partitions", metavar="N", type=int, help="Partitions of the topics that are spread; fixed once made.")
@click.option("--replication", metavar="N", type=int, help="Copies that Kafka keeps of each record.")
@click.pass_context
def create(context: click.Context, log: str | None, partitions: int | None, replication: int | None) -> None:
    """Make the topics that are not there; what is there stays as it is."""
    session = session_of(context)
    session.set("streams.partitions", partitions)
    session.set("kafka.replication", replication)
    with _opened(session, log) as (opened, named):
        present = set(opened.topics())
        named.create(opened)
        drops = is_kafka(session.loaded().settings.stores.log)
        done = [
            Made(topic, opened.partitions(topic), _keeps(plan, drops), topic not in present)
            for topic, plan in named.plans().items()
        ]
    session.emit(done, lambda console: _show_made(console, done))


@topics.command("list")
@_with_log
@click.pass_context
def list_topics(context: click.Context, log: str | None) -> None:
    """The topics with their ends, and how far the workers' group is behind."""
    session = session_of(context)
    with _opened(session, log) as (opened, named):
        present = set(opened.topics())
        found = [_look(opened, named, topic) for topic in named.plans() if topic in present]
        missing = [topic for topic in named.plans() if topic not in present]
    plain = {"group": named.group, "topics": found, "missing": missing}
    session.emit(plain, lambda console: _show_listed(console, named.group, found, missing))


@contextmanager
def _opened(session: Session, log: str | None) -> Iterator[tuple[Log, Topics]]:
    """The log and its topics. The embedded one lies in the folder, which must not be in use then."""
    session.set("stores.log", log)
    settings = session.loaded().settings
    if is_kafka(settings.stores.log):
        with closing(open_log(settings.stores.log, settings.kafka)) as opened:
            yield opened, topics_of(settings, _space_beside(settings))
        return
    with Folder(settings.mesh.folder) as folder:
        space = current_space(settings, folder)
        with closing(open_log(store_urls(settings, folder, space).log)) as opened:
            yield opened, topics_of(settings, space)


def _space_beside(settings: Settings) -> str:
    """The current space; of a folder that is in use, or is not there, that which the settings name."""
    if not Path(settings.mesh.folder).is_dir():
        return settings.streams.space
    try:
        with Folder(settings.mesh.folder) as folder:
            return current_space(settings, folder)
    except FolderInUse:
        return settings.streams.space


def _look(log: Log, named: Topics, topic: str) -> Listed:
    ends = log.ends(topic)
    if topic not in map(named.name, _STAGES):
        return Listed(topic, len(ends), ends, None)
    committed = log.committed(named.group, topic)
    return Listed(topic, len(ends), ends, {at: max(end - committed.get(at, 0), 0) for at, end in ends.items()})


def _keeps(plan: TopicPlan, drops: bool) -> str:
    """What stays in a topic; a log that drops nothing by itself keeps everything."""
    if plan.compacted and drops:
        return "the newest of each key"
    return f"{plan.days} days" if plan.days and drops else "everything"


def _show_made(console: Console, done: list[Made]) -> None:
    """One line for each topic."""
    for each in done:
        divided = "1 partition" if each.partitions == 1 else f"{each.partitions} partitions"
        state, style = ("made", "green") if each.made else ("was there", "dim")
        console.print(Text(f"{each.topic}: {state}, {divided}, keeps {each.keeps}", style))


def _show_listed(console: Console, group: str, found: list[Listed], missing: list[str]) -> None:
    """A table of the topics that are there, then those that are not."""
    table = Table("topic", "partitions", "written", "not yet done", box=box.SIMPLE)
    for each in found:
        lag = "" if each.lag is None else f"{sum(each.lag.values()):,}"
        table.add_row(Text(each.topic), str(each.partitions), f"{sum(each.ends.values()):,}", lag)
    if found:
        console.print(table, soft_wrap=False)
    console.print(Text(f"group: {group}", "dim"))
    if missing:
        console.print(Text(f"not there: {', '.join(missing)}; `beliefmesh topics create` makes them", "yellow"))
