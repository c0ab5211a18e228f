"""The command that tells programs in other languages what travels on the log."""

from typing import Any

import click
import msgspec

from beliefmesh.cli.session import session_of, with_flags, write_json
from schemas.errors import InvalidInput
from schemas.json_schema import ENVELOPE, MESSAGES, example, message_schema

_FIRST = next(iter(MESSAGES))


@click.command("schema")
@with_flags
@click.argument("name", default=_FIRST, metavar="[NAME]", type=click.Choice([*MESSAGES, ENVELOPE]))
@click.option("--example", "as_example", is_flag=True, help="Print a message with an observation instead.")
@click.pass_context
def schema_command(context: click.Context, name: str, as_example: bool) -> None:
    """Print the JSON Schema of a message: the envelope, and inside it the observation or what else NAME says."""
    if as_example and name != _FIRST:
        raise InvalidInput("example", f"is there for {_FIRST} only")
    printed: dict[str, Any] = example() if as_example else message_schema(name)
    if session_of(context).as_json:
        write_json(printed)
    else:
        click.echo(msgspec.json.format(msgspec.json.encode(printed), indent=2))
