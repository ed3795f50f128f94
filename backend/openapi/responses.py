"""Which statuses an operation can answer with, and their headers.

An operation names those that the guard cannot know by FastAPI's own `responses={404: {}}`; an entry without content
is a problem.
"""

import re
from http import HTTPStatus
from typing import Any

from backend.openapi.operations import Operation
from backend.openapi.problems import HEADERS, REF, RESPONSES, SCHEMAS

LIMITED = ("RateLimit-Policy", "RateLimit")
KEY_PARAMETER = "IdempotencyKey"
PARAMETERS = {
    KEY_PARAMETER: {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "Makes a repetition harmless: the same key and body have one effect and one answer for a day, "
        "a 400, 404 or 409 of what was executed included. A corrected request takes another key. Ignored without a "
        "credential.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[\x20-\x7e]+$"},
        "example": "5f0b6c1e-order-42",
    }
}


def describe(operation: Operation) -> None:
    """Complete an operation's answers, and the header parameter that bears on them."""
    told = operation.entry["responses"]
    if "HTTPValidationError" in str(told.get("422")):
        del told["422"]
    _split_dry_run(operation)
    for status in statuses(operation):
        told.setdefault(str(status), {})
    for status, response in told.items():
        if status >= "400" and not response.get("content"):
            told[status] = _problem(int(status))
        else:
            _add_headers(operation, status, response)
    operation.entry["responses"] = dict(sorted(told.items()))
    if operation.is_idempotent:
        parameters = operation.entry.setdefault("parameters", [])
        parameters.append({"$ref": f"#/components/parameters/{KEY_PARAMETER}"})


def statuses(operation: Operation) -> set[int]:
    """The errors that guard, handlers and rules of the API can answer with, whatever the operation does."""
    found = {413, 500}
    if operation.is_guarded:
        found |= {400, 429, 503}
    if operation.is_guarded and not operation.is_open:
        found |= {401, 403}
    if operation.takes_body:
        found |= {415, 422}
    if operation.is_idempotent:
        found.add(409)
    if set(operation.path_names) - {operation.needs.organization}:
        found.add(404)
    return found


def _problem(status: int) -> dict[str, Any]:
    if status in RESPONSES:
        return {"$ref": f"#/components/responses/{RESPONSES[status][0]}"}
    content = {"application/problem+json": {"schema": {"$ref": REF + "Problem"}}}
    return {"description": HTTPStatus(status).phrase, "content": content}


def _split_dry_run(operation: Operation) -> None:
    """A dry run answers 200 with its plan, what it rehearses another status: each gets its own schema."""
    told, success = operation.entry["responses"], operation.success
    if not operation.rehearses:
        return
    for parameter in operation.entry["parameters"]:
        if parameter["name"] == "dry_run":
            parameter.setdefault("description", "Check everything, answer 200 with the plan and do nothing.")
    if success == "200":
        return
    schema = told[success].get("content", {}).get("application/json", {}).get("schema", {})
    kinds = schema.get("anyOf", [])
    plans = [k for k in kinds if k.get("$ref", "").endswith("Plan")]
    if not plans:
        return
    told[success]["content"]["application/json"]["schema"] = next(k for k in kinds if k not in plans)
    plan = {"content": {"application/json": {"schema": plans[0]}}}
    told["200"] = {"description": "The plan of a dry run; nothing was done.", **plan}


def _add_headers(operation: Operation, status: str, response: dict[str, Any]) -> None:
    names = ["X-Request-Id", *(LIMITED if operation.is_guarded else ())]
    if status == "202":
        names.append("Location")
    if operation.is_idempotent and status < "300":
        names.append("Idempotency-Replayed")
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    response["headers"] = headers | response.get("headers", {})
    if response.get("description") == "Successful Response":
        response["description"] = HTTPStatus(int(status)).phrase


def prune(document: dict[str, Any]) -> None:
    """Add the components, and take out every one that nothing leads to."""
    components = document["components"]
    components["schemas"] |= SCHEMAS
    components["responses"] = dict(RESPONSES.values())
    components["headers"] = HEADERS
    components["parameters"] = PARAMETERS
    reached = _reached(document)
    for kind in ("schemas", "responses", "headers", "parameters"):
        kept = {n: c for n, c in components[kind].items() if (kind, n) in reached}
        components[kind] = dict(sorted(kept.items()))


def _reached(document: dict[str, Any]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    waiting: list[Any] = [document["paths"]]
    while waiting:
        for kind, name in re.findall(r"'#/components/(\w+)/([^']+)'", str(waiting.pop())):
            if (kind, name) not in found:
                found.add((kind, name))
                waiting.append(document["components"][kind][name])
    return found
