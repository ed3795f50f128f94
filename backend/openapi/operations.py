"""An operation of the document beside the route that it came from."""

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from backend.auth.needs import OPEN, Needs
from backend.auth.route import GuardedRoute

METHODS = ("get", "post", "put", "patch", "delete")
"""In the order in which they stand below a path."""


@dataclass(frozen=True)
class Operation:
    """One operation: what the document says of it so far (`entry`, filled in place), and what its guard asks."""

    path: str
    method: str
    endpoint: Any
    entry: dict[str, Any]
    document: dict[str, Any]
    is_guarded: bool
    needs: Needs
    rehearses: bool

    @property
    def id(self) -> str:
        """`operationId`."""
        return str(self.entry["operationId"])

    @property
    def tags(self) -> list[str]:
        """The chapter of the reference it stands in."""
        return list(self.entry.get("tags", []))

    @property
    def is_open(self) -> bool:
        """Whether it needs no credential."""
        return self.needs.is_open

    @property
    def takes_body(self) -> bool:
        """Whether the guard reads a body (it does for these methods, also where the operation has no use for one)."""
        return self.is_guarded and self.method in ("post", "put", "patch")

    @property
    def is_idempotent(self) -> bool:
        """Whether it takes an Idempotency-Key."""
        return self.is_guarded and self.method in ("post", "patch")

    @property
    def path_names(self) -> list[str]:
        """Names of the path's parameters, in order."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    @property
    def success(self) -> str:
        """The status of its plain success, such as `"202"`."""
        told: dict[str, Any] = self.entry["responses"]
        return min(s for s in told if s[0] in "23")


def operations_of(api: FastAPI, document: dict[str, Any]) -> list[Operation]:
    """Every operation in the order of the routers; methods of one path stand together and in a fixed order."""
    found = {(o.path, o.method): o for o in _all(api, document)}
    for path, item in document["paths"].items():
        document["paths"][path] = {m: item[m] for m in METHODS if m in item}
    operations = [found[path, method] for path, item in document["paths"].items() for method in item]
    seen: set[str] = set()
    for operation in operations:
        if operation.id in seen:
            operation.entry["operationId"] = f"{operation.id}_by_{operation.method}"
        seen.add(operation.id)
    return operations


def _all(api: FastAPI, document: dict[str, Any]) -> Iterator[Operation]:
    for route in iter_route_contexts(api.routes):
        path = str(route.path_format)
        for method in METHODS:
            entry = document["paths"].get(path, {}).get(method)
            if entry is None or method.upper() not in (route.methods or ()) or not route.include_in_schema:
                continue
            entry["operationId"] = route.name
            if entry["summary"] == str(route.name).replace("_", " ").title():
                entry["summary"] = str(route.name).replace("_", " ").capitalize().replace("Api ", "API ")
            yield Operation(
                path=path,
                method=method,
                endpoint=route.endpoint,
                entry=entry,
                document=document,
                is_guarded=isinstance(route.original_route, GuardedRoute),
                needs=getattr(route.endpoint, "__needs__", Needs(organization=OPEN)),
                rehearses=route.endpoint is not None and "dry_run" in signature(route.endpoint).parameters,
            )
