"""The bundled mappings on documents of the shapes that the vendors publish: Jira, GitHub and Zendesk."""

from typing import Any

import pytest

from schemas.instant import format_instant
from streams.sources.registry import open_source
from streams.sources.told import Refused, Skipped, Told

LENA = {"accountId": "5b1", "displayName": "Lena Fischer"}
WEI = {"accountId": "5b2", "displayName": "Wei Zhang"}


def adf(text: str) -> dict[str, Any]:
    return {
        "type": "doc",
        "version": 1,
        "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}],
    }


JIRA_ISSUE: dict[str, Any] = {
    "id": "10042",
    "key": "PROJ-12",
    "self": "https://example.atlassian.net/rest/api/3/issue/10042",
    "fields": {
        "summary": "Checkout fails for vouchers",
        "created": "2024-05-01T09:00:00.000+0000",
        "updated": "2024-05-20T16:30:00.000+0000",
        "status": {"name": "Done", "id": "3"},
        "priority": {"name": "High"},
        "issuetype": {"name": "Bug"},
        "project": {"key": "PROJ"},
        "assignee": None,
        "reporter": LENA,
        "creator": LENA,
        "labels": ["checkout", "voucher"],
        "resolution": {"name": "Fixed"},
        "duedate": None,
        "description": adf("The total is wrong when two vouchers are used."),
        "comment": {
            "comments": [
                {
                    "id": "501",
                    "author": WEI,
                    "body": adf("The customer number is 4711."),
                    "created": "2024-05-02T08:00:00.000+0000",
                    "updated": "2024-05-02T08:00:00.000+0000",
                    "visibility": {"type": "role", "value": "Administrators"},
                }
            ]
        },
    },
    "changelog": {
        "histories": [
            {
                "id": "9003",
                "author": LENA,
                "created": "2024-05-20T16:30:00.000+0000",
                "items": [
                    {"field": "status", "fromString": "In Progress", "toString": "Done", "from": "2", "to": "3"},
                    {"field": "assignee", "fromString": "Wei Zhang", "toString": None, "from": "5b2", "to": None},
                    {"field": "Rank", "fromString": "", "toString": "Ranked higher"},
                ],
            },
            {
                "id": "9001",
                "author": WEI,
                "created": "2024-05-02T10:00:00.000+0000",
                "items": [
                    {"field": "status", "fromString": "To Do", "toString": "In Progress"},
                    {"field": "assignee", "fromString": None, "toString": "Wei Zhang", "from": None, "to": "5b2"},
                ],
            },
        ]
    },
}

GITHUB_ISSUE: dict[str, Any] = {
    "url": "https://api.github.com/repos/octo/shop/issues/7",
    "repository_url": "https://api.github.com/repos/octo/shop",
    "html_url": "https://github.com/octo/shop/issues/7",
    "id": 1,
    "number": 7,
    "title": "Voucher bug",
    "user": {"login": "lena"},
    "labels": [{"name": "bug"}],
    "state": "closed",
    "state_reason": "completed",
    "assignee": {"login": "wei"},
    "milestone": {"title": "v1.2"},
    "created_at": "2024-05-01T09:00:00Z",
    "updated_at": "2024-05-20T16:30:00Z",
    "body": "Two vouchers give a wrong total.",
}

ZENDESK_AUDIT: dict[str, Any] = {
    "id": 2127301143,
    "ticket_id": 123,
    "created_at": "2024-05-02T10:00:00Z",
    "author_id": 35436,
    "events": [
        {"id": 1, "type": "Change", "field_name": "status", "value": "pending", "previous_value": "open"},
        {"id": 2, "type": "Change", "field_name": "tags", "value": ["vip", "refund"], "previous_value": ["vip"]},
        {"id": 3, "type": "Change", "field_name": "assignee_id", "value": None, "previous_value": "777"},
        {"id": 4, "type": "Comment", "author_id": 35436, "body": "Do not tell the customer.", "public": False},
        {"id": 5, "type": "Notification", "subject": "x", "body": "y"},
    ],
}


def read(source: str, document: dict[str, Any]) -> list[dict[str, Any]]:
    found = list(open_source(source).observe(document))
    assert [each.reason for each in found if isinstance(each, Refused)] == []
    return [each.fields for each in found if isinstance(each, Told)]


def turns(told: list[dict[str, Any]], attribute: str) -> list[tuple[str, object]]:
    """The values of an attribute by time."""
    return sorted(
        (format_instant(round(each["observed_at"] * 1_000_000)), claim.get("value"))
        for each in told
        for claim in each.get("claims", ())
        if claim["attribute"] == attribute
    )


def texts(told: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["text"]: each for each in told if "text" in each}


def test_each_change_of_a_jira_issue_is_a_dated_claim_and_so_is_what_held_before_the_first() -> None:
    told = read("jira", JIRA_ISSUE)
    assert turns(told, "status") == [
        ("2024-05-01T09:00:00Z", "To Do"),
        ("2024-05-02T10:00:00Z", "In Progress"),
        ("2024-05-20T16:30:00Z", "Done"),
        ("2024-05-20T16:30:00Z", "Done"),
    ]
    assert turns(told, "assignee") == [("2024-05-02T10:00:00Z", "Wei Zhang"), ("2024-05-20T16:30:00Z", None)]
    assert turns(told, "priority") == [("2024-05-20T16:30:00Z", "High")]
    assert turns(told, "labels") == [("2024-05-20T16:30:00Z", "checkout, voucher")]
    assert {each["entity"]["name"] for each in told} == {"PROJ-12"}
    assert {each["session"] for each in told} == {"PROJ-12"}


def test_a_jira_comment_for_a_role_is_for_its_group_and_the_description_for_all() -> None:
    told = texts(read("jira", JIRA_ISSUE))
    comment = told["The customer number is 4711."]
    assert (comment["visibility"], comment["readers"]) == ("group", ["group:Administrators"])
    assert comment["agent"] == "Wei Zhang"
    assert told["The total is wrong when two vouchers are used."]["agent"] == "Lena Fischer"


def test_the_change_of_a_jira_webhook_has_the_id_that_the_export_gives_it() -> None:
    hook = {
        "timestamp": 1716222600000,
        "webhookEvent": "jira:issue_updated",
        "user": LENA,
        "issue": {key: JIRA_ISSUE[key] for key in ("id", "key", "fields")},
        "changelog": {"id": "9003", "items": JIRA_ISSUE["changelog"]["histories"][0]["items"]},
    }
    exported = {each["id"] for each in read("jira", JIRA_ISSUE)}
    sent = {each["id"] for each in read("jira", hook)}
    assert {"jira:PROJ-12:9003:status", "jira:PROJ-12:9003:assignee"} <= exported & sent


def test_a_deleted_jira_issue_says_so_and_events_without_an_issue_are_passed_over() -> None:
    gone = {"timestamp": 1716222600000, "webhookEvent": "jira:issue_deleted", "user": LENA, "issue": {"key": "P-1"}}
    assert turns(read("jira", gone), "status") == [("2024-05-20T16:30:00Z", "deleted")]
    sprint = {"timestamp": 1716222600000, "webhookEvent": "sprint_started", "sprint": {"id": 4}}
    assert list(open_source("jira").observe(sprint)) == [Skipped()]


def test_a_github_issue_and_its_events_tell_state_labels_and_assignee() -> None:
    told = read("github", GITHUB_ISSUE)
    assert turns(told, "state") == [("2024-05-01T09:00:00Z", "open"), ("2024-05-20T16:30:00Z", "closed")]
    assert turns(told, "label bug") == [("2024-05-20T16:30:00Z", True)]
    assert turns(told, "assignee") == [("2024-05-20T16:30:00Z", "wei")]
    assert {each["entity"]["name"] for each in told} == {"octo/shop#7"}
    assert texts(told)["Two vouchers give a wrong total."]["agent"] == "lena"


@pytest.mark.parametrize(
    ("event", "more", "attribute", "value"),
    [
        ("closed", {}, "state", "closed"),
        ("reopened", {}, "state", "open"),
        ("labeled", {"label": {"name": "bug"}}, "label bug", True),
        ("unlabeled", {"label": {"name": "bug"}}, "label bug", False),
        ("assigned", {"assignee": {"login": "wei"}}, "assignee", "wei"),
        ("renamed", {"rename": {"from": "a", "to": "b"}}, "title", "b"),
        ("milestoned", {"milestone": {"title": "v2"}}, "milestone", "v2"),
    ],
)
def test_an_event_of_a_github_issue_is_a_dated_claim(
    event: str, more: dict[str, Any], attribute: str, value: object
) -> None:
    document = {
        "id": 99,
        "url": "https://api.github.com/repos/octo/shop/issues/events/99",
        "actor": {"login": "lena"},
        "event": event,
        "created_at": "2024-05-03T09:00:00Z",
        "issue": GITHUB_ISSUE,
        **more,
    }
    told = read("github", document)
    assert turns(told, attribute) == [("2024-05-03T09:00:00Z", value)]
    assert (told[0]["id"], told[0]["agent"], told[0]["entity"]["name"]) == ("github:event:99", "lena", "octo/shop#7")


def test_github_webhooks_of_issues_comments_and_pull_requests_are_read() -> None:
    repository = {"full_name": "octo/shop"}
    sender = {"login": "wei"}
    hook = {
        "action": "reopened",
        "issue": {**GITHUB_ISSUE, "state": "open"},
        "repository": repository,
        "sender": sender,
    }
    assert turns(read("github", hook), "state") == [("2024-05-20T16:30:00Z", "open")]
    comment = {"id": 5, "body": "It works again.", "user": sender, "updated_at": "2024-05-21T09:00:00Z"}
    said = read("github", {**hook, "action": "created", "comment": comment})
    assert [(each["text"], each["session"], each["agent"]) for each in said] == [
        ("It works again.", "octo/shop#7", "wei")
    ]
    pull = {**GITHUB_ISSUE, "number": 8, "merged": True}
    merged = read("github", {"action": "closed", "pull_request": pull, "repository": repository, "sender": sender})
    assert turns(merged, "state") == [("2024-05-20T16:30:00Z", "merged")]
    assert list(open_source("github").observe({"zen": "Speak like a human.", "hook_id": 1})) == [Skipped()]


def test_an_event_of_a_github_repository_is_read_as_its_webhook_is() -> None:
    event = {
        "id": "22249084947",
        "type": "IssuesEvent",
        "actor": {"login": "wei"},
        "repo": {"name": "octo/shop"},
        "payload": {"action": "closed", "issue": GITHUB_ISSUE},
        "created_at": "2024-05-20T16:30:00Z",
    }
    told = read("github", event)
    assert turns(told, "state") == [("2024-05-20T16:30:00Z", "closed")]
    assert (told[0]["entity"]["name"], told[0]["agent"]) == ("octo/shop#7", "wei")
    assert list(open_source("github").observe({**event, "type": "PushEvent", "payload": {}})) == [Skipped()]


def test_a_zendesk_audit_tells_each_field_and_an_internal_note_is_for_agents_only() -> None:
    told = read("zendesk", ZENDESK_AUDIT)
    assert turns(told, "status") == [("2024-05-02T10:00:00Z", "pending")]
    assert turns(told, "tags") == [("2024-05-02T10:00:00Z", "vip, refund")]
    assert turns(told, "assignee") == [("2024-05-02T10:00:00Z", None)]
    note = texts(told)["Do not tell the customer."]
    assert (note["visibility"], note["readers"], note["agent"]) == ("group", ["group:agents"], "user 35436")
    assert {each["entity"]["name"] for each in told} == {"ticket 123"}


def test_a_zendesk_ticket_tells_its_fields_and_holds_its_audits_in_an_export() -> None:
    ticket = {
        "id": 123,
        "created_at": "2024-05-01T09:00:00Z",
        "updated_at": "2024-05-02T10:00:00Z",
        "status": "pending",
        "priority": "high",
        "type": "incident",
        "subject": "Wrong total",
        "description": "My total is wrong.",
        "requester_id": 20978392,
        "assignee_id": 235323,
        "tags": ["vip"],
    }
    told = read("zendesk", {"ticket": ticket})
    assert turns(told, "status") == [("2024-05-02T10:00:00Z", "pending")]
    assert turns(told, "assignee") == [("2024-05-02T10:00:00Z", "235323")]
    assert texts(told)["My total is wrong."]["agent"] == "user 20978392"
    exported = read("zendesk", {**ticket, "audits": [ZENDESK_AUDIT]})
    assert {each["id"] for each in exported} >= {each["id"] for each in read("zendesk", ZENDESK_AUDIT)}


def test_a_zendesk_webhook_is_read() -> None:
    hook = {
        "id": "01J",
        "type": "zen:event-type:ticket.status_changed",
        "time": "2024-05-03T09:00:00Z",
        "subject": "zen:ticket:123",
        "detail": {"id": "123", "status": "SOLVED", "priority": "HIGH", "actor_id": "8447"},
        "event": {"current": "SOLVED", "previous": "OPEN"},
    }
    told = read("zendesk", hook)
    assert turns(told, "status") == [("2024-05-03T09:00:00Z", "solved")]
    assert told[0]["entity"]["name"] == "ticket 123"
