"""Credentials and scopes of the operations in OpenAPI form."""

from typing import Any

from backend.auth.permissions import Needs
from backend.openapi.operations import Operation

SCHEMES: dict[str, Any] = {
    "accessToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An access token from `POST /v1/auth/login`: 15 minutes, the scopes of the person's role. "
        "An API key is also accepted as the bearer. Verified as RFC8725 recommends: RS256 only, with its type, issuer "
        "and audience.",
    },
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "A key of one organization (`sgn_…`), with its scopes.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "signum_session",
        "description": "The console's session (`__Host-signum_session` with https). Methods that change something "
        "need an `Origin` of this server.",
    },
    "client": {
        "type": "http",
        "scheme": "basic",
        "description": "An application's ID and secret, which may be in the form instead. Public applications send "
        "only their ID. For `client_credentials`, the ID is that of an API key or of its "
        "organization, and the key is the secret.",
    },
}


def describe(operation: Operation) -> None:
    """Write the requirements of an operation.

    In each alternative, the array names the scopes, all of which are required.
    """
    entry, needs = operation.entry, operation.needs
    if "security" not in entry:
        entry["security"] = [] if needs.is_open else list(_alternatives(needs))
    if words := _words(needs):
        entry["description"] = f"{entry.get('description', '')}\n\nScope: {words}.".strip()


def _alternatives(needs: Needs) -> list[dict[str, list[str]]]:
    if needs.identity:
        return [{"accessToken": scopes} for scopes in needs.alternatives]
    people = ("session",) if needs.browser else ("accessToken", "session")
    if needs.both:
        return [{person: scopes, "apiKey": scopes} for scopes in needs.alternatives for person in people]
    kinds = people if needs.person or needs.browser else (*people, "apiKey")
    return [{kind: scopes} for scopes in needs.alternatives for kind in kinds]


def _words(needs: Needs) -> str:
    if needs.identity:
        return f"`{needs.identity}`"
    groups = [" or ".join(f"`{scope}`" for scope in group) for group in needs.groups]
    return ", and that of the action: ".join(groups)


def describe_schemes(document: dict[str, Any]) -> None:
    """Add the schemes to those of the operations."""
    document["components"]["securitySchemes"] = SCHEMES | document["components"].get("securitySchemes", {})
