"""The document: the committed copy matches the API, it is complete, and its examples are valid."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from fastapi.openapi.models import OpenAPI
from fastapi.routing import iter_route_contexts
from pydantic import TypeAdapter

from backend.api import create_api
from backend.openapi import COMMITTED, text
from backend.openapi.titles import SUMMARIES
from tests.openapi.operations import CASES, DOCUMENT, Case

SCHEMAS = DOCUMENT["components"]["schemas"]
ERRORS = {"400", "401", "403", "404", "409", "413", "415", "422", "429", "500", "503"}


OF_AUTHENTICATORS = {"NewPasskey", "ShownPasskey", "PasskeyAttestation", "PasskeyAssertion"}
"""Fields that browsers send for a passkey: its other fields are not read."""


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """Resolve a reference."""
    if "$ref" not in part:
        return part
    found: Any = DOCUMENT
    for name in part["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return dict(found)


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(child)


def test_committed_openapi_document_matches_the_api() -> None:
    current = text(create_api().openapi())
    assert current == COMMITTED.read_text("utf-8"), "run `signum openapi > backend/openapi.json`"


def test_openapi_document_is_version_3_1_with_valid_references() -> None:
    assert DOCUMENT["openapi"].startswith("3.1")
    OpenAPI.model_validate(DOCUMENT)
    for part in parts(DOCUMENT):
        if isinstance(part.get("$ref"), str):
            assert resolved(part)
        if "operationId" in part and "parameters" in part and "responses" not in part:
            target = next(c for c in CASES if str(c) == part["operationId"])
            names = {resolved(p)["name"] for p in target.entry["parameters"]}
            assert set(part["parameters"]) <= names
    assert "HTTPValidationError" not in SCHEMAS
    assert "ValidationError" not in SCHEMAS


def test_operation_ids_are_unique() -> None:
    names = [str(c) for c in CASES]
    assert len(names) == len(set(names))
    assert [n for n in names if not re.fullmatch(r"[a-z]+(_[a-z0-9]+)*", n)] == []
    assert [str(c) for c in CASES if not c.entry.get("tags") or not c.entry.get("description")] == []


def test_summaries_are_unique_and_read_as_words() -> None:
    summaries = [case.entry["summary"] for case in CASES]
    assert sorted(summaries) == sorted(set(summaries))
    assert [s for s in summaries if re.search(r"_|\b(csv|siwe|totp|jwks|oauth)\b|^\w+$", s)] == []
    assert SUMMARIES.keys() - {str(case) for case in CASES} == set()


def test_chapters_have_a_description() -> None:
    assert [tag["name"] for tag in DOCUMENT["tags"] if not tag["description"]] == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_error_responses_are_problems(case: Case) -> None:
    answer = case.entry["responses"]
    assert answer["500"]
    for status, response in answer.items():
        if status in ERRORS and str(case) != "get_readiness":
            assert "application/problem+json" in resolved(response)["content"] or "oauth" in case.path
        assert "X-Request-Id" in resolved(response)["headers"]
    if not case.is_open:
        assert {"401", "403", "429"} <= answer.keys()
    if "202" in answer:
        assert "Location" in answer["202"]["headers"]
        kinds = answer["202"]["content"]["application/json"]["schema"]
        for kind in kinds.get("anyOf", [kinds]):
            assert "requestId" in resolved(kind)["required"]
    if case.method in ("post", "patch"):
        assert {"400", "409", "413", "415", "422"} <= answer.keys()
        assert {"$ref": "#/components/parameters/IdempotencyKey"} in case.entry["parameters"]


def test_dry_run_response_is_its_plan() -> None:
    for case in CASES:
        for parameter in case.entry.get("parameters", []):
            if parameter.get("name") != "dry_run":
                continue
            assert parameter["description"]
            shape = case.entry["responses"]["200"]["content"]["application/json"]["schema"]
            assert any(k.get("$ref", "").endswith("Plan") for k in [shape, *shape.get("anyOf", [])]), str(case)


def test_market_chain_defaults_to_hyperevm() -> None:
    field = SCHEMAS["MarketCreate"]["properties"]["chain_eid"]
    assert field["default"] == 40362
    assert "chain_eid" in SCHEMAS["MarketCreate"]["required"]


def inputs() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return every schema of input."""
    waiting: list[tuple[str, dict[str, Any]]] = []
    for case in CASES:
        waiting += [(f"{case} {p['name']}", p["schema"]) for p in map(resolved, case.entry.get("parameters", []))]
        for kind, content in case.entry.get("requestBody", {}).get("content", {}).items():
            waiting += [(f"{case} {kind}", content["schema"])] if "json" in kind else []
    seen = set()
    while waiting:
        name, schema = waiting.pop()
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[-1]
            if name in seen:
                continue
            seen.add(name)
            schema = resolved(schema)
        yield name, schema
        waiting += [(f"{name}.{n}", s) for n, s in schema.get("properties", {}).items()]
        waiting += [(name, s) for key in ("anyOf", "oneOf", "allOf") for s in schema.get(key, [])]
        waiting += [(f"{name}[]", schema["items"])] if "items" in schema else []


def is_bounded(schema: dict[str, Any]) -> bool:
    """Return whether a string, list or number has its limits."""
    if schema.get("enum") or "const" in schema:
        return True
    match schema.get("type"):
        case "string":
            return bool(schema.keys() & {"maxLength", "pattern"}) or schema.get("format") in (
                "uuid",
                "date-time",
                "date",
            )
        case "array":
            return "maxItems" in schema
        case "integer" | "number":
            return bool(schema.keys() & {"minimum", "exclusiveMinimum"}) and "maximum" in schema
        case "object":
            return bool(schema.get("properties"))
    return True


def test_inputs_are_bounded() -> None:
    assert sorted({name for name, schema in inputs() if not is_bounded(schema)}) == []


def test_json_body_rejects_undocumented_fields() -> None:
    """A field outside a body's schema cannot be written by sending it along."""
    bodies = {name: schema for name, schema in inputs() if schema.get("type") == "object"}
    assert len(bodies) > 40
    open_ = {name for name, schema in bodies.items() if schema.get("additionalProperties") is not False}
    assert open_ == OF_AUTHENTICATORS


@pytest.mark.long
def test_examples_match_their_schemas() -> None:
    for name, schema in SCHEMAS.items():
        whole = {**schema, "components": DOCUMENT["components"]}
        validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        for example in schema.get("examples", []):
            assert [f"{name} {e.instance_path} {e.message}" for e in validator.iter_errors(example)] == []
    for response in DOCUMENT["components"]["responses"].values():
        for content in response.get("content", {}).values():
            validator = jsonschema_rs.Draft202012Validator({**content["schema"], "components": DOCUMENT["components"]})
            assert all(validator.is_valid(e["value"]) for e in content["examples"].values())


def test_body_examples_are_accepted() -> None:
    examples = {(c.path, c.method.upper()): c.example() for c in CASES}
    for route in iter_route_contexts(create_api().routes):
        body = getattr(route, "body_field", None)
        for method in route.methods or ():
            example = examples.get((str(route.path_format), method))
            if body is not None and example is not None:
                TypeAdapter(body.field_info.annotation).validate_python(example)


@pytest.mark.parametrize(
    ("operation", "status", "target", "parameter"),
    [
        ("deploy_market", "202", "get_request", "$response.body#/requestId"),
        ("create_wallet", "201", "get_wallet", "$response.body#/id"),
        ("list_assets", "200", "next", "$response.body#/nextCursor"),
    ],
)
def test_operations_are_linked(operation: str, status: str, target: str, parameter: str) -> None:
    case = next(c for c in CASES if str(c) == operation)
    assert parameter in case.entry["responses"][status]["links"][target]["parameters"].values()
