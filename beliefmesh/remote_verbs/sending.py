"""How one request of a client goes to a mesh: address, headers, and again after a pause while it is too busy."""

import http.client
import re
import time
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import msgspec

from beliefmesh.ask import principal_of
from beliefmesh.failure import error_from_builtins
from beliefmesh.http.body import GROUPS_HEADER, PRINCIPAL_HEADER
from beliefmesh.http.reply import EXACT_TYPE, JSON_TYPE
from schemas.errors import InvalidInput, InvalidSetting, StoreUnavailable
from schemas.limits import check_name, check_text
from schemas.query import Principal

_PATIENCE_SECONDS = 120.0
_TRIES = 8
_TOO_BUSY = 429
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

Asker = Principal | str | None
Asked = Mapping[str, object] | None
"""What stands behind the question mark of an address; what is None is left out."""


class Sender:
    """Sends requests to the mesh at `url`, with the key or token that it asks for; for several threads."""

    def __init__(self, url: str, key: str = "") -> None:
        self._parts = _parts(url)
        self.url = url.rstrip("/")
        self._key = check_key(key)

    def send(
        self,
        method: str,
        path: str,
        asked: Asked = None,
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


def segment(text: str, field: str) -> str:
    """A name as one segment of a path. Raises InvalidInput."""
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


def _decoded(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return None
