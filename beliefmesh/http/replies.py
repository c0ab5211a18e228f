"""What each route replies where all goes well: the one table from which the OpenAPI document is completed."""

from collections.abc import Callable, Mapping

import msgspec

from beliefmesh.doctor import DoctorReport
from beliefmesh.forgetting import ForgetReport
from beliefmesh.http.shapes import (
    COUNT,
    FLAG,
    NUMBER,
    TEXT,
    TIME,
    Components,
    Schema,
    maybe,
    named,
    record,
    several,
)
from beliefmesh.narrate import Narrative
from beliefmesh.receipt import Imported, Receipt
from beliefmesh.sourced import Sourced
from jobs.calibrating import Calibration
from schemas.answer import Answer, Explanation, History
from schemas.belief import Belief
from schemas.budget import BudgetReport
from schemas.job import JobRun, JobSide, ListedJob
from schemas.profile import Profile
from schemas.reflection import Reflection, Summary
from schemas.worth import LearnedValue, Worth

Make = Callable[[Components], Schema]

ERROR = record({"error": record({"code": TEXT, "message": TEXT, "field": TEXT})})
"""The one shape of every error."""

_IN_BANK = "/v1/banks/{bank}"
_CHANGE = "Change"
_LETTER = "DeadLetter"
_ANY: Schema = {"type": "object"}


class ReplyShape(msgspec.Struct, frozen=True):
    """What a route replies: the schema of its JSON, with which statuses, and another type that it may have instead."""

    make: Make
    statuses: tuple[int, ...] = (200,)
    instead: str = ""


def encoded(kind: type[msgspec.Struct]) -> Make:
    """A struct as msgspec encodes it."""
    return lambda components: components.encoded(kind)


def plain(kind: type[msgspec.Struct], **more: Schema) -> Make:
    """A struct as it is told outward, with further keys."""
    return lambda components: components.plain(kind, more)


def these(**properties: Schema) -> Make:
    """An object of these keys."""
    return lambda _: record(properties)


def page_of(rows: str, item: Make, **more: Schema) -> Make:
    """A page of a list."""
    return lambda components: record({rows: several(item(components)), **more, "next": maybe(TEXT)})


def _entity(_: Components) -> Schema:
    other = named("Entity")
    return record(
        {
            "id": TEXT,
            "name": TEXT,
            "type": TEXT,
            "canonical": other,
            "aliases": several(TEXT),
            "same_as": several(other),
        }
    )


def _proposal(_: Components) -> Schema:
    return record({"entity": named("Entity"), "into": named("Entity"), "score": NUMBER, "reasons": several(TEXT)})


def _letter(components: Components) -> Schema:
    components.schemas[_LETTER] = record(
        {
            **dict.fromkeys(("id", "stage", "error", "reason"), TEXT),
            "at": TIME,
            "original": maybe(TEXT),
            "attempts": COUNT,
            "topic": TEXT,
            "partition": {"type": "integer"},
            "offset": {"type": "integer"},
            "key": TEXT,
            "headers": {"type": "object", "additionalProperties": TEXT},
            "original_base64": TEXT,
        }
    )
    return named(_LETTER)


def _change(components: Components) -> Schema:
    components.schemas[_CHANGE] = record(
        {
            **dict.fromkeys(("bank", "slot"), TEXT),
            "entity": named("Entity"),
            "attribute": maybe(TEXT),
            "at": TIME,
            "changed": several(TEXT),
            "observations": several(TEXT),
            "beliefs": several(components.plain(Belief)),
        }
    )
    return named(_CHANGE)


def _merged(components: Components) -> Schema:
    held = several(components.plain(Belief))
    return record(
        {
            **dict.fromkeys(("entity", "into", "canonical"), named("Entity")),
            "applied": FLAG,
            "instead_of": maybe(named("Entity")),
            "joins": several(record({"attribute": TEXT, "conflict": FLAG, "before": held, "after": held})),
            "moves": COUNT,
            "ids": several(TEXT),
            "token": TEXT,
        }
    )


def _answer(components: Components) -> Schema:
    """An answer in the form that was asked for."""
    line = record({"id": TEXT, "line": TEXT})
    lines = {"note": TEXT, "as_of": TIME, "memories": several(line), "needs_fresh_look": several(line)}
    rest = {"recent": several(TEXT), "left_out": _ANY, "degraded": TEXT, "archived": TEXT}
    for_model = record({**lines, **rest}, optional=("needs_fresh_look", *rest))
    picture = record({"nodes": several(_ANY), "edges": several(_ANY)})
    return {"anyOf": [components.plain(Answer, {"degraded": FLAG}), for_model, picture, record({"text": TEXT})]}


def _history(components: Components) -> Schema:
    schema = components.plain(History)
    components.schemas["History"]["properties"]["next"] = maybe(TEXT)
    return schema


def _explanations(components: Components) -> Schema:
    return record({"explanations": several(components.plain(Explanation))})


def _profile(components: Components) -> Schema:
    return components.plain(Profile, {"background": several(TEXT)})


_BELIEF = plain(Belief)
_RECEIPT = encoded(Receipt)
_RESTORED = {"bank": TEXT, "observations": COUNT, "policy": {"enum": ["taken", "kept"]}, "token": TEXT, "sha256": TEXT}
_FIGURES = ReplyShape(lambda _: _ANY)

REPLIES: Mapping[tuple[str, str], ReplyShape] = {
    ("POST", f"{_IN_BANK}/observations"): ReplyShape(
        lambda components: {"anyOf": [components.encoded(Receipt), components.encoded(Imported)]}, (202, 200)
    ),
    ("POST", f"{_IN_BANK}/import"): ReplyShape(lambda _: TEXT, (), "application/x-ndjson"),
    ("GET", f"{_IN_BANK}/export"): ReplyShape(lambda _: TEXT, (), "application/x-ndjson"),
    ("POST", f"{_IN_BANK}/import-backup"): ReplyShape(these(**_RESTORED)),
    ("GET", "/v1/receipts/{token}"): ReplyShape(these(recallable=FLAG), (200, 202)),
    ("GET", f"{_IN_BANK}/changes"): ReplyShape(page_of("changes", _change, more=FLAG), instead="text/event-stream"),
    ("GET", f"{_IN_BANK}/narratives"): ReplyShape(page_of("narratives", _BELIEF)),
    ("POST", f"{_IN_BANK}/narratives"): ReplyShape(encoded(Narrative)),
    ("GET", "/v1/sources"): ReplyShape(page_of("sources", these(name=TEXT, reads=TEXT, about=TEXT, file=TEXT))),
    ("POST", f"{_IN_BANK}/sources/{{name}}"): ReplyShape(encoded(Sourced), (202, 200)),
    ("POST", f"{_IN_BANK}/recall"): ReplyShape(_answer),
    ("GET", f"{_IN_BANK}/beliefs"): ReplyShape(page_of("beliefs", _BELIEF)),
    ("GET", f"{_IN_BANK}/beliefs/{{belief}}"): ReplyShape(_BELIEF),
    ("GET", f"{_IN_BANK}/beliefs/{{belief}}/explain"): ReplyShape(plain(Explanation)),
    ("GET", f"{_IN_BANK}/slots/history"): ReplyShape(_history),
    ("POST", f"{_IN_BANK}/explanations"): ReplyShape(_explanations),
    ("POST", f"{_IN_BANK}/beliefs/{{belief}}/revoke"): ReplyShape(_RECEIPT),
    ("POST", f"{_IN_BANK}/beliefs/{{belief}}/feedback"): ReplyShape(_RECEIPT),
    ("GET", f"{_IN_BANK}/beliefs/{{belief}}/value"): ReplyShape(encoded(Worth)),
    ("GET", f"{_IN_BANK}/budget"): ReplyShape(encoded(BudgetReport)),
    ("POST", f"{_IN_BANK}/budget"): ReplyShape(encoded(BudgetReport)),
    ("POST", f"{_IN_BANK}/learn-value"): ReplyShape(encoded(LearnedValue)),
    ("GET", f"{_IN_BANK}/entities"): ReplyShape(page_of("entities", _entity)),
    ("GET", f"{_IN_BANK}/entities/proposals"): ReplyShape(page_of("proposals", _proposal)),
    ("POST", f"{_IN_BANK}/entities/merge"): ReplyShape(_merged),
    ("POST", f"{_IN_BANK}/entities/unmerge"): ReplyShape(_RECEIPT),
    ("POST", f"{_IN_BANK}/reflect"): ReplyShape(plain(Reflection, cited=several(TEXT))),
    ("POST", f"{_IN_BANK}/summary"): ReplyShape(plain(Summary)),
    ("POST", f"{_IN_BANK}/summaries/refresh"): ReplyShape(these(refreshed=COUNT)),
    ("GET", f"{_IN_BANK}/profile"): ReplyShape(_profile),
    ("POST", f"{_IN_BANK}/profile"): ReplyShape(_profile),
    ("POST", f"{_IN_BANK}/calibrate"): ReplyShape(encoded(Calibration)),
    ("POST", f"{_IN_BANK}/forget"): ReplyShape(encoded(ForgetReport)),
    ("GET", "/v1/banks"): ReplyShape(page_of("banks", lambda _: TEXT)),
    ("GET", f"{_IN_BANK}/stats"): _FIGURES,
    ("GET", f"{_IN_BANK}/state-hash"): ReplyShape(these(state_hash=TEXT)),
    ("GET", "/v1/stats"): _FIGURES,
    ("POST", "/v1/doctor"): ReplyShape(encoded(DoctorReport)),
    ("GET", "/v1/dead-letters"): ReplyShape(page_of("dead_letters", _letter)),
    ("GET", "/v1/dead-letters/{id}"): ReplyShape(_letter),
    ("POST", "/v1/dead-letters/{id}/replay"): ReplyShape(these(replayed=TEXT)),
    ("POST", "/v1/dead-letters/{id}/drop"): ReplyShape(these(dropped=TEXT)),
    ("GET", "/v1/jobs"): ReplyShape(page_of("jobs", encoded(ListedJob))),
    ("GET", f"{_IN_BANK}/jobs"): ReplyShape(page_of("jobs", encoded(ListedJob))),
    ("POST", f"{_IN_BANK}/jobs/{{name}}"): ReplyShape(encoded(JobRun)),
    ("GET", "/v1/job-runs"): ReplyShape(page_of("runs", encoded(JobRun))),
    ("GET", "/v1/job-sides"): ReplyShape(page_of("sides", encoded(JobSide))),
    ("GET", "/v1/job-runs/{id}"): ReplyShape(encoded(JobRun)),
    ("GET", "/health/live"): ReplyShape(these(status=TEXT)),
    ("GET", "/health/started"): ReplyShape(lambda _: _ANY, (200, 503)),
    ("GET", "/health/ready"): ReplyShape(lambda _: _ANY, (200, 503)),
    ("GET", "/metrics"): ReplyShape(lambda _: TEXT, (), "text/plain"),
}
