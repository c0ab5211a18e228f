"""The command that makes the memory anew from its log."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from beliefmesh.cli.session import Session, inline, session_of, with_flags
from beliefmesh.failure import FAILED, OK
from beliefmesh.home import Home
from beliefmesh.rebuild import Rebuilt
from beliefmesh.rebuild import rebuild as rebuild_into
from beliefmesh.settings import Settings
from recall.tell import counted
from schemas.errors import InvalidSetting
from streams.rebuild import Progress as Report


@click.command("rebuild")
@with_flags
@click.option("--into", metavar="NAME", required=True, help="The space to make: a new name.")
@click.option("--graph", metavar="URL", default="", help="The new graph, where it shall not lie in the folder.")
@click.option("--index", metavar="URL", default="", help="The new index, where it shall not lie in the folder.")
@click.option("--force", is_flag=True, help="Switch even if the new space differs from the old one.")
@click.pass_context
def rebuild_command(context: click.Context, into: str, graph: str, index: str, force: bool) -> int:
    """Replay the whole log into a new graph and index, then switch to them; exits 1 if they differ from the old."""
    session = session_of(context)
    with closing(Home(_alone(session.loaded().settings))) as home, _report(session) as report:
        done = rebuild_into(home, into, report, graph=graph, index=index, force=force)
    session.emit(done, lambda console: _show(console, done))
    return OK if done.same or force else FAILED


def _alone(settings: Settings) -> Settings:
    """Settings to run by with the folder to itself: actors that others share would go on filling the old space."""
    if settings.mesh.address:
        raise InvalidSetting(
            "mesh.address: is set, and a rebuild needs the folder to itself; stop the actors and all who share them, "
            "and run it with an empty address"
        )
    return inline(settings)


@contextmanager
def _report(session: Session) -> Iterator[Report]:
    """A bar on standard error, where that is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=session.notes, transient=True, disable=not session.notes.is_terminal) as bar:
        task = bar.add_task("replaying", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(console: Console, done: Rebuilt) -> None:
    """What was replayed, whether both spaces agree, and what is to be done next."""
    console.print(
        Text(
            f"{counted(done.observations, 'observation')} gave {counted(done.claims, 'claim')} and "
            f"{counted(done.beliefs, 'belief')} in {done.seconds:.1f} s; "
            f"{counted(done.dead_letters, 'message')} could not be used"
        )
    )
    for bank in done.banks:
        if bank.old == bank.new:
            console.print(Text(f"bank {bank.bank}: the same as before ({bank.new[:12]})"))
        else:
            console.print(Text(f"bank {bank.bank}: differs, {bank.old[:12]} before and {bank.new[:12]} now", "yellow"))
            console.print(
                Text(
                    f"  {counted(bank.only_old, 'piece of evidence is', 'pieces of evidence are')} only in the old, "
                    f"{bank.only_new} only in the new"
                )
            )
    for line in _next(done):
        console.print(Text(line))


def _next(done: Rebuilt) -> Iterator[str]:
    if done.waiting:
        waiting = counted(done.waiting, "record waits", "records wait")
        yield f"{waiting} for the old space; it may differ for that reason"
    if done.settings:
        yield f"{done.space} is filled; to use it, set these and start the mesh again:"
        yield from (f"  {key} = {value}" for key, value in done.settings.items())
    elif done.switched:
        yield f"switched to {done.space}"
        yield "the old space is no longer needed; to free its room, delete:"
        yield from (f"  {path}" for path in done.removable)
    else:
        yield "not switched; the old space is in use as before (--force switches all the same)"
