"""Sign-in with a wallet (EIP-4361): a nonce for five minutes, once, and a message that the wallet has signed."""

from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import rate_limit, service
from backend.auth.address import group
from backend.auth.models import OneTimeSecretRow
from backend.auth.principal import Context
from backend.auth.schemas import SiweNonce, SiweVerify, Tokens
from backend.auth.secrets import digest, nonce
from backend.auth.siwe_message import SignInMessage, fault, parse
from backend.auth.telling import tell_of_person
from backend.chain.signatures import signer_of
from backend.changes import proven
from backend.db import Write, now, prove, see_oneself
from backend.errors import Conflict, SecondFactorNeeded, Unauthenticated
from backend.members.models import UserRow, UserWalletRow
from backend.settings import settings

LIFETIME = timedelta(minutes=5)
PURPOSE = "siwe"
OWNER = sa.text("select signum_wallet_owner(:wallet)").columns(sa.column("owner", sa.Uuid()))
CHAIN_IDS = (
    "select distinct native_chain_id from chains where vm_type = 'evm' and native_chain_id is not null order by 1"
)


async def begin(session: Write) -> SiweNonce:
    """What a message must say."""
    value, expires_at = nonce(), now() + LIFETIME
    session.add(OneTimeSecretRow(purpose=PURPOSE, secret_hash=digest(value), expires_at=expires_at))
    origin = settings().origin
    return SiweNonce(
        nonce=value,
        domain=origin.partition("://")[2],
        uri=origin,
        chain_ids=await _chain_ids(session),
        expires_at=expires_at,
    )


async def _chain_ids(session: Write) -> list[int]:
    return [int(i) for i in (await session.execute(sa.text(CHAIN_IDS))).scalars()]


async def verify(context: Context, body: SiweVerify, agent: str) -> Tokens:
    """Sign in whoever the wallet belongs to; 401 where the message is not right, or nobody has the wallet."""
    place = group(context.address)
    await rate_limit.check(rate_limit.FAILED_LOGINS_PER_ADDRESS, "siwe", place)
    try:
        message = await _proven(context.session, body)
        user = await _owner(context, message, body.link)
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
        return await service.check_factor(context.session, user.id, body.code)
    return context.require_person().factor_at


async def _proven(session: Write, body: SiweVerify) -> SignInMessage:
    message = parse(body.message)
    if message is None:
        raise Unauthenticated("The message is not in the form of EIP-4361, or its address has no EIP-55 checksum.")
    if reason := fault(message, settings().origin, now()):
        raise Unauthenticated(reason)
    if message.chain_id not in await _chain_ids(session):
        raise Unauthenticated("The message is for a chain that is not in the registry.")
    if signer_of(body.message, body.signature) != message.address:
        raise Unauthenticated("The signature is not that of the message's address.")
    await prove(session, digest(message.nonce))
    query = sa.select(OneTimeSecretRow).where(
        col(OneTimeSecretRow.secret_hash) == digest(message.nonce), col(OneTimeSecretRow.purpose) == PURPOSE
    )
    row: OneTimeSecretRow | None = await session.scalar(query.with_for_update())
    if row is None or row.used_at is not None or row.expires_at < now():
        raise Unauthenticated("The nonce is not known, was used, or has expired.")
    row.used_at = now()
    return message


async def _owner(context: Context, message: SignInMessage, link: bool) -> UserRow:
    session = context.session
    # One at a time per address, so that two messages at once make one owner.
    name = {"name": f"wallet {message.address}"}
    await session.execute(sa.text("select pg_advisory_xact_lock(hashtextextended(:name, 0))"), name)
    owner: UUID | None = await session.scalar(OWNER, {"wallet": message.address})
    if link:
        return await _link(context, message, owner)
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


async def _link(context: Context, message: SignInMessage, owner_id: UUID | None) -> UserRow:
    person = context.require_person()
    context.require_fresh_factor(by_token=True)
    if owner_id not in (None, person.user_id):
        raise Conflict("This wallet belongs to somebody else.")
    if owner_id is None:
        proven(person.user_id, context.who.credential)
        context.session.add(UserWalletRow(user_id=person.user_id, address=message.address))
        await context.session.flush()
        subject, linked = ("user", person.user_id), {"wallet_address": message.address}
        await tell_of_person(context.session, person.user_id, "user.wallet_linked", subject, None, linked)
    return await context.session.get_one(UserRow, person.user_id)
