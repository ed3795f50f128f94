"""Examples: one for every body, made from its schema and from typical values by field name."""

import re
from typing import Any

from backend.openapi.sampled import ADDRESS, BODIES, HASH, ID, NAMED, OWNED, TIME

STATES = {
    "Network": "testnet",
    "Role": "compliance_officer",
    "RegulationType": "reg_d",
    "RequestStatus": "running",
    "StepStatus": "succeeded",
    "Scope": "assets:read",
}
"""The example value of an enumeration; otherwise a usual one, or the first."""
USUAL = ("active", "confirmed", "verified", "registered", "succeeded", "enabled")

SHAPED = (
    (r"(?i)(hash|root)$|^(guid|uid)$", HASH),
    (r"^sha256$", HASH[2:]),
    (r"addres(s|ses)$|^(attester|trusted_issuers)$", ADDRESS),
    (r"_(at|until)$|^(at|time|timestamp|since|until)$", TIME),
    (r"(^|_)url$", "https://northwind.example"),
    (r"(^id$|_id$|Id$|_by$)", ID),
    (r"countr(y|ies)$", "USA"),
    (r"token$|secret$", "q8Yv3nTzJ2LkW5rXc0bHf7Gm1sDp9aEuQ4iVo6KtRjN"),
)
"""Patterns of names, and the values of such fields."""


def describe(document: dict[str, Any]) -> None:
    """Add an example to the schema of every body that is an object."""
    schemas = document["components"]["schemas"]
    for name in _bodies(document):
        schema = schemas.get(name, {})
        if schema.get("type") == "object" and "examples" not in schema:
            schema["examples"] = [BODIES.get(name) or _object(schema, schemas, 0)]


def _bodies(document: dict[str, Any]) -> list[str]:
    """Return the names of the schemas of requests and responses."""
    found = []
    for operation in (o for item in document["paths"].values() for o in item.values()):
        for part in (operation.get("requestBody", {}), *operation["responses"].values()):
            for content in part.get("content", {}).values():
                schema = content.get("schema", {})
                kinds = [schema, *schema.get("anyOf", [])]
                found += [k["$ref"].rsplit("/", 1)[-1] for k in kinds if "$ref" in k]
    return list(dict.fromkeys(found))


def _object(schema: dict[str, Any], schemas: dict[str, Any], depth: int) -> dict[str, Any]:
    """Return the required fields, and those others that have an example value."""
    required = set(schema.get("required", ()))
    made = {}
    owner = schema.get("title", "")
    owned = {name: value for (kind, name), value in OWNED.items() if owner.startswith(kind)}
    for name, child in schema.get("properties", {}).items():
        value = owned.get(name) or sample(name, child, schemas, depth + 1)
        if name in required or value not in (None, [], {}):
            made[name] = value
    return made


def sample(name: str, schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> Any:
    """Return a value that fits a schema, typical for a field of this name."""
    if "$ref" in schema:
        kind = schema["$ref"].rsplit("/", 1)[-1]
        return STATES[kind] if kind in STATES else sample(name, schemas[kind], schemas, depth)
    if kinds := schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf"):
        if name in NAMED and NAMED[name] is None and {"type": "null"} in kinds:
            return None
        return sample(name, next(k for k in kinds if k.get("type") != "null"), schemas, depth)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return next((v for v in (NAMED.get(name), *USUAL) if v in schema["enum"]), schema["enum"][0])
    return _plain(name, schema, schemas, depth)


def _plain(name: str, schema: dict[str, Any], schemas: dict[str, Any], depth: int) -> Any:
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, schemas, depth) if depth < 6 else {}
    if kind == "array":
        item = sample(name, schema.get("items", {}), schemas, depth)
        return [item] if item not in (None, {}) and schema.get("maxItems") != 0 else []
    if kind == "boolean":
        return bool(schema.get("default", name in ("accepted", "accredited", "enabled", "passed", "allowed", "ready")))
    if kind in ("integer", "number"):
        return _number(name, schema)
    return _string(name, schema) if kind == "string" else NAMED.get(name, "1000")


def _number(name: str, schema: dict[str, Any]) -> Any:
    value = NAMED.get(name)
    if isinstance(value, int):
        return value
    if "eid" in name.lower():
        return 40362
    return schema.get("default", schema.get("minimum", 1))


def _string(name: str, schema: dict[str, Any]) -> str:
    form = schema.get("format")
    if form == "uuid":
        return ID
    if form == "date-time":
        return TIME
    if form == "date":
        return TIME[:10]
    value = NAMED.get(name)
    if isinstance(value, str) and _fits(value, schema):
        return value
    known = [v for pattern, v in SHAPED if re.search(pattern, name) and _fits(v, schema)]
    if known:
        return known[0]
    if form == "email" or "email" in name.lower():
        return "marta@example.com"
    usual = [schema.get("default"), *schema.get("examples", []), name.replace("_", " ").capitalize(), "1000", "A1"]
    return str(next((v for v in usual if isinstance(v, str) and _fits(v, schema)), "x" * schema.get("minLength", 1)))


def _fits(value: str, schema: dict[str, Any]) -> bool:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return False
    return "pattern" not in schema or re.search(schema["pattern"], value) is not None
