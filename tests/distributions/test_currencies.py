"""Distributions that pay the quote currency: the asset's rules decide who is paid, its contract has no rules."""

from typing import Any

import httpx
import pytest

from backend.chain.bindings import distributor, quote_token
from backend.chain.deployment.contracts import contracts_of
from backend.core.settings import settings
from backend.reconciliation import comparison
from backend.reconciliation.tables import snapshot
from backend.server import runtime
from state.core.record_values import Known, Unit
from tests.conftest import World
from tests.distributions.test_distributions import activated, claim, terms_of
from tests.distributions.test_drafts import path_of
from tests.distributions.test_eligibility import attested, body_of
from tests.support.firm import SEPOLIA
from tests.support.issuance import Issuance, steps_of

STRANGER = "0x52908400098527886E0F7030069857D2E4169EE7"
USD = 10**6


async def balance(address: str) -> int:
    return await quote_token.balance_of(SEPOLIA, str((await contracts_of(SEPOLIA)).quote_token), address)


@pytest.mark.long
async def test_quote_currency_is_paid_to_eligible_recipients_and_the_rest_returns(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    # A cap of the asset does not limit payments in another currency.
    asset = await firm.asset(compliance_rules={"max_tokens_per_holder": "5"})
    first, second = await attested(firm), await attested(firm)
    owner = (await firm.treasury())["address"]
    people = [(first, 30 * USD), (STRANGER, 4 * USD), (second, 12 * USD)]
    body, path = body_of(*people, currency="quote"), path_of(asset)

    plan = await firm.post(f"{path}?dry_run=true", body)
    assert (plan["check"]["eligible"], plan["check"]["blocked"]) == (2, 1)
    assert (plan["impact"]["currency_symbol"], plan["impact"]["currency_decimals"]) == ("tUSD", "6")
    problem = await firm.refused("POST", path, 409, json=body)
    assert "refuse 1 of 3 recipients" in problem.detail
    made = await firm.post(path, body | {"blocked": "hold"})
    assert (made["currency_symbol"], made["currency_decimals"], made["total_amount"]) == ("tUSD", 6, str(42 * USD))
    assert made["currency_address"] == (await contracts_of(SEPOLIA)).quote_token

    problem = await firm.refused("POST", path_of(asset, made) + "/activate", 409, json=terms_of(made))
    assert "holds 0 tUSD; it needs 42 tUSD" in problem.detail
    assert problem.body["resolution"]["path"].endswith("/test-funds")
    await firm.give(SEPOLIA, owner, 50 * USD)
    made = await activated(firm, asset, made)
    assert (await distributor.info(SEPOLIA, made["distributor_address"])).token == made["currency_address"]
    request = await firm.get(f"/requests/{made['request_id']}")
    steps = {name: step["detail"] for name, step in steps_of(request).items()}
    assert list(steps) == ["distributor_created", "distribution_funded", "distribution_active"]
    assert steps["distribution_active"] == "42 tUSD for 2 recipients."
    assert (await balance(owner), await balance(made["distributor_address"])) == (8 * USD, 42 * USD)

    await claim(made, await firm.get(path_of(asset, made) + f"/proofs/{first}"), owner)
    assert await balance(first) == 30 * USD
    activity = (await firm.get(f"/assets/{asset['id']}/activity"))["activity"]
    paid = {
        entry["title"]: entry["status"] for entry in activity if entry["kind"] in ("claim", "funding", "distribution")
    }
    assert {"Claim of 30 tUSD", "Funding of 42 tUSD"} < set(paid)
    (drawn_up,) = (title for title in paid if title.endswith(" of 42 tUSD created"))
    assert paid[drawn_up] == "active"
    (funding,) = (entry for entry in activity if entry["kind"] == "funding")
    assert (funding["from_name"], funding["to_name"]) == ((await firm.treasury())["label"], made["name"])
    assert funding["tx_hash"]
    assert (await firm.get(path_of(asset, made)))["claimed_amount"] == str(30 * USD)
    tables = await snapshot(SEPOLIA)
    assert tables is not None
    assert [one for one in await comparison.distributions(tables) if one.organization_id == str(firm.id)] == []
    accepted = await firm.post(path_of(asset, made) + "/cancel")
    closed = await firm.succeed(accepted["requestId"])
    assert steps_of(closed)["distribution_closed"]["detail"] == "12 tUSD returned."
    assert await balance(owner) == 20 * USD


@pytest.mark.long
async def test_quote_currency_of_a_csv_is_inherited_by_a_release(world: World, api: Any) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset, good = await firm.asset(), await attested(firm)
    late = await firm.verified(STRANGER)
    query = {"name": "Coupon", "chain_eid": str(SEPOLIA), "currency": "quote", "amounts": "whole", "blocked": "hold"}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        headers = firm.key | {"content-type": "text/csv"}
        lines = f"{good},12.5\n{STRANGER},3\n"
        answer = await http.post(f"/v1{firm.base}{path_of(asset)}", content=lines, headers=headers, params=query)
        assert answer.status_code == 201, answer.text
        lines = f"{good},0.0000001\n"
        wrong = await http.post(f"/v1{firm.base}{path_of(asset)}", content=lines, headers=headers, params=query)
        assert (wrong.status_code, "at most 6 decimal places" in wrong.text) == (422, True)
    made = answer.json()
    assert made["total_amount"] == str(12_500_000)
    await firm.give(SEPOLIA, (await firm.treasury())["address"], 100 * USD)
    made = await activated(firm, asset, made)
    attestation = await firm.attest(late)
    released = await firm.post(path_of(asset), {"name": "Late", "chain_eid": SEPOLIA, "held_of": made["id"]})
    assert (released["currency_symbol"], released["total_amount"]) == ("tUSD", str(3 * USD))
    revoked = await firm.post(f"/attestations/{attestation['id']}/revoke", {"reason": "No longer a client"})
    await firm.succeed(revoked["requestId"])
    problem = await firm.refused("POST", path_of(asset, released) + "/activate", 409, json=terms_of(released))
    assert "now refuse 1 of 1 recipients" in problem.detail
    holders = {"name": "Shares", "chain_eid": SEPOLIA, "currency": "quote", "blocked": "exclude"}
    problem = await firm.refused("POST", path_of(asset), 409, json=holders | {"holders": {"total_amount": "5"}})
    assert "Only the treasury held the asset" in problem.detail
    await firm.refused("POST", path_of(asset), 422, json=body_of((good, 1), currency="euro"))


def test_amounts_of_a_quote_distribution_are_read_in_its_currency() -> None:
    known = Known(assets={"a": Unit("NREF", 18)})
    record = {"asset_id": "a", "total_amount": str(2 * USD)}
    subject = {"type": "distribution", "id": "d"}
    paid = record | {"currency_symbol": "tUSD", "currency_decimals": 6}
    assert known.about(subject, paid).read("total_amount", record["total_amount"]) == "2 tUSD"
    own = record | {"currency_symbol": None, "currency_decimals": None}
    assert known.about(subject, own).read("total_amount", str(2 * 10**18)) == "2 NREF"
