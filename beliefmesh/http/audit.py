"""The audit log: who asked for what, and what came of it; one JSON line a request of the API, never what was said."""

import threading
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog

from beliefmesh.grant import Grant
from beliefmesh.keyring import owner_only
from schemas.errors import InvalidSetting

log_events = structlog.get_logger("http")


class Audit:
    """Appends to a file, which may be rotated by moving it away. Raises InvalidSetting where it cannot be opened."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._write(b"")

    def note(self, scope: MutableMapping[str, Any], route: str, status: int) -> None:
        """Keep one request: when, who by which grant, for whom, the route with its names, and the status."""
        grant: Grant | None = scope.get("state", {}).get("grant")
        headers = {name: value.decode("utf-8", "replace") for name, value in scope["headers"]}
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "grant": grant.name if grant else "",
            "principal": (grant.principal if grant else "") or headers.get(b"x-beliefmesh-principal", ""),
            "method": scope["method"],
            "route": route,
            **scope.get("path_params", {}),
            "status": status,
            "from": (scope.get("client") or ("",))[0],
        }
        try:
            self._write(msgspec.json.encode(line) + b"\n")
        except InvalidSetting as error:
            log_events.error("audit.unwritten", reason=str(error), method=line["method"], route=route, status=status)

    def _write(self, line: bytes) -> None:
        try:
            with self._lock, open(self._path, "ab", opener=owner_only) as file:
                file.write(line)
        except OSError as error:
            raise InvalidSetting(f"access.audit: {self._path} cannot be written ({error.strerror})") from error
