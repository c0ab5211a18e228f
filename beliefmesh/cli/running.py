"""Commands that run the mesh: up, serve."""

import contextlib

import click
import structlog

from beliefmesh.attached import ended_when_lost
from beliefmesh.cli.session import Session, session_of, with_flags, write_json
from beliefmesh.failure import OK, UNFINISHED
from beliefmesh.home import system_clock
from beliefmesh.http.door import door_of
from beliefmesh.http.serve import listen, serve
from beliefmesh.memory import Memory
from beliefmesh.scheduled import scheduled
from beliefmesh.settings import LOOPBACK, Settings
from beliefmesh.show import show_serving, show_tour
from beliefmesh.tour import learn_sample, take_tour, tour_to_builtins

log_events = structlog.get_logger("cli")


@click.command("up")
@with_flags
@click.option("--once", is_flag=True, help="Stop after the tour.")
@click.option("--no-sample", is_flag=True, help="Neither import the bundled sample nor show the tour.")
@click.option("--runtime", metavar="NAME", help="auto (default), inline or ray.")
@click.option("--port", type=int, help="Port to serve at; 0 takes a free one.")
@click.pass_context
def up_command(context: click.Context, once: bool, no_sample: bool, runtime: str | None, port: int | None) -> int:
    """Start the mesh, learn the bundled sample, show a tour, and serve HTTP until Ctrl-C."""
    session = session_of(context)
    session.set("mesh.runtime", runtime)
    session.set("http.port", port)
    settings = session.loaded().settings
    with contextlib.ExitStack() as opened:
        listener = None if once else opened.enter_context(listen(settings.http, guarded=_guarded(settings)))
        memory = opened.enter_context(Memory(settings=settings))
        session.note(f"mesh in {memory.home.folder.path}, actors: {memory.home.runtime}")
        memory.home.start()
        finished = True
        if not no_sample:
            lesson = learn_sample(memory, session.notes)
            tour = take_tour(memory, lesson)
            session.emit(tour_to_builtins(tour), lambda console: show_tour(console, tour))
        if listener is not None:
            opened.enter_context(ended_when_lost(memory.home.mesh))
            opened.enter_context(scheduled(memory))
            finished = serve(memory, listener, lambda address: _serving(session, address, memory))
    return _code(memory, finished)


@click.command("serve")
@with_flags
@click.option("--host", metavar="HOST", help="Address to serve at; 127.0.0.1 by default.")
@click.option("--port", type=int, help="Port to serve at; 0 takes a free one.")
@click.option("--runtime", metavar="NAME", help="auto (default), inline or ray.")
@click.option(
    "--i-know-there-is-no-authentication",
    "exposed",
    is_flag=True,
    default=None,
    help="Serve at an address that others can reach.",
)
@click.pass_context
def serve_command(
    context: click.Context, host: str | None, port: int | None, runtime: str | None, exposed: bool | None
) -> int:
    """Serve HTTP until Ctrl-C. Exits 1 if the cluster of shared actors goes away."""
    session = session_of(context)
    for key, value in (
        ("http.host", host),
        ("http.port", port),
        ("mesh.runtime", runtime),
        ("http.expose_without_authentication", exposed),
    ):
        session.set(key, value)
    settings = session.loaded().settings
    with (
        listen(settings.http, guarded=_guarded(settings)) as listener,
        Memory(settings=settings) as memory,
        ended_when_lost(memory.home.mesh),
        scheduled(memory),
    ):
        finished = serve(memory, listener, lambda address: _announce(session, address, memory))
    return _code(memory, finished)


def _code(memory: Memory, finished: bool) -> int:
    """The exit code, once the memory is closed: whether requests and the batch in hand were finished in time."""
    return OK if finished and not memory.home.worker.unfinished else UNFINISHED


def _announce(session: Session, address: str, memory: Memory) -> None:
    if session.as_json:
        write_json({"address": address})
    else:
        _serving(session, address, memory)


def _serving(session: Session, address: str, memory: Memory) -> None:
    settings = memory.home.settings
    if session.logs_json:
        log_events.info("http.serving", address=address, bank=memory.bank, guarded=_guarded(settings))
        return
    show_serving(session.notes, address, memory.bank, guarded=_guarded(settings), local=settings.http.host in LOOPBACK)


def _guarded(settings: Settings) -> bool:
    return door_of(settings.access, settings.mesh.folder, system_clock).closed
