"""The command that has a Ray cluster run a job."""

import click
import msgspec
from rich.console import Console
from rich.text import Text

from actors.choose import submission
from actors.placing import Resources, placed
from beliefmesh.cli.job_arguments import arguments_of, with_arguments
from beliefmesh.cli.session import Session, session_of, with_flags
from beliefmesh.failure import OK
from jobs.catalogue import job_named


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """A job that a cluster runs: its name there, what it takes, the command, and, once it ended, its exit code."""

    submission: str
    address: str
    cpus: float
    gpus: float
    command: tuple[str, ...]
    exit_code: int | None = None


@click.command("submit")
@with_flags
@with_arguments
@click.argument("name")
@click.option("--address", metavar="URL", required=True, help="Where the cluster takes jobs: http://HOST:8265.")
@click.option("--cpus", type=click.FloatRange(min=0), help="CPUs that it must get; else what the cluster has for it.")
@click.option(
    "--gpus", type=click.FloatRange(min=0), help="GPUs that it must get; else one, if it helps, where one is."
)
@click.option("--wait", is_flag=True, help="Print what it prints, and end with its exit code.")
@click.pass_context
def submit_command(
    context: click.Context,
    name: str,
    address: str,
    cpus: float | None,
    gpus: float | None,
    wait: bool,
    dry_run: bool,
    shadow: bool,
    given: tuple[str, ...],
) -> int:
    """Have a node of a Ray cluster run a job on the bank: `beliefmesh jobs run NAME`, with that node's settings.

    What no node could ever give is refused; a node that is merely busy is waited for.
    """
    session, job = session_of(context), job_named(name)
    job.told(arguments_of(given), msgspec.structs.asdict(session.loaded().settings.jobs))
    flags = [*(["--dry-run"] if dry_run else []), *(["--shadow"] if shadow else [])]
    told = [word for one in given for word in ("--set", one)]
    command = ["beliefmesh", "jobs", "run", name, *flags, *told, *session.repeated()]
    cluster = submission(address)
    resources = placed(cluster.nodes(), cpus=cpus, gpus=gpus, liked=Resources(job.cpus, job.gpus))
    done = Submitted(
        submission=cluster.submit(command, resources),
        address=address,
        cpus=resources.cpus,
        gpus=resources.gpus,
        command=tuple(command),
    )
    if wait:
        session.note(_told(done))
        code = cluster.follow(done.submission, lambda text: _hear(session, text))
        done = msgspec.structs.replace(done, exit_code=code)
    if session.as_json or not wait:
        session.emit(done, lambda console: _show(console, done))
    return OK if done.exit_code is None else done.exit_code


def _hear(session: Session, text: str) -> None:
    """What the job prints is the result, unless that is to be one JSON value."""
    click.echo(text, err=session.as_json, nl=False)


def _show(console: Console, done: Submitted) -> None:
    console.print(Text(_told(done)))


def _told(done: Submitted) -> str:
    takes = f"{done.cpus:g} CPUs and {done.gpus:g} GPUs"
    return f"{done.submission} at {done.address} takes {takes}; `ray job logs {done.submission}` follows it"
