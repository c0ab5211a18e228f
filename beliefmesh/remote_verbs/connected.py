"""What every verb of a client stands on: a sender, the bank that a call is about, structs out of what is answered."""

import time
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from beliefmesh.remote_verbs.sending import Asked, Asker, Sender, segment
from schemas.entity import Entity
from schemas.errors import Busy, MalformedMessage
from schemas.limits import check_bank
from schemas.wire import load

_LONGEST_WAIT = 60.0
"""For so many seconds one request may wait."""

Named = str | Mapping[str, object] | Entity
Result = TypeVar("Result", bound=msgspec.Struct)


class Connected:
    """A mesh elsewhere and the bank that is meant where none is named."""

    def __init__(self, sender: Sender, bank: str) -> None:
        self.bank = check_bank(bank)
        self._sender = sender

    @property
    def url(self) -> str:
        """Where the mesh serves."""
        return self._sender.url

    def wait(self, token: str, timeout: float = 30.0) -> None:
        """Return once what the token names is recallable. Raises Busy after `timeout` seconds."""
        until = time.monotonic() + timeout
        while token:
            part = max(0.0, min(until - time.monotonic(), _LONGEST_WAIT))
            if self._json("GET", f"/v1/receipts/{segment(token, 'token')}", {"timeout": part})["recallable"]:
                return
            if time.monotonic() >= until:
                raise Busy(f"not recallable after {timeout:g} s; the stream is behind, try again later")

    def banks(self) -> list[str]:
        """The banks that hold anything."""
        found: list[str] = []
        cursor: str | None = None
        while True:
            page = self._json("GET", "/v1/banks", {"cursor": cursor})
            found += page["banks"]
            cursor = page["next"]
            if not cursor:
                return found

    def _in(self, bank: str | None) -> str:
        return f"/v1/banks/{self.bank if bank is None else check_bank(bank)}"

    def _belief(self, bank: str | None, id: str) -> str:
        return f"{self._in(bank)}/beliefs/{segment(id, 'belief')}"

    def _get(self, path: str, kind: type[Result], principal: Asker = None, asked: Asked = None) -> Result:
        return load(self._sender.send("GET", path, asked, principal=principal), kind)

    def _post(
        self,
        path: str,
        body: object,
        kind: type[Result],
        principal: Asker = None,
        asked: Asked = None,
        writes: bool = True,
    ) -> Result:
        sent = self._sender.send("POST", path, asked, body=_encoded(body), principal=principal, writes=writes)
        return load(sent, kind)

    def _json(self, method: str, path: str, asked: Asked = None) -> Any:
        body = b"{}" if method == "POST" else None
        return msgspec.json.decode(self._sender.send(method, path, asked, body=body))


def plain(value: object) -> object:
    """A value as JSON has it, an entity by name and type."""
    return {"name": value.name, "type": value.type} if isinstance(value, Entity) else value


def question(text: str, wait_for: str, fields: Mapping[str, object]) -> dict[str, object]:
    """The body of a question: its text and the fields of a query that are given."""
    given = {name: plain(value) for name, value in fields.items() if value is not None}
    return {**given, "text": text, "wait_for": wait_for}


def _encoded(body: object) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (TypeError, UnicodeError) as error:
        raise MalformedMessage("body", f"cannot be written as JSON ({error})") from error
