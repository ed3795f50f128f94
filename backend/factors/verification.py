"""Verification of a second factor: a code of an app, a recovery code, or a passkey."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlmodel import col

from backend.auth.secrets import digest
from backend.core.db import Write, now
from backend.core.encryption import SECRETS, CannotUnseal
from backend.factors import passkeys, rules
from backend.factors.models import FactorRow, RecoveryCodeRow
from backend.factors.schemas import FactorKind
from backend.limits.rate_limits import Guesses

log = structlog.get_logger()
WRONG_CODE = "The code is incorrect, has expired, or was already used."
WRONG_PASSKEY = "This passkey is not registered to your account, or its response is invalid. Try again."


async def has_factor(session: Write, user_id: UUID) -> bool:
    """Return whether a person has an active second factor."""
    return bool(await session.scalar(sa.text("select signum_has_factor(:person)"), {"person": user_id}))


async def check(
    session: Write, user_id: UUID, guesses: Guesses, *, code: str | None = None, credential: Any = None
) -> bool:
    """Verify a proof; a code and a passkey response work once. 429 where `guesses` are exhausted.

    Recovery codes and passkeys cannot be guessed, so they work after any number of wrong codes. The transaction sees
    the person (`see_oneself`). Their factors are locked, so that concurrent guesses are counted one after another.
    """
    rows = await _locked(session, user_id)
    if credential is None and rules.recovery_text(code or "") is None:
        await guesses.check()
    if credential is not None:
        is_right = await passkeys.verify(session, user_id, rows, credential)
    else:
        is_right = await _takes(session, user_id, rows, code or "")
    if not is_right:
        await guesses.hit()
    return is_right


async def _locked(session: Write, user_id: UUID) -> Sequence[FactorRow]:
    query = sa.select(FactorRow).where(col(FactorRow.user_id) == user_id, col(FactorRow.confirmed_at).is_not(None))
    return (await session.scalars(query.order_by(col(FactorRow.id)).with_for_update())).all()


async def _takes(session: Write, user_id: UUID, rows: Sequence[FactorRow], code: str) -> bool:
    for row in rows:
        if row.kind is FactorKind.TOTP and take_code(row, code):
            return True
    return bool(rows) and await _take_recovery_code(session, user_id, code)


def take_code(row: FactorRow, code: str) -> bool:
    """Return whether a code is valid for an app now; that code and earlier ones are then refused."""
    try:
        secret = SECRETS.unseal_text(row.sealed or "", str(row.id))
    except CannotUnseal:  # its data key is gone: recovery codes and passkeys still work
        log.warning("factor.not_opened", factor=str(row.id))
        return False
    step = rules.matching_step(secret, code, now(), row.last_step)
    if step is None:
        return False
    row.last_step, row.last_used_at = step, now()
    return True


async def _take_recovery_code(session: Write, user_id: UUID, code: str) -> bool:
    text = rules.recovery_text(code)
    if text is None:
        return False
    used = sa.update(RecoveryCodeRow).where(
        col(RecoveryCodeRow.user_id) == user_id,
        col(RecoveryCodeRow.code_hash) == digest(text),
        col(RecoveryCodeRow.used_at).is_(None),
    )
    return (await session.scalar(used.values(used_at=now()).returning(col(RecoveryCodeRow.id)))) is not None
