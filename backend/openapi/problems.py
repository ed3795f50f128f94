"""Errors of the document: a response for every status that the handlers can return."""

from http import HTTPStatus
from typing import Any

from backend.openapi.headers import ETAG
from backend.openapi.problem_schemas import REF

LIMITED = ("RateLimit-Policy", "RateLimit")
"""Headers of every response to a request that was counted."""
_INSTANCE = "urn:uuid:019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21"
_ASSET = "/orgs/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21/assets/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e22"

_ENABLE = "/orgs/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21/chains/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e24/enable"
_WALLET = "/orgs/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21/wallets/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e23"


def _example(status: int, detail: str, slug: str = "", title: str = "", **extensions: Any) -> dict[str, Any]:
    kind = f"http://localhost:8000/v1/errors/{slug}" if slug else "about:blank"
    plain = {"type": kind, "title": title or HTTPStatus(status).phrase, "status": status, "detail": detail}
    return {"value": plain | {"instance": _INSTANCE} | extensions}


def _response(
    description: str, kinds: list[str], examples: dict[str, Any], headers: tuple[str, ...] = ()
) -> dict[str, Any]:
    refs = [{"$ref": REF + kind} for kind in kinds]
    content = {"schema": refs[0] if len(refs) == 1 else {"anyOf": refs}, "examples": examples}
    referenced = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", *headers, *LIMITED)}
    return {"description": description, "headers": referenced, "content": {"application/problem+json": content}}


_STATE = {
    "state": "party_verified",
    "satisfied": False,
    "detail": "Marta Lindqvist is not verified.",
    "resolution": {
        "method": "POST",
        "path": "/identity/parties/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21/verify",
        "href": "http://localhost:8000/v1/identity/parties/019aa0f2-7c1e-7b3a-9d54-2f6f0c1b8e21/verify",
        "description": "Verify the party.",
    },
}

RESPONSES: dict[int, tuple[str, dict[str, Any]]] = {
    400: (
        "BadRequest",
        _response(
            "The request cannot be read, or is well-formed but impossible.",
            ["FieldsProblem", "ResolutionProblem", "Problem"],
            {
                "impossible": _example(
                    400,
                    "The new parent is below the organization that would move.",
                    errors=[{"pointer": "/newParentId", "detail": "The new parent is below the organization."}],
                ),
                "unreadable": _example(400, "The body is not valid JSON."),
                "chain": _example(
                    400,
                    "No chain is enabled. Enable one first.",
                    resolution={
                        "method": "POST",
                        "path": _ENABLE,
                        "href": f"http://localhost:8000/v1{_ENABLE}",
                        "description": "Enable Sepolia Devnet.",
                    },
                ),
            },
        ),
    ),
    401: (
        "Unauthorized",
        _response(
            "The credential is missing or invalid, or the sign-in lacks the account's second factor.",
            ["RuleProblem", "Problem"],
            {
                "missing": _example(401, "A valid credential is required."),
                "factor": _example(
                    401,
                    "This account has a second factor. Sign in with its code too.",
                    "second-factor-needed",
                    "Second factor needed",
                    rule="second_factor",
                    resolution={
                        "method": "POST",
                        "path": "/auth/login",
                        "href": "http://localhost:8000/v1/auth/login",
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
                "organization": _example(403, "This organization does not exist, or you are not a member."),
                "factor": _example(
                    403,
                    "This action needs a second factor that you confirmed within the last 5 minutes.",
                    "fresh-factor-needed",
                    "Fresh second factor needed",
                    rule="fresh_factor",
                    resolution={
                        "method": "POST",
                        "path": "/auth/factors/verify",
                        "href": "http://localhost:8000/v1/auth/factors/verify",
                        "description": "Confirm a second factor, then repeat the request.",
                    },
                ),
                "proof": _example(
                    403,
                    "This action needs proof of your identity from the last 5 minutes: your password, or a wallet "
                    "signature if you have no password.",
                    "fresh-proof-needed",
                    "Fresh proof needed",
                    rule="fresh_proof",
                    resolution={
                        "method": "POST",
                        "path": "/auth/factors/verify",
                        "href": "http://localhost:8000/v1/auth/factors/verify",
                        "description": "Send your password or a wallet signature, then repeat the request.",
                    },
                ),
            },
            ("WWW-Authenticate",),
        ),
    ),
    404: (
        "NotFound",
        _response(
            "No resource in the organization has this ID.",
            ["Problem"],
            {"missing": _example(404, "There is no asset with this ID in this organization.")},
        ),
    ),
    409: (
        "Conflict",
        _response(
            "The current state prevents it, a prerequisite is missing, or the first request with this key still runs.",
            ["PrerequisitesProblem", "RulesProblem", "ResolutionProblem", "Problem"],
            {
                "prerequisites": _example(
                    409,
                    "Not satisfied yet: party_verified.",
                    "prerequisites-not-met",
                    "Prerequisites not met",
                    prerequisites=[_STATE],
                    dependencyChain=["party_verified"],
                ),
                "funds": _example(
                    409,
                    'The wallet "Custody" holds 0 tUSD; the order needs 10.03 tUSD, fees included.',
                    "conflict",
                    resolution={
                        "method": "POST",
                        "path": f"{_WALLET}/test-funds",
                        "href": f"http://localhost:8000/v1{_WALLET}/test-funds",
                        "description": "Get test funds on the chain 40161: at least 10030000 base units.",
                        "body": {
                            "type": "object",
                            "required": ["chain_eid"],
                            "properties": {"chain_eid": {"const": 40161}},
                        },
                    },
                ),
                "conflict": _example(409, "The asset is updating. Retry when it is active.", "conflict"),
            },
        ),
    ),
    410: (
        "EventsExpired",
        _response(
            "The stream cannot resume after this `Last-Event-ID`. Open it without one, then read the resources again.",
            ["Problem"],
            {
                "expired": _example(
                    410,
                    "The stream cannot resume after this Last-Event-ID: too many changes were made since, or it is "
                    "from another database. Open the stream without it, then read the resources again.",
                    "events-expired",
                    "The events after this ID are not available",
                )
            },
        ),
    ),
    412: (
        "VersionMismatch",
        _response(
            "The record has changed since it was read; `etag` is its current version.",
            ["VersionProblem", "Problem"],
            {
                "changed": _example(
                    412,
                    f"The record has changed since you read it; its version is now {ETAG}. Read it, then send your "
                    "change again.",
                    "version-mismatch",
                    "The record has changed",
                    etag=ETAG,
                )
            },
            ("ETag",),
        ),
    ),
    413: (
        "PayloadTooLarge",
        _response(
            "The body has more than 1 MiB.",
            ["Problem"],
            {
                "large": _example(
                    413, "The body exceeds the 1048576 bytes that this operation accepts.", title="Content Too Large"
                )
            },
        ),
    ),
    415: (
        "UnsupportedMediaType",
        _response(
            "The operation does not accept the body's content type.",
            ["Problem"],
            {"type": _example(415, "This operation accepts application/json.")},
        ),
    ),
    422: (
        "Invalid",
        _response(
            "The body does not fit its schema, or this Idempotency-Key was used with a different body.",
            ["FieldsProblem", "Problem"],
            {
                "fields": _example(
                    422,
                    "The request body does not fit its schema.",
                    title="Unprocessable Content",
                    errors=[{"pointer": "/name", "detail": "is required"}],
                ),
                "key": _example(
                    422,
                    "This key was used with a different request body.",
                    "idempotency-conflict",
                    "This idempotency key was used with another request body",
                ),
            },
        ),
    ),
    428: (
        "VersionRequired",
        _response(
            "The organization requires `If-Match` for compliance rules.",
            ["RuleProblem", "Problem"],
            {
                "missing": _example(
                    428,
                    "This organization requires If-Match for compliance rules: the ETag of the asset you edited.",
                    "version-required",
                    "The change must name the version it was made for",
                    rule="if_match",
                    resolution={
                        "method": "GET",
                        "path": _ASSET,
                        "href": f"http://localhost:8000/v1{_ASSET}",
                        "description": "Read the asset, then repeat the request with its ETag as If-Match.",
                    },
                )
            },
        ),
    ),
    429: (
        "TooManyRequests",
        _response(
            "The rate limit is exceeded.",
            ["Problem"],
            {"limit": _example(429, "Rate limit exceeded. Retry in 1 s.")},
            ("Retry-After",),
        ),
    ),
    500: (
        "Fault",
        _response(
            "A server error.",
            ["Problem"],
            {
                "fault": _example(
                    500, "An unexpected error occurred. Contact support with the `instance` of this problem."
                )
            },
        ),
    ),
    503: (
        "Unavailable",
        _response(
            "A chain or the database does not respond.",
            ["Problem"],
            {
                "database": _example(503, "The database does not respond. Retry in a few seconds."),
                "chain": _example(503, "The node of the chain 40161 limits the rate of calls."),
            },
            ("Retry-After",),
        ),
    ),
}
"""Name and content of the response of each status; others have a plain Problem."""
