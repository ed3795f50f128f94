"""The protocol's share of the fees: a fill pays what the settings say."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from backend.chain.bindings import factory, quote_token, token
from backend.chain.deployment.contracts import contracts_of, ensure_contracts, operator
from backend.chain.signing.wallet_provider import provider
from backend.core.settings import settings
from tests.conftest import World
from tests.support.crash import sent_by
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance

PRICE, AMOUNT = 12_345_679, 3 * UNIT // 7
TAKER, MAKER = 97, 33


@pytest_asyncio.fixture
async def terms(api: Any) -> AsyncIterator[None]:
    """All tests share the factory, so its terms are restored."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch
    await ensure_contracts(SEPOLIA)


class Trading:
    """A market with a seller and a buyer other than the organization."""

    def __init__(self, firm: Issuance, market: Any, seller: Any, buyer: Any) -> None:
        self.firm, self.market, self.seller, self.buyer = firm, market, seller, buyer

    @classmethod
    async def ready(cls, world: World) -> "Trading":
        firm = await Issuance.ready(world, SEPOLIA)
        market = await firm.market(await firm.asset(), taker_fee_bps=TAKER, maker_fee_bps=MAKER)
        seller, buyer = await firm.trader(usd=0), await firm.trader()
        await firm.owner_call(token.transfer(market["rwa_token_address"], seller["address"], 10 * UNIT))
        return cls(firm, market, seller, buyer)

    async def fill(self, *wallets: str) -> list[int]:
        """One trade; return each wallet's gain in the quote currency."""
        before = [await self._held(wallet) for wallet in wallets]
        await self.firm.order(self.market, self.seller, "sell", PRICE, AMOUNT)
        bought = await self.firm.order(self.market, self.buyer, "buy", PRICE, AMOUNT)
        assert bought["status"] == "filled"
        return [await self._held(wallet) - held for wallet, held in zip(wallets, before, strict=True)]

    async def _held(self, wallet: str) -> int:
        return await quote_token.balance_of(SEPOLIA, self.market["quote_token_address"], wallet)


def fees() -> int:
    """Fees of both sides, each rounded down; the buyer is the taker, so the cost is rounded up."""
    cost = -(-AMOUNT * PRICE // UNIT)
    return cost * TAKER // 10_000 + cost * MAKER // 10_000


@pytest.mark.long
async def test_protocol_fees_are_split_as_configured(world: World, terms: pytest.MonkeyPatch) -> None:
    trading, patch = await Trading.ready(world), terms
    at = (await contracts_of(SEPOLIA)).market_factory
    organization = (await trading.firm.treasury())["address"]
    protocol = (await provider().create()).address
    patch.setattr(settings(), "protocol_wallet", protocol)
    for share in (2_500, 10_000, 0, 2_500):
        patch.setattr(settings(), "protocol_share_bps", share)
        await ensure_contracts(SEPOLIA)
        info = await factory.check(SEPOLIA, at)
        assert (info.protocol_wallet, info.protocol_fee_bps) == (protocol, share)
        protocol_fees = fees() * share // 10_000
        assert await trading.fill(organization, protocol) == [fees() - protocol_fees, protocol_fees]


async def test_protocol_settings_already_on_chain_are_not_sent_again(api: Any, terms: pytest.MonkeyPatch) -> None:
    agent = await operator()
    terms.setattr(settings(), "protocol_share_bps", 1_234)
    await ensure_contracts(SEPOLIA)
    before = await sent_by(agent, SEPOLIA)
    await ensure_contracts(SEPOLIA)
    assert await sent_by(agent, SEPOLIA) == before
