"""A reader of the event stream of a bank: events as they come, and what of them is the same wherever a mesh runs."""

import json
from collections.abc import Iterator
from typing import Any

import httpx

STREAM = {"Accept": "text/event-stream"}


def events_of(
    client: httpx.Client, count: int, path: str, *, entity: str | None = None, **headers: str
) -> list[dict[str, Any]]:
    """The first `count` events of a stream, or of those about an entity: data, kind and id."""
    found: list[dict[str, Any]] = []
    with client.stream("GET", path, headers={**STREAM, **headers}) as response:
        assert response.status_code == 200, response.read()
        assert response.headers["Content-Type"].startswith("text/event-stream")
        for event in _events(response.iter_lines()):
            found += [event] if entity in (None, event["entity"]["name"]) else []
            if len(found) == count:
                break
    return found


def told_alike(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Events without what each log counts by itself, in an order of their own; those of one entity stay in theirs."""
    left_out = {"id", "at"}
    alike = [{name: value for name, value in event.items() if name not in left_out} for event in events]
    return sorted(alike, key=lambda event: str(event["entity"]["name"]))


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line and name:
            fields[name] = value
        elif "data" in fields:
            yield {"kind": fields["event"], "id": fields.get("id", ""), **json.loads(fields["data"])}
            fields = {}
