"""Operations of the document with their routes."""

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from backend.auth import versions
from backend.auth.guard import GuardedRoute
from backend.auth.permissions import OPEN, Needs
from backend.lists.pages import Parameters
from backend.openapi import titles

METHODS = ("get", "post", "put", "patch", "delete")
"""In the order in which they appear under a path."""


@dataclass(frozen=True)
class Operation:
    """One operation: its entry in the document (`entry`, completed in place), and the requirements of its guard."""

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
        """Return the `operationId`."""
        return str(self.entry["operationId"])

    @property
    def tags(self) -> list[str]:
        """Return its chapter of the reference."""
        return list(self.entry.get("tags", []))

    @property
    def is_open(self) -> bool:
        """Return whether it needs no credential."""
        return self.needs.is_open

    @property
    def takes_body(self) -> bool:
        """Return whether the guard reads a body.

        It does for these methods, even where the operation does not use one.
        """
        return self.is_guarded and self.method in ("post", "put", "patch")

    @property
    def is_idempotent(self) -> bool:
        """Return whether it accepts an Idempotency-Key."""
        return self.is_guarded and self.method in ("post", "patch")

    @property
    def takes_version(self) -> bool:
        """Return whether it accepts `If-Match`."""
        return self.is_guarded and self.method != "get" and versions.record_of(self.path) is not None

    @property
    def shows_version(self) -> bool:
        """Return whether its response has the record's `ETag`."""
        is_shown = versions.record_of(self.path) is not None and versions.is_shown(self.path)
        return self.is_guarded and self.method in ("get", "patch") and is_shown

    @property
    def is_list(self) -> bool:
        """Return whether it takes the parameters of a list, which are a 422 where they are invalid."""
        parts = [p.annotation for p in signature(self.endpoint).parameters.values()] if self.endpoint else []
        given = [getattr(m, "dependency", None) for part in parts for m in getattr(part, "__metadata__", ())]
        return any(isinstance(dependency, Parameters) for dependency in given)

    @property
    def path_names(self) -> list[str]:
        """Return the names of the path's parameters, in order."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    @property
    def success(self) -> str:
        """Return the status of its normal success, such as `"202"`."""
        answer: dict[str, Any] = self.entry["responses"]
        return min(s for s in answer if s[0] in "23")


def operations_of(api: FastAPI, document: dict[str, Any]) -> list[Operation]:
    """Return every operation in the order of the routers; the methods of a path are together, in a fixed order."""
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
            entry["summary"] = titles.summary_of(str(route.name))
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
