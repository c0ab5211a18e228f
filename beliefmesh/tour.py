"""A tour of what a memory has learned from the bundled sample; everything told is read from the memory."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from beliefmesh.letters import letter_to_builtins
from beliefmesh.memory import Memory
from beliefmesh.receipt import Imported
from beliefmesh.sample import ASKED_AT, TOUR, sample_path
from beliefs.access import public
from beliefs.resolve import resolve
from recall.outward import answer_to_builtins, belief_to_builtins
from schemas.answer import Answer
from schemas.belief import Belief
from schemas.dead_letter import DeadLetter
from schemas.errors import Busy, StoreUnavailable
from schemas.evidence import Evidence
from schemas.instant import Instant, format_instant, parse_instant
from stores.pages import all_slots

ConflictKind = Literal["replaced", "narrowed", "open"]

_POLL_SECONDS = 0.2
_DOING = {"extract": "reading", "decide": "weighing", "index": "embedding"}


class Lesson(msgspec.Struct, frozen=True):
    """What one import of the sample added to a bank; `new` is the evidence that was not there before."""

    imported: Imported
    new: int


class Conflict(msgspec.Struct, frozen=True):
    """Two beliefs of one slot that could not both hold everywhere, and since when each is said.

    `replaced`: the new one revoked the old; `narrowed`: the new one is an exception to the old; `open`: both contested.
    """

    kind: ConflictKind
    old: Belief
    new: Belief
    old_since: Instant | None
    new_since: Instant | None


class Tour(msgspec.Struct, frozen=True):
    """What is told: counts, the conflicts and answers as of `moment`, and what was set aside."""

    bank: str
    lesson: Lesson
    moment: Instant
    counts: dict[str, int]
    held: int
    conflicts: tuple[Conflict, ...]
    answers: tuple[Answer, ...]
    letters: tuple[DeadLetter, ...]


def learn_sample(memory: Memory, notes: Console) -> Lesson:
    """Import the sample and wait until it is recallable; the stream must run. Its ids make a repeat harmless."""
    before = _counts(memory).get("evidence", 0)
    imported = memory.import_lines(sample_path().read_bytes().splitlines())
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        task = bar.add_task("reading", total=None)
        while not _recallable(memory, imported.token):
            stats = memory.stats(memory.bank)
            counts = stats["banks"][memory.bank]
            doing = next((word for stage, word in _DOING.items() if stats["lag"][stage]), "embedding")
            beliefs = counts.get("beliefs", 0)
            bar.update(task, description=doing, total=beliefs or None, completed=beliefs - counts.get("unindexed", 0))
    return Lesson(imported, _counts(memory).get("evidence", 0) - before)


def take_tour(memory: Memory, lesson: Lesson) -> Tour:
    """Ask the tour's questions, and gather what was learned, as of the day on which the sample ends."""
    moment = parse_instant(ASKED_AT, "moment")
    answers = [memory.recall(stop.question, as_of=ASKED_AT, question_time=ASKED_AT, limit=3) for stop in TOUR]
    return Tour(
        bank=memory.bank,
        lesson=lesson,
        moment=moment,
        counts=_counts(memory),
        held=sum(1 for _ in memory.holders(as_of=moment)),
        conflicts=tuple(_weightiest_first(list(conflicts(memory, moment)))),
        answers=tuple(answers),
        letters=tuple(memory.dead_letters()),
    )


def conflicts(memory: Memory, moment: Instant) -> Iterator[Conflict]:
    """Every conflict that was settled or stands open at a moment, as far as the whole bank may see it."""
    policy = memory.home.graph.policy(memory.bank)
    for stored in all_slots(memory.home.graph, memory.bank):
        evidence = [piece for piece in public(stored.evidence) if piece.effective_at <= moment]
        if len(evidence) > 1:
            beliefs = resolve(evidence, policy, moment).beliefs
            for kind, old, new in _opposed({belief.id: belief for belief in beliefs}):
                yield Conflict(kind, old, new, _since(old, evidence), _since(new, evidence))


def _opposed(beliefs: Mapping[str, Belief]) -> Iterator[tuple[ConflictKind, Belief, Belief]]:
    for belief in beliefs.values():
        if belief.status == "revoked" and belief.by in beliefs:
            yield "replaced", belief, beliefs[belief.by]
        if belief.status == "active":
            for other in beliefs.values():
                if other.status == "active" and other.scope in belief.exceptions:
                    yield "narrowed", belief, other
        if belief.status == "contested":
            for id in belief.rivals:
                if id in beliefs and beliefs[id].status == "contested" and belief.id < id:
                    yield "open", belief, beliefs[id]


def _since(belief: Belief, evidence: Sequence[Evidence]) -> Instant | None:
    """The first time at which the belief's value was said."""
    said = [
        piece.effective_at
        for piece in evidence
        if piece.stance == "supports" and piece.scope == belief.scope and piece.value == belief.value
    ]
    return min(said, default=belief.first_support)


def tour_to_builtins(tour: Tour) -> dict[str, Any]:
    """A tour as plain data for JSON."""
    return {
        "bank": tour.bank,
        "accepted": tour.lesson.imported.accepted,
        "set_aside": tour.lesson.imported.dead,
        "new_evidence": tour.lesson.new,
        "moment": format_instant(tour.moment),
        "counts": tour.counts,
        "held": tour.held,
        "conflicts": [
            {
                "kind": conflict.kind,
                "old": belief_to_builtins(conflict.old),
                "new": belief_to_builtins(conflict.new),
            }
            for conflict in tour.conflicts
        ],
        "answers": [answer_to_builtins(answer) for answer in tour.answers],
        "dead_letters": [letter_to_builtins(letter) for letter in tour.letters],
    }


def _counts(memory: Memory) -> dict[str, int]:
    counts: dict[str, int] = memory.home.graph.counts(memory.bank)
    return counts


def _recallable(memory: Memory, token: str) -> bool:
    """Whether the import has passed all stages, after waiting a little. Raises StoreUnavailable if the stream stops."""
    stopped = memory.home.worker.stopped_by
    if stopped:
        raise StoreUnavailable(f"the stream is paused: {stopped}")
    try:
        memory.wait(token, _POLL_SECONDS)
    except Busy:
        return False
    return True


def _weightiest_first(found: Sequence[Conflict]) -> list[Conflict]:
    """Rules first, then what is rare: a status that every ticket passes through tells less than a new policy."""
    often = Counter(conflict.new.attribute for conflict in found)

    def weight(conflict: Conflict) -> tuple[bool, int, int, str]:
        ruled = conflict.new.kind == "instruction"
        return not ruled, often[conflict.new.attribute], -(conflict.new_since or 0), conflict.old.id

    return sorted(found, key=weight)
