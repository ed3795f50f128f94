"""Routers whose routes are compared with a path only where one of them can match.

FastAPI compares a path with every route of every included router, several times where routers contain others. One
regular expression for each section of the API decides first. It accepts every path that a route of the section accepts.
"""

import re
from re import Pattern

from fastapi import APIRouter
from fastapi.routing import iter_route_contexts
from starlette.routing import Match
from starlette.types import Scope

_PARTS = re.compile(r"\{[^}]*\}|[^{]+")
"""The parameters and constant parts of a path."""


class Section(APIRouter):
    """A router of routers that were included before its first request."""

    _paths: Pattern[str] | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return how a path and method match, and what that adds to the scope."""
        if self._paths is None:
            self._paths = _any_of([str(route.path) for route in iter_route_contexts(self.routes)])
        if self._paths.fullmatch(scope["path"]) is None:
            return Match.NONE, {}
        return super().matches(scope)


def _any_of(paths: list[str]) -> Pattern[str]:
    return re.compile("|".join(sorted({_expression(path) for path in paths})))


def _expression(path: str) -> str:
    return "".join(
        re.escape(part) if part[0] != "{" else ".*" if part.endswith(":path}") else "[^/]+"
        for part in _PARTS.findall(path)
    )
