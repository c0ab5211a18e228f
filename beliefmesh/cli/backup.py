"""The commands that write a bank to a file and bring it back."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from beliefmesh.backup import Restored
from beliefmesh.cli.session import AnyMemory, Session, session_of, with_flags
from beliefmesh.cli.sources import bar
from beliefmesh.packed import packing, unpacked
from recall.tell import counted
from schemas.errors import InvalidInput

_STDOUT = "-"


@click.command("export")
@with_flags
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.pass_context
def export_command(context: click.Context, file: str) -> None:
    """Write the bank's backup to FILE, for `beliefmesh import --backup`.

    A name that ends in .gz or .zst packs it; - is standard output.
    """
    session = session_of(context)
    with session.memory() as memory:
        if file == _STDOUT:
            sys.stdout.buffer.writelines(line + b"\n" for line in memory.export())
            return
        try:
            count = _written(session, memory, Path(file))
        except OSError as error:
            raise InvalidInput("file", f"{file} cannot be written ({error.strerror})") from error
        done = {"bank": memory.bank, "file": file, "observations": count}
    session.emit(
        done, lambda console: console.print(Text(f"{counted(count, 'observation')} of {done['bank']} in {file}"))
    )


def import_backup(session: Session, file: str) -> None:
    """Bring the bank in a file back, under its own name; over a bank that is there nothing is told twice."""
    path = Path(file)
    with session.memory() as memory, path.open("rb") as raw, bar(session) as shown:
        task = shown.add_task(path.name, total=path.stat().st_size)

        def lines() -> Iterator[bytes]:
            for number, line in enumerate(unpacked(raw, file)):
                if number % 1_000 == 0:
                    shown.update(task, completed=raw.tell())
                yield line

        done = memory.import_backup(lines())
    session.emit(done, lambda console: _show(console, done))


def _written(session: Session, memory: AnyMemory, path: Path) -> int:
    count = -2
    with packing(path) as file, bar(session) as shown:
        task = shown.add_task(path.name, total=None)
        for line in memory.export():
            file.write(line + b"\n")
            count += 1
            if count % 1_000 == 0:
                shown.update(task, completed=count)
    return count


def _show(console: Console, done: Restored) -> None:
    are = "is" if done.observations == 1 else "are"
    console.print(Text(f"{counted(done.observations, 'observation')} of {done.bank} {are} recallable again"))
    if done.policy == "kept":
        console.print(Text("the bank has a policy of its own, which was kept"))
