"""The route by which questions are asked."""

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.ask import check_fields
from beliefmesh.http.body import caller, read_object, text_of
from beliefmesh.http.described import RECALL_BODY
from beliefmesh.http.reply import json_reply, reply, wants_exact
from beliefmesh.memory import Memory
from recall.outward import answer_to_builtins
from recall.render import graph, structured, text
from schemas.answer import Answer
from schemas.errors import InvalidInput

router = APIRouter(prefix="/v1/banks/{bank}", tags=["recall"])

FULL = "full"
FORMS: Mapping[str, Callable[[Answer], Any]] = {
    FULL: answer_to_builtins,
    "structured": structured,
    "graph": graph,
    "text": lambda answer: {"text": text(answer)},
}


@router.post("/recall", openapi_extra=RECALL_BODY)
async def recall(bank: str, request: Request) -> Response:
    """Ask: the beliefs that answer, with confidence and evidence, in the `form` asked for.

    `wait_for` takes a receipt's token, and the answer then knows what that receipt stands for.
    """
    memory: Memory = request.app.state.memory
    asked = await read_object(request)
    question = text_of(asked, "text")
    form = text_of(asked, "form", FULL)
    token = text_of(asked, "wait_for", "")
    if form not in FORMS:
        raise InvalidInput("form", f"is {form!r:.80}; use one of {', '.join(FORMS)}")
    fields = {name: value for name, value in asked.items() if name not in ("text", "form", "wait_for")}
    for name in ("bank", "principal"):
        if name in fields:
            raise InvalidInput(name, "does not stand in the body; the path names the bank, headers name the principal")
    check_fields(fields)  # before they become the arguments of a call, which would read some names as its own
    asker = caller(request)

    def answered() -> Response:
        answer = memory.recall(question, bank=bank, wait_for=token, **fields, principal=asker)
        if form != FULL:
            return json_reply(FORMS[form](answer))
        return reply(request, answer, None if wants_exact(request) else answer_to_builtins(answer))

    return await run_in_threadpool(answered)
