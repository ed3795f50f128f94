"""The terms of our factory on a chain, kept as in the settings: the protocol's share, the quote currency."""

import sqlalchemy as sa
from sqlmodel import col

from backend.chain.abi.calls import Call
from backend.chain.bindings import factory
from backend.chain.models import TransactionRow, TransactionStatus
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.core.settings import settings


async def keep(eid: int, at: str, agent: str, quote: str | None) -> None:
    """Set the terms that differ from the settings, as the factory's owner. `quote` None leaves the currency unchanged.
    Raises Reverted if the agent does not own the factory."""
    now = await factory.check(eid, at)
    wallet, share = settings().protocol_wallet or agent, settings().protocol_share_bps
    if (now.protocol_wallet, now.protocol_fee_bps) != (wallet, share):
        await _send(eid, agent, factory.set_protocol(at, wallet, share), "set protocol share")
    if quote is not None and now.default_quote != quote:
        await _send(eid, agent, factory.set_default_quote(at, quote), "set quote currency")


async def _send(eid: int, agent: str, call: Call, label: str) -> None:
    """Send once per change, although a setting may return to an earlier value: the key contains the number of changes
    so far."""
    mine = (col(TransactionRow.chain_eid) == eid, col(TransactionRow.label) == label)
    confirmed = sa.select(sa.func.count()).where(*mine, col(TransactionRow.status) == TransactionStatus.CONFIRMED)
    async with db.worker() as session:
        before = await session.scalar(confirmed)
    await execute(call.intent(f"terms:{eid}:{label}:{before}", eid=eid, signer=agent, label=label))
