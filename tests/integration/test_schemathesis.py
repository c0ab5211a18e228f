"""The API against generated requests: whatever the document allows, and what it does not, is answered as it says."""

from collections.abc import Iterator

import pytest
import schemathesis
from http_served import opened, settings_in
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.config import SchemathesisConfig
from schemathesis.generation import GenerationMode
from schemathesis.schemas import APIOperation, BaseSchema

from beliefmesh.http.replies import REPLIES
from beliefmesh.settings import HttpSettings

CONFIG = {
    "generation": {"deterministic": True},
    "checks": {
        # Names, times and what a slot holds are beyond what a schema can say, so that a fitting request may get 422.
        "positive_data_acceptance": {"expected-statuses": ["2xx", "400", "401", "403", "404", "409", "422"]},
        "negative_data_rejection": {"expected-statuses": ["400", "401", "403", "404", "405", "409", "413", "422"]},
    },
}
KNOWN = {"bank": "support", "belief": "", "name": "decay", "id": "none", "token": "0:1"}
CLAIM = {"entity": "desk", "attribute": "is", "value": "open"}
ANY_LINES = "/v1/banks/{bank}/import"
"""What is no observation among lines becomes a dead letter, so that no body of them is wrong."""


@schemathesis.serializer("application/x-ndjson")
def _lines(_: object, value: object) -> bytes:
    """Lines as they are."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BaseSchema]:
    """The document of a served memory that holds a little, with the routes that it tells of."""
    mesh = settings_in(tmp_path_factory.mktemp("generated") / "mesh", http=HttpSettings(max_in_flight=32))
    with opened(mesh) as (memory, client):
        memory.retain({"text": "The desk is open.", "claims": [CLAIM]}, bank="support")
        KNOWN["belief"] = memory.beliefs(bank="support").beliefs[0].id
        url = f"{str(client.base_url).rstrip('/')}/openapi.json"
        yield schemathesis.openapi.from_url(url, config=SchemathesisConfig.from_dict(CONFIG))


def operation_of(api: BaseSchema, method: str, path: str) -> APIOperation:
    for found in api.get_all_operations():
        operation: APIOperation = found.ok()
        if (operation.method.upper(), operation.path) == (method, path):
            return operation
    raise AssertionError(f"the document has no {method} {path}")


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), sorted(REPLIES), ids=lambda part: part)
def test_generated_requests_are_answered_as_the_document_says(
    api: BaseSchema, method: str, path: str, mode: GenerationMode
) -> None:
    if mode is GenerationMode.NEGATIVE and path == ANY_LINES:
        pytest.skip("no lines are wrong")
    operation = operation_of(api, method, path)

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=6, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def answered(case: schemathesis.Case) -> None:
        if case.path_parameters and mode is GenerationMode.POSITIVE:
            case.path_parameters = {name: KNOWN[name] for name in case.path_parameters}
        case.call_and_validate(timeout=30)

    try:
        answered()
    except Unsatisfiable:
        pytest.skip("nothing can be wrong with it")
