"""The wallet with which an investor signs, and the chain on which it does."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlmodel import col

from backend.assets import records
from backend.auth.principal import Context
from backend.chain.chain_models import ChainRow
from backend.chain.rpc import node_urls
from backend.chain.transactions import funding
from backend.core.errors import BadRequest, Conflict
from backend.investor_trading.schemas import InvestorChain, PreparedTransaction, PreparedTransactions
from backend.investors import profile
from backend.limits import rate_limits

UNLINKED = (
    "You have not linked this wallet to your account, so you cannot sign with it here. Link it on the page Account. If "
    "your organization keeps this wallet for you, ask it to act for you."
)


async def counted(context: Context) -> None:
    """Count a question that the chains answer; 429 above 60 a minute of one person."""
    await rate_limits.hit(rate_limits.INVESTOR_TRANSACTIONS, "investor_transactions", str(context.user_id))


async def linked(context: Context, address: str) -> None:
    """Raise 400 if an address is not the investor's, 409 if they have not linked it."""
    own = await profile.addresses(context)
    if address not in own:
        raise BadRequest("This is not one of your addresses.", pointer="/address")
    if address not in await profile.linked(context):
        raise Conflict(UNLINKED)


async def prepared(
    context: Context, eid: int, address: str, transactions: Sequence[PreparedTransaction]
) -> PreparedTransactions:
    """Return transactions for a wallet, with what it has to know about the chain."""
    return PreparedTransactions(chain=await _chain(context, eid), from_address=address, transactions=list(transactions))


async def _chain(context: Context, eid: int) -> InvestorChain:
    row = await _row(context, eid)
    return InvestorChain(
        chain_eid=eid,
        chain_id=hex(row.native_chain_id or 0),
        name=row.display_name,
        currency=row.native_currency_symbol,
        rpc_url=node_urls.embedded().get(eid) or row.rpc_url,
    )


async def lacking_gas(context: Context, eid: int, address: str, gas: int) -> str | None:
    """Return why a wallet cannot pay for a transaction; None if it can."""
    needed, held = await records.gas_cost(context.session, address, eid, gas)
    if held > 0 and held >= needed:
        return None
    row = await _row(context, eid)
    return (
        f"Your wallet has too little {row.native_currency_symbol} on {row.display_name} to pay for the transaction: it "
        f"may cost {funding.amount(needed)} {row.native_currency_symbol}, and the wallet has {funding.held(held)}."
    )


async def _row(context: Context, eid: int) -> ChainRow:
    query = sa.select(ChainRow).where(col(ChainRow.xchain_eid) == eid)
    found: ChainRow = (await context.session.execute(query)).scalar_one()
    return found
