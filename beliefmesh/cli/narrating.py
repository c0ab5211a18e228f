"""The command that keeps a session as one memory."""

import click
from rich.console import Console
from rich.text import Text

from beliefmesh.cli.session import asker, session_of, with_asker, with_flags
from beliefmesh.narrate import Narrative


@click.command("narrate")
@with_flags
@with_asker
@click.option("--session", "session_name", metavar="ID", required=True, help="The conversation to tell.")
@click.pass_context
def narrate_command(context: click.Context, session_name: str, principal: str, groups: tuple[str, ...]) -> None:
    """Keep the turns of a session as one narrative: what was decided, how it went, what came of it."""
    session = session_of(context)
    with session.memory() as memory:
        told = memory.narrate(session_name, principal=asker(principal, groups))
    session.emit(told, lambda console: _show(console, told))


def _show(console: Console, told: Narrative) -> None:
    console.print(Text(told.text))
    state = "kept" if told.kept else "was kept already"
    left_out = f", {told.left_out} left out" if told.left_out else ""
    console.print(Text(f"{state} as {told.observation}: {len(told.turns)} turns{left_out}", "dim"))
