"""A memory that another process holds, over its HTTP API: the same methods, the same results, the same errors."""

import http.client
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import msgspec

from beliefmesh.ask import entity_of, principal_of
from beliefmesh.calibrate import Calibration
from beliefmesh.doctor import DoctorReport
from beliefmesh.failure import error_from_builtins
from beliefmesh.gold import golds_of, plain_gold
from beliefmesh.http.body import GROUPS_HEADER, LINES_TYPE, PRINCIPAL_HEADER
from beliefmesh.http.reply import EXACT_TYPE, JSON_TYPE
from beliefmesh.letters import Letters
from beliefmesh.narrate import Narrative
from beliefmesh.receipt import Imported, Receipt, Told, line_of, several
from beliefmesh.remote_forgetting import RemoteForgetting
from beliefmesh.remote_keeping import RemoteKeeping
from beliefmesh.remote_merging import RemoteMerging
from beliefmesh.remote_upkeep import RemoteUpkeep
from schemas.answer import Answer, Explanation, History
from schemas.belief import Belief
from schemas.dead_letter import DeadLetter
from schemas.entity import Entity
from schemas.errors import Busy, InvalidInput, InvalidSetting, MalformedMessage, StoreUnavailable
from schemas.instant import Instant, format_instant, parse_instant
from schemas.limits import check_bank, check_name, check_text
from schemas.profile import Persona
from schemas.query import Principal
from schemas.recall_record import Usefulness
from schemas.reflection import Reflection, Summary
from schemas.wire import dump, load

_PATIENCE_SECONDS = 120.0
_TRIES = 8
_LINES_AT_ONCE = 1_000
_BYTES_AT_ONCE = 2_097_152
_TOO_BUSY = 429
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

Asker = Principal | str | None
Result = TypeVar("Result", bound=msgspec.Struct)


class RemoteMemory(RemoteKeeping, RemoteMerging, RemoteForgetting, RemoteUpkeep):
    """A client of a mesh that serves HTTP at `url`; for several threads. It holds nothing that needs closing.

    `key` is an API key or a JSON Web Token, where the mesh asks for one.
    """

    def __init__(self, url: str, *, bank: str = "default", key: str = "") -> None:
        parts = _parts(url)
        self.url = url.rstrip("/")
        self.bank = check_bank(bank)
        self._parts = parts
        self._key = check_key(key)

    def retain(
        self,
        observations: Told | Sequence[Told],
        *,
        bank: str | None = None,
        wait: bool = True,
        expected_version: int | None = None,
        **fields: object,
    ) -> Receipt:
        """Keep what was observed, as `Memory.retain` does."""
        told = [_filled(one, fields) for one in several(observations)]
        asked = {"wait": "true" if wait else None, "expected_version": expected_version}
        return self._post(f"{self._in(bank)}/observations", told, Receipt, asked=asked)

    def import_lines(
        self, lines: Iterable[bytes | str], *, bank: str | None = None, progress: Callable[[int], None] | None = None
    ) -> Imported:
        """Keep observations written as JSON, one a line, as `Memory.import_lines` does."""
        accepted = dead = unclear = 0
        token = ""
        for count, chunk in _chunks(lines):
            data = self._send("POST", f"{self._in(bank)}/observations", body=chunk, content=LINES_TYPE)
            done = load(data, Imported)
            accepted, dead, token = accepted + done.accepted, dead + done.dead, done.token or token
            unclear += done.unclear
            if progress:
                progress(count)
        return Imported(accepted, dead, token, unclear)

    def set_aside(self, letters: Sequence[DeadLetter], *, bank: str | None = None) -> None:
        """Keep what a source could not use, which was read here, as dead letters of the mesh."""
        self._send("POST", f"{self._in(bank)}/refused", body=dump(Letters(tuple(letters))), content=EXACT_TYPE)

    def recall(
        self, text: str, *, bank: str | None = None, wait_for: str = "", principal: Asker = None, **fields: object
    ) -> Answer:
        """Ask, as `Memory.recall` does."""
        asked = {name: _plain(value) for name, value in fields.items() if value is not None}
        body = {**asked, "text": text, "wait_for": wait_for}
        return self._post(f"{self._in(bank)}/recall", body, Answer, principal)

    def wait(self, token: str, timeout: float = 30.0) -> None:
        """Return once what the token names is recallable. Raises Busy after `timeout` seconds."""
        if (
            token
            and not self._json("GET", f"/v1/receipts/{_segment(token, 'token')}", {"timeout": timeout})["recallable"]
        ):
            raise Busy(f"not recallable after {timeout:g} s; the stream is behind, try again later")

    def explain(
        self, belief: str, *, bank: str | None = None, principal: Asker = None, as_of: object = None
    ) -> Explanation:
        """Every term of a belief's confidence."""
        past = None if as_of is None else format_instant(parse_instant(as_of, "as_of"))
        return self._get(f"{self._belief(bank, belief)}/explain", Explanation, principal, {"as_of": past})

    def history(
        self,
        of: str | None = None,
        *,
        entity: str | Mapping[str, object] | Entity | None = None,
        attribute: str | None = None,
        bank: str | None = None,
        principal: Asker = None,
    ) -> History:
        """Every turn of a slot."""
        asked: dict[str, object] = {"belief": of, "attribute": attribute}
        if entity is not None:
            subject = entity_of(entity)
            asked |= {"entity": subject.name, "type": subject.type}
        return self._get(f"{self._in(bank)}/slots/history", History, principal, asked)

    def belief(self, id: str, *, bank: str | None = None, principal: Asker = None) -> Belief:
        """One belief as it is now."""
        return self._get(self._belief(bank, id), Belief, principal)

    def revoke(
        self,
        belief: str,
        *,
        reason: str,
        agent: str = "",
        principal: Asker = None,
        bank: str | None = None,
        expected_version: int | None = None,
    ) -> Receipt:
        """End a belief from now on."""
        body = {"reason": reason, "agent": agent, "expected_version": expected_version}
        return self._post(f"{self._belief(bank, belief)}/revoke", body, Receipt, principal or agent)

    def narrate(
        self, session: str, *, bank: str | None = None, principal: Asker = None, wait: bool = True
    ) -> Narrative:
        """Keep the turns of a session as one narrative, as `Memory.narrate` does."""
        return self._post(f"{self._in(bank)}/narratives", {"session": session, "wait": wait}, Narrative, principal)

    def calibrate(
        self, gold: Iterable[object] = (), *, bank: str | None = None, feedback: bool = True, dry_run: bool = False
    ) -> Calibration:
        """Learn how far sources are to be trusted, as `Memory.calibrate` does."""
        body = {"gold": [plain_gold(one) for one in golds_of(gold)], "feedback": feedback, "dry_run": dry_run}
        return self._post(f"{self._in(bank)}/calibrate", body, Calibration)

    def reflect(
        self,
        text: str,
        *,
        max_tokens: int | None = None,
        opinions: bool = True,
        bank: str | None = None,
        wait_for: str = "",
        principal: Asker = None,
        **fields: object,
    ) -> Reflection:
        """Answer in the bank's voice, as `Memory.reflect` does."""
        asked = {name: _plain(value) for name, value in fields.items() if value is not None}
        body = {**asked, "text": text, "max_tokens": max_tokens, "opinions": opinions, "wait_for": wait_for}
        return self._post(f"{self._in(bank)}/reflect", body, Reflection, principal)

    def summary(
        self, entity: str | Mapping[str, object] | Entity, *, bank: str | None = None, principal: Asker = None
    ) -> Summary:
        """What is held of an entity, as `Memory.summary` does."""
        subject = entity_of(entity)
        return self._post(f"{self._in(bank)}/summary", {"entity": _plain(subject)}, Summary, principal)

    def refresh_summaries(self, bank: str | None = None) -> int:
        """Write every stored summary again that has moved; returns how many."""
        refreshed: int = self._json("POST", f"{self._in(bank)}/summaries/refresh")["refreshed"]
        return refreshed

    def feedback(
        self,
        of: str | Answer | Reflection,
        verdict: Usefulness,
        *,
        agent: str = "",
        principal: Asker = None,
        bank: str | None = None,
    ) -> Receipt:
        """Say how a belief or an answer did, as `Memory.feedback` does."""
        body = {"verdict": verdict, "agent": agent}
        id = of.id if isinstance(of, Answer | Reflection) else of
        return self._post(f"{self._belief(bank, id)}/feedback", body, Receipt, principal or agent)

    def profile(self, bank: str | None = None) -> Persona:
        """The bank's profile with its background."""
        return self._get(f"{self._in(bank)}/profile", Persona)

    def set_profile(
        self, *, background: str = "", agent: str = "", bank: str | None = None, **traits: float | None
    ) -> Persona:
        """Change traits of the profile, or add to its background, as `Memory.set_profile` does."""
        body = {**traits, "background": background, "agent": agent}
        return self._post(f"{self._in(bank)}/profile", body, Persona, agent)

    def stats(self, bank: str | None = None) -> dict[str, Any]:
        """Counts of a bank, or of all."""
        found: dict[str, Any] = self._json("GET", "/v1/stats" if bank is None else f"{self._in(bank)}/stats")
        return found

    def doctor(self, fix: bool = False) -> DoctorReport:
        """Compare log, graph and index, and with `fix` repair what differs."""
        return self._post("/v1/doctor", {}, DoctorReport, asked={"fix": "true" if fix else None})

    def dead_letters(self) -> list[DeadLetter]:
        """What was set aside, oldest first."""
        return list(self._get("/v1/dead-letters", Letters).letters)

    def dead_letter(self, id: str) -> DeadLetter:
        """One dead letter."""
        return self._get(f"/v1/dead-letters/{_segment(id, 'id')}", DeadLetter)

    def replay_dead_letter(self, id: str) -> None:
        """Send a dead letter's message through again."""
        self._json("POST", f"/v1/dead-letters/{_segment(id, 'id')}/replay")

    def drop_dead_letter(self, id: str) -> None:
        """Take a dead letter out for good."""
        self._json("POST", f"/v1/dead-letters/{_segment(id, 'id')}/drop")

    def state_hash(self, bank: str | None = None, now: Instant | None = None) -> str:
        """A hash of everything that a bank believes at a time."""
        moment = None if now is None else format_instant(now)
        told: str = self._json("GET", f"{self._in(bank)}/state-hash", {"now": moment})["state_hash"]
        return told

    def banks(self) -> list[str]:
        """The banks that hold anything."""
        found: list[str] = self._json("GET", "/v1/banks")["banks"]
        return found

    def close(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> "RemoteMemory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _in(self, bank: str | None) -> str:
        return f"/v1/banks/{self.bank if bank is None else check_bank(bank)}"

    def _belief(self, bank: str | None, id: str) -> str:
        return f"{self._in(bank)}/beliefs/{_segment(id, 'belief')}"

    def _get(
        self, path: str, kind: type[Result], principal: Asker = None, asked: Mapping[str, object] | None = None
    ) -> Result:
        return load(self._send("GET", path, asked, principal=principal), kind)

    def _post(
        self,
        path: str,
        body: object,
        kind: type[Result],
        principal: Asker = None,
        asked: Mapping[str, object] | None = None,
    ) -> Result:
        return load(self._send("POST", path, asked, body=_encoded(body), principal=principal), kind)

    def _json(self, method: str, path: str, asked: Mapping[str, object] | None = None) -> Any:
        return msgspec.json.decode(self._send(method, path, asked, body=b"{}" if method == "POST" else None))

    def _send(
        self,
        method: str,
        path: str,
        asked: Mapping[str, object] | None = None,
        *,
        body: bytes | None = None,
        content: str = JSON_TYPE,
        principal: Asker = None,
    ) -> bytes:
        """One request, again after a pause while the mesh says that it is too busy. Raises what the mesh raised."""
        given = {name: check_text(f"{value}", name) for name, value in (asked or {}).items() if value is not None}
        target = self._parts.path.rstrip("/") + path + (f"?{urlencode(given)}" if given else "")
        headers = {"Accept": EXACT_TYPE, **({} if body is None else {"Content-Type": content}), **_asker(principal)}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        for tries_left in reversed(range(_TRIES)):
            status, data, pause = self._once(method, target, body, headers)
            if status < http.client.BAD_REQUEST:
                return data
            if status != _TOO_BUSY or not tries_left:
                raise error_from_builtins(_decoded(data), status)
            time.sleep(pause)
        raise StoreUnavailable(f"the mesh at {self.url} stays too busy; try again later")

    def _once(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, float]:
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self._parts.hostname or "", self._parts.port, timeout=_PATIENCE_SECONDS)
        try:
            connection.request(method, target, body, dict(headers))
            response = connection.getresponse()
            again = response.headers.get("Retry-After", "1")
            return response.status, response.read(), float(again) if again.isdecimal() else 1.0
        except (OSError, http.client.HTTPException) as error:
            raise StoreUnavailable(f"the mesh at {self.url} cannot be reached ({error})") from error
        finally:
            connection.close()


def check_key(key: str) -> str:
    """Accept what can be sent as a key or token. Raises InvalidSetting."""
    if not key.isascii() or _CONTROL.search(key) or " " in key:
        raise InvalidSetting("access.key: is no key and no token; `beliefmesh keys create` makes one")
    return key


def _segment(text: str, field: str) -> str:
    return quote(check_name(text, field), safe="")


def _parts(url: str) -> SplitResult:
    """The parts of a server's address. Raises InvalidSetting for what is none."""
    try:
        parts = urlsplit(check_text(url, "url"))
        sendable = " " not in url and not _CONTROL.search(url)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and sendable:
            return parts
    except ValueError:  # a port or an IPv6 address that is none
        pass
    raise InvalidSetting(f"url: {url!r:.80} is not an address; use one such as http://127.0.0.1:7420")


def _filled(one: object, fields: Mapping[str, object]) -> object:
    """An observation with the fields that it lacks; what is none is left for the mesh to refuse by name."""
    told = {"text": one} if isinstance(one, str) else one
    return {**fields, **told} if isinstance(told, Mapping) else told


def _asker(principal: Asker) -> dict[str, str]:
    """Headers that name a principal. Raises InvalidInput for a name that would arrive as another one."""
    asker = principal_of(principal)
    headers = {}
    for name in (asker.id, *asker.groups):
        if name != name.strip() or _CONTROL.search(name):
            raise InvalidInput("principal", f"{name!r:.80} has outer spaces or control characters; no header has those")
    if any("," in group for group in asker.groups):
        raise InvalidInput("groups", "hold a comma, which separates groups in a header; use a name without one")
    if asker.id:
        headers[PRINCIPAL_HEADER] = asker.id.encode("utf-8").decode("latin-1")
    if asker.groups:
        headers[GROUPS_HEADER] = ",".join(asker.groups).encode("utf-8").decode("latin-1")
    return headers


def _plain(value: object) -> object:
    return {"name": value.name, "type": value.type} if isinstance(value, Entity) else value


def _encoded(body: object) -> bytes:
    try:
        return msgspec.json.encode(body)
    except (TypeError, UnicodeError) as error:
        raise MalformedMessage("body", f"cannot be written as JSON ({error})") from error


def _decoded(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return None


def _chunks(lines: Iterable[bytes | str]) -> Iterator[tuple[int, bytes]]:
    """Lines joined to bodies of a bearable size, each with their number."""
    chunk: list[bytes] = []
    size = 0
    for line in map(line_of, lines):
        if chunk and (len(chunk) >= _LINES_AT_ONCE or size + len(line) > _BYTES_AT_ONCE):
            yield len(chunk), b"\n".join(chunk)
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield len(chunk), b"\n".join(chunk)
