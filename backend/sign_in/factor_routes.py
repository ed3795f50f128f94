"""`/v1/auth/factors`: the second factors of the signed-in person."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Response, status

from backend.auth.guard import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.factors.schemas import (
    EnrolmentStart,
    FactorAdded,
    FactorList,
    FactorProof,
    FreshFactor,
    PasskeyOptions,
    PasskeyRegistration,
    RecoveryCodes,
    TotpConfirmation,
    TotpEnrolment,
)
from backend.lists.pages import SHORT, Page
from backend.sign_in import factors

# Declared at import.
router = APIRouter(prefix="/auth/factors", tags=["Sign-in"], route_class=GuardedRoute)


@router.get("")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_factors(context: Current, page: Annotated[Page, Depends(SHORT.page)]) -> FactorList:
    """List the second factors of the signed-in person."""
    found = await factors.listed(context)
    return found.model_copy(update={"factors": page.kept(found.factors)})


@router.post("/totp", status_code=status.HTTP_201_CREATED)
@requires(organization=ANY_ORGANIZATION, person=True)
async def begin_totp(context: Current, body: EnrolmentStart, response: Response) -> TotpEnrolment:
    """Start the setup of an authenticator app.

    The first factor requires the account's password, or in an account without a password a message signed by one of its
    wallets (`wallet`). Further factors require a fresh second factor. The app becomes active when POST
    /v1/auth/factors/totp/confirm receives one of its codes within 15 minutes.
    """
    response.headers["Cache-Control"] = "no-store"
    return await factors.begin_totp(context, body)


@router.post("/totp/confirm", status_code=status.HTTP_201_CREATED)
@requires(organization=ANY_ORGANIZATION, person=True)
async def confirm_totp(context: Current, body: TotpConfirmation, response: Response) -> FactorAdded:
    """Confirm an authenticator app with a code. The fifth wrong code ends the setup.

    The first factor comes with recovery codes, and ends every other session of the person.
    """
    response.headers["Cache-Control"] = "no-store"
    return await factors.confirm_totp(context, body)


@router.post("/passkeys/options")
@requires(organization=ANY_ORGANIZATION, person=True)
async def begin_passkey(context: Current, body: EnrolmentStart, response: Response) -> PasskeyOptions:
    """Start to add a passkey: return options for `navigator.credentials.create`.

    The first factor requires the account's password, or in an account without a password a message signed by one of its
    wallets (`wallet`). Further factors require a fresh second factor.
    """
    response.headers["Cache-Control"] = "no-store"
    return await factors.passkey_options(context, body)


@router.post("/passkeys", status_code=status.HTTP_201_CREATED, responses={409: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def add_passkey(context: Current, body: PasskeyRegistration, response: Response) -> FactorAdded:
    """Add a passkey with the authenticator's response.

    The first factor comes with recovery codes, and ends every other session of the person.
    """
    response.headers["Cache-Control"] = "no-store"
    return await factors.add_passkey(context, body)


@router.post("/challenge")
@requires(organization=ANY_ORGANIZATION, person=True)
async def challenge_factor(context: Current, response: Response) -> PasskeyOptions:
    """Request a passkey: return options for `navigator.credentials.get`. 400 where the person has none."""
    response.headers["Cache-Control"] = "no-store"
    return await factors.challenge(context)


@router.post("/verify")
@requires(organization=ANY_ORGANIZATION, person=True)
async def verify_factor(context: Current, body: FactorProof) -> FreshFactor:
    """Confirm the person's identity with a second factor, or without one by password or wallet.

    The proof is valid in this session for 5 minutes. Sensitive operations refuse a browser session without one (403).
    API keys and tokens are exempt.

    People with a second factor (rule `fresh_factor`) send a `code` or a passkey response (`credential`). A code works
    once. The tenth wrong code ends the session (401). People without one (rule `fresh_proof`) send the `password`, or
    in an account without a password a message signed by one of its wallets (`wallet`). For them, a sign-in is valid for
    5 minutes too.
    """
    return await factors.verify(context, body)


@router.post("/recovery-codes", status_code=status.HTTP_201_CREATED)
@requires(organization=ANY_ORGANIZATION, person=True)
async def renew_recovery_codes(context: Current, response: Response) -> RecoveryCodes:
    """Replace the recovery codes. Requires a fresh second factor. Earlier codes stop working."""
    response.headers["Cache-Control"] = "no-store"
    return await factors.renew_recovery_codes(context)


@router.delete("/{factorId:uuid}", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def remove_factor(context: Current, factorId: UUID) -> None:
    """Remove a second factor. Requires a fresh second factor."""
    await factors.remove(context, factorId)
