"""The commands for API keys: make one, see them, change one for another, take one away."""

from pathlib import Path

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from beliefmesh.cli.session import Session, session_of, with_flags
from beliefmesh.grant import ANY_BANK, ROLES, Grant, Role
from beliefmesh.home import system_clock
from beliefmesh.http.door import keys_file
from beliefmesh.keyring import Key, KeyRing
from schemas.instant import DAY, HOUR, format_instant


@click.group()
def keys() -> None:
    """API keys: who may ask over HTTP, as whom, and for which banks."""


@keys.command("create")
@with_flags
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="reader", show_default=True, help="What it may do.")
@click.option("--for", "banks", metavar="BANK", multiple=True, help="A bank it opens; * and ? stand for others. [all]")
@click.option("--as", "principal", metavar="PRINCIPAL", default="", help="Whom it asks and speaks as.")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="A group of that principal.")
@click.option("--delegate", is_flag=True, help="Let it say for each request whom it asks and speaks for.")
@click.option("--days", type=click.FloatRange(min=0, min_open=True), help="Days after which it ends. [never]")
@click.pass_context
def create(
    context: click.Context,
    name: str,
    role: Role,
    banks: tuple[str, ...],
    principal: str,
    groups: tuple[str, ...],
    delegate: bool,
    days: float | None,
) -> None:
    """Make a key, and print it this once: what is kept is a hash of it."""
    session = session_of(context)
    grant = Grant(
        name=name,
        role=role,
        banks=banks or (ANY_BANK,),
        principal=principal,
        groups=groups,
        delegate=delegate,
    )
    now = system_clock()
    token = _ring(session).create(grant, now, None if days is None else now + int(days * DAY))
    _tell(session, name, token)


@keys.command("list")
@with_flags
@click.pass_context
def list_keys(context: click.Context) -> None:
    """The keys there are, without the keys themselves."""
    session = session_of(context)
    held, now = _ring(session).keys(), system_clock()
    plain = [
        {
            "id": key.id,
            "name": key.grant.name,
            "role": key.grant.role,
            "banks": key.grant.banks,
            "principal": key.grant.principal,
            "groups": key.grant.groups,
            "delegate": key.grant.delegate,
            "created_at": format_instant(key.created_at),
            "ends_at": None if key.ends_at is None else format_instant(key.ends_at),
            "ended": key.ended(now),
        }
        for key in held
    ]
    session.emit({"keys": plain}, lambda console: _show(console, held))


@keys.command("rotate")
@with_flags
@click.argument("name")
@click.option(
    "--grace", type=click.FloatRange(min=0), default=24.0, show_default=True, help="Hours that the former key stays."
)
@click.pass_context
def rotate(context: click.Context, name: str, grace: float) -> None:
    """Make another key with the same rights, and print it; the former one ends after a while."""
    session = session_of(context)
    _tell(session, name, _ring(session).rotate(name, system_clock(), int(grace * HOUR)))


@keys.command("revoke")
@with_flags
@click.argument("name")
@click.pass_context
def revoke(context: click.Context, name: str) -> None:
    """Take a key away, at once."""
    session = session_of(context)
    gone = _ring(session).revoke(name)
    session.emit({"revoked": name, "keys": gone}, lambda console: console.print(Text(f"revoked: {name}")))


def _ring(session: Session) -> KeyRing:
    settings = session.loaded().settings
    return KeyRing(Path(keys_file(settings.access, settings.mesh.folder)))


def _tell(session: Session, name: str, token: str) -> None:
    session.note("this is the only time that the key is shown; send it as `Authorization: Bearer KEY`")
    session.emit({"name": name, "key": token}, lambda console: console.print(Text(token)))


def _show(console: Console, held: list[Key]) -> None:
    table = Table("name", "role", "banks", "speaks as", "made", "ends", box=box.SIMPLE)
    for key in held:
        grant = key.grant
        ends = "" if key.ends_at is None else format_instant(key.ends_at)
        speaks = "whom it names" if grant.delegate else ", ".join((grant.principal or "nobody", *grant.groups))
        texts = (grant.name, grant.role, ", ".join(grant.banks), speaks, format_instant(key.created_at), ends)
        table.add_row(*map(Text, texts))
    console.print(table)
