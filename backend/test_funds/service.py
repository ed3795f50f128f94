"""Request test funds, and name the call that pays them where an order lacks them."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from backend.auth import operator_paid
from backend.auth.principal import Context
from backend.auth.scopes import Scope
from backend.chain.deployment.contracts import contract_address
from backend.chain.rpc import node_urls
from backend.chains import new_activity
from backend.chains import service as chains
from backend.core.changes import publish
from backend.core.errors import NotFound
from backend.core.settings import settings
from backend.core.units import grouped
from backend.requests.accept import accept, acceptance_message
from backend.requests.service import Step
from backend.test_funds import rules
from backend.test_funds.schemas import DECIMALS, SYMBOL, UNIT, WalletFunding, WalletFundingAccepted
from backend.wallets.models import WalletRow

KIND = "wallet.test_funds"


def check_exists() -> None:
    """Raise 404 without embedded chains."""
    if not settings().embedded_chains:
        raise NotFound("No resource exists at this address.")


async def is_test_currency(eid: int, quote_token: str) -> bool:
    """Return whether a quote token is the test currency of an embedded chain."""
    if not settings().embedded_chains or not node_urls.is_embedded(eid):
        return False
    return await contract_address(eid, "quote_token") == quote_token


async def pay(context: Context, wallet_id: UUID, body: WalletFunding) -> WalletFundingAccepted:
    """Create the request that mints test currency to a server wallet of the organization."""
    wallet = await _wallet(context, wallet_id)
    rules.check_wallet(wallet.kind)
    chain = await chains.usable(context, body.chain_eid)
    rules.check_chain(chain.display_name, node_urls.is_embedded(chain.xchain_eid))
    rules.check_amount(int(body.amount))
    await new_activity.check(context, chain.xchain_eid)
    await operator_paid.count(context.session, context.organization_id, 1)
    facts = {"chain_eid": chain.xchain_eid, "to_address": wallet.address, "amount": body.amount}
    request = await accept(
        context,
        KIND,
        f"Pay {grouped(body.amount, DECIMALS)} {SYMBOL} of test funds to {wallet.label}",
        subject=("wallet", wallet.id),
        scope=Scope.WALLETS_WRITE,
        steps=[
            Step("funds_minted", f"Mint test funds on {chain.display_name}", chain.xchain_eid),
            Step("funds_confirmed", "Confirm the test funds", chain.xchain_eid),
        ],
        order=wallet.id,
        arguments=facts,
    )
    asked = {"label": wallet.label, **facts, **UNIT, "request_id": str(request.id)}
    subject = ("wallet", wallet.id)
    await publish(context.session, wallet.organization_id, "wallet.test_funds_requested", subject, None, asked)
    return WalletFundingAccepted(
        walletId=wallet.id,
        status=request.status,
        request_id=str(request.id),
        message=acceptance_message(request, "The test funds are being paid."),
    )


async def _wallet(context: Context, wallet_id: UUID) -> WalletRow:
    query = sa.select(WalletRow).where(
        col(WalletRow.id) == wallet_id, col(WalletRow.organization_id) == context.organization_id
    )
    wallet: WalletRow | None = await context.session.scalar(query)
    if wallet is None:
        raise NotFound("There is no wallet with this ID in this organization.")
    return wallet
