"""Reads a file of another system into a memory: its observations are kept, what it cannot use becomes dead letters."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import IO

import msgspec

from beliefmesh.home import system_clock
from beliefmesh.memory import Memory
from beliefmesh.remote import RemoteMemory
from schemas.dead_letter import DeadLetter
from schemas.errors import InvalidInput
from schemas.identity import digest
from schemas.instant import MINUTE, Instant
from schemas.intake import observation_from
from streams.sources.registry import Source
from streams.sources.told import Reading, Refused, Skipped, Told, refused

_AT_ONCE = 1_000
_SKEW = 10 * MINUTE

AnyMemory = Memory | RemoteMemory


class Sourced(msgspec.Struct, frozen=True):
    """What an import did, in lines of a log or in documents.

    `read` were read; they gave `accepted` observations. `repeats` are lines that an observation counts beside its
    first; `skipped` the mapping passes over. `dead` became dead letters, and `reason` is that of the first.
    """

    read: int = 0
    accepted: int = 0
    repeats: int = 0
    skipped: int = 0
    dead: int = 0
    reason: str = ""
    token: str = ""

    def and_then(self, other: "Sourced") -> "Sourced":
        """Both together."""
        return Sourced(
            self.read + other.read,
            self.accepted + other.accepted,
            self.repeats + other.repeats,
            self.skipped + other.skipped,
            self.dead + other.dead,
            self.reason or other.reason,
            other.token or self.token,
        )


def import_source(
    memory: AnyMemory,
    source: Source,
    stream: IO[bytes],
    file: str,
    *,
    bank: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Sourced:
    """Keep what a file says. Nothing in it stops the rest: what cannot be used is set aside with line and reason."""
    now = memory.home.clock() if isinstance(memory, Memory) else system_clock()
    readings = source.read(stream, file, now, now + _skew(memory, bank))
    return keep(memory, readings, source.name, file, bank=bank, progress=progress)


def keep(
    memory: AnyMemory,
    readings: Iterable[Reading],
    name: str,
    file: str,
    *,
    bank: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Sourced:
    """Keep what a source gave. `name` is the source's; `file` says where it read."""
    done = Sourced()
    for chunk in _chunks(readings):
        told = [each for each in chunk if isinstance(each, Told)]
        bad = [each for each in chunk if isinstance(each, Refused)]
        imported = memory.import_fields([each.fields for each in told], bank=bank)
        unfit = _unfit(told, memory, bank) if imported.dead else []
        _set_aside(memory, [_letter(each, name, file, bank or memory.bank) for each in bad], bank)
        reasons = [each.reason for each in (*bad, *unfit)]
        done = done.and_then(
            Sourced(
                read=sum(each.lines for each in chunk),
                accepted=imported.accepted,
                repeats=sum(max(each.lines - 1, 0) for each in told) - sum(max(each.lines - 1, 0) for each in unfit),
                skipped=sum(each.lines for each in chunk if isinstance(each, Skipped)),
                dead=imported.dead + len(bad) + sum(max(each.lines - 1, 0) for each in unfit),
                reason=reasons[0] if reasons else "",
                token=imported.token,
            )
        )
        if progress:
            progress(len(chunk))
    return done


def _chunks(readings: Iterable[Reading]) -> Iterator[Sequence[Reading]]:
    rest = iter(readings)
    while chunk := list(islice(rest, _AT_ONCE)):
        yield chunk


def _skew(memory: AnyMemory, bank: str | None) -> Instant:
    return memory.home.graph.policy(bank or memory.bank).skew if isinstance(memory, Memory) else _SKEW


def _unfit(told: Sequence[Told], memory: AnyMemory, bank: str | None) -> list[Refused]:
    """Those that intake refuses, with its reason; it has made dead letters of them."""
    now = memory.home.clock() if isinstance(memory, Memory) else system_clock()
    unfit = []
    for each in told:
        try:
            observation_from(each.fields, bank=bank or memory.bank, now=now, skew=_skew(memory, bank))
        except InvalidInput as error:
            unfit.append(refused(b"", error, "intake", each.lines))
    return unfit


def _letter(each: Refused, name: str, file: str, bank: str) -> DeadLetter:
    """The letter of a refusal; the same line of the same file is the same letter."""
    reason = f"{file}: {each.reason}"
    return DeadLetter(
        id="d" + digest("source", bank, name, reason, each.original.hex()),
        stage="source",
        error=each.error,
        reason=reason,
        at=0,
        original=each.original,
        headers={"bank": bank, "source": name, "file": file},
    )


def _set_aside(memory: AnyMemory, letters: Sequence[DeadLetter], bank: str | None) -> None:
    if not letters:
        return
    if isinstance(memory, RemoteMemory):
        memory.set_aside(letters, bank=bank)
        return
    now = memory.home.clock()
    memory.home.letters.add([msgspec.structs.replace(letter, at=now) for letter in letters], now)
