"""Commands of a bank's voice: reflect, summary, profile."""

from collections.abc import Sequence
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.text import Text

from beliefmesh.cli.session import asker, session_of, with_asker, with_flags
from recall.outward import persona_to_builtins, reflection_to_builtins, summary_to_builtins
from schemas.entity import DEFAULT_TYPE
from schemas.profile import Persona
from schemas.reflection import Reflection, Sentence, Summary


@click.command()
@with_flags
@with_asker
@click.argument("question")
@click.option("--max-tokens", type=int, help="How long the answer may be.")
@click.option("--limit", type=int, help="Recall at most so many beliefs.")
@click.option("--entity", metavar="NAME", help="Only about this entity.")
@click.option("--entity-type", metavar="TYPE", default=DEFAULT_TYPE, help="The entity's type.")
@click.option("--as-of", metavar="TIME", help="What held at that time.")
@click.option("--deadline", type=float, default=10.0, show_default=True, help="Seconds for each retriever.")
@click.option("--no-opinions", is_flag=True, help="Form no opinion.")
@click.pass_context
def reflect(
    context: click.Context,
    /,
    question: str,
    principal: str,
    groups: tuple[str, ...],
    entity: str | None,
    entity_type: str,
    no_opinions: bool,
    **given: Any,
) -> None:
    """Answer a QUESTION in the bank's voice, from beliefs that each sentence cites."""
    session = session_of(context)
    about = None if entity is None else {"name": entity, "type": entity_type}
    with session.memory() as memory:
        told = memory.reflect(
            question, principal=asker(principal, groups), opinions=not no_opinions, entity=about, **given
        )
    session.emit(reflection_to_builtins(told), lambda console: _show_reflection(console, told))


@click.command()
@with_flags
@with_asker
@click.argument("entity", required=False)
@click.option("--entity-type", metavar="TYPE", default=DEFAULT_TYPE, help="The entity's type.")
@click.option("--all", "all_of_them", is_flag=True, help="Write every stored summary again that has moved.")
@click.pass_context
def summary(
    context: click.Context,
    entity: str | None,
    entity_type: str,
    all_of_them: bool,
    principal: str,
    groups: tuple[str, ...],
) -> None:
    """What is held of an ENTITY, in sentences that cite beliefs."""
    if (entity is None) != all_of_them:
        raise click.UsageError("name an ENTITY, or give --all")
    session = session_of(context)
    with session.memory() as memory:
        if entity is None:
            refreshed = memory.refresh_summaries()
            session.emit({"refreshed": refreshed}, lambda console: console.print(f"{refreshed} written again"))
            return
        told = memory.summary({"name": entity, "type": entity_type}, principal=asker(principal, groups))
    session.emit(summary_to_builtins(told), lambda console: _show_summary(console, told))


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


def _show_summary(console: Console, told: Summary) -> None:
    console.print(Text(told.text))
    _show_cited(console, told.sentences)


def _show_reflection(console: Console, told: Reflection) -> None:
    console.print(Text(told.text))
    _show_cited(console, told.sentences)
    if told.reason:
        console.print(Text(f"without the language model: {told.reason}", "yellow"))
    if told.left_out:
        console.print(Text(f"left out: {told.left_out['budget']} for want of tokens", "dim"))
    for id in told.formed:
        console.print(Text(f"formed an opinion: {id}", "dim"))


def _show_cited(console: Console, sentences: Sequence[Sentence]) -> None:
    """The whole ids of what is cited, as `explain` takes them; the text has only their beginnings."""
    for id in dict.fromkeys(id for sentence in sentences for id in sentence.beliefs):
        console.print(Text(f"cited: {id}", "dim"))


def _show(console: Console, persona: Persona) -> None:
    for trait, value in msgspec.structs.asdict(persona.profile).items():
        console.print(Text(f"{trait}: {value:g}"))
    for statement in persona.background:
        console.print(Text(f"  {statement}"))
