"""Checks every response in any test: an undocumented response is a fault of the document."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

JSON = ("application/json", "application/problem+json")


def resolutions(part: Any) -> Iterator[dict[str, Any]]:
    """Yield the calls that the problems in a response name."""
    if isinstance(part, dict) and isinstance(part.get("resolution"), dict):
        yield part["resolution"]
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from resolutions(inner)


@dataclass
class Entries:
    """Return the operations of a document, by the requests they answer."""

    document: dict[str, Any]

    def __post_init__(self) -> None:
        self._paths: dict[int, list[tuple[re.Pattern[str], str]]] = defaultdict(list)
        for path in sorted(self.document["paths"], key=lambda p: (p.count("{"), p)):
            pattern = re.compile(re.sub(r"\\?\{\w+\\?\}", "[^/]+", re.escape(path)) + "$")
            self._paths[path.count("/")].append((pattern, path))

    def of(self, scope: Any) -> dict[str, Any] | None:
        """Return the operation of an ASGI scope; None if the document has none."""
        return self.at(scope["method"], scope["path"]) if scope["type"] == "http" else None

    def at(self, method: str, path: str) -> dict[str, Any] | None:
        """Return the operation of a request; None if the document has none."""
        found = (p for pattern, p in self._paths[path.count("/")] if pattern.match(path))
        item = self.document["paths"].get(next(found, ""), {})
        entry: dict[str, Any] | None = item.get(method.lower())
        return entry


@dataclass
class Documented:
    """ASGI middleware that compares responses with a document; `faults` are the differences, each once."""

    app: Any
    document: dict[str, Any]
    faults: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._entries = Entries(self.document)
        self._validators: dict[str, Any] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on and check its response."""
        entry = self._entries.of(scope)
        if entry is None:
            await self.app(scope, receive, send)
            return
        start: dict[str, Any] = {}
        body = bytearray()

        async def watched(message: Any) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            body.extend(message.get("body", b""))
            if message["type"] == "http.response.body" and not message.get("more_body"):
                self._check(entry, start, bytes(body))
            await send(message)

        await self.app(scope, receive, watched)

    def _check(self, entry: dict[str, Any], start: dict[str, Any], body: bytes) -> None:
        headers = {k.decode().lower(): v.decode() for k, v in start["headers"]}
        for fault in self.look(entry, start["status"], headers, body):
            self.faults[f"{entry['operationId']}: {fault}"] = None

    def look(self, entry: dict[str, Any], status: int, headers: dict[str, str], body: bytes) -> list[str]:
        """Return the undocumented parts of a response."""
        response = entry["responses"].get(str(status))
        if response is None:
            return [f"{status} is not documented"]
        response = self._resolved(response)
        missing = [n for n in ("Location",) if n in response.get("headers", {}) and n.lower() not in headers]
        faults = [f"{status} comes without {n}" for n in missing]
        contents = response.get("content", {})
        kind = headers.get("content-type", "").partition(";")[0]
        if body and kind not in contents:
            return [*faults, f"{status} comes as {kind or 'nothing'}, not {', '.join(contents) or 'empty'}"]
        if body and kind in JSON:
            errors = self._validator(contents[kind].get("schema", {})).iter_errors(json.loads(body))
            faults += [f"{status}: {e.instance_path} {e.message[:200]}" for e in errors]
            faults += [fault for call in resolutions(json.loads(body)) for fault in self._incomplete(call)]
        return faults

    def _incomplete(self, call: dict[str, Any]) -> list[str]:
        """Return what the body of a resolution lacks or has too much, compared with its operation."""
        if not call.get("path"):
            return []
        named = f"{call['method']} {call['path']}"
        entry = self._entries.at(call["method"], "/v1" + call["path"].partition("?")[0])
        if entry is None:
            return [f"the resolution {named} is no operation"]
        contents = entry.get("requestBody", {}).get("content", {}).values()
        schema = self._schema(next(iter(contents), {}).get("schema", {}))
        given = call.get("body", {"required": [], "properties": {}})
        lacks = set(schema.get("required", [])) - set(given["required"])
        unknown = set(given["properties"]) - set(schema.get("properties", {}))
        is_empty = schema.get("minProperties", 0) > len(given["properties"])
        wrong = sorted(lacks | unknown) or (["any field"] if is_empty else [])
        return [f"the body of the resolution {named}: {', '.join(wrong)}"] if wrong else []

    def _schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return self._resolved(next(iter(schema.get("anyOf", [])), schema))

    def _validator(self, schema: dict[str, Any]) -> Any:
        """One for all responses of a schema: creating it takes a hundred times as long as using it."""
        name = json.dumps(schema, sort_keys=True)
        if name not in self._validators:
            whole = {**schema, "components": self.document["components"]}
            self._validators[name] = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        return self._validators[name]

    def _resolved(self, part: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in part:
            return part
        _, _, kind, name = part["$ref"].split("/")
        found: dict[str, Any] = self.document["components"][kind][name]
        return found
