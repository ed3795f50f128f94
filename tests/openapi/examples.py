"""Executes the example of an operation's body, with the records of an installation in place of the example's."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from backend.core.settings import settings
from backend.openapi.sampled import ADDRESS, ID
from tests.openapi.operations import CASES, DOCUMENT, Case
from tests.support.issuance import Issuance

BY_NAME = {str(case): case for case in CASES}
SCHEMAS = DOCUMENT["components"]["schemas"]
WAITING = ("awaiting_approval", "denied")
JSON, FORM, CSV = "application/json", "application/x-www-form-urlencoded", "text/csv"


def bodies() -> dict[str, Case]:
    """Return the operations with a body in the document, by name."""
    return {name: case for name, case in BY_NAME.items() if "requestBody" in case.entry}


def example_of(case: Case) -> Any:
    """Return the example of a body: of its content, or of the schema to which the content refers."""
    contents = case.entry["requestBody"]["content"]
    content = contents.get(JSON) or contents.get(FORM) or contents.get(CSV) or {}
    if "example" in content:
        return content["example"]
    schema = content.get("schema", {})
    for kind in [schema, *schema.get("anyOf", [])]:
        for example in SCHEMAS.get(str(kind.get("$ref")).rsplit("/", 1)[-1], {}).get("examples", []):
            return example
    return None


@dataclass
class Examples:
    """A firm whose records stand for the example's records."""

    http: httpx.AsyncClient
    firm: Issuance
    known: dict[str, Any] = field(default_factory=dict)
    """Values by name: of fields whose example is an ID or an address, and of parameters of a path."""
    done: set[str] = field(default_factory=set)

    async def run(self, name: str, /, who: dict[str, str] | None = None, **own: Any) -> Any:
        """Send an example; return the response, which must be a documented success that is no dry run. `own` replaces
        values of the example that only this installation has, and parameters of the path."""
        case = BY_NAME[name]
        known = self.known | own
        path = case.path
        for parameter, value in known.items():
            path = path.replace(f"{{{parameter}}}", str(value))
        assert "{" not in path, path
        body = self._filled(example_of(case), known, set(own))
        taken = next(name for name in (JSON, FORM, CSV) if name in case.entry["requestBody"]["content"])
        kind = {JSON: "json", FORM: "data", CSV: "content"}[taken]
        headers = {"cookie": self.firm.admin.cookie, "origin": settings().origin} if who is None else who
        headers = headers | {"content-type": CSV} if taken == CSV else headers
        sent: dict[str, Any] = {kind: body}
        answer = await self.http.request(case.method, path, headers=headers, **sent)
        assert answer.is_success, f"{name}: {answer.status_code} {answer.text[:600]} {body}"
        assert str(answer.status_code) in case.entry["responses"], f"{name}: {answer.status_code}"
        self.done.add(name)
        made = answer.json() if answer.content else None
        if isinstance(made, dict) and "requestId" in made and made.get("status") not in WAITING:
            await self.firm.succeed(made["requestId"])
        return made

    def _filled(self, example: Any, known: dict[str, Any], own: set[str]) -> Any:
        if not isinstance(example, dict):
            return example
        filled = {}
        for name, value in example.items():
            is_placeholder = value in (ID, ADDRESS) or name in own
            filled[name] = known[name] if is_placeholder and name in known else self._inner(value, known)
        return filled

    def _inner(self, value: Any, known: dict[str, Any]) -> Any:
        if isinstance(value, list):
            return [self._inner(part, known) for part in value]
        return self._filled(value, known, set()) if isinstance(value, dict) else value
