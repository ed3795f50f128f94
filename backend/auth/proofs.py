"""Proof beyond a session that a person is themself: their password, or a message that their wallet has signed."""

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import passwords
from backend.auth.models import OneTimeSecretRow
from backend.auth.principal import Context
from backend.auth.secrets import digest
from backend.auth.service import find_account
from backend.auth.siwe_message import SignInMessage, fault, parse
from backend.chain.signatures import signer_of
from backend.db import Write, now, prove
from backend.errors import BadRequest, Unauthenticated
from backend.factors.schemas import WalletProof
from backend.settings import settings

PURPOSE = "siwe"
OWNER = sa.text("select signum_wallet_owner(:wallet)").columns(sa.column("owner", sa.Uuid()))
CHAIN_IDS = (
    "select distinct native_chain_id from chains where vm_type = 'evm' and native_chain_id is not null order by 1"
)
PASSWORD_NEEDED = "Enter your password to continue."  # noqa: S105  (words for people)
WALLET_NEEDED = "Sign a message with a wallet of your account to continue."
NOT_YOURS = "The wallet does not belong to your account. Sign with a wallet that you sign in with."


async def check(context: Context, password: str | None, wallet: WalletProof | None) -> None:
    """Check that the signed-in person is themself, so that a stolen session alone gives nobody another way in.

    People with a second factor need a fresh one in this session (403), people with a password their password, and
    everybody else a signature of a wallet of theirs (400 with the field).
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
    """The hash of the signed-in person's password; None where they have none."""
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
    """The message that a wallet has signed, and its nonce used up; 401 where it is not for us, not for now, or not
    signed by the wallet that it names."""
    message = parse(proof.message)
    if message is None:
        raise Unauthenticated("The message is not in the form of EIP-4361, or its address has no EIP-55 checksum.")
    if reason := fault(message, settings().origin, now()):
        raise Unauthenticated(reason)
    if message.chain_id not in await chain_ids(session):
        raise Unauthenticated("The message is for a chain that is not in the registry.")
    if signer_of(proof.message, proof.signature) != message.address:
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


async def chain_ids(session: Write) -> list[int]:
    """Ids of the EVM chains in the registry; a message names one of them."""
    return [int(i) for i in (await session.execute(sa.text(CHAIN_IDS))).scalars()]
