"""Commands that tell the memory something: retain, import, revoke, feedback."""

import sys
from functools import partial
from pathlib import Path
from typing import IO, Any, cast, get_args

import click
import msgspec

from beliefmesh.cli.backup import import_backup
from beliefmesh.cli.session import session_of, with_flags
from beliefmesh.cli.sources import bar, import_files, moved
from beliefmesh.packed import unpacked
from beliefmesh.receipt import Imported
from beliefmesh.show import show_import, show_receipt
from schemas.errors import InvalidInput
from schemas.recall_record import Usefulness

_STDIN = "-"

_OF_CLAIM = ("attribute", "value", "value_type", "stance")
_TEXTUAL = ("text", "enum", "name", "code", "version", "date", "time")


@click.command()
@with_flags
@click.argument("text", required=False)
@click.option("--json-input", is_flag=True, help="TEXT is JSON: an observation or a list of them.")
@click.option("--entity", metavar="NAME", help="Whom or what it is about.")
@click.option("--entity-type", metavar="TYPE", help="The entity's type.")
@click.option("--attribute", metavar="NAME", help="What of it is stated.")
@click.option("--value", metavar="VALUE", help="The value; what reads as a number or truth value is one.")
@click.option("--value-type", metavar="TYPE", help="text, number, money, date, time, version, boolean, …")
@click.option("--scope", metavar="NAME=VALUE", multiple=True, help="Where it holds; everywhere by default.")
@click.option("--stance", metavar="STANCE", help="supports (default), refutes or retracts.")
@click.option("--kind", metavar="KIND", help="observation (default), instruction or derivation.")
@click.option("--network", metavar="NETWORK", help="world (default), experience, opinion or observation.")
@click.option("--tier", metavar="TIER", help="low, medium (default) or high.")
@click.option("--weight", type=float, help="How much it weighs; 1 by default.")
@click.option("--at", "observed_at", metavar="TIME", help="When it was recorded; now by default.")
@click.option("--effective-at", metavar="TIME", help="From when on it says that it holds.")
@click.option("--valid-until", metavar="TIME", help="Until when it holds.")
@click.option("--agent", metavar="NAME", help="Who says so.")
@click.option("--source", metavar="ID", help="Where it comes from; the agent by default.")
@click.option("--session", "session_name", metavar="ID", help="The conversation that it belongs to.")
@click.option("--turn", type=int, help="Its place in the session.")
@click.option("--id", metavar="ID", help="Its id; sent twice under one id it counts once.")
@click.option("--visibility", metavar="WHO", help="bank (default), group or private.")
@click.option("--owner", metavar="NAME", help="Whose it is; the agent by default.")
@click.option("--reader", "readers", metavar="NAME", multiple=True, help="Who may see it: ID or group:NAME.")
@click.option("--pinned", is_flag=True, default=None, help="It does not fade.")
@click.option("--expected-version", type=int, help="Fail if the slot is not at this version.")
@click.option("--no-wait", is_flag=True, help="Return once it is accepted, not once it is recallable.")
@click.pass_context
def retain(
    context: click.Context,
    /,
    text: str | None,
    json_input: bool,
    expected_version: int | None,
    no_wait: bool,
    **given: Any,
) -> None:
    """Keep what was observed. TEXT may be - for standard input."""
    session = session_of(context)
    said = sys.stdin.buffer.read() if text == _STDIN else (text or "").encode("utf-8", "surrogateescape")
    told = _decoded(said, given) if json_input else _observation(_text(said), given)
    with session.memory() as memory:
        receipt = memory.retain(told, wait=not no_wait, expected_version=expected_version)
    session.emit(receipt, lambda console: show_receipt(console, receipt))


@click.command("import")
@with_flags
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--source", metavar="NAME", help="What FILES are: jira, syslog, … (`sources list`), or a YAML file.")
@click.option("--backup", is_flag=True, help="FILES are what `beliefmesh export` wrote; each brings its bank back.")
@click.pass_context
def import_command(context: click.Context, files: tuple[str, ...], source: str | None, backup: bool) -> None:
    """Keep observations from FILES of JSON lines (.gz, .zst; - for standard input). A bad line becomes a dead letter.

    With --source, FILES are tickets or logs as other systems write them; with --backup, banks that were exported.
    """
    session = session_of(context)
    if backup and (source is not None or _STDIN in files):
        raise click.UsageError("--backup goes with files, and without --source")
    if backup:
        for name in files:
            import_backup(session, name)
        return
    if source is not None:
        import_files(session, source, files)
        return
    accepted = dead = unclear = 0
    token = ""
    with session.memory() as memory, bar(session) as shown:
        for name in files:
            task = shown.add_task(Path(name).name, total=None if name == _STDIN else Path(name).stat().st_size)
            with _opened(name) as raw:
                imported = memory.import_lines(unpacked(raw, name), progress=partial(moved, shown, task, raw))
            accepted, dead, token = accepted + imported.accepted, dead + imported.dead, imported.token or token
            unclear += imported.unclear
    done = Imported(accepted, dead, token, unclear)
    session.emit(done, lambda console: show_import(console, done))


@click.command()
@with_flags
@click.argument("belief")
@click.option("--reason", metavar="TEXT", required=True, help="Why; it becomes the evidence.")
@click.option("--agent", metavar="NAME", default="", help="Who says so.")
@click.option("--expected-version", type=int, help="Fail if the belief is not at this version.")
@click.pass_context
def revoke(context: click.Context, belief: str, reason: str, agent: str, expected_version: int | None) -> None:
    """End a BELIEF (by id) from now on; its history stays."""
    session = session_of(context)
    with session.memory() as memory:
        receipt = memory.revoke(belief, reason=reason, agent=agent, expected_version=expected_version)
    session.emit(receipt, lambda console: show_receipt(console, receipt))


@click.command()
@with_flags
@click.argument("belief")
@click.argument("verdict", type=click.Choice(get_args(Usefulness)))
@click.option("--agent", metavar="NAME", default="", help="Who says so.")
@click.pass_context
def feedback(context: click.Context, belief: str, verdict: str, agent: str) -> None:
    """Say how a BELIEF, or a recalled answer, (by id) did: right, wrong or used."""
    session = session_of(context)
    with session.memory() as memory:
        receipt = memory.feedback(belief, cast(Usefulness, verdict), agent=agent)
    session.emit(receipt, lambda console: show_receipt(console, receipt))


def _observation(text: str, given: dict[str, Any]) -> dict[str, object]:
    """An observation from flags; those of a claim make a claim of it."""
    fields: dict[str, object] = {name: value for name, value in given.items() if value not in (None, ())}
    fields = {"session" if name == "session_name" else name: value for name, value in fields.items()}
    if text:
        fields["text"] = text
    type = fields.pop("entity_type", None)
    if "entity" in fields and type is not None:
        fields["entity"] = {"name": fields["entity"], "type": type}
    claim = {name: fields.pop(name) for name in _OF_CLAIM if name in fields}
    scope = _scope(fields.pop("scope", ()))
    if claim or scope:
        if "value" in claim:
            claim["value"] = _value(str(claim["value"]), claim.get("value_type"))
        fields["claims"] = [{**claim, **({"scope": scope} if scope else {})}]
    return fields


def _scope(given: object) -> dict[str, str]:
    pairs = [str(pair).partition("=") for pair in cast(tuple[str, ...], given)]
    scope: dict[str, str] = {}
    for name, sign, value in pairs:
        if not sign:
            raise InvalidInput("scope", f"{name!r:.80} is not NAME=VALUE, as in region=EU")
        if name in scope:
            raise InvalidInput("scope", f"names {name!r:.80} twice; write one claim for each value")
        scope[name] = value
    return scope


def _value(text: str, type: object) -> object:
    """A number or truth value where the text is exactly how one is written; 1.10 or 007 stay text."""
    if type in _TEXTUAL:
        return text
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        if str(number) == text:
            return number
    return text


def _text(said: bytes) -> str:
    """What was typed or piped; bytes that are no UTF-8 are left for intake to refuse by name."""
    return said.decode("utf-8", "surrogateescape")


def _decoded(said: bytes, given: dict[str, Any]) -> Any:
    """What JSON says; flags beside it would have no effect, and one that hides a secret must not be lost silently."""
    flags = [name for name, value in given.items() if value not in (None, ())]
    if flags:
        raise InvalidInput(flags[0], "is a flag beside --json-input; write it into the JSON instead")
    try:
        return msgspec.json.decode(said)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("observation", f"is not JSON ({error})") from error


def _opened(name: str) -> IO[bytes]:
    return sys.stdin.buffer if name == _STDIN else Path(name).open("rb")
