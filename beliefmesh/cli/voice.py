"""Commands of a bank's voice: profile."""

import click
import msgspec
from rich.console import Console
from rich.text import Text

from beliefmesh.cli.session import session_of, with_flags
from recall.outward import persona_to_builtins
from schemas.profile import Persona


@click.group()
@with_flags
def profile() -> None:
    """How the bank forms opinions and answers: its traits and background."""


@profile.command("show")
@with_flags
@click.pass_context
def show_command(context: click.Context) -> None:
    """Print the traits and the background."""
    session = session_of(context)
    with session.memory() as memory:
        persona = memory.profile()
    session.emit(persona_to_builtins(persona), lambda console: _show(console, persona))


@profile.command("set")
@with_flags
@click.option("--skepticism", type=int, help="1 to 5: how little a further voice strengthens an opinion.")
@click.option("--literalism", type=int, help="1 to 5: how closely answers keep to the words of their sources.")
@click.option("--empathy", type=int, help="1 to 5: how much answers mind whoever asks.")
@click.option("--bias-strength", type=float, help="0 to 1: how much of what speaks against an opinion is discounted.")
@click.option("--background", metavar="TEXT", default="", help="What to add; what contradicts it is replaced.")
@click.option("--agent", metavar="NAME", default="", help="Who says so.")
@click.pass_context
def set_command(
    context: click.Context,
    skepticism: int | None,
    literalism: int | None,
    empathy: int | None,
    bias_strength: float | None,
    background: str,
    agent: str,
) -> None:
    """Change the traits that are given, and add to the background; the rest stays."""
    session = session_of(context)
    with session.memory() as memory:
        persona = memory.set_profile(
            skepticism=skepticism,
            literalism=literalism,
            empathy=empathy,
            bias_strength=bias_strength,
            background=background,
            agent=agent,
        )
    session.emit(persona_to_builtins(persona), lambda console: _show(console, persona))


def _show(console: Console, persona: Persona) -> None:
    for trait, value in msgspec.structs.asdict(persona.profile).items():
        console.print(Text(f"{trait}: {value:g}"))
    for statement in persona.background:
        console.print(Text(f"  {statement}"))
