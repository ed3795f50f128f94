"""The committed document as test cases."""

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from backend.auth.scopes import Scope
from backend.openapi import COMMITTED

DOCUMENT: dict[str, Any] = json.loads(COMMITTED.read_text("utf-8"))


@dataclass(frozen=True)
class Case:
    """One operation of the document."""

    path: str
    method: str
    entry: dict[str, Any]

    def __str__(self) -> str:
        return str(self.entry["operationId"])

    @property
    def alternatives(self) -> list[frozenset[str]]:
        """Sets of scopes, one of which the credential must have completely; empty if no scope is needed."""
        found = [frozenset(s for scopes in choice.values() for s in scopes) for choice in self.entry["security"]]
        return list(dict.fromkeys(scopes for scopes in found if scopes and scopes <= set(Scope)))

    @property
    def is_open(self) -> bool:
        """Whether it can be called without a credential."""
        return not self.entry["security"] or {} in self.entry["security"]

    @property
    def takes_key(self) -> bool:
        """Whether a key alone is enough."""
        return any(set(s) == {"apiKey"} for s in self.entry["security"])

    @property
    def wants_token(self) -> bool:
        """Whether only an access token is accepted."""
        return all(set(s) == {"accessToken"} for s in self.entry["security"])

    @property
    def wants_both(self) -> bool:
        """Whether a person and a key are needed."""
        return any(len(s) == 2 for s in self.entry["security"])

    @property
    def names_organization(self) -> bool:
        """Whether the call names an organization."""
        return "{orgId}" in self.path or self._has_query("organization_id")

    def _has_query(self, name: str) -> bool:
        return any(p.get("name") == name for p in self.entry.get("parameters", []))

    def request(self, organization: UUID) -> dict[str, Any]:
        """A call about an organization: other ids do not exist; a body only if it names the organization."""
        path = self.path.replace("{orgId}", str(organization))
        while "{" in path:
            before, _, rest = path.partition("{")
            path = f"{before}{uuid4()}{rest.partition('}')[2]}"
        sent: dict[str, Any] = {"method": self.method.upper(), "url": path}
        if "{orgId}" not in self.path and self._has_query("organization_id"):
            sent["params"] = {"organization_id": str(organization)}
            sent["json"] = self.example()
        return {k: v for k, v in sent.items() if v is not None}

    def example(self) -> Any:
        """The example of its body, without an organization; None if it takes none."""
        for content in self.entry.get("requestBody", {}).get("content", {}).values():
            schema = content["schema"]
            schema = next(iter(schema.get("anyOf", [])), schema)
            if "$ref" not in schema:
                continue
            body = DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]].get("examples", [{}])[0]
            return {k: v for k, v in body.items() if k != "organization_id"}
        return None


CASES = [Case(path, method, entry) for path, item in DOCUMENT["paths"].items() for method, entry in item.items()]
