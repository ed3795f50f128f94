"""Distributions through the API, on real chains: drafted, activated, claimed with a proof, cancelled."""

import secrets
from typing import Any

import httpx
import pytest

from backend.chain.bindings import distributor, token
from backend.chain.errors import Reverted
from backend.chain.indexer import indexer
from backend.chain.transactions.execution import execute
from backend.core import db
from backend.core.settings import settings
from backend.distributions import funding
from backend.distributions.indexed_events import Claims
from backend.server import runtime
from tests.conftest import World
from tests.distributions.test_merkle import climbs, leaf_of
from tests.support.firm import HYPEREVM, SEPOLIA
from tests.support.issuance import UNIT, Issuance, steps_of

STRANGER = "0x52908400098527886E0F7030069857D2E4169EE7"
OTHER_ROOT = "0x" + "12" * 32


async def draft_distribution(firm: Issuance, asset: Any, *recipients: tuple[str, int]) -> Any:
    body = {
        "name": "Dividend",
        "chain_eid": SEPOLIA,
        "recipients": [{"address": a, "amount": str(n)} for a, n in recipients],
    }
    return await firm.post(path_of(asset), body)


def path_of(asset: Any, made: Any = None) -> str:
    return f"/assets/{asset['id']}/distributions" + (f"/{made['id']}" if made else "")


def terms_of(made: Any) -> dict[str, Any]:
    return {
        "chainEid": made["chain_eid"],
        "merkleRoot": made["merkle_root"],
        "totalRecipients": made["total_recipients"],
    }


async def activated(firm: Issuance, asset: Any, made: Any, terms: Any = None) -> Any:
    """Activate, wait and return the record."""
    assert await firm.post(path_of(asset, made) + "/activate", terms or terms_of(made)) == {}
    record = await firm.get(path_of(asset, made))
    await firm.succeed(record["request_id"])
    return await firm.get(path_of(asset, made))


async def claim(made: Any, proof: Any, signer: str) -> Any:
    """Claim with any server wallet, and return the resulting rows."""
    amount = int(proof["amount"])
    call = distributor.claim(made["distributor_address"], proof["index"], proof["address"], amount, proof["proof"])
    outcome = await execute(call.intent(f"test:{secrets.token_hex(8)}", eid=SEPOLIA, signer=signer))
    await indexer.catch_up(SEPOLIA, outcome.block_number)
    return outcome


@pytest.mark.long
async def test_recipients_claim_with_their_proofs(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(required_kyc_level=2, compliance_rules={"requires_accreditation": False})
    at = asset["deployments"][0]["token_address"]
    first, second = await firm.trader(), await firm.trader()
    made = await draft_distribution(firm, asset, (first["address"], 30 * UNIT), (second["address"].lower(), 12))
    assert (made["status"], made["total_recipients"], made["total_amount"]) == ("draft", 2, str(30 * UNIT + 12))
    proof = await firm.get(path_of(asset, made) + f"/proofs/{second['address']}")
    assert (proof["index"], proof["address"], proof["amount"], proof["claimed"]) == (1, second["address"], "12", False)
    assert len(proof["proof"]) == 1

    record = await activated(firm, asset, made)
    assert (record["status"], record["claimed_recipients"]) == ("active", 0)
    response = await distributor.info(SEPOLIA, record["distributor_address"])
    assert (response.root, response.total_recipients, response.token) == (made["merkle_root"], 2, at)
    assert await token.balance_of(SEPOLIA, at, record["distributor_address"]) == 30 * UNIT + 12
    request = await firm.get(f"/requests/{record['request_id']}")
    assert all(s["status"] == "succeeded" and s["tx_hash"] for s in steps_of(request).values())

    await claim(record, proof, second["address"])
    record = await firm.get(path_of(asset, made))
    assert (record["status"], record["claimed_recipients"], record["claimed_amount"]) == ("active", 1, "12")
    assert (await firm.get(path_of(asset, made) + f"/proofs/{second['address']}"))["claimed"]
    with pytest.raises(Reverted, match="laimed"):
        await claim(record, proof, second["address"])
    await claim(record, await firm.get(path_of(asset, made) + f"/proofs/{first['address']}"), second["address"])
    record = await firm.get(path_of(asset, made))
    assert (record["status"], record["claimed_amount"]) == ("completed", record["total_amount"])
    assert await token.balance_of(SEPOLIA, at, first["address"]) == 30 * UNIT
    listed = (await firm.get(path_of(asset), params={"status": "completed"}))["distributions"]
    assert [d["id"] for d in listed] == [made["id"]]
    problem = await firm.refused("POST", path_of(asset, made) + "/cancel", 409)
    assert "completed" in problem.detail


async def test_claim_without_an_attestation_is_refused(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    made = await activated(firm, asset, await draft_distribution(firm, asset, (STRANGER, UNIT)))
    proof = await firm.get(path_of(asset, made) + f"/proofs/{STRANGER}")
    with pytest.raises(Reverted) as raised:
        await claim(made, proof, (await firm.treasury())["address"])
    assert raised.value.code == 9


@pytest.mark.long
async def test_activation_with_other_terms_is_rejected_and_its_repeat_changes_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    body = {"name": "D", "chain_eid": SEPOLIA, "recipients": [{"address": STRANGER, "amount": "5"}]}
    plan = await firm.post(path_of(asset) + "?dry_run=true", body)
    assert (await firm.get(path_of(asset)))["distributions"] == []
    made = await draft_distribution(firm, asset, (STRANGER, 5))
    assert plan["impact"] == {
        "asset_id": asset["id"],
        "total_amount": "5",
        "total_recipients": "1",
        "merkle_root": made["merkle_root"],
    }
    path, terms = path_of(asset, made) + "/activate", terms_of(made)
    plan = await firm.post(path + "?dry_run=true", terms)
    assert (len(plan["steps"]), plan["impact"]["total_amount"]) == (4, "5")
    for field, other in (("chainEid", HYPEREVM), ("merkleRoot", OTHER_ROOT), ("totalRecipients", 2)):
        problem = await firm.refused("POST", path, 400, json=terms | {field: other})
        assert field in problem.by_field()
    for field, other in (("merkleRoot", "0x12"), ("totalRecipients", 0), ("chainEid", None)):
        await firm.refused("POST", path, 422, json=terms | {field: other})
    await firm.refused("POST", path, 422, json={})
    assert (await firm.get(path_of(asset, made)))["status"] == "draft"
    record = await activated(firm, asset, made)
    assert await firm.post(path, terms) == {}
    assert (await firm.get(path_of(asset, made)))["request_id"] == record["request_id"]
    await firm.refused("POST", path, 409, json=terms | {"merkleRoot": OTHER_ROOT})


@pytest.mark.parametrize("amount", [70, 0])
async def test_distribution_without_recipients_uses_the_given_root_and_count(world: World, amount: int) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    means = {"total_amount": str(amount)} if amount else {}
    made = await firm.post(path_of(asset), {"name": "Off book", "chain_eid": SEPOLIA} | means)
    assert (made["merkle_root"], made["total_recipients"], made["has_recipients"]) == (None, None, False)
    await firm.refused("GET", path_of(asset, made) + f"/proofs/{STRANGER}", 404)
    terms = {"chainEid": SEPOLIA, "merkleRoot": OTHER_ROOT, "totalRecipients": 3}
    plan = await firm.post(path_of(asset, made) + "/activate?dry_run=true", terms)
    assert plan["impact"] == {
        "asset_id": asset["id"],
        "total_amount": str(amount),
        "total_recipients": "3",
        "merkle_root": OTHER_ROOT,
    }
    record = await activated(firm, asset, made, terms)
    assert (record["status"], record["merkle_root"], record["total_recipients"]) == ("active", OTHER_ROOT, 3)
    response = await distributor.info(SEPOLIA, record["distributor_address"])
    assert (response.root, response.total_recipients) == (OTHER_ROOT, 3)

    before = await token.balance_of(SEPOLIA, response.token, response.owner)
    accepted = await firm.post(path_of(asset, made) + "/cancel")
    await firm.succeed(accepted["requestId"])
    assert (await firm.get(path_of(asset, made)))["status"] == "cancelled"
    assert await token.balance_of(SEPOLIA, response.token, response.owner) == before + amount
    await firm.refused("POST", path_of(asset, made) + "/activate", 409, json=terms)


async def test_draft_is_cancelled_without_a_transaction(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    made = await draft_distribution(firm, asset, (STRANGER, 5))
    assert (await firm.post(path_of(asset, made) + "/cancel?dry_run=true"))["impact"]["total_amount"] == "5"
    assert (await firm.get(path_of(asset, made)))["status"] == "draft"
    await firm.succeed((await firm.post(path_of(asset, made) + "/cancel"))["requestId"])
    record = await firm.get(path_of(asset, made))
    assert (record["status"], record["distributor_address"]) == ("cancelled", None)


async def test_activation_that_cannot_be_funded_is_rejected(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset(compliance_rules={"max_tokens_per_holder": str(10 * UNIT)})
    for amount, reason in ((11 * UNIT, "the maximum per holder is"), (2_000 * UNIT, "the amount is")):
        made = await draft_distribution(firm, asset, (STRANGER, amount))
        problem = await firm.refused("POST", path_of(asset, made) + "/activate", 409, json=terms_of(made))
        assert "cannot be funded" in problem.detail
        assert reason in problem.detail
        assert (await firm.get(path_of(asset, made)))["status"] == "draft"


async def test_activation_without_an_issuer_cannot_attest_the_distributor(world: World) -> None:
    firm = await Issuance.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    asset = await firm.asset()
    made = await draft_distribution(firm, asset, (STRANGER, 5))
    problem = await firm.refused("POST", path_of(asset, made) + "/activate", 409, json=terms_of(made))
    assert "issuer/register" in problem.detail


async def test_csv_recipients_create_a_distribution(world: World, api: Any) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    path = f"/v1{firm.base}{path_of(asset)}"
    lines = [f"0x{n:040x},{n}" for n in range(1, 1_500)]
    headers = firm.key | {"content-type": "text/csv"}
    query = {"name": "List", "chain_eid": str(SEPOLIA)}

    async def send(text: str, **options: Any) -> Any:
        transport = runtime.local_transport(api)
        async with httpx.AsyncClient(transport=transport, base_url=settings().origin) as http:
            return await http.post(path, content=text, **({"headers": headers, "params": query} | options))

    answer = await send("address,amount\n" + "\n".join(lines))
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["total_recipients"], made["total_amount"]) == (1_499, str(1_499 * 1_500 // 2))
    proof = await firm.get(path_of(asset, made) + f"/proofs/0x{1_499:040x}")
    leaf = leaf_of(1_498, f"0x{1_499:040x}", 1_499)
    assert (proof["index"], climbs(proof["proof"], leaf)) == (1_498, made["merkle_root"])

    answer = await send(f"{lines[0]}\n{lines[0]}\nx,1\n")
    assert (answer.status_code, answer.json()["errors"][0]["detail"][:6]) == (422, "Line 3")
    assert (await send("\n".join(lines), params={"name": "List"})).status_code == 400
    assert (await send("\n".join(lines), params=query | {"chain_eid": "x"})).status_code == 400
    assert (await send("\n".join(lines), headers=firm.key | {"content-type": "text/plain"})).status_code == 415
    assert (await send(f"{STRANGER},12.5")).status_code == 422
    assert (await send(f"{STRANGER},1", params=query | {"amounts": "some"})).status_code == 400
    listed = (await firm.get(path_of(asset)))["distributions"]
    assert [d["id"] for d in listed] == [made["id"]]
    whole = (await send(f"{STRANGER},12.5", params=query | {"amounts": "whole"})).json()
    assert whole["total_amount"] == str(25 * UNIT // 2)


@pytest.mark.long
async def test_distributions_of_all_assets_are_listed(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    first, second = await firm.asset(), await firm.asset(name="Other", symbol="OTH")
    made = [await draft_distribution(firm, asset, (STRANGER, 5)) for asset in (first, second)]
    ids = [d["id"] for d in (await firm.get("/distributions"))["distributions"]]
    assert ids == [made[1]["id"], made[0]["id"]]
    of_one = (await firm.get("/distributions", params={"assetId": first["id"]}))["distributions"]
    assert [(d["id"], d["asset_symbol"]) for d in of_one] == [(made[0]["id"], first["symbol"])]
    assert (await firm.get("/distributions", params={"status": "active"}))["distributions"] == []
    await firm.refused("GET", "/distributions", 400, params={"status": "gone"})
    stranger = await Issuance.ready(world, SEPOLIA)
    assert (await stranger.get("/distributions"))["distributions"] == []


async def test_invalid_distribution_bodies_create_nothing(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    good = {"name": "D", "chain_eid": SEPOLIA, "recipients": [{"address": STRANGER, "amount": "1"}]}
    twice = [{"address": STRANGER, "amount": "1"}, {"address": STRANGER.lower(), "amount": "2"}]
    for bad in (
        {"recipients": []},
        {"recipients": twice},
        {"recipients": [{"address": STRANGER, "amount": "0"}]},
        {"recipients": [{"address": "0x1", "amount": "1"}]},
        {"recipients": [{"address": STRANGER, "amount": 1}]},
        {"total_amount": "5"},
        {"holders": {"total_amount": "5"}},
        {"recipients": None, "total_amount": "0"},
        {"name": ""},
        {"surprise": True},
    ):
        await firm.refused("POST", path_of(asset), 422, json=good | bad)
    await firm.refused("POST", path_of(asset), 400, json=good | {"chain_eid": 30168})
    await firm.refused("POST", path_of(asset), 409, json=good | {"chain_eid": HYPEREVM})
    await firm.refused("POST", path_of({"id": firm.id}), 404, json=good)
    assert (await firm.get(path_of(asset)))["distributions"] == []
    await firm.refused("GET", path_of(asset, {"id": firm.id}), 404)


async def test_distribution_of_another_organization_is_invisible(world: World) -> None:
    firm, other = await Issuance.ready(world, SEPOLIA), await Issuance.found(world)
    asset = await firm.asset()
    made = await draft_distribution(firm, asset, (STRANGER, 5))
    for path in (path_of(asset), path_of(asset, made), path_of(asset, made) + f"/proofs/{STRANGER}"):
        await other.refused("GET", path, 404)


@pytest.mark.long
async def test_failed_activation_returns_to_draft_and_can_be_retried(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    made = await draft_distribution(firm, asset, (STRANGER, 5))

    async def yes(*_: object) -> bool:
        return True

    with monkeypatch.context() as patched:  # the distributor has lost its attestation, and the token refuses it
        patched.setattr(funding, "is_eligible", yes)
        await firm.post(path_of(asset, made) + "/activate", terms_of(made))
        record = await firm.get(path_of(asset, made))
        request = await firm.fail(record["request_id"])
    record = await firm.get(path_of(asset, made))
    assert (record["status"], record["failure"]) == ("draft", request["problem"]["detail"])
    assert "attest" in record["failure"]
    assert (await firm.retry(record["request_id"]))["status"] == "succeeded"
    again = await firm.get(path_of(asset, made))
    assert (again["status"], again["failure"]) == ("active", None)
    assert again["distributor_address"] == record["distributor_address"]


@pytest.mark.long
async def test_claims_are_removed_by_a_reorg(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    trader = await firm.trader()
    made = await activated(firm, asset, await draft_distribution(firm, asset, (trader["address"], 5)))
    proof = await firm.get(path_of(asset, made) + f"/proofs/{trader['address']}")
    outcome = await claim(made, proof, trader["address"])
    assert (await firm.get(path_of(asset, made)))["status"] == "completed"
    async with db.worker() as session:
        await Claims().rewind(session, SEPOLIA, outcome.block_number - 1)
    record = await firm.get(path_of(asset, made))
    assert (record["status"], record["claimed_recipients"], record["claimed_amount"]) == ("active", 0, "0")
    async with db.worker() as session:
        for _ in range(2):
            await Claims().apply(session, SEPOLIA, outcome.logs)
    record = await firm.get(path_of(asset, made))
    assert (record["status"], record["claimed_recipients"], record["claimed_amount"]) == ("completed", 1, "5")


@pytest.mark.long
async def test_holders_at_a_block_share_in_proportion(world: World) -> None:
    firm = await Issuance.ready(world, SEPOLIA)
    asset = await firm.asset()
    at = asset["deployments"][0]["token_address"]
    small, large = await firm.trader(), await firm.trader()
    await firm.owner_call(token.transfer(at, small["address"], 10 * UNIT))
    outcome = await firm.owner_call(token.transfer(at, large["address"], 20 * UNIT))
    await firm.owner_call(token.transfer(at, small["address"], 500 * UNIT))
    body = {"name": "Pro rata", "chain_eid": SEPOLIA}
    made = await firm.post(path_of(asset), body | {"holders": {"total_amount": "100", "block": outcome.block_number}})
    assert (made["total_recipients"], made["total_amount"]) == (2, "100")
    proof = await firm.get(path_of(asset, made) + f"/proofs/{large['address']}")
    assert (proof["index"], proof["amount"]) == (0, "67")

    await activated(firm, asset, made)  # its distributor holds the asset now, but is not a paid holder
    now = await firm.post(path_of(asset), body | {"holders": {"total_amount": "5300"}})
    amounts = [(await firm.get(path_of(asset, now) + f"/proofs/{w['address']}"))["amount"] for w in (small, large)]
    assert (now["total_recipients"], amounts) == (2, ["5100", "200"])
    for holders, status in (({"total_amount": "1", "block": 10**9}, 400), ({"total_amount": "1", "block": 0}, 409)):
        await firm.refused("POST", path_of(asset), status, json=body | {"holders": holders})


def test_distribution_body_is_documented_for_both_media_types(api: Any) -> None:
    operation = api.openapi()["paths"]["/v1/orgs/{orgId}/assets/{assetId}/distributions"]["post"]
    content = operation["requestBody"]["content"]
    assert set(content) == {"application/json", "text/csv"}
    fields = content["application/json"]["schema"]["properties"]
    assert set(fields) == {
        "name",
        "chain_eid",
        "recipients",
        "holders",
        "total_amount",
        "blocked",
        "held_of",
        "currency",
    }
    assert "$ref" not in str(content)
