"""What every command shares: flags that may stand anywhere, the memory they lead to, and how results are printed."""

import contextlib
import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
import structlog
from rich.console import Console

from beliefmesh.logs import configure_logs
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from beliefmesh.settings import Loaded, Settings, load_settings, secrets_of
from beliefmesh.terminal import Terminal
from schemas.errors import FolderInUse
from schemas.query import Principal

AnyMemory = Memory | RemoteMemory
Command = TypeVar("Command", bound=Callable[..., Any])

log_events = structlog.get_logger("cli")

_SETTING_FLAGS = {"folder": "mesh.folder", "bank": "mesh.bank"}


class Session:
    """One invocation: what its flags say, read wherever they stand."""

    def __init__(self) -> None:
        self.as_json = False
        self.logs_json = False
        self._file: Path | None = None
        self._given: dict[str, object] = {}
        self.console = Terminal(file=sys.stdout, highlight=False, soft_wrap=True)
        self.notes = Terminal(stderr=True, highlight=False, soft_wrap=True)

    def set(self, key: str, value: object) -> None:
        """Note a flag that stands for a setting; None means that it was not given."""
        if value is not None:
            self._given[key] = value

    def flag(self, name: str, value: Any) -> None:
        """Note one of the flags that every command has."""
        if name == "config":
            self._file = Path(value)
        elif name == "as_json":
            self.as_json = True
        else:
            self.set(_SETTING_FLAGS[name], value)

    def repeated(self) -> list[str]:
        """The flags that name folder, bank and settings file, as they were given, for a command like this one."""
        named = {flag: self._given.get(key) for flag, key in _SETTING_FLAGS.items()} | {"config": self._file}
        return [word for flag, value in named.items() if value is not None for word in (f"--{flag}", str(value))]

    def loaded(self) -> Loaded:
        """The settings with where each comes from; logs follow them from here on."""
        loaded = load_settings(overrides=self._given, file=self._file)
        configure_logs(loaded.settings.logging, secrets_of(loaded.settings))
        self.logs_json = loaded.settings.logging.format == "json"
        return loaded

    @contextlib.contextmanager
    def memory(self) -> Iterator[AnyMemory]:
        """The memory of the folder, in this process; over HTTP if a running mesh owns the folder and serves it."""
        settings = inline(self.loaded().settings)
        try:
            opened: AnyMemory = Memory(settings=settings)
        except FolderInUse as error:
            if not error.address:
                raise
            self.note(f"the folder is in use by a running mesh; asking it at {error.address}")
            opened = RemoteMemory(error.address, bank=settings.mesh.bank, key=settings.access.key)
        gc.freeze()  # what is loaded by now stays; to look through it again and again would cost a tenth of an import
        with opened:
            yield opened

    def emit(self, plain: object, show: Callable[[Console], None]) -> None:
        """Print a result: as one JSON value with --json, else as `show` draws it."""
        if self.as_json:
            write_json(plain)
        else:
            show(self.console)

    def note(self, text: str) -> None:
        """Say something beside the result, on standard error; as an event where that is for JSON lines alone."""
        if self.logs_json:
            log_events.info("command.noted", message=text)
        else:
            self.notes.print(text, style="dim", markup=False)


def inline(settings: Settings) -> Settings:
    """The same settings with actors in this process: a single command does not start a cluster, but joins one."""
    if settings.mesh.address:
        return settings
    return msgspec.structs.replace(settings, mesh=msgspec.structs.replace(settings.mesh, runtime="inline"))


def write_json(plain: object) -> None:
    """One JSON value and a line end on standard output."""
    sys.stdout.buffer.write(msgspec.json.encode(plain) + b"\n")
    sys.stdout.buffer.flush()


def session_of(context: click.Context) -> Session:
    """The session of an invocation."""
    return context.ensure_object(Session)


def with_flags(command: Command) -> Command:
    """Give a command the flags that may stand before or after its name."""
    for option in reversed(
        (
            click.option("--folder", metavar="PATH", help="Folder of the mesh.", expose_value=False, callback=_keep),
            click.option("--bank", metavar="NAME", help="Bank to use.", expose_value=False, callback=_keep),
            click.option("--config", metavar="FILE", help="Settings file.", expose_value=False, callback=_keep),
            click.option(
                "--json", "as_json", is_flag=True, help="Print one JSON value.", expose_value=False, callback=_keep
            ),
        )
    ):
        command = option(command)
    return command


def asker(principal: str, groups: tuple[str, ...]) -> Principal:
    """The principal that --as and --group name."""
    return Principal(principal, groups)


def with_asker(command: Command) -> Command:
    """Give a command the flags that say who asks."""
    command = click.option("--group", "groups", metavar="NAME", multiple=True, help="A group of the asker.")(command)
    return click.option("--as", "principal", metavar="PRINCIPAL", default="", help="Ask as this principal.")(command)


def _keep(context: click.Context, parameter: click.Parameter, value: object) -> None:
    if value is not None and value is not False and parameter.name:
        session_of(context).flag(parameter.name, value)
