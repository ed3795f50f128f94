"""The signed-in person's second factors: list, add, remove, verify."""

from datetime import datetime
from typing import Any, Literal, NoReturn
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import freshness
from backend.auth.credential_owners import Person
from backend.auth.models import SessionRow
from backend.auth.principal import Context
from backend.auth.secrets import digest
from backend.core.db import Write, new_id, now, see_oneself, transaction
from backend.core.encryption import SECRETS
from backend.core.errors import BadRequest, Conflict, NotFound, TooManyRequests, Unauthenticated
from backend.factors import passkeys, rules, verification
from backend.factors.models import FactorRow, RecoveryCodeRow
from backend.factors.schemas import (
    EnrolmentStart,
    Factor,
    FactorAdded,
    FactorKind,
    FactorList,
    FactorProof,
    FreshFactor,
    PasskeyOptions,
    PasskeyRegistration,
    RecoveryCodes,
    TotpConfirmation,
    TotpEnrolment,
)
from backend.limits.rate_limits import Guesses
from backend.sign_in import proofs
from backend.sign_in.account_events import publish_account_change
from backend.sign_in.service import end, revoke_alone

MOST = 20
"""Maximum factors of one person."""
NO_FACTOR = "This account has no second factor. Send its password; if it has none, a wallet signature."


async def listed(context: Context) -> FactorList:
    """Return the person's factors, oldest first."""
    person = context.require_person()
    rows = await _confirmed(context.session, person.user_id)
    unused = sa.select(sa.func.count()).where(
        col(RecoveryCodeRow.user_id) == person.user_id, col(RecoveryCodeRow.used_at).is_(None)
    )
    left = int(await context.session.scalar(unused) or 0)
    proven_at = person.confirmed_at
    fresh = proven_at + freshness.FRESH if proven_at and freshness.is_fresh(proven_at, now()) else None
    return FactorList(factors=[Factor.model_validate(row) for row in rows], recovery_codes_left=left, fresh_until=fresh)


async def begin_totp(context: Context, body: EnrolmentStart) -> TotpEnrolment:
    """Create a secret for an authenticator app. An unconfirmed earlier one is deleted."""
    person = await _may_add(context, body)
    begun = (col(FactorRow.user_id) == person.user_id, col(FactorRow.confirmed_at).is_(None))
    await context.session.execute(sa.delete(FactorRow).where(*begun))
    secret, row_id = rules.new_secret(), new_id()
    sealed = SECRETS.seal_text(secret, str(row_id))
    context.session.add(
        FactorRow(id=row_id, user_id=person.user_id, kind=FactorKind.TOTP, name="Authenticator app", sealed=sealed)
    )
    return TotpEnrolment(secret=secret, otpauth_uri=rules.otpauth_uri(secret, person.email or person.display_name))


async def confirm_totp(context: Context, body: TotpConfirmation) -> FactorAdded:
    """Activate an app with one of its codes; 400 for a wrong code, and where no setup was started in the last 15
    minutes.

    The fifth wrong code ends the setup, so that a stolen session cannot keep guessing while the owner sets up the app.
    """
    person = context.require_person()
    query = sa.select(FactorRow).where(
        col(FactorRow.user_id) == person.user_id,
        col(FactorRow.kind) == FactorKind.TOTP,
        col(FactorRow.confirmed_at).is_(None),
        col(FactorRow.created_at) > now() - rules.ENROLMENT,
    )
    row: FactorRow | None = await context.session.scalar(query.with_for_update())
    if row is None:
        raise BadRequest("The setup has expired. Start again.")
    guesses = Guesses.of_set_up(row.id)
    if await guesses.are_spent():
        await _end_set_up(context.session, person.user_id, row.id)
    if not verification.take_code(row, body.code):
        await guesses.hit()
        if await guesses.are_spent():
            await _end_set_up(context.session, person.user_id, row.id)
        raise BadRequest("The code is incorrect. Check the app's code and the clock of its device.", pointer="/code")
    row.name, row.confirmed_at = body.name, now()
    return await _added(context, person, row)


async def _end_set_up(session: Write, user_id: UUID, factor_id: UUID) -> NoReturn:
    """Delete an unconfirmed app in a separate transaction, because the request fails; 400."""
    await session.rollback()  # releases its lock on the row
    async with transaction() as own:
        await see_oneself(own, user_id)
        begun = (col(FactorRow.id) == factor_id, col(FactorRow.confirmed_at).is_(None))
        await own.execute(sa.delete(FactorRow).where(*begun))
    raise BadRequest("The setup ended after 5 incorrect codes. Start again.")


async def passkey_options(context: Context, body: EnrolmentStart) -> PasskeyOptions:
    """Return options for a new passkey."""
    person = await _may_add(context, body)
    rows = await _confirmed(context.session, person.user_id)
    options = await passkeys.registration_options(
        context.session, person.user_id, person.email, person.display_name, rows
    )
    return PasskeyOptions(publicKey=options)


async def add_passkey(context: Context, body: PasskeyRegistration) -> FactorAdded:
    """Store a new passkey. The permission to add one was checked when its challenge was issued."""
    person = context.require_person()
    row = await passkeys.register(context.session, person.user_id, body.name, body.credential.model_dump())
    held = await _confirmed(context.session, person.user_id)
    if any(known.credential_id == row.credential_id for known in held):
        raise Conflict("This passkey is already registered to your account.")
    context.session.add(row)
    return await _added(context, person, row)


async def challenge(context: Context) -> PasskeyOptions:
    """Return options to verify a passkey."""
    options = await passkeys.assertion_options(context.session, context.require_person().user_id)
    return PasskeyOptions(publicKey=options)


async def verify(context: Context, body: FactorProof) -> FreshFactor:
    """Confirm a person in this session; 400 where the proof is wrong or not of the kind that their account needs."""
    person = context.require_person()
    if person.has_factor:
        await _check_factor(context, person, body)
        return FreshFactor(fresh_until=await _refresh(context.session, person.session_id, "factor_at"))
    if body.code is not None or body.credential is not None:
        raise BadRequest(NO_FACTOR)
    await proofs.check(context, body.password, body.wallet)
    return FreshFactor(fresh_until=await _refresh(context.session, person.session_id, "proven_at"))


async def _check_factor(context: Context, person: Person, body: FactorProof) -> None:
    """Check a code or a passkey response; 400 where it is wrong. The tenth wrong one ends the session (401)."""
    if body.password is not None or body.wallet is not None or (body.code is None) is (body.credential is None):
        raise BadRequest("Send either a code or a passkey response, and no other proof.")
    credential = body.credential.model_dump(exclude_none=True) if body.credential else None
    guesses = Guesses.in_session(person.session_id)
    try:
        is_right = await verification.check(
            context.session, person.user_id, guesses, code=body.code, credential=credential
        )
        are_spent = not is_right and await guesses.are_spent()
    except TooManyRequests:
        is_right, are_spent = False, True
    if are_spent:
        await context.session.rollback()  # the request fails, but the session's end must be committed
        await revoke_alone(person.session_id)
        raise Unauthenticated("This session ended after 10 incorrect codes. Sign in again.", code="invalid_token")
    if not is_right:
        pointer, words = (
            ("/code", verification.WRONG_CODE) if body.code else ("/credential", verification.WRONG_PASSKEY)
        )
        raise BadRequest(words, pointer=pointer)


async def remove(context: Context, factor_id: UUID) -> None:
    """Remove a factor. With the last one, the recovery codes are deleted too."""
    person = context.require_person()
    context.require_fresh_factor(by_token=True)
    rows = await _confirmed(context.session, person.user_id)
    row = next((r for r in rows if r.id == factor_id), None)
    if row is None:
        raise NotFound("You have no second factor with this ID.")
    await context.session.delete(row)
    if len(rows) == 1:
        mine = col(RecoveryCodeRow.user_id) == person.user_id
        await context.session.execute(sa.delete(RecoveryCodeRow).where(mine))
    await _publish(context, person, "user.factor_removed", before={"factor": row.name, "kind": row.kind})


async def renew_recovery_codes(context: Context) -> RecoveryCodes:
    """Replace the recovery codes; 409 where the person has no factor."""
    person = context.require_person()
    context.require_fresh_factor(by_token=True)
    if not person.has_factor:
        raise Conflict("Recovery codes come with a second factor. Set one up first.")
    codes = await _new_codes(context.session, person.user_id)
    await _publish(context, person, "user.recovery_codes_created", after={"recovery_codes": len(codes)})
    return RecoveryCodes(recovery_codes=codes)


async def _may_add(context: Context, body: EnrolmentStart) -> Person:
    """Return the person after a proof beyond the session: a factor, else their password or a wallet.

    A stolen session must not suffice to lock its owner out with the thief's factor.
    """
    person = context.require_person()
    await proofs.check(context, body.password, body.wallet)
    if len(await _confirmed(context.session, person.user_id)) >= MOST:
        raise Conflict(f"An account has at most {MOST} second factors. Remove one first.")
    return person


async def _added(context: Context, person: Person, row: FactorRow) -> FactorAdded:
    """Complete a new factor: it is fresh, and the first one ends every session that lacks it."""
    session, codes = context.session, None
    if not person.has_factor:
        codes = await _new_codes(session, person.user_id)
        others = (col(SessionRow.user_id) == person.user_id, col(SessionRow.id) != person.session_id)
        await end(session, *others, col(SessionRow.client_id).is_(None))
    await _refresh(session, person.session_id, "factor_at")
    await session.flush()
    await _publish(context, person, "user.factor_added", after={"factor": row.name, "kind": row.kind})
    return FactorAdded.model_validate(row).model_copy(update={"recovery_codes": codes})


async def _refresh(session: Write, session_id: UUID, column: Literal["factor_at", "proven_at"]) -> datetime:
    """Record that a session was confirmed now; return when that expires."""
    at = now()
    mine = sa.update(SessionRow).where(col(SessionRow.id) == session_id)
    await session.execute(mine.values({column: at}))
    return at + freshness.FRESH


async def _confirmed(session: Write, user_id: UUID) -> list[FactorRow]:
    query = sa.select(FactorRow).where(col(FactorRow.user_id) == user_id, col(FactorRow.confirmed_at).is_not(None))
    return list(await session.scalars(query.order_by(col(FactorRow.created_at), col(FactorRow.id))))


async def _new_codes(session: Write, user_id: UUID) -> list[str]:
    await session.execute(sa.delete(RecoveryCodeRow).where(col(RecoveryCodeRow.user_id) == user_id))
    codes = rules.new_recovery_codes()
    session.add_all(
        RecoveryCodeRow(user_id=user_id, code_hash=digest(rules.recovery_text(code) or "")) for code in codes
    )
    return codes


async def _publish(
    context: Context, person: Person, action: str, before: dict[str, Any] | None = None, after: Any = None
) -> None:
    await publish_account_change(context.session, person.user_id, action, ("user", person.user_id), before, after)
