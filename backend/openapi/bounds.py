"""Corrections of the schemas that pydantic writes, and descriptions of parameters that every operation has."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from backend.openapi import domains
from backend.openapi.operations import Operation

SCHEMAS = "#/components/schemas/"
BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
"""A constraint around a validator keeps pydantic's name; JSON Schema has its own."""
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
EMAIL_LENGTH = 254
"""Maximum length that `email-validator` accepts (RFC 5321)."""
IDS = {
    "orgId": "The organization.",
    "assetId": "An asset of the organization.",
    "marketId": "A market of the asset.",
    "requestId": "An accepted operation.",
    "walletId": "A wallet of the organization.",
    "webhookId": "A webhook endpoint of the organization.",
    "deliveryId": "A delivery in the endpoint's log.",
}


def add_named(operation: Operation) -> None:
    """Add the models that an operation names itself (`openapi_extra`), because it reads its body itself."""
    schemas = operation.document["components"]["schemas"]
    for part in _parts(operation.entry):
        name = str(part.get("$ref", "")).removeprefix(SCHEMAS)
        model = getattr(operation.endpoint, "__globals__", {}).get(name)
        if name in schemas or not isinstance(model, type) or not issubclass(model, BaseModel):
            continue
        schema = model.model_json_schema(ref_template=SCHEMAS + "{model}")
        for kind, inner in {**schema.pop("$defs", {}), name: schema}.items():
            schemas.setdefault(kind, inner)


def describe(document: dict[str, Any]) -> None:
    """Correct bounds, numbers and titles everywhere, and describe the ids in paths."""
    for part in _parts(document):
        _bound(part)
        _untitle(part)
    for item in document["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                _describe_parameter(parameter)


def complete(document: dict[str, Any]) -> None:
    """Give every string, integer and array the bounds that its type does not name (`backend.openapi.domains`)."""
    for name, schema in document["components"]["schemas"].items():
        domains.page_bounds(schema)
        _complete(name, "", schema)
    for item in document["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                _complete("", parameter.get("name", ""), parameter.get("schema", {}))
            for part in (operation.get("requestBody", {}), *operation["responses"].values()):
                for content in part.get("content", {}).values():
                    _complete("", "", content.get("schema", {}))


def _complete(schema: str, name: str, part: Any) -> None:
    """Complete a schema and those in it. Items and choices have the name of their field."""
    if not isinstance(part, dict):
        return
    part.update(domains.bounds_of(schema, name, part))
    for child, inner in part.get("properties", {}).items():
        _complete(schema, child, inner)
    for key in ("items", "additionalProperties", "contains"):
        _complete(schema, name, part.get(key))
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in part.get(key, []):
            _complete(schema, name, inner)


def _bound(part: dict[str, Any]) -> None:
    if part.get("type") not in ("string", "integer", "number"):
        return
    for ours, standard in BOUNDS.items():
        if ours in part:
            bounds = [part.pop(ours), *([part[standard]] if standard in part else [])]
            part[standard] = max(bounds) if ours.startswith("g") else min(bounds)
    for name in NUMBERS & part.keys():
        if part[name] == int(part[name]):
            part[name] = int(part[name])
    if part.get("format") == "email":
        part.setdefault("maxLength", EMAIL_LENGTH)


def _untitle(part: dict[str, Any]) -> None:
    """Remove titles of fields, which only repeat the name in capitals."""
    for child in part.get("properties", {}).values():
        if isinstance(child, dict):
            child.pop("title", None)
    if "in" in part and isinstance(part.get("schema"), dict):
        part["schema"].pop("title", None)


def _describe_parameter(parameter: dict[str, Any]) -> None:
    name = parameter.get("name")
    _unwrap(parameter)
    if name in IDS and parameter.get("in") == "path":
        parameter.setdefault("description", IDS[name])


def _unwrap(parameter: dict[str, Any]) -> None:
    """Remove null from the values of a parameter: it is a value of the function, which an address cannot send."""
    schema = parameter.get("schema", {})
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del schema["anyOf"]
        parameter["schema"] = kinds[0] | schema


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
