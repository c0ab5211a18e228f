"""LoCoMo through the product: turns are observed, questions recalled; are the answering turns among the first?"""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from beliefmesh.evaluate.locomo_data import CATEGORIES, Conversation, DialogueTurn, Question, TurnId, read_locomo
from beliefmesh.evaluate.place import IN_FOLDER, Report, memory_in
from beliefmesh.memory import Memory
from beliefmesh.settings import StoreSettings
from schemas.answer import Answer
from schemas.instant import format_instant

BANK = "locomo"
LIMIT = 40
KS = (5, 10, 20)
_BATCH = 200


class Scored(msgspec.Struct, frozen=True):
    """One question: which share of its evidence was among the first k, and 1 / the place of the first of it."""

    category: int
    recall: tuple[float, ...]
    reciprocal: float


def evaluate_locomo(
    data: Path,
    *,
    limit_questions: int | None = None,
    folder: Path | None = None,
    embedder: str | None = None,
    stores: StoreSettings = IN_FOLDER,
    report: Report,
) -> dict[str, Any]:
    """Observe all conversations, each in a bank of its own, then ask all questions (at most the first N of each).

    `embedder` is the URL of another than the default one.
    """
    conversations = read_locomo(data)
    scored: list[Scored] = []
    degraded = 0
    told_seconds = asked_seconds = 0.0
    with memory_in(folder, BANK, embedder, stores) as memory:
        for conversation in conversations:
            bank = bank_of(conversation)
            started = time.perf_counter()
            _observe(memory, conversation, bank)
            told = time.perf_counter()
            told_seconds += told - started
            report(f"{conversation.id}: {len(conversation.turns)} turns in {told - started:.1f} s")
            now = conversation.turns[-1].at
            for question in conversation.questions[:limit_questions]:
                answer = memory.recall(question.text, bank=bank, limit=LIMIT, question_time=format_instant(now))
                degraded += answer.degraded
                scored.append(score(question, turns_of(answer)))
            asked_seconds += time.perf_counter() - told
            report(f"{conversation.id}: recall@10 so far {summary(scored)['recall@10']:.4f}")
    return {
        "evaluation": "locomo",
        **summary(scored),
        "categories": {
            name: summary([one for one in scored if one.category == number]) for number, name in CATEGORIES.items()
        },
        "turns": sum(len(conversation.turns) for conversation in conversations),
        "degraded": degraded,
        "seconds": round(told_seconds + asked_seconds, 2),
        "retain_seconds": round(told_seconds, 2),
        "recall_milliseconds": round(1000 * asked_seconds / max(len(scored), 1), 2),
    }


def observation_of(turn: DialogueTurn, conversation: str) -> dict[str, object]:
    """A turn as its speaker's observation; its text has speaker, date and the picture's caption."""
    session, number = turn.id
    caption = f" (image: {turn.caption})" if turn.caption else ""
    return {
        "id": observation_id(turn.id),
        "text": f"[{turn.date}] {turn.speaker}: {turn.text}{caption}",
        "agent": turn.speaker,
        "entity": {"name": turn.speaker, "type": "person"},
        "source": {"id": turn.speaker, "origin": turn.speaker, "type": "dialogue"},
        "session": f"{conversation}/{session}",
        "turn": number,
        "observed_at": format_instant(turn.at),
        "tier": "medium",
    }


def observation_id(turn: TurnId) -> str:
    """The id of a turn's observation."""
    return f"D{turn[0]}:{turn[1]}"


def bank_of(conversation: Conversation) -> str:
    """The bank of a conversation."""
    return f"{BANK}.{conversation.id}"


def turns_of(answer: Answer) -> list[str]:
    """The observations behind an answer's beliefs, best belief first, each once; those that speak for it."""
    ids = [
        term.evidence.observation_id for found in answer.found for term in found.evidence if term.stance == "supports"
    ]
    return list(dict.fromkeys(ids))


def score(question: Question, ranked: Sequence[str]) -> Scored:
    """How well a ranking finds a question's evidence."""
    place = {id: number for number, id in enumerate(ranked)}
    places = [place.get(observation_id(turn)) for turn in question.evidence]
    found = [number for number in places if number is not None]
    return Scored(
        category=question.category,
        recall=tuple(sum(number < k for number in found) / len(places) for k in KS),
        reciprocal=1 / (1 + min(found)) if found else 0.0,
    )


def summary(scored: Sequence[Scored]) -> dict[str, Any]:
    """The means over some questions."""
    means = {f"recall@{k}": _mean(one.recall[number] for one in scored) for number, k in enumerate(KS)}
    return {**means, "mrr": _mean(one.reciprocal for one in scored), "questions": len(scored)}


def _observe(memory: Memory, conversation: Conversation, bank: str) -> None:
    told = [observation_of(turn, conversation.id) for turn in conversation.turns if turn.text or turn.caption]
    for at in range(0, len(told), _BATCH):
        memory.retain(told[at : at + _BATCH], bank=bank)


def _mean(numbers: Iterable[float]) -> float:
    values = list(numbers)
    return round(sum(values) / len(values), 6) if values else 0.0
