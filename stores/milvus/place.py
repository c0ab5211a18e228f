"""What a milvus:// URL says: where Milvus is, who asks it, and how reads and collections are to be."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from schemas.errors import InvalidSetting

SHAPE: Final = (
    "milvus://token@host:19530/database, or milvus:///relative/file.db for Milvus Lite, "
    "with four slashes for an absolute path"
)
CONSISTENCIES: Final = {"bounded": "Bounded", "strong": "Strong", "session": "Session", "eventually": "Eventually"}

_PORT = 19_530
_ALLOWED = ("consistency", "timeout", "collection", "tls", "tls_ca")
_LONGEST_TIMEOUT = 600.0
_LONGEST_COLLECTION = 64


@dataclass(frozen=True, slots=True)
class MilvusPlace:
    """A Milvus server at `address`, else Milvus Lite in `path`; `shown` is the URL without what is secret.

    `consistency` is Milvus's name of a level. `collection` begins the name of every collection that we make.
    """

    shown: str
    address: str = ""
    path: Path | None = None
    token: str = field(default="", repr=False)
    database: str = ""
    collection: str = "beliefmesh"
    consistency: str = "Bounded"
    timeout: float = 10.0
    tls: bool = False
    tls_ca: str = ""

    @property
    def lite(self) -> bool:
        """Whether this is Milvus Lite, in this process."""
        return self.path is not None

    @property
    def uri(self) -> str:
        """The server as pymilvus wants it."""
        return f"{'https' if self.tls else 'http'}://{self.address}"


def place_of(url: str) -> MilvusPlace:
    """Read `milvus://token@host:port/database` or `milvus:///file.db`, each with `?option=value&…`.

    Options: consistency (bounded, strong, session, eventually), timeout (seconds), collection (a name), tls (true),
    tls_ca (a file of trusted certificates). Raises InvalidSetting, which never quotes the token.
    """
    address, _, query = url.partition("?")
    shown = _shown(address)
    options = _options(query, shown)
    scheme, mark, rest = address.partition("://")
    if scheme != "milvus" or not mark or not rest.strip("/"):
        raise InvalidSetting(f"index {shown!r} names no place; use {SHAPE}")
    tls = _tls(options, shown)
    if options.get("tls_ca") and not tls:
        raise InvalidSetting(f"index {shown!r}: tls_ca has no effect without tls=true")
    lite = rest.startswith("/")
    host, database, token = ("", "", "") if lite else _server(address, shown)
    return MilvusPlace(
        shown,
        address=host,
        path=_lite_path(rest[1:], options, shown) if lite else None,
        token=token,
        database=database,
        collection=_collection(options, shown),
        consistency=_consistency(options, shown),
        timeout=_timeout(options, shown),
        tls=tls,
        tls_ca=options.get("tls_ca", ""),
    )


def _shown(address: str) -> str:
    """The URL without its options and without whatever stands before an @."""
    scheme, mark, rest = address.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{mark}{place.rpartition('@')[2]}{slash}{path}"


def _options(query: str, shown: str) -> dict[str, str]:
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    for name in options:
        if name not in _ALLOWED:
            raise InvalidSetting(f"index {shown!r}: {name!r:.40} is not an option; use {', '.join(_ALLOWED)}")
    if len(options) < len(pairs):
        raise InvalidSetting(f"index {shown!r}: an option is given twice; give each once")
    return options


def _server(address: str, shown: str) -> tuple[str, str, str]:
    """host:port, database, token."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        raise InvalidSetting(
            f"index {shown!r}: its port is not a number from 1 to 65535, or brackets do not hold an address"
        ) from None
    database = unquote(parts.path.strip("/"))
    if not host or parts.fragment or "/" in database:
        raise InvalidSetting(f"index {shown!r} is not {SHAPE}; write %23 for # and %2F for / in a token")
    token = unquote(parts.netloc.rpartition("@")[0])
    return (f"[{host}]:{port}" if ":" in host else f"{host}:{port}"), database, token


def _lite_path(path: str, options: dict[str, str], shown: str) -> Path:
    if not path.endswith(".db") or path.endswith("/.db") or path == ".db":
        raise InvalidSetting(f"index {shown!r}: a place of Milvus Lite ends in .db, as in milvus:///index.db")
    for name in ("tls", "tls_ca"):
        if name in options:
            raise InvalidSetting(f"index {shown!r}: {name} is for a server; Milvus Lite runs in this process")
    return Path(path)


def _consistency(options: dict[str, str], shown: str) -> str:
    level = options.get("consistency", "bounded")
    if level not in CONSISTENCIES:
        raise InvalidSetting(f"index {shown!r}: consistency={level!r:.40}; use one of {', '.join(CONSISTENCIES)}")
    return CONSISTENCIES[level]


def _timeout(options: dict[str, str], shown: str) -> float:
    given = options.get("timeout", "10")
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= _LONGEST_TIMEOUT:
        raise InvalidSetting(f"index {shown!r}: timeout={given!r:.40}; use seconds, more than 0, at most 600")
    return seconds


def _tls(options: dict[str, str], shown: str) -> bool:
    given = options.get("tls", "false")
    if given not in ("true", "false"):
        raise InvalidSetting(f"index {shown!r}: tls={given!r:.40}; use true or false")
    return given == "true"


def _collection(options: dict[str, str], shown: str) -> str:
    name = options.get("collection", "beliefmesh")
    if not name.isascii() or not name.isidentifier() or len(name) > _LONGEST_COLLECTION:
        raise InvalidSetting(
            f"index {shown!r}: collection={name!r:.80}; use up to {_LONGEST_COLLECTION} ASCII letters, digits or "
            "underscores, a letter first"
        )
    return name
