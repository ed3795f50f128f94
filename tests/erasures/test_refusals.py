"""A party that holds tokens is not erased before its balance has moved."""

import pytest

from tests.conftest import World
from tests.support.issuance import Issuance
from tests.support.operator import command


@pytest.mark.long
async def test_party_with_a_balance_is_not_erased(world: World, database_url: str) -> None:
    firm = await Issuance.ready(world)
    asset = await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Of the investor"})
    party = await firm.verified(wallet["address"])
    attestation = await firm.attest(party)
    body = {"chain_eid": attestation["chain_eid"], "to_address": wallet["address"], "amount": str(10**18)}
    minted = await firm.post(f"/assets/{asset['id']}/mint", body)
    await firm.succeed(minted["requestId"])
    refused = await command(database_url, "erase", "party", party["id"], "--reason", "Request 4713", "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert f"The party's wallet holds {asset['symbol']} on " in refused.err
    assert "Move or redeem its balance first." in refused.err
