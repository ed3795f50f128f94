"""Descriptions of schemas for the reference page."""

from typing import Any

from backend.core.content_rules import CODE, PLAIN

Row = tuple[str, str, str, bool, str]
"""Name, location, type in words, whether it is required, description."""
DEPTH = 3
PLURALS = {"string": "strings", "integer": "whole numbers", "number": "numbers", "object": "objects"}
KNOWN = {
    "^0x[0-9a-fA-F]{40}$": "EVM address",
    "^[0-9]{1,78}$": "amount in base units",
    "^[A-Z]{3}$": "ISO 3166-1 alpha-3 country",
}
"""Patterns that have a name."""
UNSAID = frozenset({*PLAIN.values(), CODE})
"""Patterns that are not shown, because ordinary input fits them."""
SINGULAR = {"integer": "whole number", "null": "null"}


def content_of(response: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the media type and schema of a response; empty where it has no body."""
    for kind, content in response.get("content", {}).items():
        return kind, content.get("schema", {})
    return "", {}


def rows_of(document: dict[str, Any], schema: dict[str, Any], prefix: str = "", depth: int = 0) -> list[Row]:
    """Return the fields of an object, followed by those of nested objects, with dots."""
    schema = _kind(document, schema)
    required = set(schema.get("required", ()))
    rows: list[Row] = []
    for name, child in schema.get("properties", {}).items():
        words = words_of(document, child)
        target = _kind(document, child)
        rows.append((prefix + name, "", words, name in required and not prefix, child.get("description", "")))
        if target.get("type") == "array":
            target, name = _kind(document, target.get("items", {})), name + "[]"
        if depth + 1 < DEPTH and target.get("properties"):
            rows += rows_of(document, target, f"{prefix}{name}.", depth + 1)
    return rows


def words_of(document: dict[str, Any], schema: dict[str, Any]) -> str:
    """Return a schema in one line: kind, bounds, values, default."""
    resolved = _kind(document, schema)
    is_nullable = any(k.get("type") == "null" for k in schema.get("anyOf", []))
    parts = [_noun(document, resolved), *_bounds(resolved)]
    if is_nullable:
        parts.append("or null")
    default = schema.get("default", resolved.get("default"))
    if default not in (None, [], {}, ""):
        parts.append(f"default {str(default).lower() if isinstance(default, bool) else default}")
    return ", ".join(p for p in parts if p)


def _noun(document: dict[str, Any], schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(str(v) for v in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    kind = str(schema.get("type", "any"))
    if kind == "array":
        items = _kind(document, schema.get("items", {}))
        if "enum" in items:
            return "list of " + _noun(document, items)
        if items.get("pattern") in KNOWN:
            return f"list: {KNOWN[items['pattern']]}"
        return f"list of {PLURALS.get(str(items.get('type')), 'values')}"
    if schema.get("pattern") in KNOWN:
        return KNOWN[schema["pattern"]]
    if schema.get("format"):
        return str(schema["format"])
    return SINGULAR.get(kind, kind)


def _bounds(schema: dict[str, Any]) -> list[str]:
    if schema.get("pattern") in KNOWN:
        return []
    found = []
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        found.append(f"{low if low is not None else '…'} to {high if high is not None else '…'}")
    for name, word in (("maxLength", "characters"), ("maxItems", "items")):
        if name in schema:
            found.append(f"at most {schema[name]} {word}")
    if "pattern" in schema and schema["pattern"] not in UNSAID:
        found.append(f"matches {schema['pattern']}")
    return found


def _kind(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema behind references, and the first of a choice that is not null."""
    for _ in range(8):
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        elif kinds := [k for k in schema.get("anyOf", schema.get("allOf", [])) if k.get("type") != "null"]:
            schema = kinds[0]
        else:
            break
    return schema
