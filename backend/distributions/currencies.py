"""What a distribution pays out: the asset itself, or the chain's quote currency, which has no rules of its own."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import col

from backend.assets.models import AssetRow
from backend.assets.transfer_check import Place
from backend.auth.principal import Context
from backend.chain.bindings import quote_token, token
from backend.chain.deployment.contracts import contracts_of
from backend.chains import quote_currencies
from backend.compliance import resolutions
from backend.compliance.refusal import Underfunded
from backend.core import db
from backend.core.errors import BadRequest, Conflict
from backend.core.units import grouped
from backend.distributions.models import DistributionRow
from backend.test_funds import service as test_funds
from backend.wallets.models import WalletRow


@dataclass(frozen=True)
class QuoteCurrency:
    """The currency of a distribution that does not pay the asset."""

    address: str
    symbol: str
    decimals: int

    def write(self, row: DistributionRow) -> None:
        """Write it to a new distribution."""
        row.currency_address, row.currency_symbol, row.currency_decimals = self.address, self.symbol, self.decimals


async def quote_currency(context: Context, eid: int) -> QuoteCurrency:
    """Return the quote currency of a chain; 400 without one, or if the chain does not answer."""
    async with db.paused(context.session):
        address = (await contracts_of(eid)).quote_token
        terms = await quote_currencies.terms(eid, address)
    if address is None or terms is None:
        raise BadRequest(
            "This chain has no quote currency. The operator sets one in SIGNUM_QUOTE_TOKENS.", pointer="/currency"
        )
    return QuoteCurrency(address, terms.symbol, terms.decimals)


def written(row: DistributionRow, asset: AssetRow, units: int) -> str:
    """Return an amount of a distribution as text: `1,250.5 NREF`."""
    if row.currency_address is None:
        return f"{grouped(units, asset.decimals)} {asset.symbol}"
    return f"{grouped(units, row.currency_decimals or 0)} {row.currency_symbol}"


async def check_balance(context: Context, row: DistributionRow, place: Place) -> None:
    """Raise 409 if the wallet that owns the token lacks the quote currency that a distribution pays out."""
    needed, at = row.total_amount or 0, str(row.currency_address)
    async with db.paused(context.session):
        owner = await token.owner(place.eid, place.token)
        held = await quote_token.balance_of(place.eid, at, owner)
        is_test = held < needed and await test_funds.is_test_currency(place.eid, at)
    if held >= needed:
        return
    holds, needs = (f"{grouped(units, row.currency_decimals or 0)} {row.currency_symbol}" for units in (held, needed))
    detail = f"The distribution cannot be funded. The wallet {owner} holds {holds}; it needs {needs}."
    found = sa.select(col(WalletRow.id)).where(
        col(WalletRow.organization_id) == context.organization_id, col(WalletRow.address) == owner
    )
    wallet_id = await context.session.scalar(found) if is_test else None
    if wallet_id is None:
        raise Conflict(detail)
    raise Underfunded(detail, resolutions.test_funds(context.organization_id, wallet_id, place.eid, needed - held))
