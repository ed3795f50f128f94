"""Links from responses to operations. They are derived from names, so a new operation gets them automatically."""

from typing import Any

from backend.openapi.operations import Operation


def describe(operations: list[Operation]) -> None:
    """Write each operation's links: the next page, the created object, and everything whose id is in the response."""
    readers = [o for o in operations if o.method == "get" and o.path_names]
    for operation in operations:
        others = [r for r in readers if r is not operation]
        for response in (r for status, r in operation.entry["responses"].items() if status[0] == "2"):
            fields = _fields(operation, response)
            made = _made(operation, others, fields) | _named(operation, others, fields)
            if found := _next_page(operation, fields) | made:
                response["links"] = found


def _next_page(operation: Operation, fields: dict[str, Any]) -> dict[str, Any]:
    queries = {p.get("name") for p in operation.entry.get("parameters", [])}
    if operation.method != "get" or "nextCursor" not in fields or "cursor" not in queries:
        return {}
    parameters = _given(operation.path_names) | {"cursor": "$response.body#/nextCursor"}
    return {"next": _link(operation, parameters, "The next page. On the last page, `nextCursor` is null.")}


def _made(operation: Operation, readers: list[Operation], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the link to the object that a POST to a collection created, by its id."""
    if operation.method != "post" or "id" not in fields:
        return {}
    for reader in readers:
        *before, last = reader.path.split("/")
        if "/".join(before) == operation.path and last.startswith("{"):
            parameters = _given(operation.path_names) | {reader.path_names[-1]: "$response.body#/id"}
            return {reader.id: _link(reader, parameters, "The created object.")}
    return {}


def _named(operation: Operation, readers: list[Operation], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the links of ids in the response: `requestId` leads to the request, `assetId` to the asset."""
    found = {}
    for reader in readers:
        *others, last = reader.path_names
        is_given = set(others) <= set(operation.path_names)
        if not reader.path.endswith(f"{{{last}}}") or last not in fields or not is_given:
            continue
        parameters = _given(others) | {last: f"$response.body#/{last}"}
        found[reader.id] = _link(reader, parameters, f"The object that `{last}` names.")
    return found


def _link(target: Operation, parameters: dict[str, str], description: str) -> dict[str, Any]:
    return {"operationId": target.id, "parameters": parameters, "description": description}


def _given(names: list[str]) -> dict[str, str]:
    return {name: f"$request.path.{name}" for name in names}


def _fields(operation: Operation, response: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of a response's body; of a choice, those of its first kind."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    schema = next(iter(schema.get("anyOf", [])), schema)
    if "$ref" in schema:
        schema = operation.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return dict(schema.get("properties", {}))
