"""The command that serves a memory to language models as MCP tools."""

import click

from beliefmesh import __version__
from beliefmesh.cli.session import Session, session_of, with_asker, with_flags, write_json
from beliefmesh.grant import Grant, Role
from beliefmesh.home import system_clock
from beliefmesh.http.door import door_of
from beliefmesh.http.serve import listen
from schemas.extras import load_with


@click.command("mcp")
@with_flags
@with_asker
@click.option("--http", "over_http", is_flag=True, help="Serve streamable HTTP at /mcp instead of one client.")
@click.option("--host", metavar="HOST", help="Address to serve at; 127.0.0.1 by default.")
@click.option("--port", type=int, help="Port to serve at; 0 takes a free one.")
@click.option("--read-only", is_flag=True, help="Offer the client what asks, and nothing that tells.")
@click.pass_context
def mcp_command(
    context: click.Context,
    principal: str,
    groups: tuple[str, ...],
    over_http: bool,
    host: str | None,
    port: int | None,
    read_only: bool,
) -> None:
    """Serve the memory to a language model as MCP tools, over standard input and output.

    --as and --group say whom the client asks and speaks as. With --http each request says so by its key.
    """
    session = session_of(context)
    session.set("http.host", host)
    session.set("http.port", port)
    if over_http and (principal or groups or read_only):
        raise click.UsageError("--as, --group and --read-only go without --http: there each key says who it is")
    settings = session.loaded().settings
    serving = load_with("mcp", "MCP", "beliefmesh.mcp.serving", "mcp")
    if not over_http:
        role: Role = "reader" if read_only else "writer"
        grant = Grant(name="the client", role=role, banks=("*",), principal=principal, groups=groups)
        with session.memory() as memory:
            serving.serve_standard(memory, grant, __version__)
        return
    door = door_of(settings.access, settings.mesh.folder, system_clock)
    with listen(settings.http, guarded=door.closed) as listener, session.memory() as memory:
        serving.serve_http(memory, door, listener, __version__, lambda address: _announce(session, address))


def _announce(session: Session, address: str) -> None:
    if session.as_json:
        write_json({"address": address})
    else:
        session.note(f"MCP tools at {address} until Ctrl-C")
