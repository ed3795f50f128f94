"""Links from responses to operations. They are derived from paths and names, so a new operation has them too.

An object that a response contains is linked to every operation on it, such as a created wallet to its detail, its
change and its deletion. A list is linked to the operations on its first item, and an ID of another object, such as
`requestId`, to that object.
"""

import re
from dataclasses import dataclass
from typing import Any

from backend.openapi.operations import Operation

OBJECT = "Of this object."
FIRST = "Of the first item."


@dataclass(frozen=True)
class Named:
    """An object that a response names: the path parameter of its ID, and where the ID is."""

    parameter: str
    pointer: str
    description: str


def describe(operations: list[Operation]) -> None:
    """Write each operation's links: the next page, the operations on its object, and everything whose ID it names."""
    for operation in operations:
        for response in (r for status, r in operation.entry["responses"].items() if status[0] == "2"):
            fields = _fields(operation, response)
            found = _next_page(operation, fields)
            for named in _objects(operation, operations, fields):
                found |= _of(named, operation, operations)
            if found := found | _others(operation, operations, fields):
                response["links"] = found


def _next_page(operation: Operation, fields: dict[str, Any]) -> dict[str, Any]:
    queries = {p.get("name") for p in operation.entry.get("parameters", [])}
    if operation.method != "get" or "nextCursor" not in fields or "cursor" not in queries:
        return {}
    parameters = _given(operation.path_names) | {"cursor": "$response.body#/nextCursor"}
    return {"next": _link(operation, parameters, "The next page. On the last page, `nextCursor` is null.")}


def _objects(operation: Operation, operations: list[Operation], fields: dict[str, Any]) -> list[Named]:
    """Return the object that an operation creates or returns, or the first one of a list."""
    is_detail = operation.path.endswith("}")
    parameter = operation.path_names[-1] if is_detail else _item_of(operation.path, operations)
    if parameter is None:
        return []
    if name := next((n for n in _id_names(parameter) if n in fields), None):
        return [Named(parameter, f"/{name}", OBJECT)]
    if is_detail or operation.method != "get":
        return []
    return [
        Named(parameter, f"/{listed}/0/{name}", FIRST)
        for listed, schema in fields.items()
        for name in _id_names(parameter)[:2]
        if name in _properties(operation, schema.get("items", {}))
    ][:1]


def _item_of(collection: str, operations: list[Operation]) -> str | None:
    """Return the parameter of a collection's items: `walletId` of `/orgs/{orgId}/wallets`."""
    below = f"{collection}/{{"
    found = (o.path.removeprefix(below).partition("}")[0] for o in operations if o.path.startswith(below))
    return next(found, None)


def _id_names(parameter: str) -> tuple[str, ...]:
    """Return the fields that can have the ID of a parameter: `id`, `client_id` and `clientId` of `clientId`."""
    return "id", re.sub(r"(?=[A-Z])", "_", parameter).lower(), parameter


def _of(named: Named, operation: Operation, operations: list[Operation]) -> dict[str, Any]:
    """Return the links to the operations on an object. One that is deleted has none."""
    if operation.method == "delete":
        return {}
    others = [n for n in operation.path_names if n != named.parameter]
    parameters = _given(others) | {named.parameter: f"$response.body#{named.pointer}"}
    return {
        target.id: _link(target, parameters, named.description)
        for target in operations
        if target is not operation and target.path_names == [*others, named.parameter]
    }


def _others(operation: Operation, operations: list[Operation], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the links of IDs in the response: `requestId` leads to the request, `assetId` to the asset."""
    found = {}
    for reader in (o for o in operations if o.method == "get" and o.path_names and o is not operation):
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
    return _properties(operation, response.get("content", {}).get("application/json", {}).get("schema", {}))


def _properties(operation: Operation, schema: dict[str, Any]) -> dict[str, Any]:
    schema = next(iter(schema.get("anyOf", [])), schema)
    if "$ref" in schema:
        schema = operation.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return dict(schema.get("properties", {}))
