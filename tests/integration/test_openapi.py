"""The OpenAPI document: every route has a summary, schemas of what it takes and tells, errors, fitting examples."""

from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest

from beliefmesh.http.app import create_app
from beliefmesh.http.replies import REPLIES
from beliefmesh.memory import Memory

BODILESS = {
    "/v1/banks/{bank}/budget",
    "/v1/banks/{bank}/summaries/refresh",
    "/v1/doctor",
    "/v1/dead-letters/{id}/replay",
    "/v1/dead-letters/{id}/drop",
}


@pytest.fixture
def document(memory: Memory) -> dict[str, Any]:
    return create_app(memory, memory.home.settings).openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_every_route_has_a_reply_in_the_table_and_no_reply_lacks_its_route(document: dict[str, Any]) -> None:
    assert {(method, path) for method, path, _ in operations(document)} == REPLIES.keys()


def test_every_route_says_in_a_sentence_what_it_does(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        assert operation["summary"].endswith((".", ",")) or len(operation["summary"]) > 20, (method, path)
        assert operation["operationId"]


def test_every_write_describes_its_body(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        assert ("requestBody" in operation) is (method == "POST" and path not in BODILESS), (method, path)


def test_every_reply_has_a_schema_and_every_error_the_one_shape(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        for status, reply in operation["responses"].items():
            for media in reply["content"].values():
                assert media["schema"] or path == "", (method, path, status)
            if status[0] in "45" and path.startswith("/v1"):
                assert reply["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}
        if path.startswith("/v1"):
            assert {"401", "403", "404", "422", "429", "503"} <= operation["responses"].keys(), (method, path)


def test_every_write_takes_an_idempotency_key(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        names = {parameter["name"] for parameter in operation.get("parameters", ())}
        asks = path.endswith(("/recall", "/explanations"))
        assert ("Idempotency-Key" in names) is (method == "POST" and not asks), (method, path)


OF_ONE_THING = {
    "/v1/banks/{bank}/beliefs/{belief}": "a belief, with the exceptions of its scope",
    "/v1/banks/{bank}/beliefs/{belief}/explain": "a belief's sum, with its terms",
    "/v1/banks/{bank}/beliefs/{belief}/value": "a belief's worth, with its terms",
    "/v1/banks/{bank}/profile": "the sentences of a background",
    "/v1/job-runs/{id}": "a run, with its first examples",
}
"""Replies that hold a list and are none, and what they are."""


def test_every_reply_that_lists_comes_by_pages(document: dict[str, Any]) -> None:
    listing = set()
    for method, path, operation in operations(document):
        if method != "GET" or not path.startswith("/v1"):
            continue
        names = {parameter["name"] for parameter in operation["parameters"]}
        schema = operation["responses"]["200"]["content"].get("application/json", {"schema": {}})["schema"]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        fields = schema.get("properties", {})
        lists = "next" in fields or any(field.get("type") == "array" for field in fields.values())
        if lists and path not in OF_ONE_THING:
            listing.add(path)
            assert {"limit", "cursor"} <= names, f"{path} lists without pages"
            assert "next" in fields, f"{path} does not say where the next page begins"
        else:
            assert not {"limit", "cursor"} & names, f"{path} takes a cursor and tells no list"

    assert len(listing) >= 13


def test_every_example_fits_its_schema(document: dict[str, Any]) -> None:
    for method, path, operation in operations(document):
        bodies = [reply["content"] for reply in operation["responses"].values()]
        bodies += [operation["requestBody"]["content"]] if "requestBody" in operation else []
        for content in bodies:
            for kind, media in content.items():
                schema = {**media["schema"], "components": document["components"]}
                try:
                    jsonschema.Draft202012Validator(schema).validate(media["example"])
                except jsonschema.ValidationError as error:
                    raise AssertionError(f"{method} {path} {kind}: {error.message}") from error


def test_no_reference_leads_nowhere(document: dict[str, Any]) -> None:
    def references(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"]
            for value in node.values():
                yield from references(value)
        if isinstance(node, list):
            for value in node:
                yield from references(value)

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= known


@pytest.mark.parametrize("verb", ["observations", "recall", "reflect"])
def test_an_example_can_be_sent_as_it_is(memory: Memory, url: str, document: dict[str, Any], verb: str) -> None:
    memory.retain("Shipping is free from 200.", bank="support")
    described = document["paths"][f"/v1/banks/{{bank}}/{verb}"]["post"]["requestBody"]
    example = described["content"]["application/json"]["example"]

    response = httpx.post(f"{url}/v1/banks/support/{verb}", json=example)

    assert response.status_code < 300, response.text
