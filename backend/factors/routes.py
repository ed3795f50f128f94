"""`/v1/auth/factors`: the second factors of the signed-in person."""

from uuid import UUID

from fastapi import APIRouter, Response, status

from backend.auth.route import ANY_ORGANIZATION, Current, GuardedRoute, requires
from backend.factors import service
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

router = APIRouter(prefix="/auth/factors", tags=["Sign-in"], route_class=GuardedRoute)


@router.get("")
@requires(organization=ANY_ORGANIZATION, person=True)
async def list_factors(context: Current) -> FactorList:
    """List the second factors of the signed-in person."""
    return await service.listed(context)


@router.post("/totp", status_code=status.HTTP_201_CREATED)
@requires(organization=ANY_ORGANIZATION, person=True)
async def begin_totp(context: Current, body: EnrolmentStart, response: Response) -> TotpEnrolment:
    """Begin to set up an authenticator app.

    The first factor needs the account's password, or in an account without one a message that a wallet of the account
    has signed (`wallet`). Any other factor needs a fresh one. The app counts once POST /v1/auth/factors/totp/confirm
    has had a code of it, within 15 minutes.
    """
    response.headers["Cache-Control"] = "no-store"
    return await service.begin_totp(context, body)


@router.post("/totp/confirm", status_code=status.HTTP_201_CREATED)
@requires(organization=ANY_ORGANIZATION, person=True)
async def confirm_totp(context: Current, body: TotpConfirmation, response: Response) -> FactorAdded:
    """Confirm an authenticator app by a code it shows. The fifth wrong code ends the set-up.

    The first factor comes with recovery codes, and ends every other session of the person.
    """
    response.headers["Cache-Control"] = "no-store"
    return await service.confirm_totp(context, body)


@router.post("/passkeys/options")
@requires(organization=ANY_ORGANIZATION, person=True)
async def begin_passkey(context: Current, body: EnrolmentStart, response: Response) -> PasskeyOptions:
    """Begin to add a passkey: options for `navigator.credentials.create`.

    The first factor needs the account's password, or in an account without one a message that a wallet of the account
    has signed (`wallet`). Any other factor needs a fresh one.
    """
    response.headers["Cache-Control"] = "no-store"
    return await service.passkey_options(context, body)


@router.post("/passkeys", status_code=status.HTTP_201_CREATED, responses={409: {}})
@requires(organization=ANY_ORGANIZATION, person=True)
async def add_passkey(context: Current, body: PasskeyRegistration, response: Response) -> FactorAdded:
    """Add a passkey by the authenticator's answer.

    The first factor comes with recovery codes, and ends every other session of the person.
    """
    response.headers["Cache-Control"] = "no-store"
    return await service.add_passkey(context, body)


@router.post("/challenge")
@requires(organization=ANY_ORGANIZATION, person=True)
async def challenge_factor(context: Current, response: Response) -> PasskeyOptions:
    """Ask for a passkey: options for `navigator.credentials.get`. 400 where the person has none."""
    response.headers["Cache-Control"] = "no-store"
    return await service.challenge(context)


@router.post("/verify")
@requires(organization=ANY_ORGANIZATION, person=True)
async def verify_factor(context: Current, body: FactorProof) -> FreshFactor:
    """Confirm that it is the person: by a second factor, or without one by password or wallet.

    The proof counts in this session for 5 minutes. Sensitive operations refuse a browser's session without one (403).
    API keys and programs are not asked.

    People with a second factor (rule `fresh_factor`) send a `code` or a passkey's answer (`credential`). A code works
    once. The tenth wrong one ends the session (401). Everybody else (rule `fresh_proof`) sends the `password`, or in an
    account without a password a message that a wallet of the account has signed (`wallet`). For them a sign-in counts
    for 5 minutes too.
    """
    return await service.verify(context, body)


@router.post("/recovery-codes", status_code=status.HTTP_201_CREATED)
@requires(organization=ANY_ORGANIZATION, person=True)
async def renew_recovery_codes(context: Current, response: Response) -> RecoveryCodes:
    """Replace the recovery codes. Needs a fresh factor; the codes from before stop working."""
    response.headers["Cache-Control"] = "no-store"
    return await service.renew_recovery_codes(context)


@router.delete("/{factorId:uuid}", status_code=status.HTTP_204_NO_CONTENT)
@requires(organization=ANY_ORGANIZATION, person=True)
async def remove_factor(context: Current, factorId: UUID) -> None:
    """Remove a second factor. Needs a fresh factor."""
    await service.remove(context, factorId)
