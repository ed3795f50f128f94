"""The supply in lists, which is the amount minted and not burnt on chain."""

import pytest

from backend.chain.bindings import token
from backend.chain.indexer import indexer
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance


@pytest.mark.long
async def test_listed_supply_follows_burns_outside_signum(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    outcome = await firm.owner_call(token.burn(asset["deployments"][0]["token_address"], 5 * UNIT))
    await indexer.catch_up(SEPOLIA, outcome.block_number)
    (listed,) = (await firm.get("/assets"))["assets"]
    assert listed["total_supply"] == str(995 * UNIT)
