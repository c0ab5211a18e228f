"""Tokens: what they must bear, who must have signed them, and when they no longer hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from beliefmesh.grant import Grant
from schemas.errors import InvalidSetting, NotAuthenticated

jwt = pytest.importorskip("jwt", reason="the jwt extra is not installed")
bearer = pytest.importorskip("beliefmesh.bearer", reason="the jwt extra is not installed")
rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")

SECRET = "a secret that is long enough to be one"
FAR = 4_102_444_800
CLAIMS: dict[str, Any] = {
    "sub": "lena",
    "groups": ["ops"],
    "beliefmesh_role": "writer",
    "beliefmesh_banks": ["acme"],
    "exp": FAR,
}


def token(secret: str = SECRET, algorithm: str = "HS256", **changed: Any) -> str:
    return str(jwt.encode({**CLAIMS, **changed}, secret, algorithm))


def test_a_token_is_its_subject_with_the_rights_that_it_bears() -> None:
    grant = bearer.BearerTokens(secret=SECRET).grant_of(token())

    assert grant == Grant(name="lena", role="writer", banks=("acme",), principal="lena", groups=("ops",))


def test_a_token_without_banks_opens_none() -> None:
    assert bearer.BearerTokens(secret=SECRET).grant_of(token(beliefmesh_banks=[])).reaches("acme") is False


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (token(secret=SECRET + "!"), "Signature verification failed"),
        (token(exp=1), "expired"),
        (token(beliefmesh_role="owner"), "beliefmesh_role is 'owner'"),
        (token(beliefmesh_role=None), "beliefmesh_role is None"),
        (token(beliefmesh_banks="acme"), "beliefmesh_banks must be a list"),
        (token(groups=[1]), "groups must be a list"),
        (jwt.encode({**CLAIMS}, None, "none"), "does not hold"),
        (jwt.encode({key: value for key, value in CLAIMS.items() if key != "exp"}, SECRET, "HS256"), "exp"),
        ("a.b.c", "does not hold"),
        ("", "does not hold"),
    ],
)
def test_what_does_not_hold_opens_nothing(wrong: str, told: str) -> None:
    with pytest.raises(NotAuthenticated, match=told):
        bearer.BearerTokens(secret=SECRET).grant_of(wrong)


def test_issuer_and_audience_must_be_the_ones_set() -> None:
    tokens = bearer.BearerTokens(secret=SECRET, issuer="https://id.example", audience="mesh")

    assert tokens.grant_of(token(iss="https://id.example", aud="mesh")).principal == "lena"
    for other in (token(), token(iss="https://id.example", aud="shop"), token(iss="https://evil.example", aud="mesh")):
        with pytest.raises(NotAuthenticated):
            tokens.grant_of(other)


def test_a_key_set_in_a_file_opens_for_its_keys_and_a_secret_made_of_its_public_half_does_not(tmp_path: Path) -> None:
    private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key()))
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [{**public, "kid": "k1", "use": "sig", "alg": "RS256"}]}), encoding="utf-8")
    tokens = bearer.BearerTokens(jwks=str(path))

    assert tokens.grant_of(jwt.encode(CLAIMS, private, "RS256", {"kid": "k1"})).principal == "lena"
    with pytest.raises(NotAuthenticated, match="a key that the key set does not have"):
        tokens.grant_of(jwt.encode(CLAIMS, private, "RS256", {"kid": "k2"}))
    with pytest.raises(NotAuthenticated):
        tokens.grant_of(jwt.encode(CLAIMS, public["n"], "HS256", {"kid": "k1"}))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"secret": "short"}, "shorter than 32 bytes"),
        ({"secret": SECRET, "jwks": "keys.json"}, "goes with no access.jwks"),
        ({"jwks": "http://id.example/keys"}, "neither a file nor an https URL"),
        ({"jwks": "no such file"}, "cannot be read"),
    ],
)
def test_a_setting_that_cannot_be_is_told(given: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidSetting, match=told):
        bearer.BearerTokens(**given)
