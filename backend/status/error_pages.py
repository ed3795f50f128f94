"""`GET /v1/errors/{slug}`: the meaning of each error type. The addresses in `type` point here."""

from typing import Annotated

from fastapi import APIRouter, Path

from backend.core.errors import NotFound
from backend.status.schemas import ErrorType

# Declared at import.
router = APIRouter(prefix="/errors", tags=["Status"])


TYPES = {
    t.slug: t
    for t in (
        ErrorType(
            slug="insufficient-scope",
            title="Forbidden",
            status=403,
            explanation="The credential is valid, but the operation needs a scope it lacks.",
            resolution="Use a key with the scope in `scope`. A write scope does not include read.",
        ),
        ErrorType(
            slug="second-factor-needed",
            title="Second factor needed",
            status=401,
            explanation="Email and password are correct, and the account requires a second factor.",
            resolution="Sign in again with `code`: six digits of the authenticator app, or a recovery code.",
        ),
        ErrorType(
            slug="fresh-factor-needed",
            title="Fresh second factor needed",
            status=403,
            explanation="The operation is sensitive: it requires a second-factor check within the last 5 minutes.",
            resolution="Verify it by POST /v1/auth/factors/verify, then repeat the operation.",
        ),
        ErrorType(
            slug="second-factor-required",
            title="Second factor required",
            status=403,
            explanation="The organization, or one above it, requires a second factor.",
            resolution="Set one up by POST /v1/auth/factors/totp, or add a passkey in the console.",
        ),
        ErrorType(
            slug="ip-address-not-allowed",
            title="IP address not allowed",
            status=403,
            explanation="The API key, the organization, or one above it lists allowed IP ranges without your address.",
            resolution="Use an allowed address, or have an admin at an allowed address add yours to allowed_ip_ranges.",
        ),
        ErrorType(
            slug="prerequisites-not-met",
            title="Prerequisites not met",
            status=409,
            explanation="Prerequisites are not met; `prerequisites` lists all of them, in order.",
            resolution="Make the call that `resolution` of each unsatisfied entry names, then repeat the operation.",
        ),
        ErrorType(
            slug="conflict",
            title="Conflict",
            status=409,
            explanation="The operation conflicts with the resource's current state.",
            resolution="Read the resource again; `detail` names the conflicting state.",
        ),
        ErrorType(
            slug="events-expired",
            title="The events after this ID are not available",
            status=410,
            explanation="More than 100,000 changes were made since the event, or its ID is from another database.",
            resolution="Open the stream without Last-Event-ID, then read the resources that you follow again.",
        ),
        ErrorType(
            slug="version-mismatch",
            title="The record has changed",
            status=412,
            explanation="The record has changed since you read it. Its version is now `etag`.",
            resolution="Read the record, apply your change to it, then repeat the operation with its ETag as If-Match.",
        ),
        ErrorType(
            slug="version-required",
            title="The change must name the version it was made for",
            status=428,
            explanation="The organization requires If-Match for compliance rules (`require_if_match`).",
            resolution="Read the asset, then repeat the operation with its ETag as If-Match.",
        ),
        ErrorType(
            slug="idempotency-conflict",
            title="Idempotency key in use",
            status=409,
            explanation=(
                "409: the first request with this key is still running. 422: the key was used with a different body."
            ),
            resolution="409: repeat later with the same key. 422: use a new key for a new request.",
        ),
    )
}


@router.get("/{slug}")
async def explain_error(slug: Annotated[str, Path(max_length=60)]) -> ErrorType:
    """Explain an error type."""
    if slug not in TYPES:
        raise NotFound("This error type does not exist.")
    return TYPES[slug]
