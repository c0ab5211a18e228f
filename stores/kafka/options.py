"""How to reach Kafka and how its topics are made: addresses from the URL, everything else from the settings."""

import ssl
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from schemas.errors import InvalidSetting
from stores.tls import context_of

Sasl = Literal["none", "plain", "scram-sha-256", "scram-sha-512"]
Days = Annotated[int, msgspec.Meta(ge=0, le=36_500)]
Seconds = Annotated[float, msgspec.Meta(ge=1.0, le=3_600.0)]

_SHAPE = "kafka://host:port, or kafka://host:port,host:port"
_PORT = 9092


class KafkaOptions(msgspec.Struct, frozen=True):
    """Security, identity and topic settings; the defaults suit a broker on this machine."""

    client_id: str = "beliefmesh"
    tls: bool = False
    tls_ca: str = ""
    tls_certificate: str = ""
    tls_key_file: str = ""
    sasl: Sasl = "none"
    username: str = ""
    password: str = ""
    replication: Annotated[int, msgspec.Meta(ge=1, le=32)] = 1
    observations_days: Days = 0
    claims_days: Days = 30
    recall_log_days: Days = 90
    max_message_mb: Annotated[int, msgspec.Meta(ge=1, le=64)] = 4
    instance: str = ""
    session_timeout: Seconds = 10.0
    drain_timeout: Seconds = 30.0

    def __repr__(self) -> str:
        """Without the password: this may stand in a log."""
        return f"KafkaOptions(client_id={self.client_id!r}, tls={self.tls}, sasl={self.sasl!r})"


def addresses_of(url: str) -> list[str]:
    """The brokers of `kafka://host:port,host:port`; the port is 9092 unless given. Raises InvalidSetting."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidSetting(f"stores.log: {url!r} is not {_SHAPE} ({error})") from error
    if "@" in parts.netloc:
        raise InvalidSetting("stores.log: a kafka URL holds no user; set kafka.username and kafka.password")
    if parts.scheme != "kafka" or not parts.netloc or parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidSetting(f"stores.log: {url!r} is not {_SHAPE}")
    return [_address(one, url) for one in parts.netloc.split(",")]


def tls_context(options: KafkaOptions) -> ssl.SSLContext | None:
    """What the connection trusts and shows, None without TLS. Raises InvalidSetting for a file that cannot be used."""
    if not options.tls:
        return None
    return context_of(options.tls_ca, options.tls_certificate, options.tls_key_file, "kafka.tls")


def require_whole(options: KafkaOptions) -> None:
    """Raises InvalidSetting where one setting lacks another."""
    if options.sasl != "none" and not (options.username and options.password):
        raise InvalidSetting(f"kafka.sasl: {options.sasl} needs kafka.username and kafka.password")
    if options.sasl == "none" and (options.username or options.password):
        raise InvalidSetting("kafka.username: has no effect without kafka.sasl; set it to plain or scram-sha-512")
    if not options.tls and (options.tls_ca or options.tls_certificate):
        raise InvalidSetting("kafka.tls_ca: has no effect without kafka.tls = true")


def _address(one: str, url: str) -> str:
    """One host and port, with brackets around an IPv6 address."""
    try:
        parts = urlsplit(f"//{one.strip()}")
        host, port = parts.hostname, _PORT if parts.port is None else parts.port
    except ValueError as error:
        raise InvalidSetting(f"stores.log: {url!r} is not {_SHAPE} ({error})") from error
    if not host or not port or any(letter.isspace() for letter in host):
        raise InvalidSetting(f"stores.log: {url!r} is not {_SHAPE}")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
