"""The figures of an asset's overview: counted by the API, priced by the newest trade."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest_asyncio

from backend.chain.models import TokenTransferRow
from backend.core import db
from backend.markets.schemas import Market
from state.assets.figures import AssetFigures, figures_of
from state.markets.list import MarketView, market_view
from tests.auth.test_versions import active_asset
from tests.conftest import World
from tests.console.events import Socket, connected
from tests.console.test_conflicts import PAGE, STATE, tab_of
from tests.support.firm import SEPOLIA, Firm
from tests.support.issuance import UNIT, Issuance

FIGURES = f"{STATE}assets___figures____asset_figures"
ZERO = "0x" + "0" * 40
ID = "0197a000-0000-7000-8000-000000000001"
MARKET: dict[str, Any] = {
    "id": ID, "organization_id": ID, "asset_id": ID, "asset_symbol": "NREF", "chain_eid": 40161,
    "chain_name": "Sepolia Devnet", "status": "active", "request_id": None, "bridge_id": None, "market_address": None,
    "rwa_token_address": None, "market_factory_address": "0x1", "quote_token_address": None, "quote_symbol": "tUSD",
    "quote_decimals": 6, "regulation_type": "none", "min_kyc_level": 0, "requires_accreditation": False,
    "blocked_countries": [], "lockup_end_time": 0, "max_holders": 0, "max_tokens_per_holder": "0", "taker_fee_bps": 30,
    "maker_fee_bps": 0, "failure": None, "halt_reason": None, "created_at": "2026-11-20T06:00:00Z",
    "updated_at": "2026-11-20T06:00:00Z",
}  # fmt: skip


def market(**changed: Any) -> MarketView:
    """Return a market as lists show it."""
    return market_view(Market.model_validate(MARKET | changed))


@pytest_asyncio.fixture(scope="module")
async def socket(api: Any) -> AsyncIterator[Socket]:
    """The console's socket."""
    async with connected() as socket:
        yield socket


def test_newest_trade_of_any_market_is_the_price() -> None:
    old = market(last_price="10000000", last_trade_at="2026-11-20T06:00:00Z", volume="5")
    new = market(last_price="12500000", last_trade_at="2026-11-21T06:00:00Z", volume="7", chain_name="Base Devnet")
    found = figures_of([old, new, market(status="halted")])
    assert found.market == new
    assert (found.volume, found.statuses) == ("12", "2 active, 1 halted")


def test_asset_without_a_trade_has_no_price() -> None:
    found = figures_of([market()])
    assert (found.market, found.volume) == (None, "0")


async def test_more_holders_than_a_page_are_counted(world: World, socket: Socket) -> None:
    """A list has no count unless it is asked for."""
    firm = await Firm.found(world)
    asset_id = (await active_asset(firm)).rpartition("/")[2]
    async with db.worker() as session:
        for n in range(120):
            session.add(
                TokenTransferRow(
                    organization_id=firm.id, asset_id=UUID(asset_id), chain_eid=SEPOLIA, from_address=ZERO,
                    to_address=f"0x{n + 1:040x}", amount=5, tx_hash=f"0x{uuid4().hex}", log_index=n, block_number=1,
                )
            )  # fmt: skip
    tab = await tab_of(firm, socket, f"assets/{asset_id}", asset_id=asset_id)
    await tab.send(f"{PAGE}.load", {})
    await tab.send(f"{FIGURES}.load", {})
    assert tab.value(AssetFigures, "holders") == 120
    assert (tab.value(AssetFigures, "price"), tab.value(AssetFigures, "value")) == ("", "")
    assert socket.failures == []


async def test_asset_before_its_first_trade_counts_with_its_nominal_value(world: World, socket: Socket) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(nominal_value="12.50", initial_supply=str(40 * UNIT))
    tab = await tab_of(firm, socket, f"assets/{asset['id']}", asset_id=asset["id"])
    await tab.send(f"{PAGE}.load", {})
    await tab.send(f"{FIGURES}.load", {})
    assert [tab.value(AssetFigures, name) for name in ("price", "nominal", "quote")] == ["", "12500000", "tUSD"]
    assert tab.value(AssetFigures, "value") == "500000000"
    assert socket.failures == []
