"""The command that keeps the actors that several processes share."""

from threading import Event

import click
from rich.text import Text

from actors.choose import joined_mesh
from actors.shared import JoinedMesh
from beliefmesh.cli.session import Session, session_of, with_flags, write_json
from beliefmesh.folder import Folder
from beliefmesh.home import placement_of, store_urls
from beliefmesh.settings import environment_name
from beliefmesh.space import current_space
from beliefmesh.termination import termination

_LOOK_SECONDS = 5.0


@click.command("actors")
@with_flags
@click.option("--address", metavar="HOST:PORT", help="The Ray cluster to run them on; one on this machine by default.")
@click.pass_context
def actors_command(context: click.Context, address: str | None) -> None:
    """Run the actors that all processes with the same folder and address share, until SIGTERM or Ctrl-C.

    Exits 1 if the cluster goes away. A second signal does not wait for the index to be written.
    """
    session = session_of(context)
    session.set("mesh.address", address)
    settings = session.loaded().settings
    with termination() as asked, Folder(settings.mesh.folder, shared=True) as folder:
        urls = store_urls(settings, folder, current_space(settings, folder))
        chosen = settings.mesh
        mesh = joined_mesh(
            urls,
            shards=chosen.shards,
            shard_cache_mb=chosen.shard_cache_mb,
            address=chosen.address,
            placement=placement_of(chosen),
        )
        try:
            _announce(session, mesh, folder, settings.mesh.shards)
            _watch(mesh, asked)
        finally:
            mesh.end()


def _watch(mesh: JoinedMesh, asked: Event) -> None:
    """Wait for the signal. Raises StoreUnavailable once the actors cannot be asked any more."""
    while not asked.wait(_LOOK_SECONDS):
        mesh.processes()


def _announce(session: Session, mesh: JoinedMesh, folder: Folder, shards: int) -> None:
    if session.as_json:
        write_json({"address": mesh.address, "shards": shards, "processes": mesh.processes()})
        return
    join = f"{environment_name('mesh.address')}={mesh.address} beliefmesh serve --folder {folder.path}"
    session.notes.print(
        Text.assemble("actors at ", (mesh.address, "bold"), " until Ctrl-C; join them: ", (join, "bold")),
        soft_wrap=True,
    )
