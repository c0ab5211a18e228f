"""How to reach NebulaGraph and how a space is made: everything stands in the URL, which travels to every actor."""

import re
import ssl
from typing import Annotated
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import msgspec

from schemas.errors import InvalidSetting
from stores.tls import context_of

_SHAPE = "nebula://user:password@host:9669,host2:9669/space?replicas=3"
_PORT = 9669
_SPACE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
Seconds = Annotated[float, msgspec.Meta(gt=0.0, le=600.0)]


class NebulaOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where graphd listens, who logs in, the space; `partitions` and `replicas` count only when the space is made.

    `timeout` is for one request; a writer that stands still for `claim_timeout` is taken for dead; `heartbeat` is the
    servers' own `heartbeat_interval_secs`, for which a new schema is waited.
    """

    addresses: tuple[tuple[str, int], ...]
    space: str
    user: str = "root"
    password: str = "nebula"  # noqa: S105  the account of a fresh server
    partitions: Annotated[int, msgspec.Meta(ge=1, le=65_536)] = 16
    replicas: Annotated[int, msgspec.Meta(ge=1, le=15)] = 1
    timeout: Seconds = 10.0
    claim_timeout: Seconds = 30.0
    heartbeat: Annotated[float, msgspec.Meta(ge=0.0, le=600.0)] = 10.0
    tls: bool = False
    tls_ca: str = ""
    tls_certificate: str = ""
    tls_key_file: str = ""

    def __repr__(self) -> str:
        """Without the password: this may stand in a log."""
        return f"NebulaOptions({self.place}, user={self.user!r})"

    @property
    def place(self) -> str:
        """Addresses and space, as messages name the store."""
        return f"{','.join(f'{host}:{port}' for host, port in self.addresses)}/{self.space}"


_IN_QUERY = frozenset(
    field.name
    for field in msgspec.structs.fields(NebulaOptions)
    if field.name not in ("addresses", "space", "user", "password")
)


def options_of(url: str) -> NebulaOptions:
    """Read a URL; no message repeats it, since it holds a password. Raises InvalidSetting."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidSetting(f"stores.graph: is not {_SHAPE} ({error})") from error
    if parts.scheme != "nebula" or not parts.netloc or parts.fragment:
        raise InvalidSetting(f"stores.graph: is not {_SHAPE}; write '#', '/' and '?' of a password as %23, %2F, %3F")
    space = parts.path.strip("/")
    if not _SPACE.fullmatch(space):
        raise InvalidSetting(
            f"stores.graph: names the space {space!r}; use a letter, then letters, digits and '_', as in {_SHAPE}"
        )
    login, _, hosts = parts.netloc.rpartition("@")
    found: dict[str, object] = {"addresses": tuple(_address(one) for one in hosts.split(",")), "space": space}
    options: NebulaOptions = _converted(found | _login(login) | _query(parts))
    if not options.tls and (options.tls_ca or options.tls_certificate or options.tls_key_file):
        raise InvalidSetting("stores.graph: tls_ca, tls_certificate and tls_key_file have no effect without tls=true")
    return options


def tls_context(options: NebulaOptions) -> ssl.SSLContext | None:
    """What a connection trusts and shows, None without TLS. Raises InvalidSetting for a file that cannot be used."""
    if not options.tls:
        return None
    return context_of(options.tls_ca, options.tls_certificate, options.tls_key_file, "stores.graph")


def _converted(found: dict[str, object]) -> NebulaOptions:
    try:
        return msgspec.convert(found, NebulaOptions, strict=False)
    except msgspec.ValidationError as error:
        raise InvalidSetting(f"stores.graph: {error}") from error


def _login(login: str) -> dict[str, str]:
    user, _, password = login.partition(":")
    if login and not (user and password):
        raise InvalidSetting(f"stores.graph: give both a user and a password, as in {_SHAPE}")
    return {"user": unquote(user), "password": unquote(password)} if login else {}


def _query(parts: SplitResult) -> dict[str, str]:
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in given:
        if name not in _IN_QUERY:
            known = ", ".join(sorted(_IN_QUERY))
            raise InvalidSetting(f"stores.graph: {name!r} is no option of nebula; there are {known}")
    return given


def _address(one: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{one}")
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidSetting(f"stores.graph: {one!r} is not host:port ({error})") from error
    if not host:
        raise InvalidSetting(f"stores.graph: an address has no host; use {_SHAPE}")
    return host, _PORT if port is None else port
