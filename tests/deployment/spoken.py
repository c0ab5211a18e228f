"""What a deployment says to Beliefmesh: whether its variables are settings and its arguments are a command's."""

import shlex
from collections.abc import Mapping, Sequence

import click

from beliefmesh.cli.entry import beliefmesh
from beliefmesh.settings import load_settings
from schemas.errors import InvalidSetting

OF_OTHERS = {"HOME", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "OMP_NUM_THREADS", "POD_IP"}
OF_RAY = {
    "RAY_ADDRESS",
    "RAY_AUTH_MODE",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER",
    "RAY_USAGE_STATS_ENABLED",
    "RAY_max_direct_call_object_size",
    "RAY_task_rpc_inlined_bytes_limit",
}


def unknown_variables(environment: Mapping[str, str | None]) -> list[str]:
    """What of it would be refused, or is nothing that we know: names and wrong values. None stands for a secret."""
    settings = {name: value for name, value in environment.items() if name.startswith("BELIEFMESH_")}
    strange = [name for name in environment if name not in settings and name not in OF_OTHERS | OF_RAY]
    for name, value in settings.items():
        try:
            load_settings({name: "secret" if value is None else value})
        except InvalidSetting as error:
            strange.append(str(error))
    return strange


def refused_arguments(arguments: Sequence[str]) -> str:
    """What the command line says against some arguments; nothing if it would run them."""
    try:
        with click.Context(beliefmesh) as context:
            _parse(beliefmesh, list(arguments), context)
    except click.ClickException as error:
        return f"{shlex.join(arguments)}: {error.format_message()}"
    return ""


def _parse(group: click.Group, arguments: list[str], parent: click.Context) -> None:
    """Parse as click does when it runs a command, group by group, and run nothing."""
    name, command, rest = group.resolve_command(parent, arguments)
    assert command is not None
    if isinstance(command, click.Group):
        with click.Context(command, parent=parent, info_name=name) as context:
            _parse(command, rest, context)
    else:
        command.make_context(name, rest, parent=parent)
