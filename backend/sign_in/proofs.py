"""Proof of identity beyond a session: a password, or a message signed by a wallet."""

import sqlalchemy as sa
from sqlmodel import col

from backend.auth.models import OneTimeSecretRow
from backend.auth.principal import Context
from backend.auth.secrets import digest
from backend.chain.signing.message_signatures import signer_of
from backend.core.db import Write, now, prove
from backend.core.errors import BadRequest, Unauthenticated
from backend.core.settings import settings
from backend.factors.schemas import WalletProof
from backend.sign_in import passwords
from backend.sign_in.service import find_account
from backend.sign_in.siwe_message import SignInMessage, fault, parse

PURPOSE = "siwe"
OWNER = sa.text("select signum_wallet_owner(:wallet)").columns(sa.column("owner", sa.Uuid()))
CHAIN_IDS = (
    "select distinct native_chain_id from chains where vm_type = 'evm' and native_chain_id is not null order by 1"
)
PASSWORD_NEEDED = "Enter your password to continue."  # noqa: S105  (text for people)
WALLET_NEEDED = "Sign a message with a wallet of your account to continue."
NOT_YOURS = "This wallet is not linked to your account. Sign with a wallet that is."


async def check(context: Context, password: str | None, wallet: WalletProof | None) -> None:
    """Check the signed-in person's identity, so that a stolen session alone cannot add another way to sign in.

    People with a second factor need a fresh one in this session (403), people with a password their password, and all
    others a signature of one of their wallets (400 with the field).
    """
    person = context.require_person()
    context.require_fresh_factor(by_token=True)
    if person.has_factor:
        return
    stored = await password_hash(context)
    if not stored:
        await _check_wallet(context, wallet)
    elif not password:
        raise BadRequest(PASSWORD_NEEDED, pointer="/password")
    else:
        await passwords.check_own(person.user_id, password, stored, "/password")


async def password_hash(context: Context) -> str | None:
    """Return the hash of the signed-in person's password; None where they have none."""
    email = context.require_person().email
    known = await find_account(context.session, email) if email else None
    return (known.password_hash or None) if known else None


async def _check_wallet(context: Context, wallet: WalletProof | None) -> None:
    if wallet is None:
        raise BadRequest(WALLET_NEEDED, pointer="/wallet")
    try:
        message = await signed_message(context.session, wallet)
    except Unauthenticated as error:
        raise BadRequest(error.detail, pointer="/wallet") from error
    owner = await context.session.scalar(OWNER, {"wallet": message.address})
    if owner != context.require_person().user_id:
        raise BadRequest(NOT_YOURS, pointer="/wallet")


async def signed_message(session: Write, proof: WalletProof) -> SignInMessage:
    """Return the message that a wallet signed, and consume its nonce.

    401 where the message is for another site, is not valid now, or is not signed by the wallet that it names.
    """
    message = parse(proof.message)
    if message is None:
        raise Unauthenticated("The message is not in the form of EIP-4361, or its address has no EIP-55 checksum.")
    if reason := fault(message, settings().origin, now()):
        raise Unauthenticated(reason)
    if message.chain_id not in await chain_ids(session):
        raise Unauthenticated("The message names a chain that is not in the chain list.")
    if signer_of(proof.message, proof.signature) != message.address:
        raise Unauthenticated("The signature does not match the address in the message.")
    await prove(session, digest(message.nonce))
    query = sa.select(OneTimeSecretRow).where(
        col(OneTimeSecretRow.secret_hash) == digest(message.nonce), col(OneTimeSecretRow.purpose) == PURPOSE
    )
    row: OneTimeSecretRow | None = await session.scalar(query.with_for_update())
    if row is None or row.used_at is not None or row.expires_at < now():
        raise Unauthenticated("The nonce is unknown, was already used, or has expired.")
    row.used_at = now()
    return message


async def chain_ids(session: Write) -> list[int]:
    """Return the ids of the EVM chains in the chain list. A message must name one of them."""
    return [int(i) for i in (await session.execute(sa.text(CHAIN_IDS))).scalars()]
