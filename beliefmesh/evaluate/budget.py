"""LoCoMo on a budget: which share of the answering turns is still recalled when most turns were forgotten?

The whole memory ranks each question once; for every way of forgetting, the turns it dropped are taken out of that
ranking, and the first ten left are scored. Nothing that decides what is kept has seen a question.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beliefmesh.evaluate.locomo import BANK, KS, bank_of, observation_id, observation_of, score, turns_of
from beliefmesh.evaluate.locomo_data import Conversation, DialogueTurn, read_locomo
from beliefmesh.evaluate.place import Report, memory_in
from beliefmesh.memory import Memory
from beliefs.information import frequencies, informs, words_of
from beliefs.worth import Features, value
from schemas.instant import format_instant

SHARES = (0.5, 0.25, 0.1)
SEEDS = 5

_RECALLED = 10
_PATIENCE = 60.0
_BATCH = 200

Order = list[str]
"""Ids of turns, first to be kept first."""


def evaluate_budget(
    data: Path,
    *,
    limit_questions: int | None = None,
    folder: Path | None = None,
    embedder: str | None = None,
    report: Report,
) -> dict[str, Any]:
    """Evidence recall@10 by budget and by way of forgetting; also over every second conversation alone."""
    results: list[dict[str, list[float]]] = []
    questions: list[int] = []
    with memory_in(folder, BANK, embedder) as memory:
        for conversation in read_locomo(data):
            rankings = _ranked(memory, conversation, limit_questions)
            results.append(_curves(conversation, rankings))
            questions.append(len(rankings))
            report(f"{conversation.id}: {len(rankings)} questions over {len(conversation.turns)} turns")
    return {
        "evaluation": "budget",
        "questions": sum(questions),
        "budgets": list(SHARES),
        "recall@10": _means(results, questions),
        "odd": _means(results[::2], questions[::2]),
        "even": _means(results[1::2], questions[1::2]),
    }


def table_of(result: Mapping[str, Any]) -> list[str]:
    """The curve as lines of text."""
    names = [f"{share:.0%}" for share in result["budgets"]]
    lines = [f"{'kept by':<10}" + "".join(f"{name:>8}" for name in names)]
    for name, row in result["recall@10"].items():
        cells = row if len(row) == len(names) else row * len(names)
        lines.append(f"{name:<10}" + "".join(f"{cell:>8.3f}" for cell in cells))
    return lines


def by_value(turns: Sequence[DialogueTurn]) -> Order:
    """The turns by the value of what they tell, most valuable first; ties go to the newer."""
    texts = [_text(turn) for turn in turns]
    seen_in = frequencies(texts)
    recalled = _uses(texts)
    worth = []
    for place, (turn, text) in enumerate(zip(turns, texts, strict=True)):
        features = Features(
            information=informs(text, seen_in, len(texts)), age=turns[-1].at - turn.at, recalled=len(recalled[place])
        )
        worth.append((value(features), place))
    return [observation_id(turns[place].id) for _, place in sorted(worth, reverse=True)]


def by_last_use(turns: Sequence[DialogueTurn]) -> Order:
    """The turns by when they were last told or recalled, latest first."""
    used = _uses([_text(turn) for turn in turns])
    last = sorted(range(len(turns)), key=lambda place: (max([place, *used[place]]), place), reverse=True)
    return [observation_id(turns[place].id) for place in last]


def _uses(texts: Sequence[str]) -> list[list[int]]:
    """When each turn was recalled: every turn recalls the ten earlier ones that share the most, and rarest, words."""
    seen_in = frequencies(texts)
    spoken = [set(words_of(text)) for text in texts]
    weight = {word: math.log(len(texts) / count) for word, count in seen_in.items()}
    used: list[list[int]] = [[] for _ in texts]
    for now, told in enumerate(spoken):
        shared = [(math.fsum(sorted(weight[word] for word in told & spoken[then])), then) for then in range(now)]
        for likeness, then in sorted(shared, reverse=True)[:_RECALLED]:
            if likeness > 0:
                used[then].append(now)
    return used


def _ranked(
    memory: Memory, conversation: Conversation, limit: int | None
) -> list[tuple[Callable[[Sequence[str]], float], list[str]]]:
    """For each question how a ranking scores, and the ranking of all turns."""
    bank = bank_of(conversation)
    told = [observation_of(turn, conversation.id) for turn in conversation.turns if _text(turn).strip()]
    for at in range(0, len(told), _BATCH):
        memory.retain(told[at : at + _BATCH], bank=bank)
    now = format_instant(conversation.turns[-1].at)
    ranked: list[tuple[Callable[[Sequence[str]], float], list[str]]] = []
    for question in conversation.questions[:limit]:
        answer = memory.recall(question.text, bank=bank, limit=len(told), question_time=now, deadline=_PATIENCE)

        def recalled(ranking: Sequence[str], asked: Any = question) -> float:
            return score(asked, ranking).recall[KS.index(10)]

        ranked.append((recalled, turns_of(answer)))
    return ranked


def _curves(
    conversation: Conversation, rankings: Sequence[tuple[Callable[[Sequence[str]], float], list[str]]]
) -> dict[str, list[float]]:
    """Recall@10 of each way of forgetting at each budget, after that of the whole memory."""
    turns = conversation.turns
    ids = [observation_id(turn.id) for turn in turns]
    drawn = [random.Random(seed).sample(ids, len(ids)) for seed in range(SEEDS)]  # noqa: S311

    def at(order: Order, share: float) -> float:
        kept = set(order[: round(share * len(order))])
        return _mean(recalled([id for id in ranking if id in kept]) for recalled, ranking in rankings)

    orders = {"value": by_value(turns), "newest": ids[::-1], "lru": by_last_use(turns)}
    curves = {name: [at(order, share) for share in SHARES] for name, order in orders.items()}
    curves["random"] = [_mean(at(order, share) for order in drawn) for share in SHARES]
    return {"all turns": [at(ids, 1.0)], **curves}


def _means(results: Sequence[dict[str, list[float]]], questions: Sequence[int]) -> dict[str, list[float]]:
    """The curves over several conversations, each weighing as much as its questions."""
    total = sum(questions)
    return {
        name: [
            round(
                math.fsum(one[name][place] * count for one, count in zip(results, questions, strict=True))
                / max(total, 1),
                4,
            )
            for place in range(len(curve))
        ]
        for name, curve in (results[0] if results else {}).items()
    }


def _text(turn: DialogueTurn) -> str:
    return f"{turn.text} {turn.caption}"


def _mean(numbers: Iterable[float]) -> float:
    values = list(numbers)
    return math.fsum(values) / len(values) if values else 0.0
