"""The door of the API: who is let in, by key or token, and what they may do on which route of which bank."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from beliefmesh.grant import OPEN_DOOR, Grant, Role
from beliefmesh.http.signature import secret_of
from beliefmesh.keyring import KeyRing, is_key
from beliefmesh.settings import AccessSettings
from schemas.errors import AccessDenied, InvalidSetting, NotAuthenticated
from schemas.extras import load_with
from schemas.instant import Instant

KEYS_FILE = "keys.json"

_SCHEME = "bearer"
SOURCE = "/v1/banks/{bank}/sources/{name}"
"""Where webhooks come in."""

_NAMING = (SOURCE, "/v1/banks/{bank}/refused", "/v1/banks/{bank}/import-backup")
"""Where what is told names its authors itself, or may once it is replayed."""
_WHOLE = "/v1/banks/{bank}/export"
"""What tells every word of a bank, whoever it was meant for: to one who may ask as each of them."""
_IN_BANK = "/v1/banks/{bank}/"
_QUESTIONS = ("/recall", "/reflect", "/explanations")
"""What is asked by POST, as a question may be long."""
_OWNERS = (
    "/import-backup",
    "/forget",
    "/calibrate",
    "/policy",
    "/profile",
    "/doctor",
    "/jobs/{name}",
    "/budget",
    "/learn-value",
)
"""What changes a bank beyond telling it something."""
_OF_EVERY_BANK: dict[tuple[str, str], Role] = {
    ("GET", "/v1/banks"): "reader",
    ("GET", "/v1/sources"): "reader",
    ("GET", "/v1/jobs"): "reader",
    ("GET", "/v1/receipts/{token}"): "reader",
}
"""What shows nothing of a bank that the caller has no access to, though no bank stands in the path."""


class _Tokens(Protocol):
    def grant_of(self, token: str) -> Grant:
        """What a token opens."""


class Door:
    """Knows callers by API key or JSON Web Token; open to everybody where neither is set up."""

    def __init__(self, ring: KeyRing, tokens: _Tokens | None, clock: Callable[[], Instant]) -> None:
        self._ring = ring
        self._tokens = tokens
        self._clock = clock
        self._closed = tokens is not None

    @property
    def closed(self) -> bool:
        """Whether callers must say who they are: where there is a file of keys, also an empty one, or was one.

        So whoever takes the last key away, or loses the file, locks everybody out and lets nobody in.
        """
        self._closed = self._closed or self._ring.exists() or bool(self._ring.keys())
        return self._closed

    def grant_of(self, authorization: str) -> Grant:
        """What an Authorization header opens. Raises NotAuthenticated."""
        if not self.closed:
            return OPEN_DOOR
        scheme, _, token = authorization.strip().partition(" ")
        if scheme.lower() != _SCHEME or not token.strip():
            raise NotAuthenticated("send `Authorization: Bearer KEY`; `beliefmesh keys create` makes a key")
        if is_key(token.strip()) or self._tokens is None:
            return self._ring.grant_of(token.strip(), self._clock())
        return self._tokens.grant_of(token.strip())


def door_of(access: AccessSettings, folder: str, clock: Callable[[], Instant]) -> Door:
    """The door as the settings have it. Raises InvalidSetting, and MissingExtra for tokens without their package."""
    ring = KeyRing(keys_file(access, folder))
    if access.keys and not ring.exists():
        raise InvalidSetting(f"access.keys: {ring.path} is not there; `beliefmesh keys create` makes it")
    if not (access.jwt_secret or access.jwks):
        return Door(ring, None, clock)
    bearer = load_with("jwt", "PyJWT", "beliefmesh.bearer", "jwt")
    tokens: _Tokens = bearer.BearerTokens(
        secret=access.jwt_secret, jwks=access.jwks, issuer=access.jwt_issuer, audience=access.jwt_audience
    )
    return Door(ring, tokens, clock)


def keys_file(access: AccessSettings, folder: str) -> Path:
    """Where the API keys are: as set, else in the folder of the mesh."""
    return Path(access.keys) if access.keys else Path(folder) / KEYS_FILE


async def admit(request: Request) -> None:
    """Let a request of the API through, noting its grant. Raises NotAuthenticated and AccessDenied."""
    route: str = request.scope["route"].path
    door: Door = request.app.state.door
    grant = _webhook(request, route)
    if grant is None:
        grant = await run_in_threadpool(door.grant_of, request.headers.get("authorization", ""))
    request.state.grant = grant
    if route in _NAMING and not grant.delegate:
        raise AccessDenied(f"what comes in here names its authors itself, and {grant.name} speaks for itself only")
    if route == _WHOLE and not grant.delegate:
        raise AccessDenied(f"a backup has the private words of all, and {grant.name} asks for itself only")
    if route.startswith(_IN_BANK):
        grant.require_bank(request.path_params["bank"])
        grant.require_role(_needed(request.method, route))
        return
    grant.require_role(_OF_EVERY_BANK.get((request.method, route), "admin"))
    if (request.method, route) not in _OF_EVERY_BANK:
        grant.require_all_banks()


def _webhook(request: Request, route: str) -> Grant | None:
    """The grant of a webhook that its signature will vouch for (signature.py), for the bank of the settings only."""
    settings = request.app.state.settings
    if route != SOURCE or "authorization" in request.headers:
        return None
    bank, name = request.path_params["bank"], request.path_params["name"]
    if bank != settings.mesh.bank or not secret_of(name, settings.webhooks):
        return None
    return Grant(name=f"webhook {name}", role="writer", banks=(bank,), delegate=True)


def granted(request: Request) -> Grant:
    """The grant of a request that was let in."""
    grant: Grant = request.state.grant
    return grant


def _needed(method: str, route: str) -> Role:
    if route == _WHOLE:
        return "admin"
    if method == "GET" or (method == "POST" and route.endswith(_QUESTIONS)):
        return "reader"
    return "admin" if route.endswith(_OWNERS) else "writer"
