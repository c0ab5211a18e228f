"""Routes of sources: webhooks of tickets, logs as they are, and what a client's own sources could not use."""

import io
from pathlib import Path

import msgspec
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from beliefmesh.http.body import read_bytes
from beliefmesh.http.page import Cursor, Limit, cursor_of, place_in, rows_after
from beliefmesh.http.reply import json_reply, reply
from beliefmesh.letters import Letters
from beliefmesh.memory import Memory
from beliefmesh.quota import OBSERVATIONS, Quotas
from beliefmesh.reread import own_sources
from beliefmesh.sourced import Sourced, import_source, keep
from beliefmesh.verbs.listing import MOST_LISTED
from schemas.errors import InvalidInput, MalformedMessage
from schemas.limits import check_bank, check_name
from schemas.wire import load
from streams.sources.registry import Source, list_sources, open_source
from streams.sources.told import Refused

router = APIRouter(prefix="/v1", tags=["sources"])

_GZIP = b"\x1f\x8b"
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"description": "a document as the vendor sends it, or a list of them"}},
            "text/plain": {"schema": {"type": "string", "description": "lines of a log"}},
        },
    }
}


@router.get("/sources")
async def sources(request: Request, limit: Limit = MOST_LISTED, cursor: Cursor = None) -> Response:
    """The sources that have a name, with what each reads."""
    memory: Memory = request.app.state.memory
    after = place_in(request, cursor)
    found = await run_in_threadpool(list_sources, _own(memory))
    rows, last = rows_after(found, lambda each: each.name, after, limit)
    return json_reply({"sources": rows, "next": cursor_of(request, last) or None})


@router.post("/banks/{bank}/sources/{name}", status_code=202, openapi_extra=_BODY)
async def receive(bank: str, name: str, request: Request, wait: bool = False, file: str = "") -> Response:
    """Keep what a webhook or a log shipper sends: 202 once the log has it, with `wait` 200 once recallable.

    A document has ids of its own, so that one which is sent again changes nothing. Where nothing of the body can be
    used it is refused; else what cannot be used becomes dead letters. `file` names the log.
    """
    memory: Memory = request.app.state.memory
    check_bank(bank)
    source = await run_in_threadpool(open_source, check_name(name, "source"), _own(memory))
    data = await read_bytes(request)
    quotas: Quotas = request.app.state.quotas
    quotas.take(bank, OBSERVATIONS, 1)
    done = await run_in_threadpool(_received, memory, source, bank, data, file)
    quotas.charge(bank, OBSERVATIONS, done.accepted - 1)
    if wait:
        await run_in_threadpool(memory.wait, done.token)
    return reply(request, done, done, 200 if wait else 202)


@router.post("/banks/{bank}/refused", status_code=202, include_in_schema=False)
async def set_aside(bank: str, request: Request) -> Response:
    """Keep the dead letters of a Beliefmesh client that read a source itself."""
    memory: Memory = request.app.state.memory
    letters = load(await read_bytes(request), Letters).letters
    now = memory.home.clock()
    checked = [
        msgspec.structs.replace(letter, at=now, topic="", headers={**letter.headers, "bank": check_bank(bank)})
        for letter in letters
    ]
    await run_in_threadpool(memory.home.letters.add, checked, now)
    return json_reply({"set_aside": len(checked)}, 202)


def _received(memory: Memory, source: Source, bank: str, data: bytes, file: str) -> Sourced:
    where = check_name(file, "file") if file else "webhook"
    if data.startswith(_GZIP):
        raise InvalidInput("body", "is packed; send it unpacked, or import the file with `beliefmesh import --source`")
    if source.mapping is None:
        return import_source(memory, source, io.BytesIO(data), where, bank=bank)
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise MalformedMessage("body", f"is not JSON ({error})") from error
    documents = document if isinstance(document, list) else [document]
    readings = [reading for each in documents for reading in source.observe(each)]
    bad = [reading for reading in readings if isinstance(reading, Refused)]
    if bad and len(bad) == len(readings):
        raise InvalidInput("body", bad[0].reason)
    return keep(memory, readings, source.name, where, bank=bank)


def _own(memory: Memory) -> Path:
    return own_sources(memory.home.settings.mesh.folder)
