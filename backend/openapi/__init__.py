"""The API's OpenAPI 3.1 document, and the reference page generated from it.

FastAPI derives paths, parameters, bodies and responses from signatures. Everything else comes from the guard that every
route passes (`backend.auth.guard`): credentials and scopes, possible statuses, their problems, headers and links. The
committed copy is `backend/openapi.json`.
"""

import json
import warnings
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from backend.openapi import bounds, examples, links, reference, responses, security, titles, webhooks
from backend.openapi.operations import operations_of

COMMITTED = Path(__file__).resolve().parent.parent / "openapi.json"
Document = dict[str, Any]
SERVER = "The server of this document, in production, staging or on a local machine."

ABOUT = """Issue tokenized real-world assets and keep them compliant.

**Credentials.** An access token of `POST /v1/auth/login` as `Authorization: Bearer …`, or an API key of
`POST /v1/orgs/{orgId}/api-keys` as `x-api-key` (or as the bearer). If both are sent, both must be valid, and the
key's scopes apply. Each operation names the scope it needs; a write scope does not imply read.

**Errors** are `application/problem+json` (RFC 9457). `instance` is the ID of the request, also in `X-Request-Id`.
A request is checked in this order: credential (401), organization and role (403), scope (403), the request itself
(400, 413, 415), the version of its record (412), the body's fields (422), the resource (404), its state (409). A
refusal that a call resolves names it as `resolution`: its `path` is relative to the API's base address, which ends with
`/v1`; `href` is the absolute address. A body of more than 1 MiB is a 413 for every method. A body of more than 64 KiB
needs a valid credential, even where the operation requires none (401).

**Lists** are newest first: `limit` (50, at most 100) and `cursor`, the `nextCursor` of the previous page. `q` finds
part of a name, symbol, title or email, and from 4 characters the beginning of an ID, address or hash; `%` and `_` stand
for themselves. `sort` and `order` are there where an index supports them, as are `created_after`, `created_before` and
`updated_after`. A cursor is valid for the path, sort and order that it was made with. `count=estimated` adds
`estimatedCount`, exact up to 10,000; otherwise nothing is counted. An invalid value, or one of these parameters on a
list that lacks it, is a 422. Every list is also CSV: its path with `.csv` takes the same filters and order, and returns
all records in one stream.

**Asynchronous operations** return 202 with a `requestId` and a `Location`. Stream or poll that request for its steps
and transactions, stream the organization's events, or receive webhooks (`webhooks` of this document).
`Idempotency-Key` on POST and PATCH makes retries safe for 24 hours.

**Concurrent edits.** The `ETag` of a record is its version. An operation on the record that sends it as `If-Match` is a
412 if someone has changed the record since, also while a request waits for a second person.

**Numbers.** Token amounts are decimal strings of base units. Counts, levels and endpoint IDs are whole numbers. An
endpoint ID (`chain_eid`) is LayerZero's number of a chain. Times are RFC 3339 in UTC, but `lockup_end_time` is Unix
seconds.
"""


def document(api: FastAPI) -> Document:
    """Return the document of an application."""
    with warnings.catch_warnings():
        # An endpoint with two methods has one name; `operations_of` gives the second its own.
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
    events = webhooks.describe(made["components"])
    bounds.complete(made)
    examples.describe(made)
    security.describe_schemes(made)
    return {
        "openapi": made["openapi"],
        "info": made["info"] | {"license": {"name": "MIT", "identifier": "MIT"}},
        "servers": [{"url": "/", "description": SERVER, "x-internal": False}],
        "tags": [_chapter(name) for name in dict.fromkeys(t for o in operations for t in o.tags)],
        "paths": made["paths"],
        "webhooks": events,
        "components": made["components"],
    }


def _chapter(name: str) -> dict[str, str]:
    return {"name": name, "description": titles.CHAPTERS.get(name, "")}


def text(made: Document) -> str:
    """Return the document in the form of the committed copy."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def install(api: FastAPI) -> None:
    """Serve the document and its page, without authentication."""

    def made() -> Document:
        if api.openapi_schema is None:
            api.openapi_schema = document(api)
        return api.openapi_schema

    api.openapi = made  # type: ignore[method-assign]
    reference.install(api)
