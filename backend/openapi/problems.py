"""The errors of the document: a schema and a response for every status the handlers can answer with."""

from http import HTTPStatus
from typing import Any

REF = "#/components/schemas/"
_INSTANCE = "urn:uuid:019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21"


def _extended(description: str, required: list[str], properties: dict[str, Any]) -> dict[str, Any]:
    extension = {"type": "object", "required": required, "properties": properties}
    return {"description": description, "allOf": [{"$ref": REF + "Problem"}, extension]}


_FINDING = {
    "type": "object",
    "required": ["pointer", "detail"],
    "properties": {
        "pointer": {"type": "string", "description": "JSON pointer into the body."},
        "detail": {"type": "string"},
    },
}
_PREREQUISITE = {
    "type": "object",
    "required": ["state", "satisfied", "detail", "resolution"],
    "properties": {
        "state": {"type": "string"},
        "satisfied": {"type": "boolean"},
        "detail": {"type": "string"},
        "resolution": {"$ref": REF + "Resolution"},
    },
}

SCHEMAS: dict[str, Any] = {
    "Problem": {
        "type": "object",
        "description": "RFC 9457. `type` is `about:blank` for generic errors, else an address that explains the type.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference"},
            "title": {"type": "string"},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string"},
            "instance": {"type": "string", "format": "uri", "description": "Id of the request."},
        },
    },
    "FieldsProblem": _extended(
        "What is wrong with which fields; the input is never echoed.",
        ["errors"],
        {"errors": {"type": "array", "items": _FINDING}},
    ),
    "ScopeProblem": _extended("The credential lacks a scope.", ["scope"], {"scope": {"$ref": REF + "Scope"}}),
    "RuleProblem": _extended(
        "A rule about second factors, proofs or IP addresses refuses; `resolution` is the call that satisfies it.",
        ["rule", "resolution"],
        {
            "rule": {
                "type": "string",
                "enum": ["second_factor", "fresh_factor", "fresh_proof", "second_factor_required", "ip_address"],
            },
            "resolution": {"$ref": REF + "Resolution"},
            "address": {
                "type": ["string", "null"],
                "description": "`ip_address` only: the caller's IP address as Signum sees it.",
            },
        },
    ),
    "PrerequisitesProblem": _extended(
        "States that have to be true first, satisfied ones too, and their order.",
        ["prerequisites", "dependencyChain"],
        {
            "prerequisites": {"type": "array", "items": _PREREQUISITE},
            "dependencyChain": {"type": "array", "items": {"type": "string"}},
        },
    ),
    "RulesProblem": _extended(
        "The rules of token and market that refuse.",
        ["rules"],
        {"rules": {"type": "array", "items": {"$ref": REF + "RuleVerdict"}}},
    ),
}

HEADERS: dict[str, Any] = {
    "X-Request-Id": {"description": "Id of this request, for support.", "schema": {"type": "string", "format": "uuid"}},
    "RateLimit-Policy": {
        "description": "Quota and window in seconds of the limit that counts here (IETF draft).",
        "schema": {"type": "string", "examples": ['"default";q=25;w=1']},
    },
    "RateLimit": {
        "description": "What is left of the quota, and the seconds until it is whole again.",
        "schema": {"type": "string", "examples": ['"default";r=24;t=1']},
    },
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {
        "description": "RFC 6750: `Bearer`, with `invalid_token`, or `insufficient_scope` and `scope`.",
        "schema": {"type": "string", "examples": ['Bearer error="insufficient_scope", scope="assets:write"']},
    },
    "Location": {
        "description": "Path of what was made; after a 202 of the request that does the work.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "Idempotency-Replayed": {
        "description": "`true` where this is the stored answer to an earlier request with the same key.",
        "schema": {"type": "string", "const": "true"},
    },
}


def _example(status: int, detail: str, slug: str = "", title: str = "", **extensions: Any) -> dict[str, Any]:
    kind = f"http://localhost:8000/v1/errors/{slug}" if slug else "about:blank"
    plain = {"type": kind, "title": title or HTTPStatus(status).phrase, "status": status, "detail": detail}
    return {"value": plain | {"instance": _INSTANCE} | extensions}


def _response(
    description: str, kinds: list[str], examples: dict[str, Any], headers: tuple[str, ...] = ()
) -> dict[str, Any]:
    refs = [{"$ref": REF + kind} for kind in kinds]
    content = {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}, "examples": examples}
    told = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *headers)}
    return {"description": description, "headers": told, "content": {"application/problem+json": content}}


_STATE = {
    "state": "party_verified",
    "satisfied": False,
    "detail": "Marta Lindqvist is not verified.",
    "resolution": {
        "method": "POST",
        "path": "/v1/identity/parties/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21/verify",
        "description": "Verify the party.",
    },
}

RESPONSES: dict[int, tuple[str, dict[str, Any]]] = {
    400: (
        "BadRequest",
        _response(
            "The request cannot be read, or is well formed but impossible.",
            ["FieldsProblem", "Problem"],
            {
                "impossible": _example(
                    400,
                    "The new parent lies below the organization that would move.",
                    errors=[{"pointer": "/newParentId", "detail": "The new parent lies below the organization."}],
                ),
                "unreadable": _example(400, "The body is not valid JSON."),
            },
        ),
    ),
    401: (
        "Unauthorized",
        _response(
            "No valid credential, or the account has a second factor and the sign-in came without it.",
            ["RuleProblem", "Problem"],
            {
                "missing": _example(401, "A valid credential is required."),
                "factor": _example(
                    401,
                    "This account has a second factor. Sign in with a code of it too.",
                    "second-factor-needed",
                    "Second factor needed",
                    rule="second_factor",
                    resolution={
                        "method": "POST",
                        "path": "/v1/auth/login",
                        "description": "Repeat the sign-in with `code`.",
                    },
                ),
            },
            ("WWW-Authenticate",),
        ),
    ),
    403: (
        "Forbidden",
        _response(
            "The organization is not the caller's, the role does not allow it, the credential lacks the scope, a "
            "second factor or a fresh proof is needed, or the caller's IP address is not allowed.",
            ["ScopeProblem", "RuleProblem", "Problem"],
            {
                "scope": _example(
                    403, "The credential lacks the scope assets:write.", "insufficient-scope", scope="assets:write"
                ),
                "organization": _example(403, "This organization is not yours, or does not exist."),
                "factor": _example(
                    403,
                    "This needs your second factor, confirmed within the last 5 minutes.",
                    "fresh-factor-needed",
                    "Fresh second factor needed",
                    rule="fresh_factor",
                    resolution={
                        "method": "POST",
                        "path": "/v1/auth/factors/verify",
                        "description": "Confirm a second factor, then repeat the request.",
                    },
                ),
                "proof": _example(
                    403,
                    "This needs a proof from the last 5 minutes that it is you: your password, or a wallet's signature "
                    "if you have no password.",
                    "fresh-proof-needed",
                    "Fresh proof needed",
                    rule="fresh_proof",
                    resolution={
                        "method": "POST",
                        "path": "/v1/auth/factors/verify",
                        "description": "Send your password or a wallet's signature, then repeat the request.",
                    },
                ),
            },
            ("WWW-Authenticate",),
        ),
    ),
    404: (
        "NotFound",
        _response(
            "There is nothing under this id in the organization.",
            ["Problem"],
            {"missing": _example(404, "There is no such asset in this organization.")},
        ),
    ),
    409: (
        "Conflict",
        _response(
            "The state stands in the way, a prerequisite is missing, or the first request with this key still runs.",
            ["PrerequisitesProblem", "RulesProblem", "Problem"],
            {
                "prerequisites": _example(
                    409,
                    "Not satisfied yet: party_verified.",
                    "prerequisites-not-met",
                    "Prerequisites not met",
                    prerequisites=[_STATE],
                    dependencyChain=["party_verified"],
                ),
                "conflict": _example(409, "The asset is updating; it can be changed when it is active.", "conflict"),
            },
        ),
    ),
    413: (
        "PayloadTooLarge",
        _response(
            "The body has more than 1 MiB.",
            ["Problem"],
            {"large": _example(413, "A body has at most 1048576 bytes.", title="Content Too Large")},
        ),
    ),
    415: (
        "UnsupportedMediaType",
        _response(
            "The body is of another type than the operation takes.",
            ["Problem"],
            {"type": _example(415, "This operation takes application/json.")},
        ),
    ),
    422: (
        "Invalid",
        _response(
            "The body does not fit its schema, or this Idempotency-Key came with another body before.",
            ["FieldsProblem", "Problem"],
            {
                "fields": _example(
                    422,
                    "The request body does not fit its schema.",
                    title="Unprocessable Content",
                    errors=[{"pointer": "/name", "detail": "Field required"}],
                ),
                "key": _example(
                    422,
                    "This key came with another body before.",
                    "idempotency-conflict",
                    "This idempotency key was used with another request body",
                ),
            },
        ),
    ),
    429: (
        "TooManyRequests",
        _response(
            "The rate limit is reached.",
            ["Problem"],
            {"limit": _example(429, "Rate limit exceeded; try again in 1 s.")},
            ("Retry-After", "RateLimit-Policy", "RateLimit"),
        ),
    ),
    500: (
        "Fault",
        _response(
            "A fault of ours.",
            ["Problem"],
            {"fault": _example(500, "An unexpected fault. Tell support the instance of this problem.")},
        ),
    ),
    503: (
        "Unavailable",
        _response(
            "A chain or the database does not answer now.",
            ["Problem"],
            {
                "database": _example(503, "The database does not answer now; try again."),
                "chain": _example(503, "The node of the chain 40161 limits the rate of calls."),
            },
            ("Retry-After",),
        ),
    ),
}
"""Name and content of the response of each status; others carry a bare Problem."""
