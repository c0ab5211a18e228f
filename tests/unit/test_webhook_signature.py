"""Signatures of webhooks: the vendor's own example, and what is refused."""

import base64
import hashlib
import hmac

import pytest

from beliefmesh.http.signature import check_signature
from beliefmesh.settings import WebhookSettings
from schemas.errors import WrongSignature

SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
SIGNED = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
"""The example of GitHub's documentation."""

ALL = WebhookSettings(github_secret=SECRET, jira_secret=SECRET, zendesk_secret=SECRET)
TIME = "2024-06-10T12:00:00Z"
ZENDESK = base64.b64encode(hmac.new(SECRET.encode(), TIME.encode() + BODY, hashlib.sha256).digest()).decode()


@pytest.mark.parametrize(
    ("source", "headers"),
    [
        ("github", {"x-hub-signature-256": SIGNED}),
        ("jira", {"x-hub-signature": SIGNED}),
        (
            "zendesk",
            {"x-zendesk-webhook-signature": ZENDESK, "x-zendesk-webhook-signature-timestamp": TIME},
        ),
    ],
)
def test_a_body_signed_with_the_secret_passes_and_a_changed_one_does_not(source: str, headers: dict[str, str]) -> None:
    check_signature(source, ALL, headers, BODY)
    with pytest.raises(WrongSignature, match="does not fit"):
        check_signature(source, ALL, headers, BODY + b" ")


@pytest.mark.parametrize("source", ["github", "jira", "zendesk"])
def test_an_unsigned_body_is_refused_where_a_secret_is_set_and_only_there(source: str) -> None:
    with pytest.raises(WrongSignature, match="is missing"):
        check_signature(source, ALL, {}, BODY)
    check_signature(source, WebhookSettings(), {}, BODY)


def test_another_time_than_the_signed_one_is_refused() -> None:
    headers = {"x-zendesk-webhook-signature": ZENDESK, "x-zendesk-webhook-signature-timestamp": "2024-06-11T12:00:00Z"}
    with pytest.raises(WrongSignature):
        check_signature("zendesk", ALL, headers, BODY)


def test_a_signature_that_is_no_ascii_is_refused() -> None:
    with pytest.raises(WrongSignature):
        check_signature("github", ALL, {"x-hub-signature-256": "sha256=é"}, BODY)


def test_a_source_without_a_way_of_signing_needs_none() -> None:
    check_signature("syslog", ALL, {}, BODY)
