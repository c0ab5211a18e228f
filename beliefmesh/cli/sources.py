"""Sources on the command line: what there is, how one is written, and the import of their files."""

import sys
from functools import partial
from pathlib import Path
from typing import IO

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from beliefmesh.cli.session import Session, session_of, with_flags
from beliefmesh.reread import own_sources
from beliefmesh.sourced import Sourced, import_source
from recall.tell import counted
from schemas.errors import InvalidInput
from streams.sources.registry import About, is_path, list_sources, open_source, source_at, source_text, text_at

_STDIN = "-"


@click.group()
def sources() -> None:
    """Sources: what `import --source` can read."""


@sources.command("list")
@with_flags
@click.pass_context
def list_command(context: click.Context) -> None:
    """Every source that has a name; your own are YAML files in the folder `sources` of the mesh."""
    session = session_of(context)
    found = list_sources(_own(session))
    session.emit(found, lambda console: _show_sources(console, found))


@sources.command("show")
@with_flags
@click.argument("name")
@click.pass_context
def show_command(context: click.Context, name: str) -> None:
    """The YAML of a source, as a start for your own."""
    session = session_of(context)
    text = text_at(Path(name)) if is_path(name) else source_text(name, _own(session))
    session.emit({"name": name, "text": text}, lambda console: console.print(Text(text.rstrip())))


def import_files(session: Session, name: str, files: tuple[str, ...]) -> None:
    """Keep what files of a source say, and print the counts. Raises InvalidInput where nothing of them can be used."""
    source = source_at(Path(name)) if is_path(name) else open_source(name, _own(session))
    done = Sourced()
    with session.memory() as memory, bar(session) as shown:
        for file in files:
            known = None if file == _STDIN else Path(file).stat().st_size
            label = "stdin" if file == _STDIN else Path(file).name
            task = shown.add_task(label, total=known)
            with _opened(file) as stream:
                moves = partial(moved, shown, task, stream)
                done = done.and_then(import_source(memory, source, stream, label, progress=moves))
    if done.dead and not done.accepted:
        told = f"nothing in {', '.join(files)} fits {name!r}: {done.dead} set aside, the first because {done.reason}"
        raise InvalidInput("source", f"{told}; `beliefmesh sources list` names the others, `dlq list` tells the rest")
    session.emit(done, lambda console: _show_sourced(console, done))


def bar(session: Session) -> Progress:
    """A progress bar on standard error, where that is a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    return Progress(*columns, console=session.notes, transient=True, disable=not session.notes.is_terminal)


def moved(shown: Progress, task: TaskID, raw: IO[bytes], _: int) -> None:
    """Move a bar to where a file is read."""
    if raw.seekable():
        shown.update(task, completed=raw.tell())


def _own(session: Session) -> Path:
    return own_sources(session.loaded().settings.mesh.folder)


def _opened(file: str) -> IO[bytes]:
    return sys.stdin.buffer if file == _STDIN else Path(file).open("rb")


def _show_sources(console: Console, found: list[About]) -> None:
    width = max(len(each.name) for each in found)
    for each in found:
        console.print(Text.assemble((each.name.ljust(width), "bold"), f"  {each.reads}: {each.about}"))


def _show_sourced(console: Console, done: Sourced) -> None:
    console.print(
        Text(
            f"{done.read} read: {counted(done.accepted, 'observation')} accepted, "
            f"{counted(done.repeats, 'repeat')} counted in them, "
            f"{done.skipped} passed over, {done.dead} set aside"
        )
    )
    if done.dead:
        console.print(Text(f"the first: {done.reason}; `beliefmesh dlq list` shows all", "dim"))
