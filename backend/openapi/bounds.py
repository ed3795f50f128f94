"""Corrections of the schemas that pydantic writes, and descriptions of parameters that every operation has."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

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
    if name in IDS and parameter.get("in") == "path":
        parameter.setdefault("description", IDS[name])


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
