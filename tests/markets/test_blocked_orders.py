"""Open orders of makers who became ineligible are marked, with the reason, until the makers are eligible again."""

from types import SimpleNamespace
from typing import Any

import pytest

from backend.chain.abi.rule_sets import TokenRules
from backend.chain.indexer import indexer
from backend.chain.rpc import json_rpc
from backend.markets.blocked_orders import blocked
from tests.conftest import World
from tests.support.issuance import SEPOLIA, UNIT, Issuance, orders_path


@pytest.mark.long
async def test_order_of_an_ineligible_maker_is_marked_until_attested_again(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=1)
    market = await firm.market(asset)
    wallet, other = await firm.post("/wallets", {"label": "Trader"}), await firm.trader(level=3)
    party = await firm.verified(wallet["address"], 1)
    await firm.attest(party)
    await firm.give(SEPOLIA, wallet["address"], 10**9)
    bid = await firm.order(market, wallet, "buy", 10**6, 2 * UNIT)
    fine = await firm.order(market, other, "buy", 10**6, 2 * UNIT)

    async def marked() -> dict[str, str | None]:
        await indexer.pass_over(await json_rpc.connect(SEPOLIA))
        shown = {o["id"]: o["blocked_reason"] for o in (await firm.get(orders_path(market)))["orders"]}
        for is_blocked in (True, False):
            params = {"blocked": str(is_blocked).lower()}
            listed = (await firm.get(orders_path(market), params=params))["orders"]
            assert {o["id"] for o in listed} == {id for id, why in shown.items() if (why is not None) is is_blocked}
        return shown

    assert await marked() == {bid["id"]: None, fine["id"]: None}
    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 2}))["requestId"])
    reasons = await marked()
    assert reasons[fine["id"]] is None
    assert "The KYC level is 1; 2 is required" in str(reasons[bid["id"]])

    await firm.admin.call("POST", f"/identity/parties/{party['id']}/verify", json={"kyc_level": 2})
    await firm.attest(party)
    assert await marked() == {bid["id"]: None, fine["id"]: None}
    await firm.succeed((await firm.delete(f"{orders_path(market)}/{bid['id']}"))["requestId"])
    await firm.succeed((await firm.patch(f"/assets/{asset['id']}", {"required_kyc_level": 4}))["requestId"])
    reasons = await marked()
    assert reasons[bid["id"]] is None, "the order has ended"
    assert reasons[fine["id"]] is not None


def maker(*attestations: dict[str, Any], side: str = "buy", treasury: bool = False, **rules: Any) -> Any:
    said = {"kyc_level": 1, "accredited": False, "country": "SWE", "is_own": True, "is_valid": True}
    return SimpleNamespace(
        maker_address="0x1",
        side=side,
        regulation_type="none",
        min_kyc_level=0,
        requires_accreditation=False,
        blocked_countries=["PRK"],
        lockup_end_time=0,
        max_holders=0,
        max_tokens_per_holder=0,
        rules=TokenRules(**rules).as_dict(),
        treasury=treasury,
        attestations=[said | one for one in attestations] or None,
    )


def test_mark_says_only_what_the_tables_can_know() -> None:
    assert blocked(maker(min_kyc_level=2)) is None, "attested elsewhere"
    assert blocked(maker({}, min_kyc_level=2, trusted_issuers=("0x2",))) is None
    assert blocked(maker({"is_valid": False}, trusted_issuers=("0x2",))) is None
    assert "Blocked: Sweden" in str(blocked(maker({}, blocked_countries=("SWE",), trusted_issuers=("0x2",))))
    assert "Blocked: North Korea" in str(blocked(maker({"country": "PRK"})))


def test_mark_follows_every_attestation_that_counts() -> None:
    assert blocked(maker({})) is None
    assert "no valid attestation" in str(blocked(maker({"is_valid": False})))
    assert blocked(maker({"is_valid": False}, {"kyc_level": 2}, min_kyc_level=2)) is None
    assert blocked(maker({"is_own": False}, org_only=True)) is not None
    assert blocked(maker({}, side="sell", min_kyc_level=2)) is None, "a holder below the level may still sell"
    late = {"lockup_end_time": 4_000_000_000}
    assert "lockup" in str(blocked(maker({}, side="sell", **late)))
    assert blocked(maker({}, **late)) is None
    assert blocked(maker(side="sell", treasury=True, **late)) is None
