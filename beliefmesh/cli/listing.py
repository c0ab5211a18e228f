"""The commands that list: what is believed, and what moved, page by page."""

import click
from rich.console import Console
from rich.text import Text

from beliefmesh.changes import ChangePage, moved_to_builtins
from beliefmesh.cli.session import asker, session_of, with_asker, with_flags
from beliefmesh.verbs.following import NOW
from beliefmesh.verbs.listing import BeliefPage
from recall.outward import belief_to_builtins
from recall.tell import one_line, standing
from schemas.belief import Belief
from schemas.entity import DEFAULT_TYPE
from schemas.instant import format_instant

_AFTER = "Go on from this place, the `next` of the page before."


@click.command("beliefs")
@with_flags
@with_asker
@click.option("--entity", metavar="NAME", help="Only about this entity.")
@click.option("--entity-type", metavar="TYPE", default=DEFAULT_TYPE, help="The entity's type.")
@click.option("--attribute", metavar="NAME", default="", help="Only this attribute.")
@click.option("--network", "networks", metavar="NETWORK", multiple=True, help="Only of this network; may be repeated.")
@click.option("--status", "statuses", metavar="STATUS", multiple=True, help="Only of this status; may be repeated.")
@click.option("--limit", type=int, default=100, show_default=True, help="At most so many.")
@click.option("--after", metavar="PLACE", default="", help=_AFTER)
@click.pass_context
def beliefs_command(
    context: click.Context,
    entity: str | None,
    entity_type: str,
    attribute: str,
    networks: tuple[str, ...],
    statuses: tuple[str, ...],
    limit: int,
    after: str,
    principal: str,
    groups: tuple[str, ...],
) -> None:
    """List what is believed, in a fixed order, whatever is told meanwhile."""
    session = session_of(context)
    with session.memory() as memory:
        page = memory.beliefs(
            principal=asker(principal, groups),
            entity=None if entity is None else {"name": entity, "type": entity_type},
            attribute=attribute,
            networks=networks,
            statuses=statuses,
            limit=limit,
            after=after,
        )
    plain = {"beliefs": [belief_to_builtins(belief) for belief in page.beliefs], "next": page.next or None}
    session.emit(plain, lambda console: _show_beliefs(console, page))


@click.command("changes")
@with_flags
@with_asker
@click.option("--after", metavar="PLACE", default="", help=f"{_AFTER} `{NOW}` is the end; else from the beginning.")
@click.option("--limit", type=int, default=100, show_default=True, help="About so many.")
@click.pass_context
def changes_command(context: click.Context, after: str, limit: int, principal: str, groups: tuple[str, ...]) -> None:
    """Tell what moved, as far back as the log goes, and the place to go on from."""
    session = session_of(context)
    with session.memory() as memory:
        page = memory.changes(principal=asker(principal, groups), after=after, limit=limit)
    plain = {"changes": [moved_to_builtins(moved) for moved in page.changes], "next": page.next, "more": page.more}
    session.emit(plain, lambda console: _show_changes(console, page))


def _show_beliefs(console: Console, page: BeliefPage) -> None:
    if not (page.beliefs or page.next):
        console.print("no such belief")
    for belief in page.beliefs:
        console.print(_line(belief))
    if page.next:
        console.print(Text(f"there may be more: --after {page.next}", "dim"))


def _show_changes(console: Console, page: ChangePage) -> None:
    for moved in page.changes:
        console.print(Text(f"{format_instant(moved.at)}  {moved.entity.name} ({moved.entity.type})", "bold"))
        for belief in moved.beliefs:
            console.print(_line(belief, "* " if belief.id in moved.changed else "  "))
    console.print(Text(f"go on from here: --after {page.next}", "dim"))


def _line(belief: Belief, mark: str = "") -> Text:
    told = "" if belief.status == "active" else f"  ({standing(belief)})"
    return Text(f"{mark}{belief.id}  {one_line(belief.statement)}{told}")
