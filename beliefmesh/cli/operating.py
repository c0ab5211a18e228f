"""Commands for those who run the mesh: doctor, dead letters, statistics, settings."""

import click

from beliefmesh.cli.session import session_of, with_flags
from beliefmesh.failure import FAILED, OK
from beliefmesh.letters import letter_to_builtins
from beliefmesh.settings import shown_settings
from beliefmesh.show import show_doctor, show_letter, show_letters, show_settings, show_stats


@click.command()
@with_flags
@click.option("--fix", is_flag=True, help="Repair what differs.")
@click.pass_context
def doctor(context: click.Context, fix: bool) -> int:
    """Compare log, graph and index; exits 1 if something differs and was not repaired."""
    session = session_of(context)
    with session.memory() as memory:
        report = memory.doctor(fix)
    session.emit(report, lambda console: show_doctor(console, report))
    return OK if report.healthy else FAILED


@click.group()
def dlq() -> None:
    """Dead letters: messages that could not be used, with the reason."""


@dlq.command("list")
@with_flags
@click.pass_context
def list_letters(context: click.Context) -> None:
    """All dead letters, oldest first."""
    session = session_of(context)
    with session.memory() as memory:
        letters = memory.dead_letters()
    plain = [letter_to_builtins(letter) for letter in letters]
    session.emit(plain, lambda console: show_letters(console, letters))


@dlq.command("show")
@with_flags
@click.argument("id")
@click.pass_context
def show_one(context: click.Context, id: str) -> None:
    """One dead letter with its original."""
    session = session_of(context)
    with session.memory() as memory:
        letter = memory.dead_letter(id)
    session.emit(letter_to_builtins(letter), lambda console: show_letter(console, letter))


@dlq.command("replay")
@with_flags
@click.argument("id")
@click.pass_context
def replay(context: click.Context, id: str) -> None:
    """Send a dead letter's message through again; it stays if it still cannot be used."""
    session = session_of(context)
    with session.memory() as memory:
        memory.replay_dead_letter(id)
    session.emit({"replayed": id}, lambda console: console.print(f"replayed {id}", markup=False))


@dlq.command("drop")
@with_flags
@click.argument("id")
@click.pass_context
def drop(context: click.Context, id: str) -> None:
    """Take a dead letter out for good."""
    session = session_of(context)
    with session.memory() as memory:
        memory.drop_dead_letter(id)
    session.emit({"dropped": id}, lambda console: console.print(f"dropped {id}", markup=False))


@click.command()
@with_flags
@click.pass_context
def stats(context: click.Context) -> None:
    """Counts of every bank, what waits at each stage, and dead letters."""
    session = session_of(context)
    with session.memory() as memory:
        found = memory.stats()
    session.emit(found, lambda console: show_stats(console, found))


@click.group()
def config() -> None:
    """Settings."""


@config.command("show")
@with_flags
@click.pass_context
def show_config(context: click.Context) -> None:
    """Every setting with its value, secrets masked, and where it comes from."""
    session = session_of(context)
    shown = shown_settings(session.loaded())
    session.emit(shown, lambda console: show_settings(console, shown))
