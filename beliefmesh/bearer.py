"""JSON Web Tokens: who the bearer is and what it may do, once the token's signature, audience, issuer and end hold."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import jwt

from beliefmesh.grant import ANY_BANK, Grant, Role
from schemas.errors import InvalidSetting, NotAuthenticated, StoreUnavailable
from schemas.limits import shown

_SHARED_SECRET = ("HS256", "HS384", "HS512")
_PUBLIC_KEY = ("RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA")
_ROLE, _BANKS = "beliefmesh_role", "beliefmesh_banks"
_LEEWAY_SECONDS = 30
_FETCH_SECONDS = 5
_MIN_SECRET_BYTES = 32

KeyOf = Callable[[str], Any]


class BearerTokens:
    """Reads tokens signed with a shared secret, or with a key of a key set (a file, or an https URL that is cached).

    `sub` is the principal, `groups` its groups; `beliefmesh_role` and `beliefmesh_banks` are its rights, without
    which a token opens nothing. `exp` is required. Raises InvalidSetting for what cannot be a secret or a key set.
    """

    def __init__(self, *, secret: str = "", jwks: str = "", issuer: str = "", audience: str = "") -> None:
        if secret and jwks:
            raise InvalidSetting("access.jwt_secret: goes with no access.jwks; set one of them")
        if secret and len(secret.encode()) < _MIN_SECRET_BYTES:
            raise InvalidSetting(f"access.jwt_secret: is shorter than {_MIN_SECRET_BYTES} bytes; take a longer one")
        self._algorithms = _SHARED_SECRET if secret else _PUBLIC_KEY
        self._key_of: KeyOf = (lambda _: secret) if secret else _key_set(jwks)
        self._issuer = issuer or None
        self._audience = audience or None

    def grant_of(self, token: str) -> Grant:
        """What a token opens. Raises NotAuthenticated for one that does not hold, naming what about it fails."""
        try:
            claims = jwt.decode(
                token,
                self._key_of(token),
                algorithms=list(self._algorithms),
                issuer=self._issuer,
                audience=self._audience,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "sub"], "verify_aud": self._audience is not None},
            )
        except jwt.PyJWKClientConnectionError as error:
            raise StoreUnavailable(f"access.jwks: the key set cannot be fetched ({error})") from error
        except jwt.PyJWTError as error:
            raise NotAuthenticated(f"this token does not hold ({error}); ask its issuer for another") from error
        return _grant(claims)


def _grant(claims: Mapping[str, object]) -> Grant:
    subject, role = claims["sub"], claims.get(_ROLE)
    if role not in get_args(Role):
        raise NotAuthenticated(f"the token's {_ROLE} is {shown(role)}; it must be one of {', '.join(get_args(Role))}")
    banks, groups = _names(claims, _BANKS), _names(claims, "groups")
    name = f"{subject}"
    return Grant(name=name, role=role, banks=banks or (), principal=name, groups=groups)  # type: ignore[arg-type]


def _names(claims: Mapping[str, object], claim: str) -> tuple[str, ...]:
    told = claims.get(claim, [])
    if not isinstance(told, list) or not all(isinstance(name, str) and name for name in told):
        raise NotAuthenticated(f"the token's {claim} must be a list of names ({ANY_BANK} stands for any bank)")
    return tuple(told)


def _key_set(where: str) -> KeyOf:
    if where.startswith("https://"):
        client = jwt.PyJWKClient(where, timeout=_FETCH_SECONDS)
        return lambda token: client.get_signing_key_from_jwt(token).key
    if "://" in where:
        raise InvalidSetting(f"access.jwks: {where} is neither a file nor an https URL")
    try:
        keys = jwt.PyJWKSet.from_dict(json.loads(Path(where).read_text(encoding="utf-8")))
    except OSError as error:
        raise InvalidSetting(f"access.jwks: {where} cannot be read ({error.strerror})") from error
    except (ValueError, AttributeError, jwt.PyJWTError) as error:
        raise InvalidSetting(f"access.jwks: {where} is not a JSON Web Key Set ({error})") from error

    def key_of(token: str) -> Any:
        named = jwt.get_unverified_header(token).get("kid")
        for key in keys.keys:
            if key.key_id == named:
                return key.key
        raise jwt.InvalidKeyError("signed with a key that the key set does not have")

    return key_of
