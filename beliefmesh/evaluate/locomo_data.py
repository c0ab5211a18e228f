"""Reads LoCoMo: long conversations in dated sessions, and questions with the turns that answer them."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from beliefmesh.evaluate.reading import read_json
from schemas.errors import InvalidInput
from schemas.instant import Instant, instant_of

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The fifth, adversarial, has no evidence to find."""

_DIA = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"

TurnId = tuple[int, int]
"""Session and turn, as in D3:12."""


class DialogueTurn(msgspec.Struct, frozen=True):
    """What one speaker said once, what the picture shows if one was sent along, and when (`date` as it is written)."""

    id: TurnId
    speaker: str
    text: str
    caption: str
    date: str
    at: Instant


class Question(msgspec.Struct, frozen=True):
    """A question, its category, and the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[TurnId]


class Conversation(msgspec.Struct, frozen=True):
    """All turns in order, and the questions that can be scored."""

    id: str
    turns: list[DialogueTurn]
    questions: list[Question]


def read_locomo(path: Path) -> list[Conversation]:
    """Every conversation of a file. Raises InvalidInput for another format."""
    raw: list[dict[str, Any]] = read_json(path, "data", list[dict[str, Any]])
    try:
        return [_conversation(one, f"conv-{number}") for number, one in enumerate(raw, 1)]
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput("data", f"is not LoCoMo ({type(error).__name__}: {error})") from error


def turn_ids(evidence: object) -> set[TurnId]:
    """All turns that a piece of evidence names, however they are put together: `D8:6; D9:17`, `D:11:26`."""
    return {(int(session), int(turn)) for session, turn in _DIA.findall(str(evidence))}


def session_start(text: str) -> Instant:
    """The time of a session, as in `1:56 pm on 8 May, 2023`."""
    try:
        return instant_of(datetime.strptime(text.strip(), _DATE))
    except ValueError as error:
        raise InvalidInput("data", f"{text!r} is not a session's date") from error


def _conversation(raw: dict[str, Any], fallback: str) -> Conversation:
    told = raw.get("conversation", raw)
    numbers = sorted(int(found[1]) for key in told if (found := _SESSION.fullmatch(key)))
    turns = [turn for number in numbers for turn in _session(told, number)]
    known = {turn.id for turn in turns}
    asked = [_question(one, known) for one in raw.get("qa", [])]
    questions = [question for question in asked if question.evidence and question.category in CATEGORIES]
    return Conversation(str(raw.get("sample_id", fallback)), turns, questions)


def _session(told: dict[str, Any], number: int) -> list[DialogueTurn]:
    spoken = told[f"session_{number}"] or []
    date = told[f"session_{number}_date_time"].strip() if spoken else ""
    at = session_start(date) if spoken else 0
    return [
        DialogueTurn(
            id=min(turn_ids(one["dia_id"])),
            speaker=one["speaker"],
            text=(one.get("text") or "").strip(),
            caption=(one.get("blip_caption") or "").strip(),
            date=date,
            at=at,
        )
        for one in spoken
    ]


def _question(raw: dict[str, Any], known: set[TurnId]) -> Question:
    named = {turn for piece in raw.get("evidence") or [] for turn in turn_ids(piece)}
    return Question(raw["question"], raw["category"], frozenset(named & known))
