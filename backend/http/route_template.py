"""The template of a request's address, such as `/v1/orgs/{orgId}`: it contains no ID."""

from collections.abc import MutableMapping
from typing import Any

UNMATCHED = "unmatched"
V1 = "/v1"


def template(scope: MutableMapping[str, Any]) -> str:
    """Return the template of the route that answered; `unmatched` where none did."""
    route = scope.get("route") or scope.get("state", {}).get("route")
    path = getattr(route, "path", None)
    if path is None:
        return UNMATCHED
    # A route knows the prefix of its own router only.
    return V1 + path if scope["path"].startswith(V1 + "/") and not path.startswith(V1 + "/") else str(path)
