"""What an investor reads once their attestation has ended."""

import sqlalchemy as sa

from backend.core import db
from tests.conftest import World
from tests.investors.scene import Investor
from tests.support.issuance import SEPOLIA, Issuance


async def test_investor_sees_how_and_when_the_attestation_ended(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    await firm.asset(required_kyc_level=2)
    investor = await Investor.of(world, firm.id)
    await investor.accept(firm, "Cleo Marsh")
    [place] = (await investor.get("/eligibility"))["eligibility"]
    assert (place["eligible"], place["lapse"], place["lapsed_at"]) == (True, None, None)
    mine = {"address": investor.wallet["address"]}
    expiry = "update attestations set expires_at = {} where wallet_address = :address"
    async with db.worker() as session:
        await session.execute(sa.text(expiry.format("'2026-01-02T03:04:05Z'")), mine)
    [place] = (await investor.get("/eligibility"))["eligibility"]
    assert (place["is_attested_here"], place["lapse"], place["lapsed_at"][:10]) == (False, "expired", "2026-01-02")
    async with db.worker() as session:
        await session.execute(sa.text(expiry.format("null")), mine)
    [made] = (await firm.get("/attestations"))["attestations"]
    accepted = await firm.post(f"/attestations/{made['id']}/revoke", {"reason": "Sanctions list"})
    await firm.succeed(accepted["requestId"])
    [place] = (await investor.get("/eligibility"))["eligibility"]
    assert (place["eligible"], place["is_attested_here"], place["lapse"]) == (False, False, "revoked")
    assert place["lapsed_at"].startswith(f"{db.now():%Y-%m}")
    assert "Sanctions" not in str(await investor.get("/eligibility")), "the reason is the organization's own"
