"""The commands about who is who: merge, unmerge, entities."""

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beliefmesh.cli.session import asker, session_of, with_asker, with_flags
from beliefmesh.merging import JoinedSlot, MergeReport, entity_to_builtins, report_to_builtins
from beliefmesh.show import show_receipt
from beliefs.likeness import Proposal
from recall.roster import Listed
from recall.tell import value_of
from schemas.entity import Entity
from schemas.instant import format_instant
from schemas.query import Principal


@click.command("merge")
@with_flags
@with_asker
@click.argument("entity")
@click.option("--into", metavar="NAME", required=True, help="The entity that ENTITY is the same as.")
@click.option("--type", "kind", metavar="TYPE", help="The type of ENTITY, where several bear the name.")
@click.option("--into-type", metavar="TYPE", help="The type of the other one.")
@click.option("--preview", is_flag=True, help="Only tell what it would change.")
@click.option("--reason", metavar="TEXT", default="", help="Why; it becomes the evidence.")
@click.option("--agent", metavar="NAME", default="", help="Who says so.")
@click.pass_context
def merge_command(
    context: click.Context,
    entity: str,
    into: str,
    kind: str | None,
    into_type: str | None,
    preview: bool,
    reason: str,
    agent: str,
    principal: str,
    groups: tuple[str, ...],
) -> None:
    """Let ENTITY be read as another one from now on; `unmerge` takes it back exactly."""
    session = session_of(context)
    with session.memory() as memory:
        report = memory.merge(
            _named(entity, kind),
            _named(into, into_type),
            preview=preview,
            reason=reason,
            agent=agent,
            principal=_sight(principal, groups),
        )
    session.emit(report_to_builtins(report), lambda console: _show_report(console, report))


@click.command("unmerge")
@with_flags
@with_asker
@click.argument("entity")
@click.option("--type", "kind", metavar="TYPE", help="The type of ENTITY, where several bear the name.")
@click.option("--reason", metavar="TEXT", default="", help="Why; it becomes the evidence.")
@click.option("--agent", metavar="NAME", default="", help="Who says so.")
@click.pass_context
def unmerge_command(
    context: click.Context,
    entity: str,
    kind: str | None,
    reason: str,
    agent: str,
    principal: str,
    groups: tuple[str, ...],
) -> None:
    """End the merge of ENTITY into another one."""
    session = session_of(context)
    with session.memory() as memory:
        receipt = memory.unmerge(_named(entity, kind), reason=reason, agent=agent, principal=_sight(principal, groups))
    session.emit(receipt, lambda console: show_receipt(console, receipt))


@click.command("entities")
@with_flags
@with_asker
@click.argument("name", required=False)
@click.option("--limit", type=int, default=100, show_default=True, help="At most so many.")
@click.option("--proposals", is_flag=True, help="Tell which may be one, with scores and reasons, instead.")
@click.option("--at-least", type=float, default=0.5, show_default=True, help="Only proposals that score so much.")
@click.option("--fresh", is_flag=True, help="Look for proposals now, not those that the job found.")
@click.pass_context
def entities_command(
    context: click.Context,
    name: str | None,
    limit: int,
    proposals: bool,
    at_least: float,
    fresh: bool,
    principal: str,
    groups: tuple[str, ...],
) -> None:
    """The entities that bear NAME or have it as an alias, else the first ones; with what each is the same as."""
    if proposals and name is not None:
        raise click.UsageError("--proposals looks at the whole bank; leave NAME out")
    session = session_of(context)
    who = asker(principal, groups)
    with session.memory() as memory:
        if proposals:
            pairs = memory.merge_proposals(principal=who, at_least=at_least, limit=limit, fresh=fresh)
            session.emit(pairs, lambda console: _show_proposals(console, pairs))
            return
        found = memory.entities(name, principal=who, limit=limit)
    session.emit([entity_to_builtins(one) for one in found], lambda console: _show_entities(console, found))


def _named(name: str, kind: str | None) -> str | dict[str, object]:
    return name if kind is None else {"name": name, "type": kind}


def _sight(principal: str, groups: tuple[str, ...]) -> Principal | None:
    """Who asks; None where nobody is named, so that the agent's sight counts."""
    return asker(principal, groups) if principal or groups else None


def _told(entity: Entity) -> str:
    return f"{entity.name} ({entity.type})"


def _show_report(console: Console, report: MergeReport) -> None:
    state = "is read as" if report.applied else "would be read as"
    console.print(Text(f"{_told(report.entity)} {state} {_told(report.canonical)}", "bold"))
    if report.instead_of is not None:
        console.print(Text(f"  no longer as {_told(report.instead_of)}"))
    for joined in report.joins:
        _show_joined(console, joined)
    console.print(Text(f"  {report.moves} slots and statements that only one of them has"))


def _show_joined(console: Console, joined: JoinedSlot) -> None:
    before = " | ".join(value_of(belief) for belief in joined.before) or "nothing"
    after = " | ".join(value_of(belief) for belief in joined.after) or "nothing"
    style = "yellow" if joined.conflict else ""
    console.print(Text(f"  {joined.attribute or 'statement'}: {before} → {after}", style))


def _show_entities(console: Console, found: tuple[Listed, ...]) -> None:
    if not found:
        console.print("no such entity")
    for one in found:
        console.print(Text(_told(one.entity), "bold"))
        if one.aliases:
            console.print(Text(f"  also {', '.join(one.aliases)}"))
        if one.same_as:
            console.print(Text(f"  the same as {', '.join(map(_told, one.same_as))}; read as {_told(one.canonical)}"))


def _show_proposals(console: Console, pairs: tuple[Proposal, ...]) -> None:
    table = Table("score", "entity", "into", "why", box=box.SIMPLE)
    for one in pairs:
        told = Text(_told(one.entity)), Text(_told(one.into)), Text("; ".join(one.reasons))
        table.add_row(f"{one.score:.2f}", *told)
    console.print(table if pairs else "no two entities look like one", soft_wrap=False)
    if pairs and pairs[0].found_at is not None:
        console.print(Text(f"as the job merge-proposals found them, {format_instant(pairs[0].found_at)}", "dim"))
