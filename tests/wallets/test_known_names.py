"""What an address is to an organization."""

import pytest

from backend.core import db
from backend.wallets.known_names import KnownAddress, known, names_of, titles_of
from backend.wallets.schemas import AddressKind
from tests.conftest import World
from tests.distributions.test_distributions import activated, draft_distribution
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance

LINKED = "0x52908400098527886E0F7030069857D2E4169EE7"
STRANGER = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"


@pytest.mark.long
async def test_known_addresses_are_named_by_kind_within_their_organization_only(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=1)
    treasury, trader = await firm.treasury(), await firm.trader()
    await firm.post("/wallets", {"label": "Ledger", "address": LINKED})
    distribution = await activated(firm, asset, await draft_distribution(firm, asset, (trader["address"], 5)))
    market, symbol = await firm.market(asset), asset["symbol"]
    pair = f"{symbol}/{market['quote_symbol']}"
    expected = {
        treasury["address"]: KnownAddress(
            AddressKind.OWN_WALLET, treasury["label"], f'own wallet "{treasury["label"]}"', label=treasury["label"]
        ),
        trader["address"]: KnownAddress(
            AddressKind.PARTY,
            "Marta Lindqvist",
            f'own wallet "{trader["label"]}", party Marta Lindqvist',
            party="Marta Lindqvist",
            label=trader["label"],
        ),
        LINKED: KnownAddress(
            AddressKind.LINKED_WALLET,
            "Ledger",
            'linked wallet "Ledger", whose key Signum does not hold',
            label="Ledger",
        ),
        distribution["distributor_address"]: KnownAddress(
            AddressKind.DISTRIBUTION, "Dividend", 'distribution "Dividend"'
        ),
        market["market_address"]: KnownAddress(AddressKind.MARKET, pair, f"market {pair}"),
        asset["deployments"][0]["token_address"]: KnownAddress(AddressKind.TOKEN, symbol, f"token {symbol}"),
        STRANGER: KnownAddress(),
    }
    other = await world.organization()
    async with db.worker() as session:
        assert await known(session, firm.id, expected) == expected
        called = await titles_of(session, firm.id, [trader["address"], STRANGER])
        assert called == {trader["address"]: "Marta Lindqvist", STRANGER: "0x8617…070D"}
        assert set((await names_of(session, other, expected)).values()) == {"unknown wallet"}
