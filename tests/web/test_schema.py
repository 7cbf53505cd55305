"""The OpenAPI schema is the contract: every answer to whatever it allows, and much that it does not, conforms to it."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
STREAMS = "/api/events"


@pytest.fixture(scope="module")
def schema(client) -> Any:
    said = client.ask("openapi.json")
    loaded = schemathesis.openapi.from_dict(said)
    loaded.config.update(base_url=str(client.base_url))
    return loaded


def test_everything_is_described(client):
    said = client.ask("openapi.json")
    assert said["info"]["description"]
    for path, operations in said["paths"].items():
        for operation in operations.values():
            assert operation["description"], path
            assert "422" not in operation["responses"], path
            assert set(operation["responses"]) >= {"200", "400", "401", "403", "404", "413"}, path
            content = operation["responses"]["200"]["content"]
            if "application/json" in content:
                assert content["application/json"]["schema"], path
    assert {"HTTPValidationError", "ValidationError"}.isdisjoint(said["components"]["schemas"])


def test_answers_conform(schema, client):
    """Every operation, with data that fits and data that does not; no answer is an accident."""
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path == STREAMS:
            continue

        @hypothesis.seed(7)
        @settings(
            max_examples=12,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(case=operation.as_strategy())
        def fuzz(case: Any) -> None:
            case.call_and_validate(headers=dict(client.headers), checks=CHECKS)

        fuzz()


def test_answers_about_real_runs_conform(schema):
    cases = {"/api/run": {"run": "kuhn"}, "/api/log": {"run": "kuhn"}, "/api/infosets": {"run": "kuhn"}}
    cases |= {"/api/tree": {"run": "deeper/pennies", "path": "0"}, "/api/runs": {}, "/api/jobs": {}, "/api/about": {}}
    for path, query in cases.items():
        operation = schema[path]["GET"]
        answer = operation.Case(query=query).call(headers={"X-Token": "a-token-that-is-long-enough"})
        assert answer.status_code == 200
        operation.validate_response(answer)
