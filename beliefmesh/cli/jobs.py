"""Commands for jobs: which there are, running one, what the runs did."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from beliefmesh.cli.job_arguments import arguments_of, mode_of, with_arguments
from beliefmesh.cli.session import AnyMemory, Session, session_of, with_flags
from beliefmesh.cli.submitting import submit_command
from jobs.catalogue import job_named
from jobs.job import Job
from jobs.run import Progress as OnProgress
from schemas.instant import format_instant
from schemas.job import JobRun, JobSide, JobSides, ListedJob


@click.group()
def jobs() -> None:
    """Scheduled work, and what it did."""


jobs.add_command(submit_command)


@jobs.command("list")
@with_flags
@click.pass_context
def list_jobs(context: click.Context) -> None:
    """The jobs that there are, how often each runs by itself while the mesh is up, and its last run on the bank."""
    session = session_of(context)
    with session.memory() as memory:
        found = memory.jobs()
    session.emit(found, lambda console: _show_jobs(console, found))


@jobs.command("run")
@with_flags
@click.argument("name")
@with_arguments
@click.pass_context
def run(context: click.Context, name: str, dry_run: bool, shadow: bool, given: tuple[str, ...]) -> None:
    """Run a job on the bank to its end; one that was stopped goes on from where it was."""
    session = session_of(context)
    job, arguments = job_named(name), arguments_of(given)
    mode = mode_of(dry_run, shadow)
    with session.memory() as memory, _bar(session, job, memory) as told:
        done = memory.run_job(name, mode=mode, arguments=arguments, told=told)
    session.emit(done, lambda console: _show_run(console, done))


@jobs.command("history")
@with_flags
@click.argument("name", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many runs.")
@click.pass_context
def history(context: click.Context, name: str | None, limit: int) -> None:
    """What jobs did, newest first, on all banks."""
    session = session_of(context)
    with session.memory() as memory:
        runs = memory.job_runs(name, limit=limit)
    session.emit(runs, lambda console: _show_runs(console, runs))


@jobs.command("compare")
@with_flags
@click.pass_context
def compare(context: click.Context) -> None:
    """Hold the banks that scheduled jobs change against those on which they run in shadow mode."""
    session = session_of(context)
    with session.memory() as memory:
        found = memory.job_sides()
    session.emit(found, lambda console: _show_sides(console, found))


@jobs.command("show")
@with_flags
@click.argument("id")
@click.pass_context
def show(context: click.Context, id: str) -> None:
    """One run of a job: counts, what was done and why."""
    session = session_of(context)
    with session.memory() as memory:
        found = memory.job_run(id)
    session.emit(found, lambda console: _show_run(console, found))


@contextmanager
def _bar(session: Session, job: Job, memory: AnyMemory) -> Iterator[OnProgress]:
    """A bar on standard error, where that is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    seen = session.notes.is_terminal
    with Progress(*columns, console=session.notes, transient=True, disable=not seen) as bar:
        held = memory.stats(memory.bank)["banks"].get(memory.bank, {}) if seen else {}
        task = bar.add_task(job.name, total=held.get(job.of))
        yield lambda run: bar.update(task, completed=run.counts.get(job.of, 0))


def _show_jobs(console: Console, found: list[ListedJob]) -> None:
    table = Table("job", "by itself", "last run", "what it does", box=box.SIMPLE)
    for job in found:
        last = Text("never") if job.last is None else Text(f"{job.last.mode}, {_state(job.last)}")
        table.add_row(job.name, f"every {job.hours:g} h" if job.hours else "no", last, job.summary)
    console.print(table, soft_wrap=False)


def _show_sides(console: Console, found: JobSides) -> None:
    table = Table("", "treated", "shadow", box=box.SIMPLE)
    treated, shadow = (_figures(side) for side in found.sides)
    for name in [*treated, *(name for name in shadow if name not in treated)]:
        table.add_row(name, f"{treated.get(name, 0)}", f"{shadow.get(name, 0)}")
    console.print(table, soft_wrap=False)


def _figures(side: JobSide) -> dict[str, int]:
    archived = {"archived": side.archived, "archive bytes": side.archive_bytes}
    return {"banks": side.banks, **side.kept, **archived, **side.usage, **side.runs}


def _show_runs(console: Console, runs: list[JobRun]) -> None:
    if not runs:
        console.print(Text("no job has run"))
    for run in runs:
        counts = ", ".join(f"{count} {name}" for name, count in run.counts.items()) or "nothing to do"
        head = f"{run.id}  {run.job} on bank {run.bank}, {run.mode}, began {format_instant(run.started)}"
        console.print(Text(f"{head}, {_state(run)}: {counts}"))


def _show_run(console: Console, run: JobRun) -> None:
    pages = "1 page" if run.pages == 1 else f"{run.pages} pages"
    console.print(Text(f"{run.job} on bank {run.bank}, {run.mode}, run {run.id}: {_state(run)}, {pages}"))
    for name, count in {**run.counts, **({"bytes": run.bytes} if run.bytes else {})}.items():
        console.print(Text(f"  {count} {name}"))
    for note in run.notes:
        console.print(Text(f"  {note}"))
    for name, figure in run.figures.items():
        console.print(Text(f"  {figure:.6g} {name}"))
    if run.reasons:
        console.print(Text("why:"))
    for reason, count in run.reasons.items():
        console.print(Text(f"  {count} {reason}"))
    for example in run.examples:
        console.print(Text(f"  - {example}", "dim"))


def _state(run: JobRun) -> str:
    if run.ended is not None:
        return f"ended {format_instant(run.ended)}"
    return f"failed: {run.failed}" if run.failed else "not at its end"
