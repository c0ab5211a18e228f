"""The command that streams: a worker of Kafka's topics, beside others or alone."""

import contextlib

import click

from beliefmesh.attached import ended_when_lost
from beliefmesh.cli.session import session_of, with_flags
from beliefmesh.ending import Ending
from beliefmesh.failure import OK, UNFINISHED
from beliefmesh.http.serve import address_of, health_served, listen
from beliefmesh.memory import Memory
from beliefmesh.termination import termination
from schemas.errors import InvalidSetting
from stores.open import is_kafka


@click.command("worker")
@with_flags
@click.option("--log", metavar="URL", help="The log, kafka://host:port.")
@click.option("--address", metavar="HOST:PORT", help="The Ray cluster whose actors all workers share.")
@click.option("--runtime", metavar="NAME", help="auto (default), inline or ray.")
@click.option(
    "--instance", metavar="NAME", help="This worker's name in its group; a quick restart moves no partitions."
)
@click.option("--port", type=int, help="Port for its health and metrics; none unless given.")
@click.pass_context
def worker_command(
    context: click.Context,
    log: str | None,
    address: str | None,
    runtime: str | None,
    instance: str | None,
    port: int | None,
) -> int:
    """Stream from Kafka until SIGTERM: extract, decide, index. A second signal does not wait for the batch in hand.

    Exits 1 if the cluster of shared actors goes away.
    """
    session = session_of(context)
    given = {"stores.log": log, "mesh.address": address, "mesh.runtime": runtime, "kafka.instance": instance}
    for key, value in {**given, "streams.worker": "here", "streams.worker_port": port}.items():
        session.set(key, value)
    settings = session.loaded().settings
    if not is_kafka(settings.stores.log):
        raise InvalidSetting(
            "stores.log: worker needs a kafka:// log; the embedded one streams inside `up` and `serve`"
        )
    wanted = settings.streams.worker_port
    with termination() as asked, contextlib.ExitStack() as opened:
        listener = opened.enter_context(listen(settings.http, wanted, "streams.worker_port")) if wanted else None
        memory = opened.enter_context(Memory(settings=settings))
        session.note(
            f"worker of group {memory.home.topics.group} at {settings.stores.log}, actors: {memory.home.runtime}"
        )
        ending = Ending()
        if listener is not None:
            ending = opened.enter_context(health_served(memory, listener))
            session.note(f"health at {address_of(listener)}")
        opened.enter_context(ended_when_lost(memory.home.mesh))
        asked.wait()
        ending.ask()
        session.note("finishing the batch in hand")
        memory.close()
        if memory.home.worker.unfinished:
            session.note("the batch was not finished in time; it is delivered again")
        return UNFINISHED if memory.home.worker.unfinished else OK
