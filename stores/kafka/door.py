"""Whether a broker lets us in: TLS and login, tried by hand because kafka-python only says that it gave up."""

import socket
import ssl
import struct
from collections.abc import Sequence

from schemas.errors import BeliefmeshError, InvalidSetting, StoreUnavailable
from stores.kafka.driver import get_sasl_mechanism
from stores.kafka.options import KafkaOptions

_SECONDS = 5.0
_LARGEST_ANSWER = 65_536
# Kinds of requests and an error code, from Kafka's protocol guide.
_HANDSHAKE, _VERSIONS, _AUTHENTICATE = 17, 18, 36
_NO_LOGIN_HERE = 34


def closed_door(
    addresses: Sequence[str], options: KafkaOptions, context: ssl.SSLContext | None
) -> BeliefmeshError | None:
    """Why the first broker that answers refuses us, or that none answers; None where the door is open."""
    for address in addresses:
        host, _, port = address.rpartition(":")
        host = host.strip("[]")
        try:
            with socket.create_connection((host, int(port)), _SECONDS) as plain:
                return _refusal(plain, address, host, options, context)
        except OSError:
            continue
    named = ", ".join(addresses)
    return StoreUnavailable(f"no Kafka broker answers at {named}; is it running, and is stores.log right?")


def _refusal(
    plain: socket.socket, address: str, host: str, options: KafkaOptions, context: ssl.SSLContext | None
) -> InvalidSetting | None:
    if context is None:
        return _login_refusal(plain, address, host, options)
    try:
        with context.wrap_socket(plain, server_hostname=host) as secured:
            return _login_refusal(secured, address, host, options)
    except ssl.SSLCertVerificationError as error:
        return InvalidSetting(f"kafka.tls_ca: does not vouch for {address}: {error.verify_message}")
    except ssl.SSLError as error:
        return InvalidSetting(f"kafka.tls: {address} refuses TLS ({error.reason}); is this its port for TLS?")


def _login_refusal(connection: socket.socket, address: str, host: str, options: KafkaOptions) -> InvalidSetting | None:
    """Logs in as kafka-python would, by its own mechanisms."""
    if not _speaks_kafka(connection):
        return InvalidSetting(f"kafka.tls: {address} does not speak Kafka in the clear; if it speaks TLS, set it true")
    wanted = options.sasl.upper() if options.sasl != "none" else "PLAIN"
    (code,) = struct.unpack_from(
        ">h", _ask(connection, _HANDSHAKE, 1, struct.pack(">h", len(wanted)) + wanted.encode())
    )
    if options.sasl == "none":
        return None if code == _NO_LOGIN_HERE else InvalidSetting(f"kafka.sasl: {address} wants a login; set it")
    if code:
        return InvalidSetting(f"kafka.sasl: {address} takes no login by {options.sasl}")
    if not _logs_in(connection, host, options):
        return InvalidSetting(f"kafka.password: {address} refuses the login of {options.username!r}")
    return None


def _logs_in(connection: socket.socket, host: str, options: KafkaOptions) -> bool:
    """The exchange of SASL, without kafka-python's warnings about a login in the clear: the settings say so."""
    mechanism = get_sasl_mechanism(options.sasl.upper())(
        host=host,
        security_protocol="SASL_SSL",
        sasl_mechanism=options.sasl.upper(),
        sasl_plain_username=options.username,
        sasl_plain_password=options.password,
    )
    while not mechanism.is_done():
        token: bytes = mechanism.auth_bytes()
        answer = _ask(connection, _AUTHENTICATE, 0, struct.pack(">i", len(token)) + token)
        code, length = struct.unpack_from(">hh", answer)
        if code:
            return False
        mechanism.receive(answer[4 + max(length, 0) + 4 :])
    return bool(mechanism.is_authenticated())


def _speaks_kafka(connection: socket.socket) -> bool:
    try:
        _ask(connection, _VERSIONS, 0, b"")
    except ValueError:
        return False
    return True


def _ask(connection: socket.socket, kind: int, version: int, body: bytes) -> bytes:
    """The body of the answer to one request of Kafka's protocol. Raises ValueError for what is none."""
    request = struct.pack(">hhih", kind, version, 1, -1) + body
    connection.sendall(struct.pack(">i", len(request)) + request)
    (length,) = struct.unpack(">i", _exactly(connection, 4))
    if not 4 < length <= _LARGEST_ANSWER:
        raise ValueError(f"an answer of {length} bytes")
    return _exactly(connection, length)[4:]


def _exactly(connection: socket.socket, length: int) -> bytes:
    received = b""
    while len(received) < length:
        part = connection.recv(length - len(received))
        if not part:
            raise ConnectionError("the broker ended the connection")
        received += part
    return received
