"""What a revocation stops, and for which tokens."""

from dataclasses import replace
from typing import Any

import pytest

from backend.chain.bindings import token
from tests.conftest import World
from tests.support.firm import SEPOLIA
from tests.support.issuance import UNIT, Issuance

pytestmark = pytest.mark.long


async def given(firm: Issuance, asset: Any, wallet: Any) -> None:
    """Give a wallet 10 tokens of an asset."""
    body = {
        "asset_id": asset["id"], "chain_eid": SEPOLIA, "from_wallet_id": (await firm.treasury())["id"],
        "to_address": wallet["address"], "amount": str(10 * UNIT),
    }  # fmt: skip
    await firm.succeed((await firm.post("/transfers", body))["requestId"])


async def preview(firm: Issuance, attestation: Any) -> dict[str, tuple[bool, bool]]:
    """Return for each token that the wallet holds whether it could still send and receive it."""
    path = f"/attestations/{attestation['id']}/revoke?dry_run=true"
    plan = await firm.post(path, {"reason": "Sanctions screening match"})
    return {one["symbol"]: (one["can_send"], one["can_receive"]) for one in plan["impact"]["holdings"]}


async def test_revocation_stops_sending_and_receiving_unless_another_attestation_counts(world: World) -> None:
    above = await Issuance.ready(world, SEPOLIA)
    firm = await Issuance.ready(world, SEPOLIA, parent=above.id)
    everyone, own, strict = await firm.asset(), await firm.asset(), await firm.asset()
    wallet = await firm.post("/wallets", {"label": "Custody"})
    attestation = await firm.attest(await firm.verified(wallet["address"], 3))
    for asset in (everyone, own, strict):
        await given(firm, asset, wallet)
    assert set((await preview(firm, attestation)).values()) == {(False, False)}

    await above.attest(await above.verified(wallet["address"], 1))
    for asset, changed in ((own, {"org_only": True}), (strict, {"min_kyc_level": 3})):
        at = asset["deployments"][0]["token_address"]
        rules = replace(await token.rules(SEPOLIA, at), **changed)
        await firm.owner_call(token.set_rules(at, rules))
    assert await preview(firm, attestation) == {
        everyone["symbol"]: (True, True),
        own["symbol"]: (True, False),
        strict["symbol"]: (True, False),
    }
