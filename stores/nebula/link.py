"""One connection to graphd with one session on it, for one thread at a time."""

import ssl
from collections.abc import Callable
from contextlib import suppress

from nebula3.common.ttypes import ErrorCode
from nebula3.fbthrift.protocol.THeaderProtocol import THeaderProtocol
from nebula3.fbthrift.Thrift import TException
from nebula3.fbthrift.transport.THeaderTransport import THeaderTransport
from nebula3.fbthrift.transport.TSocket import TSocket
from nebula3.fbthrift.transport.TTransport import TBufferedTransport
from nebula3.graph import GraphService
from nebula3.graph.ttypes import ExecutionResponse, VerifyClientVersionReq

from stores.nebula.errors import NebulaBroken, NebulaRefused
from stores.nebula.options import NebulaOptions
from stores.nebula.rows import Row, parameter, plain
from stores.nebula.script import Request

_MS = 1_000
# What a half-read or malformed reply raises besides thrift's own errors.
_BROKEN = (TException, OSError, EOFError, ValueError, TypeError, IndexError, KeyError, AttributeError)


class _SecureSocket(TSocket):  # type: ignore[misc]
    """A socket with TLS by Python's own context; the client's own knows neither SNI nor today's protocol names."""

    def __init__(self, host: str, port: int, context: ssl.SSLContext) -> None:
        super().__init__(host, port)
        self._context = context

    def open(self) -> None:
        """Connect and shake hands."""
        super().open()
        self.setHandle(self._context.wrap_socket(self.handle, server_hostname=self.host))


class Link:
    """A logged-in session of one graphd. After NebulaBroken it is of no use but for `id`, to be signed out elsewhere.

    The client's own pool is not used: it needs every address to be up, and its sessions send a statement again by
    themselves.
    """

    def __init__(self, address: tuple[str, int], options: NebulaOptions, context: ssl.SSLContext | None) -> None:
        host, port = address
        self.address = address
        self._socket = TSocket(host, port) if context is None else _SecureSocket(host, port, context)
        self._socket.setTimeout(options.timeout * _MS)
        try:
            self._open()
            self.id = self._login(options)
        except BaseException:
            self._close()
            raise

    def run(self, request: Request) -> list[Row]:
        """The rows of the reply. Raises NebulaRefused, or NebulaBroken where none came."""
        sent = {key: parameter(value) for key, value in request.parameters.items()}
        text = request.text.encode("utf-8")
        reply = self._ask(lambda: self._client.executeWithParameter(self.id, text, sent or None), sent=True)
        _check(reply)
        return _rows(reply)

    def sign_out(self, id: int) -> None:
        """End a session, this one's or one whose link broke; at worst it ends by itself after hours."""
        with suppress(*_BROKEN):
            self._client.signout(id)

    def close(self) -> None:
        """Sign out and hang up."""
        self.sign_out(self.id)
        self._close()

    def hang_up(self) -> None:
        """Close what is broken, without a word to the server."""
        self._close()

    def _open(self) -> None:
        transport = THeaderTransport(TBufferedTransport(self._socket))
        try:
            transport.open()
        except (OSError, TException) as error:
            raise NebulaBroken(error, sent=False) from error
        self._client = GraphService.Client(THeaderProtocol(transport))

    def _login(self, options: NebulaOptions) -> int:
        _check(self._ask(lambda: self._client.verifyClientVersion(VerifyClientVersionReq()), sent=False))
        reply = self._ask(lambda: self._client.authenticate(options.user, options.password), sent=False)
        _check(reply)
        return int(reply.session_id)

    def _ask(self, call: Callable[[], ExecutionResponse], *, sent: bool) -> ExecutionResponse:
        try:
            return call()
        except _BROKEN as error:
            raise NebulaBroken(getattr(error, "message", None) or error, sent=sent) from error

    def _close(self) -> None:
        with suppress(OSError):
            self._socket.close()


def _check(reply: ExecutionResponse) -> None:
    if reply.error_code != ErrorCode.SUCCEEDED:
        text = reply.error_msg or b""
        raise NebulaRefused(
            int(reply.error_code), text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        )


def _rows(reply: ExecutionResponse) -> list[Row]:
    data = reply.data
    if data is None or not data.rows:
        return []
    names = [bytes(each).decode("utf-8") for each in data.column_names]
    return [dict(zip(names, map(plain, row.values), strict=True)) for row in data.rows]
