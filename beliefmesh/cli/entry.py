"""The command `beliefmesh`: its families of commands, and how a run ends."""

import importlib
import sys
from collections.abc import Sequence

import click

from beliefmesh.cli.session import with_flags, write_json
from beliefmesh.cli.standard import mend_streams
from beliefmesh.failure import BAD_INPUT, FAILED, INTERRUPTED, OK, error_shape, error_to_builtins, exit_code
from beliefmesh.settings import lean_heap
from beliefmesh.terminal import without_controls
from schemas.errors import BeliefmeshError

EXIT_CODES = """\b
Exit codes:
  0  done
  1  something failed: a store is down, doctor found differences
  2  bad input or a bad setting
  3  not found
  4  conflict: a version has moved on, or the folder is in use
  5  told to stop, with requests or a batch left unfinished in time
"""


_COMMANDS = {
    "up": "beliefmesh.cli.running:up_command",
    "serve": "beliefmesh.cli.running:serve_command",
    "mcp": "beliefmesh.cli.mcp:mcp_command",
    "worker": "beliefmesh.cli.worker:worker_command",
    "health": "beliefmesh.cli.health:health_command",
    "actors": "beliefmesh.cli.actors:actors_command",
    "retain": "beliefmesh.cli.telling:retain",
    "import": "beliefmesh.cli.telling:import_command",
    "export": "beliefmesh.cli.backup:export_command",
    "sources": "beliefmesh.cli.sources:sources",
    "narrate": "beliefmesh.cli.narrating:narrate_command",
    "revoke": "beliefmesh.cli.telling:revoke",
    "feedback": "beliefmesh.cli.telling:feedback",
    "reflect": "beliefmesh.cli.voice:reflect",
    "summary": "beliefmesh.cli.voice:summary",
    "profile": "beliefmesh.cli.voice:profile",
    "merge": "beliefmesh.cli.merging:merge_command",
    "unmerge": "beliefmesh.cli.merging:unmerge_command",
    "beliefs": "beliefmesh.cli.listing:beliefs_command",
    "changes": "beliefmesh.cli.listing:changes_command",
    "entities": "beliefmesh.cli.merging:entities_command",
    "forget": "beliefmesh.cli.forgetting:forget_command",
    "calibrate": "beliefmesh.cli.calibrate:calibrate_command",
    "recall": "beliefmesh.cli.asking:recall",
    "explain": "beliefmesh.cli.asking:explain",
    "history": "beliefmesh.cli.asking:history",
    "keys": "beliefmesh.cli.keys:keys",
    "stats": "beliefmesh.cli.operating:stats",
    "doctor": "beliefmesh.cli.operating:doctor",
    "jobs": "beliefmesh.cli.jobs:jobs",
    "budget": "beliefmesh.cli.keeping:budget_command",
    "learn-value": "beliefmesh.cli.keeping:learn_value_command",
    "rebuild": "beliefmesh.cli.rebuild:rebuild_command",
    "topics": "beliefmesh.cli.topics:topics",
    "dlq": "beliefmesh.cli.operating:dlq",
    "config": "beliefmesh.cli.operating:config",
    "schema": "beliefmesh.cli.schema:schema_command",
    "eval": "beliefmesh.evaluate.cli:eval_group",
}


class Families(click.Group):
    """Loads a command when it is called: a question need not wait for the web server's modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Every command, in the order in which it is met."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a name, if there is one."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


@click.group(
    cls=Families,
    help="Beliefmesh: a belief memory for many agents. It knows what it remembers, why, since when and how surely.",
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="beliefmesh", prog_name="beliefmesh")
@with_flags
def beliefmesh() -> None:
    """Flags given here hold for the command that follows."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code; an error is one line, or one JSON object with --json."""
    lean_heap()
    mend_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(given))


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        sys.stdout = None
    except OSError as error:  # of an input that cannot be read, or of the result, as on a full disk
        sys.stdout = None
        click.echo(f"error: reading or writing failed: {error.strerror or error}", err=True)
    return FAILED


def _run(arguments: list[str]) -> int:
    as_json = "--json" in arguments
    try:
        result = beliefmesh.main(arguments, prog_name="beliefmesh", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    except click.ClickException as error:
        field = getattr(getattr(error, "param", None), "name", "") or ""
        return _told(as_json, error_shape("usage", " ".join(error.format_message().split()), field), BAD_INPUT)
    except BeliefmeshError as error:
        return _told(as_json, error_to_builtins(error), exit_code(error))
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    return result if isinstance(result, int) else OK


def _told(as_json: bool, error: dict[str, dict[str, str]], code: int) -> int:
    if as_json:
        write_json(error)
    else:
        click.echo(without_controls(f"error: {error['error']['message']}"), err=True)
    return code
