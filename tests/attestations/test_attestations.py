"""Attestations: requested, on chain, read back, replaced, revoked, expired."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
import sqlalchemy as sa

from backend.attestations import states
from backend.attestations.schemas import REPLACED
from backend.chain.abi.calls import call
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of, operator
from backend.chain.devnet import anvil
from backend.chain.rpc.json_rpc import connect, transaction
from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.chain.transactions.execution import execute
from backend.client import SignumClient
from backend.core import db
from backend.core.runtime import runtime
from backend.core.settings import settings
from backend.issuers import workflow as issuers_workflow
from backend.server.runtime import local_transport
from backend.users.schemas import Role
from tests.conftest import PASSWORD, World
from tests.support.crash import run, unqueued
from tests.support.firm import BASE, SEPOLIA, Firm, refused


@pytest_asyncio.fixture(scope="module")
async def issuing(client: SignumClient) -> Firm:
    """An issuer that attests no one, for refused cases."""
    return await Firm.issuing(World(client))


def in_days(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


@pytest.mark.long
async def test_verified_party_is_attested_on_chain_and_revoked(world: World, wallet: str) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet, level=2, accredited=True)
    body = {"party_id": party["id"], "chain_eid": SEPOLIA, "expires_at": in_days(30)}
    accepted = await firm.post("/attestations", body)
    assert accepted.keys() == {"accepted", "attestationId", "status", "requestId", "message"}
    assert (accepted["accepted"], accepted["status"]) == (True, "pending")
    request = await firm.settle(accepted["requestId"])
    assert [(s["name"], s["status"]) for s in request["steps"]] == [("attest", "succeeded"), ("read_back", "succeeded")]

    found = await firm.get(f"/attestations/{accepted['attestationId']}")
    assert (found["status"], found["kyc_level"], found["accredited"], found["country"]) == ("active", 2, True, "SWE")
    assert (found["schema"], found["party"]["name"]) == ("kyc", party["name"])
    assert found["tx_hash"] == request["steps"][0]["tx_hash"]
    issuer = (await firm.get("/issuer"))["wallets"][0]["address"]
    proof = found["proof"]
    assert (proof["attester"], proof["is_valid"], proof["agrees"], proof["revoked"]) == (issuer, True, True, False)
    assert proof["expires_at"] == found["expires_at"]
    at = (await contracts_of(SEPOLIA)).registry
    standing = await registry.standing(SEPOLIA, at, wallet, firm.id)
    assert (standing.found, standing.level, standing.accredited, standing.countries) == (True, 2, True, ("SWE",))

    path = f"/attestations/{found['id']}/revoke"
    revoked = await firm.post(path, {"reason": "Left the programme."})
    request = await firm.settle(revoked["requestId"])
    assert (request["status"], request["reason"]) == ("succeeded", "Left the programme.")
    assert request["title"] == f"Revoke the attestation of {party['name']} on Sepolia Devnet"
    ended = await firm.get(f"/attestations/{found['id']}")
    assert (ended["status"], ended["revocation_reason"]) == ("revoked", "Left the programme.")
    assert (ended["proof"]["revoked"], ended["proof"]["is_valid"], ended["proof"]["agrees"]) == (True, False, True)
    await firm.refused("POST", path, 409, json={"reason": "Again."})


@pytest.mark.long
@pytest.mark.parametrize("address", ["path", "href"])
async def test_resolutions_followed_in_order_lead_to_the_attestation(
    api: Any, world: World, wallet: str, address: str
) -> None:
    firm = await Firm.found(world)
    client = SignumClient(api_key=firm.key["x-api-key"], transport=local_transport(api))
    await client.sign_in(firm.admin.email, PASSWORD)
    body = {"party_id": str(uuid4()), "chain_eid": SEPOLIA}
    missing = await firm.refused("POST", "/attestations", 409, json=body)
    assert (missing.title, missing.type.endswith("/errors/prerequisites-not-met")) == ("Prerequisites not met", True)
    assert missing.dependencyChain == ["party_exists", "party_verified", "chain_enabled", "attestation_eligible"]
    assert [p["satisfied"] for p in missing.prerequisites] == [False, False, False, False]
    bodies = {
        "parties": {"name": "Marta", "country": "SWE"},
        "wallets": {"label": "Treasury"},
        "verify": {},
        "register": {},
        "enable": None,
        "link": {"wallet_address": wallet},
    }
    taken = []
    while True:
        call = missing.resolutions[0]
        assert call["href"] == f"{settings().base_url}{call['path']}"
        name = call["path"].split("?")[0].rsplit("/", 1)[1] if call["method"] == "POST" else "link"
        taken.append(name)
        answer = await client.follow({"method": call["method"], address: call[address]}, bodies[name])
        if name == "parties":
            body["party_id"] = answer["id"]
        if name == "register":
            await firm.settle((await firm.get("/issuer"))["request_id"])
        if len(taken) == 6:
            break
        missing = await firm.refused("POST", "/attestations", 409, json=body)
    assert taken == ["parties", "verify", "enable", "wallets", "register", "link"]
    accepted = await firm.post("/attestations", body)
    assert (await firm.settle(accepted["requestId"]))["status"] == "succeeded"
    with pytest.raises(ValueError, match="not below"):
        await client.follow({"method": "GET", "href": "https://elsewhere.example/v1/orgs"})
    await client.close()


@pytest.mark.long
async def test_attestation_during_the_registration_names_the_issuer_to_wait_for(world: World, wallet: str) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    body = {"party_id": (await firm.verified(wallet))["id"], "chain_eid": SEPOLIA}
    register = f"{firm.base}/issuer/register"
    assert (await firm.refused("POST", "/attestations", 409, json=body)).resolutions[0]["path"] == register

    with unqueued():
        await firm.post("/issuer/register", {}, headers=firm.key)
    waits = await firm.refused("POST", "/attestations", 409, json=body)
    assert waits.prerequisites[-1]["detail"] == (
        "The organization's registration as an issuer on Sepolia Devnet is in progress."
    )
    (call,) = waits.resolutions
    assert (call["method"], call["path"]) == ("GET", f"{firm.base}/issuer")
    issuer = await firm.admin.call(call["method"], call["path"])
    assert [w["status"] for w in issuer["wallets"]] == ["pending"]

    with pytest.MonkeyPatch.context() as fault:
        fault.setitem(runtime.part(EmbeddedNodes).urls, SEPOLIA, "http://127.0.0.1:9")
        await run(issuers_workflow.register, issuers_workflow._failed, firm.id, issuer["request_id"])
    assert (await firm.refused("POST", "/attestations", 409, json=body)).resolutions[0]["path"] == register
    await firm.register()
    assert (await firm.attest({"id": body["party_id"]}))["status"] == "active"


async def test_prerequisites_reveal_nothing_about_parties_of_other_organizations(world: World, wallet: str) -> None:
    mine, other = await Firm.issuing(world, name="Mine"), await Firm.found(world, "Other")
    party = await other.verified(wallet)
    problem = await mine.refused("POST", "/attestations", 409, json={"party_id": party["id"], "chain_eid": SEPOLIA})
    assert [p["satisfied"] for p in problem.prerequisites] == [False, False, True, False]


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"kyc_level": 3}, 400, "kyc_level"),
        ({"accredited": True}, 400, "accredited"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, 400, "expires_at"),
        ({"chain_eid": 49999}, 400, "chain_eid"),
        ({"chain_eid": 30101}, 400, "chain_eid"),
        ({"chain_eid": 40168}, 400, "chain_eid"),
        ({"chain_eid": "40161"}, 422, "chain_eid"),
        ({"chain_eid": 40161.5}, 422, "chain_eid"),
        ({"chain_eid": 0}, 422, "chain_eid"),
        ({"chain_eid": None}, 422, "chain_eid"),
        ({"party_id": "x"}, 422, "party_id"),
        ({"kyc_level": 0}, 422, "kyc_level"),
        ({"kyc_level": 1e99}, 422, "kyc_level"),
        ({"expires_at": "2030-01-01T00:00:00"}, 422, "expires_at"),
        ({"expires_at": "<b>soon</b>"}, 422, "expires_at"),
        ({"country": "USA"}, 422, "country"),
        ({"uid": "0x00"}, 422, "uid"),
    ],
)
async def test_attestation_with_bad_input_is_rejected_at_its_field_and_writes_nothing(
    issuing: Firm, wallet: str, change: dict[str, Any], status: int, field: str
) -> None:
    party = await issuing.verified(wallet, level=2)
    before = (await issuing.get("/requests"))["requests"]
    body = {"party_id": party["id"], "chain_eid": SEPOLIA} | change
    problem = await issuing.refused("POST", "/attestations", status, json=body)
    assert problem.by_field().keys() == {field}
    assert (await issuing.get("/attestations"))["attestations"] == []
    assert (await issuing.get("/requests"))["requests"] == before


@pytest.mark.long
async def test_attestation_above_the_issuer_limit_is_rejected(world: World, wallet: str) -> None:
    firm = await Firm.issuing(world)
    await firm.register(max_kyc_level=1)
    party = await firm.verified(wallet, level=2)
    body = {"party_id": party["id"], "chain_eid": SEPOLIA}
    assert "up to level 1" in (await firm.refused("POST", "/attestations", 400, json=body)).detail
    assert (await firm.attest(party, kyc_level=1))["status"] == "active"


@pytest.mark.long
async def test_issuer_without_funds_is_reported_with_chain_and_balance(world: World, wallet: str) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet)
    issuer = (await firm.get("/issuer"))["wallets"][0]["address"]
    await anvil.fund(SEPOLIA, issuer, 10)
    problem = await firm.refused("POST", "/attestations", 409, json={"party_id": party["id"], "chain_eid": SEPOLIA})
    assert issuer in problem.detail
    assert "0.000000 ETH on Sepolia" in problem.detail
    assert (await firm.get("/attestations"))["attestations"] == []
    await anvil.fund(SEPOLIA, issuer)
    attestation = await firm.attest(party)
    await anvil.fund(SEPOLIA, issuer, 0)
    await firm.refused("POST", f"/attestations/{attestation['id']}/revoke", 409, json={"reason": "x"})
    assert (await firm.get(f"/attestations/{attestation['id']}"))["status"] == "active"


@pytest.mark.long
async def test_newer_attestation_replaces_the_older_one(world: World, wallet: str) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet, level=3)
    old = await firm.attest(party, kyc_level=1)
    new = await firm.attest(party)
    assert (new["status"], new["kyc_level"]) == ("active", 3)
    replaced = await firm.get(f"/attestations/{old['id']}")
    assert (replaced["status"], replaced["revocation_reason"]) == ("revoked", REPLACED)
    proof = replaced["proof"]
    assert (proof["is_valid"], proof["revoked"], proof["agrees"]) == (False, False, True)


@pytest.mark.long
async def test_attestation_dry_run_checks_everything_and_changes_nothing(world: World, wallet: str) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet)
    body = {"party_id": party["id"], "chain_eid": SEPOLIA}
    plan = await firm.post("/attestations", body, params={"dry_run": "true"})
    assert (len(plan["steps"]), plan["impact"]["wallet_address"], plan["impact"]["replaces"]) == (2, wallet, None)
    assert (await firm.get("/attestations"))["attestations"] == []
    await firm.refused("POST", "/attestations", 400, json=body | {"kyc_level": 9}, params={"dry_run": "true"})
    attestation = await firm.attest(party)
    again = await firm.post("/attestations", body, params={"dry_run": "true"})
    assert again["impact"]["replaces"] == attestation["id"]
    path = f"/attestations/{attestation['id']}/revoke"
    plan = await firm.post(path, {"reason": "x"}, params={"dry_run": "true"})
    assert (plan["impact"]["holdings"], plan["impact"]["kyc_level"]) == ([], 2)
    assert (await firm.get(f"/attestations/{attestation['id']}"))["status"] == "active"


@pytest.mark.long
async def test_attestation_expiry_shows_immediately_and_the_sweep_records_it(world: World, wallet: str) -> None:
    firm = await Firm.issuing(world)
    party = await firm.verified(wallet)
    attestation = await firm.attest(party, expires_at=in_days(20))
    other = await firm.attest(party, BASE) if (await firm.enable(BASE)) and await firm.register() else None
    assert other is not None

    async def ids(**params: Any) -> list[str]:
        return [a["id"] for a in (await firm.get("/attestations", params=params))["attestations"]]

    assert await ids() == [other["id"], attestation["id"]]
    assert await ids(expiring_days=30) == [attestation["id"]]
    assert await ids(expiring_days=10) == []
    async with db.worker() as session:
        past = {"t": datetime.now(UTC) - timedelta(seconds=1), "id": UUID(attestation["id"])}
        await session.execute(sa.text("update attestations set expires_at = :t where id = :id"), past)
    assert await ids(status="expired") == [attestation["id"]]
    assert await ids(status="active") == [other["id"]]
    assert await ids(expiring_days=30) == []
    await firm.refused("POST", f"/attestations/{attestation['id']}/revoke", 409, json={"reason": "x"})
    async with db.worker() as session:
        await states.expire_due(session)  # unless the sweep of the running server was faster
    async with db.worker() as session:
        found = await session.execute(sa.text("select status from attestations where id = :id"), {"id": past["id"]})
        assert found.scalar_one() == "expired"


async def test_attestation_is_invalid_on_chain_from_its_expiry(world: World, wallet: str) -> None:
    """From the second of its expiry, without a transaction: a query for that time does not find it."""
    firm = await Firm.issuing(world)
    attestation = await firm.attest(await firm.verified(wallet), expires_at=in_days(1))
    at, rpc = (await contracts_of(SEPOLIA)).registry, await connect(SEPOLIA)
    end = int(datetime.fromisoformat(attestation["expires_at"]).timestamp())
    question = transaction(call("AttestationRegistry", at, "isValid", attestation["uid"]), wallet)

    async def is_valid(moment: int) -> bool:
        return bool(int(await rpc.request("eth_call", question, "latest", {}, {"time": hex(moment)}), 16))

    assert await is_valid(end - 1)
    assert not await is_valid(end)


@pytest.mark.parametrize(
    "params",
    [
        {"status": "gone"},
        {"expiring_days": "0"},
        {"expiring_days": "soon"},
        {"party_id": "x"},
        {"limit": "0"},
        {"cursor": "?"},
    ],
)
async def test_attestations_with_invalid_filters_are_a_400(issuing: Firm, params: dict[str, str]) -> None:
    await issuing.refused("GET", "/attestations", 400, params=params)


@pytest.mark.parametrize("reason", ["", "<script>alert(1)</script>", None, "x" * 501])
async def test_revocation_accepts_a_plain_reason(issuing: Firm, reason: str | None) -> None:
    problem = await issuing.refused("POST", f"/attestations/{uuid4()}/revoke", 422, json={"reason": reason})
    assert problem.by_field().keys() == {"reason"}
    await issuing.refused("POST", f"/attestations/{uuid4()}/revoke", 404, json={"reason": "x"})


async def test_attestations_of_another_organization_are_invisible(world: World, wallet: str) -> None:
    mine, other = await Firm.found(world, "Mine"), await Firm.issuing(world, name="Other")
    attestation = await other.attest(await other.verified(wallet))
    await mine.refused("GET", f"/attestations/{attestation['id']}", 404)
    await mine.refused("POST", f"/attestations/{attestation['id']}/revoke", 404, json={"reason": "x"})
    await refused(mine.admin, "GET", f"{other.base}/attestations", 403)
    assert (await mine.get("/attestations"))["attestations"] == []
    viewer = await world.person(other.id, Role.VIEWER)
    assert len((await viewer.call("GET", f"{other.base}/attestations"))["attestations"]) == 1
    await refused(viewer, "POST", f"{other.base}/attestations/{attestation['id']}/revoke", 403, json={"reason": "x"})


@pytest.mark.long
async def test_attestation_proof_shows_drift_and_is_empty_when_the_chain_is_down(
    world: World, wallet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.issuing(world)
    attestation = await firm.attest(await firm.verified(wallet))
    at, path = (await contracts_of(SEPOLIA)).registry, f"/attestations/{attestation['id']}"
    call = registry.remove_attester(at, attestation["proof"]["attester"])
    await execute(call.intent(f"test:{attestation['id']}", eid=SEPOLIA, signer=await operator()))
    proof = (await firm.get(path))["proof"]
    assert (proof["is_valid"], proof["agrees"]) == (False, False)
    monkeypatch.setitem(runtime.part(EmbeddedNodes).urls, SEPOLIA, "http://127.0.0.1:9")
    assert (await firm.get(path))["proof"] is None
