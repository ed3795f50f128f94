"""Possible statuses of an operation, and their headers.

An operation declares those that the guard cannot know with FastAPI's own `responses={404: {}}`; an entry without
content is a problem.
"""

import re
from http import HTTPStatus
from typing import Any

from backend.openapi.headers import HEADERS
from backend.openapi.operations import Operation
from backend.openapi.problem_schemas import REF, SCHEMAS
from backend.openapi.problems import LIMITED, RESPONSES

KEY_PARAMETER = "IdempotencyKey"
VERSION_PARAMETER = "IfMatch"
LONGEST_EVENT = 1_000_000
"""Characters of the data of an event: more than a request with the most steps has."""
TAG = r'"[\x21\x23-\x7e]*"'
PARAMETERS = {
    VERSION_PARAMETER: {
        "name": "If-Match",
        "in": "header",
        "required": False,
        "description": "The `ETag` of the record when you read it. If it has changed since, nothing is done: 412 with "
        "its current version. `*` matches every version.",
        "schema": {
            "type": "string",
            "maxLength": 1000,
            "pattern": rf"^(\*|{TAG}(, ?{TAG})*)$",
        },
        "example": "*",
    },
    KEY_PARAMETER: {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "Makes retries safe: for a day, the same key and body have one effect and one response, "
        "including a 400, 404 or 409 of an executed operation. A corrected request needs a new key. "
        "Ignored without a credential.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[\x20-\x7e]+$"},
        "example": "5f0b6c1e-order-42",
    },
}


def describe(operation: Operation) -> None:
    """Complete an operation's responses, and its header parameters."""
    answers = operation.entry["responses"]
    if "HTTPValidationError" in str(answers.get("422")):
        del answers["422"]
    _split_dry_run(operation)
    for status in statuses(operation):
        answers.setdefault(str(status), {})
    for status, response in answers.items():
        if stream := response.get("content", {}).get("text/event-stream"):
            stream["schema"] = _event(stream["schema"])
        if status >= "400" and not response.get("content"):
            answers[status] = _problem(int(status))
        else:
            _add_headers(operation, status, response)
    operation.entry["responses"] = dict(sorted(answers.items()))
    taken = {KEY_PARAMETER: operation.is_idempotent, VERSION_PARAMETER: operation.takes_version}
    for name in (name for name, is_taken in taken.items() if is_taken):
        operation.entry.setdefault("parameters", []).append({"$ref": f"#/components/parameters/{name}"})


def _event(record: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an event of a stream (before OpenAPI 3.2, `schema` describes each event)."""
    kinds = [{"$ref": record["$ref"]}, {"$ref": f"{REF}Problem"}]
    data = {"type": "string", "maxLength": LONGEST_EVENT, "contentMediaType": "application/json"}
    return {
        "type": "object",
        "required": ["data"],
        "properties": {
            "id": {"type": "string", "maxLength": 64, "description": "Send the last one as `Last-Event-ID` to resume."},
            "event": {"type": "string", "enum": ["message", "problem"]},
            "retry": {"type": "integer", "minimum": 0, "maximum": 60_000},
            "data": data | {"contentSchema": {"anyOf": kinds}},
        },
    }


def statuses(operation: Operation) -> set[int]:
    """Return the errors that guard, handlers and rules of the API can return, regardless of the operation."""
    found = {413, 500}
    if operation.is_guarded:
        found |= {400, 429, 503}
    if operation.is_guarded and not operation.is_open:
        found |= {401, 403}
    if operation.takes_body:
        found |= {415, 422}
    if operation.is_list:
        found.add(422)
    if operation.is_idempotent:
        found.add(409)
    if operation.takes_version:
        found.add(412)
    if set(operation.path_names) - {operation.needs.organization}:
        found.add(404)
    return found


def _problem(status: int) -> dict[str, Any]:
    if status in RESPONSES:
        return {"$ref": f"#/components/responses/{RESPONSES[status][0]}"}
    content = {"application/problem+json": {"schema": {"$ref": REF + "Problem"}}}
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *LIMITED)}
    return {"description": HTTPStatus(status).phrase, "headers": headers, "content": content}


def _split_dry_run(operation: Operation) -> None:
    """Separate the schemas of a dry run, which returns its plan with 200, and of the execution, which has another
    status.
    """
    answers, success = operation.entry["responses"], operation.success
    if not operation.rehearses:
        return
    for parameter in operation.entry["parameters"]:
        if parameter["name"] == "dry_run":
            parameter.setdefault("description", "Validate the request and return the plan (200) without executing it.")
    if success == "200":
        return
    schema = answers[success].get("content", {}).get("application/json", {}).get("schema", {})
    kinds = schema.get("anyOf", [])
    plans = [k for k in kinds if k.get("$ref", "").endswith("Plan")]
    if not plans:
        return
    answers[success]["content"]["application/json"]["schema"] = next(k for k in kinds if k not in plans)
    plan = {"content": {"application/json": {"schema": plans[0]}}}
    answers["200"] = {"description": "The plan of a dry run; nothing was done.", **plan}


def _add_headers(operation: Operation, status: str, response: dict[str, Any]) -> None:
    names = ["X-Request-Id", *(LIMITED if operation.is_guarded else ())]
    if status == "202":
        names.append("Location")
    if operation.shows_version and status < "300" and status != "202":
        names.append("ETag")
    if operation.is_idempotent and status < "300":
        names.append("Idempotency-Replayed")
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    response["headers"] = headers | response.get("headers", {})
    if response.get("description") == "Successful Response":
        response["description"] = HTTPStatus(int(status)).phrase


def prune(document: dict[str, Any]) -> None:
    """Add the components, and remove those without a reference."""
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
