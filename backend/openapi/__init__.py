"""The API's one OpenAPI 3.1 document, and the reference page that is made of it.

FastAPI writes what signatures say: paths, parameters, bodies, answers. What it cannot know comes from one place, the
guard that every route passes (`backend.auth.route`): credentials and scopes, the statuses that can come, their
problems, headers and links. The committed copy is `backend/openapi.json`.
"""

import json
import warnings
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from backend.openapi import bounds, examples, links, reference, responses, security
from backend.openapi.operations import operations_of

COMMITTED = Path(__file__).resolve().parent.parent / "openapi.json"
Document = dict[str, Any]

ABOUT = """Issue tokenized real-world assets and keep them compliant.

**Credentials.** An access token of `POST /v1/auth/login` as `Authorization: Bearer …`, or an API key of
`POST /v1/orgs/{orgId}/api-keys` as `x-api-key` (or as the bearer). Sent together, both must be valid and the key's
scopes bind. Each operation names the scope it needs; a write scope does not imply read.

**Errors** are `application/problem+json` (RFC 9457). `instance` is the id of the request, also in `X-Request-Id`. They
are looked for in this order: credential (401), organization and role (403), scope (403), the request itself (400, 413,
415, 422), the resource (404), its state (409). A body of more than 1 MiB is a 413, whatever the method. A body of
more than 64 KiB needs a valid credential, also where the operation asks for none (401).

**Lists** are newest first: `limit` (50, at most 100) and `cursor`, the `nextCursor` of the page before.

**Asynchronous operations** answer 202 with a `requestId` and a `Location`; follow it for the steps and their
transactions. `Idempotency-Key` on POST and PATCH makes a repetition harmless for 24 hours.

**Numbers.** Token amounts are decimal strings of base units; counts, levels, endpoint ids and times are whole numbers.
"""


def document(api: FastAPI) -> Document:
    """The document of an application."""
    with warnings.catch_warnings():
        # An endpoint that takes two methods has one name; `operations_of` gives the second its own.
        warnings.filterwarnings("ignore", message="Duplicate Operation ID")
        made = get_openapi(title=api.title, version=api.version, description=ABOUT, routes=api.routes)
    operations = operations_of(api, made)
    for operation in operations:
        bounds.add_named(operation)
        security.describe(operation)
        responses.describe(operation)
    bounds.describe(made)
    links.describe(operations)
    responses.prune(made)
    examples.describe(made)
    security.describe_schemes(made)
    return {
        "openapi": made["openapi"],
        "info": made["info"] | {"license": {"name": "MIT", "identifier": "MIT"}},
        "servers": [{"url": "/", "description": "Where this document was read."}],
        "tags": [{"name": name} for name in dict.fromkeys(t for o in operations for t in o.tags)],
        "paths": made["paths"],
        "components": made["components"],
    }


def text(made: Document) -> str:
    """The document as the committed copy holds it."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def install(api: FastAPI) -> None:
    """Serve the document and its page, to everybody."""

    def made() -> Document:
        if api.openapi_schema is None:
            api.openapi_schema = document(api)
        return api.openapi_schema

    api.openapi = made  # type: ignore[method-assign]
    reference.install(api)
