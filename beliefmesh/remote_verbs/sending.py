"""How one request of a client goes to a mesh: address, headers, a key where it writes, and again where it failed."""

import http.client
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from urllib.parse import SplitResult, quote, urlencode, urlsplit
from uuid import uuid4

from beliefmesh.ask import principal_of
from beliefmesh.http.body import GROUPS_HEADER, PRINCIPAL_HEADER
from beliefmesh.http.reply import EXACT_TYPE, JSON_TYPE
from beliefmesh.remote_verbs.retrying import Replied, patiently
from schemas.errors import InvalidInput, InvalidSetting, StoreUnavailable
from schemas.limits import check_name, check_number, check_text
from schemas.query import Principal
from stores.sqlite.replies import KEY_FIELD

PATIENCE = 15.0
"""For so many seconds a request is tried again, unless another number is given."""

_MOST_PATIENCE = 86_400.0
_ANSWER_SECONDS = 120.0
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

Asker = Principal | str | None
Asked = Mapping[str, object] | None
"""What stands behind the question mark of an address; what is None is left out."""


class Sender:
    """Sends requests to the mesh at `url`, with the key or token that it asks for; for several threads.

    What fails on the way, or is refused for the moment, is sent again for `patience` seconds (`retrying.py`). A write
    carries an Idempotency-Key, which stays the same: a mesh that did it already only says again what it replied.
    """

    def __init__(self, url: str, key: str = "", patience: float = PATIENCE) -> None:
        self._parts = _parts(url)
        self.url = url.rstrip("/")
        self._key = check_key(key)
        self._patience = check_number(patience, "patience", 0.0, _MOST_PATIENCE)

    def send(
        self,
        method: str,
        path: str,
        asked: Asked = None,
        *,
        body: bytes | None = None,
        content: str = JSON_TYPE,
        principal: Asker = None,
        writes: bool | None = None,
    ) -> bytes:
        """What the mesh replies. Raises what the mesh raised, and StoreUnavailable where it cannot be reached.

        What is not a GET `writes`, unless it is said not to.
        """
        given = {name: check_text(f"{value}", name) for name, value in (asked or {}).items() if value is not None}
        target = self._target(path) + (f"?{urlencode(given)}" if given else "")
        headers = self._headers(EXACT_TYPE, {} if body is None else {"Content-Type": content}) | _asker(principal)
        if method != "GET" if writes is None else writes:
            headers[KEY_FIELD] = uuid4().hex
        return patiently(lambda: self._once(method, target, body, headers), self._patience)

    @contextmanager
    def download(self, path: str, headers: Mapping[str, str]) -> Iterator[http.client.HTTPResponse]:
        """A reply of any size, to be read as it comes. Raises StoreUnavailable where it is cut off."""
        opened: list[http.client.HTTPResponse] = []

        def ask() -> Replied:
            connection.close()
            connection.request("GET", self._target(path), headers=self._headers(JSON_TYPE, headers))
            response = connection.getresponse()
            if response.status >= http.client.BAD_REQUEST:
                return _replied(response)
            opened.append(response)
            return Replied(response.status, b"")

        with self._connected() as connection:
            patiently(lambda: self._asked(ask), self._patience)
            try:
                yield opened[-1]
            except (OSError, http.client.HTTPException) as error:
                raise StoreUnavailable(f"what the mesh at {self.url} sent was cut off ({error})") from error

    def upload(self, path: str, parts: Iterable[bytes], headers: Mapping[str, str]) -> bytes:
        """What the mesh replies to a body of any size, which is sent as it is made, and so but once."""
        with self._connected() as connection:

            def ask() -> Replied:
                try:
                    connection.request(
                        "POST", self._target(path), iter(parts), self._headers(JSON_TYPE, headers), encode_chunked=True
                    )
                except ConnectionError:  # a mesh that refuses reads no further, and may have said why
                    return _replied(connection.getresponse())
                return _replied(connection.getresponse())

            return patiently(lambda: self._asked(ask), 0.0)

    def _once(self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]) -> Replied:
        with self._connected() as connection:

            def ask() -> Replied:
                connection.request(method, target, body, dict(headers))
                return _replied(connection.getresponse())

            return self._asked(ask)

    def _asked(self, ask: Callable[[], Replied]) -> Replied:
        """What is replied; StoreUnavailable where nothing is."""
        try:
            return ask()
        except (OSError, http.client.HTTPException) as error:
            raise StoreUnavailable(f"the mesh at {self.url} cannot be reached ({error})") from error

    def _connected(self) -> "closing[http.client.HTTPConnection]":
        """A connection that is closed at the end; it begins with the first request."""
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return closing(kind(self._parts.hostname or "", self._parts.port, timeout=_ANSWER_SECONDS))

    def _target(self, path: str) -> str:
        return self._parts.path.rstrip("/") + path

    def _headers(self, accept: str, more: Mapping[str, str]) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {"Accept": accept, **more, **key}


def _replied(response: http.client.HTTPResponse) -> Replied:
    return Replied(response.status, response.read(), response.headers.get("Retry-After"))


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
