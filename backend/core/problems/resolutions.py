"""The call that resolves a refusal (specification 2.7), with the fields of its body. Pure functions."""

from typing import Any

Field = dict[str, Any]


def call(method: str, path: str, description: str, **fields: Field) -> dict[str, Any]:
    """Return a call whose `path` is relative to `{base_url}`, and its body if the call needs fields."""
    found: dict[str, Any] = {"method": method, "path": path, "description": description}
    return found | {"body": body(**fields)} if fields else found


def body(**fields: Field) -> dict[str, Any]:
    """Return the body as JSON Schema: the fields that resolve the refusal, all of them required."""
    return {"type": "object", "required": list(fields), "properties": fields}


def known(value: Any) -> Field:
    """Return a field whose value is known."""
    return {"const": value}


def example(value: Any) -> Field:
    """Return a field whose value the caller chooses."""
    kinds = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
    return {"type": kinds[type(value)], "examples": [value]}


def with_addresses(value: Any, base_url: str) -> Any:
    """Return extensions with the absolute address (`href`) of each resolution, whose `path` is below `{base_url}`."""
    if isinstance(value, list):
        return [with_addresses(item, base_url) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: with_addresses(item, base_url) for name, item in value.items()}
    if isinstance(call := found.get("resolution"), dict):
        found["resolution"] = call | {"href": base_url + call["path"] if call["path"] else None}
    return found
