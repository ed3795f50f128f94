"""Credentials and scopes of the operations, as OpenAPI writes them."""

from typing import Any

from backend.openapi.operations import Operation

SCHEMES: dict[str, Any] = {
    "accessToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An access token of `POST /v1/auth/login`: 15 minutes, the scopes of the person's role. "
        "An API key is taken as the bearer, too.",
    },
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "x-api-key",
        "description": "A key of one organization (`sgn_…`), with the scopes it was given.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "signum_session",
        "description": "The console's session (`__Host-signum_session` by https). Methods that change something "
        "need an `Origin` of ours.",
    },
}


def describe(operation: Operation) -> None:
    """Write what an operation needs. In each of the alternatives the array names the scope."""
    entry = operation.entry
    if "security" not in entry:
        entry["security"] = [] if operation.is_open else list(_alternatives(operation))
    if operation.scopes:
        entry["x-required-scopes"] = [str(s) for s in operation.scopes]
        named = " or ".join(f"`{s}`" for s in operation.scopes)
        entry["description"] = f"{entry.get('description', '')}\n\nScope: {named}.".strip()


def _alternatives(operation: Operation) -> list[dict[str, list[str]]]:
    needed = [[str(s)] for s in operation.scopes] or [[]]
    people: list[dict[str, list[str]]] = [{name: n} for n in needed for name in ("accessToken", "session")]
    if operation.both:
        return [{**person, "apiKey": n} for person in people for n in needed]
    return people if operation.person else [*people, *({"apiKey": n} for n in needed)]


def describe_schemes(document: dict[str, Any]) -> None:
    """Add the schemes to those that operations brought along."""
    document["components"]["securitySchemes"] = SCHEMES | document["components"].get("securitySchemes", {})
