"""Headers of responses."""

from typing import Any

ETAG = '"9b74c9897bac770ffc029102a200c5de"'
"""An example of a version."""
HEADERS: dict[str, Any] = {
    "X-Request-Id": {
        "description": "ID of this request, for support.",
        "schema": {"type": "string", "format": "uuid", "maxLength": 36},
    },
    "RateLimit-Policy": {
        "description": "Quota and window in seconds of the limit that applies (IETF draft).",
        "schema": {"type": "string", "maxLength": 100, "examples": ['"default";q=25;w=1']},
    },
    "RateLimit": {
        "description": "Remaining quota, and the seconds until it is full again.",
        "schema": {"type": "string", "maxLength": 100, "examples": ['"default";r=24;t=1']},
    },
    "Retry-After": {
        "description": "Seconds to wait.",
        "schema": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 2**31 - 1},
    },
    "WWW-Authenticate": {
        "description": "RFC 6750: `Bearer`, with `invalid_token`, or `insufficient_scope` and `scope`.",
        "schema": {
            "type": "string",
            "maxLength": 1_000,
            "examples": ['Bearer error="insufficient_scope", scope="assets:write"'],
        },
    },
    "Location": {
        "description": "Path of the created object; after a 202, of the request that does the work.",
        "schema": {"type": "string", "format": "uri-reference", "maxLength": 2_000},
    },
    "ETag": {
        "description": "Version of the record; send it as `If-Match` with a change.",
        "schema": {"type": "string", "maxLength": 100, "examples": [ETAG]},
    },
    "Idempotency-Replayed": {
        "description": "`true` where this is the stored response to an earlier request with the same key.",
        "schema": {"type": "string", "const": "true"},
    },
}
