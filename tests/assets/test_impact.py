"""The impact engine on real chains: whom a change of rules affects, the same in every dry run."""

from typing import Any

import pytest

from backend.chain.bindings import registry, token
from backend.chain.deployment.contracts import contracts_of
from backend.chain.devnet import clock
from backend.chain.errors import ChainUnavailable
from backend.chain.indexer import indexer
from tests.assets.test_caps import bridged
from tests.assets.test_updates import at
from tests.chain.transactions.foreign_wallets import send_as
from tests.conftest import World
from tests.distributions.test_distributions import activated, draft_distribution
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance

STRICT: dict[str, Any] = {"required_kyc_level": 2, "compliance_rules": {"blocked_countries": ["NLD"]}}
SAME: dict[str, Any] = {"min_kyc_level": 2, "blocked_countries": ["NLD"]}
DRY = {"dry_run": "true"}


def by_address(entries: list[Any]) -> dict[str, Any]:
    return {entry["wallet_address"]: entry for entry in entries}


async def effects_of(firm: Issuance, asset: Any, change: Any) -> Any:
    return (await firm.patch(f"/assets/{asset['id']}", change, params=DRY))["impact"]["effects"]


@pytest.mark.long
async def test_editor_and_market_plan_name_the_same_holders_orders_and_claims(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holders: two with an attestation of the firm, one whom its issuer attested outside Signum, and a distributor,
    which has no record of an attestation either."""
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=1)
    token_address = str(asset["deployments"][0]["token_address"])
    low, high = await firm.trader(level=1), await firm.trader(level=3)
    outside = await firm.post("/wallets", {"label": "Outside"})
    attester = (await firm.get("/issuer"))["wallets"][0]["address"]
    where = (await contracts_of(SEPOLIA)).registry
    attested = registry.attest(where, subject=outside["address"], level=3, country="NLD", accredited=False)
    await send_as(SEPOLIA, attester, attested)
    for wallet in (low, high, outside):
        await firm.owner_call(token.transfer(token_address, wallet["address"], 30 * UNIT))
    shares = ((low["address"], 4 * UNIT), (high["address"], 3 * UNIT))
    made = await activated(firm, asset, await draft_distribution(firm, asset, *shares))

    plan = await firm.post(f"/assets/{asset['id']}/markets", await firm.market_body(**SAME), params=DRY)
    planned = plan["impact"]["effects"]
    market = await firm.market(asset)
    bid = await firm.order(market, low, "buy", 10**6, 2 * UNIT)
    await firm.order(market, low, "sell", 9 * 10**6, 5 * UNIT)
    await firm.order(market, high, "sell", 9 * 10**6, 1 * UNIT)

    effects = await effects_of(firm, asset, STRICT)
    out = by_address(effects["holders_excluded"])
    assert out.keys() == {low["address"], outside["address"]}
    assert by_address(planned["holders_excluded"]).keys() == out.keys()
    totals = ("holders_total", "holders_excluded_total", "holders_ineligible_total")
    assert [effects[name] for name in totals] == [planned[name] for name in totals] == [3, 2, 0]
    assert "The KYC level is 1; 2 is required" in out[low["address"]]["reasons"][0]
    assert "Blocked: Netherlands" in out[outside["address"]]["reasons"][0]
    sending = (out[low["address"]]["can_send"], out[outside["address"]]["can_send"])
    assert (*sending, effects["holders_unable_to_send_total"]) == (True, False, 1), "the level is required of receivers"
    assert effects["distributions_unable"] == [], "a contract below the level still pays"
    locked = await effects_of(firm, asset, {"compliance_rules": {"lockup_end_time": clock.moment() + 1_000}})
    paying = by_address(locked["distributions_unable"])[made["distributor_address"]]
    assert (paying["kind"], paying["name"], paying["balance"]) == ("distributor", "Dividend", str(7 * UNIT))
    assert "lock" in paying["reasons"][0].lower()
    person = out[low["address"]]
    assert (person["kind"], person["name"], person["escrowed"]) == ("party", "Marta Lindqvist", str(5 * UNIT))
    orders = [(o["order_id"], o["is_new"], o["maker_name"], o["rest"]) for o in effects["orders"]]
    assert orders == [(bid["id"], True, "Marta Lindqvist", str(2 * UNIT))], "a holder below the level may still sell"
    assert [(c["recipient_address"], c["amount"]) for c in effects["claims"]] == [(low["address"], str(4 * UNIT))]
    assert [(a["source"], a["block"] is not None) for a in effects["as_of"]] == [("chain", True)]

    async def gone(*_: Any) -> None:
        raise ChainUnavailable("The node of the chain does not answer.")

    monkeypatch.setattr(registry, "standings", gone)
    effects = await effects_of(firm, asset, STRICT)
    assert [(a["chain_eid"], a["block"], a["source"]) for a in effects["as_of"]] == [(SEPOLIA, None, "tables")]
    assert by_address(effects["holders_excluded"]).keys() == {low["address"]}
    assert effects["holders_ineligible_total"] == 1, "the one whom the tables do not know"
    assert effects["distributions_unable"] == [], "the tables do not know the attestation of its contract"


@pytest.mark.long
async def test_holder_on_two_chains_is_one_holder(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA, HYPEREVM)
    asset = await firm.asset(required_kyc_level=1)
    low, high = await firm.post("/wallets", {"label": "Low"}), await firm.trader(level=3)
    party = await firm.verified(low["address"], 1)
    asset = await bridged(firm, asset)
    for eid in (SEPOLIA, HYPEREVM):
        await firm.attest(party, eid)
        outcome = await firm.owner_call(token.mint(at(asset, eid), low["address"], 5 * UNIT), eid)
        await indexer.catch_up(eid, outcome.block_number)
    outcome = await firm.owner_call(token.mint(at(asset), high["address"], 5 * UNIT))
    await indexer.catch_up(SEPOLIA, outcome.block_number)

    effects = await effects_of(firm, asset, STRICT)
    excluded = {(one["chain_eid"], one["wallet_address"]) for one in effects["holders_excluded"]}
    assert excluded == {(SEPOLIA, low["address"]), (HYPEREVM, low["address"])}
    assert (effects["holders_total"], effects["holders_excluded_total"]) == (2, 1)
    assert (await firm.get(f"/assets/{asset['id']}/holders"))["investors"] == 2
