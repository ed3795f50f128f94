"""Sign-in with a wallet (EIP-4361): a one-time nonce, valid for 5 minutes, and a message that the wallet signed."""

from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa

from backend.auth.models import OneTimeSecretRow
from backend.auth.principal import Context
from backend.auth.secrets import digest, nonce
from backend.core import locks
from backend.core.changes import proven
from backend.core.db import Write, now, see_oneself
from backend.core.errors import Conflict, SecondFactorNeeded, Unauthenticated
from backend.core.locks import Purpose
from backend.core.settings import settings
from backend.limits import rate_limits
from backend.limits.client_address import group
from backend.sign_in import linked_wallets, proofs, service
from backend.sign_in.account_events import publish_account_change
from backend.sign_in.schemas import SiweNonce, SiweVerify, Tokens
from backend.sign_in.siwe_message import SignInMessage
from backend.users.models import UserRow, UserWalletRow

LIFETIME = timedelta(minutes=5)


async def begin(session: Write) -> SiweNonce:
    """Return the required fields of a message."""
    value, expires_at = nonce(), now() + LIFETIME
    session.add(OneTimeSecretRow(purpose=proofs.PURPOSE, secret_hash=digest(value), expires_at=expires_at))
    origin = settings().origin
    return SiweNonce(
        nonce=value,
        domain=origin.partition("://")[2],
        uri=origin,
        chain_ids=await proofs.chain_ids(session),
        expires_at=expires_at,
    )


async def verify(context: Context, body: SiweVerify, agent: str) -> Tokens:
    """Sign in the owner of a wallet; 401 where the message is invalid, or no account has the wallet."""
    place = group(context.address)
    await rate_limits.check(rate_limits.FAILED_LOGINS_PER_ADDRESS, "siwe", place)
    try:
        message = await proofs.signed_message(context.session, body)
        user = await _owner(context, message, body)
        factor_at = await _factor_at(context, user, body)
    except SecondFactorNeeded:
        raise
    except Unauthenticated:
        await rate_limits.hit(rate_limits.FAILED_LOGINS_PER_ADDRESS, "siwe", place)
        raise
    return await service.open_token_session(context, user, agent, factor_at=factor_at)


async def _factor_at(context: Context, user: UserRow, body: SiweVerify) -> datetime | None:
    """Return when the person confirmed their second factor. Linking adds a way to sign in, so it needs a fresh one."""
    if not body.link:
        return await service.check_factor(context.session, user.id, body.code, context.address)
    return context.require_person().factor_at


async def _owner(context: Context, message: SignInMessage, body: SiweVerify) -> UserRow:
    session = context.session
    # One at a time per address, so that two concurrent messages create one owner.
    await locks.wait(session, Purpose.WALLET_SIGN_IN, message.address)
    owner: UUID | None = await session.scalar(proofs.OWNER, {"wallet": message.address})
    if body.link:
        return await _link(context, message, body, owner)
    owner_id = owner or await _first_seen(session, message.address)
    if owner_id is None:
        raise Unauthenticated("This wallet is not linked to an account. Sign in with a password and link it.")
    proven(owner_id)
    user = await service.themself(session, owner_id)
    user.last_login_at = now()
    return user


async def _first_seen(session: Write, address: str) -> UUID | None:
    """Create a person for a wallet that has no account, where a pending membership names it; None where none does.

    The membership stays pending: signing in does not accept the membership.
    """
    origin = await session.scalar(sa.text("select signum_wallet_origin(:wallet)"), {"wallet": address})
    if origin is None:
        return None
    user = UserRow(origin_id=origin)
    session.add(user)
    await session.flush()
    await see_oneself(session, user.id)
    session.add(UserWalletRow(user_id=user.id, address=address))
    await session.flush()
    return user.id


async def _link(context: Context, message: SignInMessage, body: SiweVerify, owner_id: UUID | None) -> UserRow:
    person = context.require_person()
    context.require_fresh_factor(by_token=True)
    if owner_id not in (None, person.user_id):
        raise Conflict("This wallet is linked to another account. Unlink it there first.")
    if owner_id is None:
        await proofs.check(context, body.password, body.wallet)
        await linked_wallets.check_count(context)
        proven(person.user_id, context.who.credential)
        context.session.add(UserWalletRow(user_id=person.user_id, address=message.address))
        await context.session.flush()
        subject, linked = ("user", person.user_id), {"wallet_address": message.address}
        await publish_account_change(context.session, person.user_id, "user.wallet_linked", subject, None, linked)
    return await context.session.get_one(UserRow, person.user_id)
