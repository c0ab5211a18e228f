"""Whether a webhook comes from who it says it does: signatures of GitHub, Jira and Zendesk over the body as it came."""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping

from beliefmesh.settings import WebhookSettings
from schemas.errors import WrongSignature

Headers = Mapping[str, str]
_HEX = "sha256="
_GITHUB, _JIRA = "x-hub-signature-256", "x-hub-signature"
_ZENDESK, _ZENDESK_TIME = "x-zendesk-webhook-signature", "x-zendesk-webhook-signature-timestamp"


def check_signature(source: str, webhooks: WebhookSettings, headers: Headers, body: bytes) -> None:
    """Let a webhook pass whose signature fits the source's secret, or whose source has none.

    Raises WrongSignature for one that is missing or does not fit. A delivery that is sent again says nothing new.
    """
    secret = secret_of(source, webhooks)
    if not secret:
        return
    header, expected = _SIGNED[source](secret.encode(), headers, body)
    given = headers.get(header, "")
    if not given:
        raise WrongSignature(
            f"{header} is missing; webhooks.{source}_secret is set, so set the same secret at the sender"
        )
    if not hmac.compare_digest(given.strip().encode("utf-8", "replace"), expected):
        raise WrongSignature(
            f"{header} does not fit the body; the sender's secret is not that of webhooks.{source}_secret"
        )


def secret_of(source: str, webhooks: WebhookSettings) -> str:
    """The secret that a source's webhooks are signed with; empty where they are not."""
    return getattr(webhooks, f"{source}_secret", "") if source in _SIGNED else ""


def _hex_of(header: str) -> Callable[[bytes, Headers, bytes], tuple[str, bytes]]:
    def signed(secret: bytes, _: Headers, body: bytes) -> tuple[str, bytes]:
        return header, (_HEX + hmac.new(secret, body, hashlib.sha256).hexdigest()).encode()

    return signed


def _zendesk(secret: bytes, headers: Headers, body: bytes) -> tuple[str, bytes]:
    time = headers.get(_ZENDESK_TIME, "").encode("utf-8", "replace")
    return _ZENDESK, base64.b64encode(hmac.new(secret, time + body, hashlib.sha256).digest())


_SIGNED = {"github": _hex_of(_GITHUB), "jira": _hex_of(_JIRA), "zendesk": _zendesk}
"""How each vendor signs: the header, and what must stand in it."""
