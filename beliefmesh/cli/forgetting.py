"""The command that forgets on request."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from beliefmesh.cli.session import Session, session_of, with_flags
from beliefmesh.forgetting import ForgetReport
from beliefmesh.forgetting import Progress as OnProgress
from recall.tell import counted


@click.command("forget")
@with_flags
@click.option("--id", "ids", metavar="ID", multiple=True, help="An observation, or a belief with all behind it.")
@click.option("--owner", metavar="NAME", help="All that this owner's observations said.")
@click.option("--source", metavar="NAME", help="All from this source, or this origin.")
@click.option(
    "--file", type=click.Path(path_type=Path, dir_okay=False), help="A file of ids, one a line (-: standard input)."
)
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask first.")
@click.pass_context
def forget_command(
    context: click.Context,
    ids: tuple[str, ...],
    owner: str | None,
    source: str | None,
    file: Path | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Forget observations for good: out of log, graph and index, with all that follows from them alone."""
    session = session_of(context)
    named = [*ids, *(_ids_in(file) if file else ())]
    if not (named or owner is not None or source is not None):
        raise click.UsageError("nothing to forget: give --id, --owner, --source, or --file with an id in it")
    asked = named or None
    with session.memory() as memory:
        if not (dry_run or yes):
            _ask(session, memory.forget(ids=asked, owner=owner, source=source, dry_run=True))
        with _bar(session) as told:
            report = memory.forget(ids=asked, owner=owner, source=source, dry_run=dry_run, progress=told)
    session.emit(report, lambda console: _show(console, report))


def _ids_in(file: Path) -> list[str]:
    """The ids in a file, one a line. Raises a usage error for one that cannot be read as text."""
    try:
        text = click.get_text_stream("stdin").read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise click.UsageError(f"--file: {file} cannot be read: {error}") from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def _ask(session: Session, would: ForgetReport) -> None:
    """Have it confirmed on a terminal; elsewhere nobody could."""
    if session.as_json or not session.notes.is_terminal:
        raise click.UsageError("this cannot be undone; say --yes, or --dry-run to see what would go")
    _show(session.notes, would)
    click.confirm("This cannot be undone. Forget it?", abort=True, err=True)


@contextmanager
def _bar(session: Session) -> Iterator[OnProgress]:
    """A bar on standard error, where that is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=session.notes, transient=True, disable=not session.notes.is_terminal) as bar:
        task: TaskID = bar.add_task("looking", total=None)
        yield lambda step, done, total: bar.update(task, description=step, completed=done, total=total)


def _show(console: Console, report: ForgetReport) -> None:
    would = "would be" if report.dry_run else "was" if report.observations == 1 else "were"
    derived = f" ({report.derived} of them conclusions)" if report.derived else ""
    console.print(
        Text(
            f"{counted(report.observations, 'observation')} of bank {report.bank} {would} forgotten{derived}: "
            f"{counted(report.evidence, 'piece', 'pieces')} of evidence in {counted(report.slots, 'slot')}, "
            f"{counted(report.beliefs, 'belief')} gone"
        )
    )
    if not report.dry_run:
        console.print(Text(f"{counted(report.records, 'record')} went from the log"))
    if report.unknown:
        console.print(Text(f"{counted(report.unknown, 'id is', 'ids are')} of nothing that is here", "yellow"))
