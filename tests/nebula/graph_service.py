"""The Thrift service of graphd for one connection: what each call of nebula3-python gets back (section 13)."""

import time
from collections.abc import Mapping
from typing import Any, Protocol

from graph_cluster import Cluster, Result
from graph_errors import SUCCEEDED, Refused
from graph_faults import Asked, Fault, Faults
from graph_sessions import Sessions
from graph_values import data_set, from_wire, raw, text
from nebula3.common import ttypes as wire
from nebula3.graph.ttypes import AuthResponse, ExecutionResponse, VerifyClientVersionReq, VerifyClientVersionResp

OLDEST_CLIENT = "3.0.0"
INCOMPATIBLE = -3061


class Line(Protocol):
    """The connection, as far as the service has to do with it."""

    def cut(self) -> None:
        """Close it at once, answer or no answer."""

    def wait_until_left(self) -> None:
        """Wait until the client has had enough."""


class Service:
    """Answers one client; cluster, sessions, faults and the list of requests are those of its graphd."""

    def __init__(self, cluster: Cluster, sessions: Sessions, faults: Faults, asked: list[Asked], line: Line) -> None:
        self._cluster = cluster
        self._sessions = sessions
        self._faults = faults
        self._asked = asked
        self._line = line

    def verifyClientVersion(self, req: VerifyClientVersionReq) -> VerifyClientVersionResp:  # noqa: N802
        """Clients of 3.0.0 and newer are welcome."""
        if text(req.version) < OLDEST_CLIENT:
            return VerifyClientVersionResp(INCOMPATIBLE, b"the client is too old")
        return VerifyClientVersionResp(SUCCEEDED)

    def authenticate(self, username: bytes, password: bytes) -> AuthResponse:
        """Log in, in the server's time zone, UTC."""
        try:
            session = self._sessions.open(text(username), text(password))
        except Refused as refused:
            return AuthResponse(error_code=refused.code, error_msg=raw(refused.text))
        return AuthResponse(
            error_code=SUCCEEDED, session_id=session.id, time_zone_offset_seconds=0, time_zone_name=b"UTC"
        )

    def signout(self, session: int) -> None:
        """Log out; nobody waits for an answer."""
        self._sessions.close(session)

    def execute(self, session: int, stmt: bytes) -> ExecutionResponse:
        """As `executeWithParameter`; the client pings by it, in no session."""
        return self.executeWithParameter(session, stmt, None)

    def executeWithParameter(  # noqa: N802
        self, session: int, stmt: bytes, parameters: Mapping[bytes, wire.Value] | None
    ) -> ExecutionResponse:
        """Run a request and answer, unless a fault keeps one of both from happening."""
        started = time.monotonic()
        request = Asked(
            text(stmt), {text(name): from_wire(value) for name, value in (parameters or {}).items()}, session
        )
        fault = None
        space = ""
        try:
            held = self._sessions.use(session)
            self._asked.append(request)
            fault = self._faults.of(request.text)
            self._before(fault, session)
            space = held.space
            result = self._cluster.run(request.text, request.parameters, space, halved=fault is Fault.HALF)
            held.space = result.space
            if fault and (doubt := fault.doubt()):
                raise doubt
            reply = _succeeded(result)
        except Refused as refused:
            reply = ExecutionResponse(error_code=refused.code, error_msg=raw(refused.text), space_name=raw(space))
        reply.latency_in_us = round((time.monotonic() - started) * 1e6)
        self._after(fault)
        return reply

    def _before(self, fault: Fault | None, session: int) -> None:
        if fault is Fault.CUT:
            self._line.cut()
            raise Refused(SUCCEEDED, "nobody will read this")
        if fault is Fault.SESSION_INVALID:
            self._sessions.close(session)
        if fault and (refusal := fault.refusal()):
            raise refusal

    def _after(self, fault: Fault | None) -> None:
        if fault is Fault.REPLY_LOST:
            self._line.cut()
        if fault is Fault.TOO_LATE:
            self._line.wait_until_left()


def _succeeded(result: Result) -> ExecutionResponse:
    data: Any = None if result.table is None else data_set(result.table)
    return ExecutionResponse(error_code=SUCCEEDED, data=data, space_name=raw(result.space))
