"""Sign-in with a wallet (EIP-4361): a nonce for five minutes, once, and a message that the wallet has signed."""

from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa

from backend.auth import linked_wallets, proofs, rate_limit, service
from backend.auth.address import group
from backend.auth.models import OneTimeSecretRow
from backend.auth.principal import Context
from backend.auth.schemas import SiweNonce, SiweVerify, Tokens
from backend.auth.secrets import digest, nonce
from backend.auth.siwe_message import SignInMessage
from backend.auth.telling import tell_of_person
from backend.changes import proven
from backend.db import Write, now, see_oneself
from backend.errors import Conflict, SecondFactorNeeded, Unauthenticated
from backend.members.models import UserRow, UserWalletRow
from backend.settings import settings

LIFETIME = timedelta(minutes=5)


async def begin(session: Write) -> SiweNonce:
    """What a message must say."""
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
    """Sign in whoever the wallet belongs to; 401 where the message is not right, or nobody has the wallet."""
    place = group(context.address)
    await rate_limit.check(rate_limit.FAILED_LOGINS_PER_ADDRESS, "siwe", place)
    try:
        message = await proofs.signed_message(context.session, body)
        user = await _owner(context, message, body)
        factor_at = await _factor_at(context, user, body)
    except SecondFactorNeeded:
        raise
    except Unauthenticated:
        await rate_limit.hit(rate_limit.FAILED_LOGINS_PER_ADDRESS, "siwe", place)
        raise
    return await service.open_token_session(context, user, agent, factor_at=factor_at)


async def _factor_at(context: Context, user: UserRow, body: SiweVerify) -> datetime | None:
    """When the person showed their second factor. To link a wallet is to make another way in, so it needs a fresh
    one."""
    if not body.link:
        return await service.check_factor(context.session, user.id, body.code, context.address)
    return context.require_person().factor_at


async def _owner(context: Context, message: SignInMessage, body: SiweVerify) -> UserRow:
    session = context.session
    # One at a time per address, so that two messages at once make one owner.
    name = {"name": f"wallet {message.address}"}
    await session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended(:name, 0))"), name)
    owner: UUID | None = await session.scalar(proofs.OWNER, {"wallet": message.address})
    if body.link:
        return await _link(context, message, body, owner)
    owner_id = owner or await _first_seen(session, message.address)
    if owner_id is None:
        raise Unauthenticated("Nobody has signed in with this wallet before. Sign in by password and link it.")
    proven(owner_id)
    user = await service.themself(session, owner_id)
    user.last_login_at = now()
    return user


async def _first_seen(session: Write, address: str) -> UUID | None:
    """A new person for a wallet that nobody has proven before, where a membership waits for its owner; None where none
    does. It goes on waiting: to sign in is not to agree to whoever has added the wallet."""
    if not await session.scalar(sa.text("select signum_wallet_awaited(:wallet)"), {"wallet": address}):
        return None
    user = UserRow()
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
        raise Conflict("This wallet belongs to somebody else.")
    if owner_id is None:
        await proofs.check(context, body.password, body.wallet)
        await linked_wallets.check_count(context)
        proven(person.user_id, context.who.credential)
        context.session.add(UserWalletRow(user_id=person.user_id, address=message.address))
        await context.session.flush()
        subject, linked = ("user", person.user_id), {"wallet_address": message.address}
        await tell_of_person(context.session, person.user_id, "user.wallet_linked", subject, None, linked)
    return await context.session.get_one(UserRow, person.user_id)
