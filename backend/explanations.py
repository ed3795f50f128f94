"""`GET /v1/errors/{slug}`: what each error type means. The addresses in `type` lead here."""

from typing import Annotated

from fastapi import APIRouter, Path

from backend.errors import NotFound
from backend.status.schemas import ErrorType

router = APIRouter(prefix="/errors", tags=["Status"])


TYPES = {
    t.slug: t
    for t in (
        ErrorType(
            slug="insufficient-scope",
            title="Forbidden",
            status=403,
            explanation="The credential is valid, but the operation needs a scope it lacks.",
            resolution="Use a key with the scope that `scope` names. A write scope does not imply read.",
        ),
        ErrorType(
            slug="second-factor-needed",
            title="Second factor needed",
            status=401,
            explanation="Email and password are right, and the account has a second factor.",
            resolution="Repeat the sign-in with `code`: six digits of the authenticator app, or a recovery code.",
        ),
        ErrorType(
            slug="fresh-factor-needed",
            title="Fresh second factor needed",
            status=403,
            explanation="The operation is sensitive: the second factor must have been shown within the last 5 minutes.",
            resolution="Confirm it by POST /v1/auth/factors/verify, then repeat the operation.",
        ),
        ErrorType(
            slug="second-factor-required",
            title="Second factor required",
            status=403,
            explanation="The organization, or one above it, requires a second factor of its people.",
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
            explanation="Something has to be true first; `prerequisites` has all of it, in order.",
            resolution="Make the call that `resolution` of each unsatisfied entry names, then repeat the operation.",
        ),
        ErrorType(
            slug="conflict",
            title="Conflict",
            status=409,
            explanation="The operation does not fit the state the resource is in now.",
            resolution="Read the resource again; `detail` says which state stands in the way.",
        ),
        ErrorType(
            slug="idempotency-conflict",
            title="Idempotency key in use",
            status=409,
            explanation="409: the first request with this key still runs. 422: the key came with another body before.",
            resolution="409: repeat in a moment with the same key. 422: take a new key for a new request.",
        ),
    )
}


@router.get("/{slug}")
async def explain_error(slug: Annotated[str, Path(max_length=60)]) -> ErrorType:
    """An error type in words."""
    if slug not in TYPES:
        raise NotFound("There is no such error type.")
    return TYPES[slug]
