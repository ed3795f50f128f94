"""Registration as an issuer: both credentials, every enabled chain, and the lineage above."""

from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from backend.auth.scopes import Scope
from backend.chain.abi.codec import organization_key
from backend.chain.bindings import registry
from backend.chain.deployment.contracts import contracts_of
from backend.chain.rpc.node_urls import EmbeddedNodes
from backend.client import ApiProblem
from backend.core import db
from backend.core.runtime import runtime as process
from backend.core.settings import settings
from backend.issuers.workflow import follow_move, register
from backend.models import RequestRow, TransactionRow
from backend.requests import workflows
from backend.requests.runs import Run
from backend.server import runtime
from tests.conftest import World
from tests.support.firm import BASE, HYPEREVM, SEPOLIA, Firm


async def parent_on(eid: int, organization: UUID) -> int:
    """Return the parent's key on a chain, as a number."""
    return int(await registry.parent_of(eid, (await contracts_of(eid)).registry, organization), 16)


def key_of(organization: UUID) -> int:
    return int.from_bytes(organization_key(organization))


async def place(organization: UUID, parent: UUID) -> None:
    """Move an organization below another one, in the database only."""
    async with db.worker() as session:
        values = {"parent": parent, "id": organization}
        await session.execute(sa.text("update organizations set parent_id = :parent where id = :id"), values)


async def run_of(request_id: str) -> Run:
    """Return the run of a request's workflow."""
    async with db.worker() as session:
        row = await session.get_one(RequestRow, UUID(request_id))
    return Run(row.organization_id, row.id, row.subject_id, row.arguments, row.attempt)


async def test_registration_requires_a_person_and_a_key(world: World) -> None:
    firm, other = await Firm.found(world), await Firm.found(world, "Other")
    path = f"{firm.base}/issuer/register"
    person, wrong = {"cookie": firm.admin.cookie}, {"headers": await world.key(firm.id, Scope.ATTESTATIONS_READ)}
    for credentials, status in (
        (person, 401),
        ({"headers": firm.key}, 401),
        (person | wrong, 403),
        (person | {"headers": other.key}, 403),
        ({"cookie": other.admin.cookie, "headers": firm.key}, 403),
        ({}, 401),
    ):
        with pytest.raises(ApiProblem) as raised:
            # The credentials are checked before an invalid body.
            await world.client.call("POST", path, json={"max_kyc_level": "x"}, **credentials)
        assert raised.value.status == status, credentials


@pytest.mark.long
async def test_registration_accepts_a_client_token_with_its_key(world: World, api: Any) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    key = firm.key["x-api-key"]
    form = {"grant_type": "client_credentials", "client_id": str(firm.id), "client_secret": key}
    async with httpx.AsyncClient(transport=runtime.local_transport(api), base_url=settings().origin) as http:
        token = (await http.post("/v1/oauth/token", data=form)).json()["access_token"]
    path = f"{firm.base}/issuer/register"
    with pytest.raises(ApiProblem) as alone:
        await world.client.call("POST", path, json={}, headers=firm.key | {"authorization": f"Bearer {key}"})
    assert (alone.value.status, alone.value.rule) == (401, "both_credentials")
    assert "client_credentials" in alone.value.detail
    [call] = alone.value.resolutions
    assert (call["method"], call["path"]) == ("POST", "/oauth/token")
    registered = await world.client.call("POST", path, json={"max_kyc_level": None}, token=token, headers=firm.key)
    await firm.settle((await firm.get("/issuer"))["request_id"])
    assert "registered" in registered
    assert (await firm.get("/issuer"))["max_kyc_level"] == 3


async def test_registration_without_wallet_or_chain_is_rejected(world: World) -> None:
    firm = await Firm.found(world)
    assert "wallet" in (await firm.refused("POST", "/issuer/register", 400, headers=firm.key)).detail
    await firm.post("/wallets", {"label": "Treasury"})
    assert "chain" in (await firm.refused("POST", "/issuer/register", 400, headers=firm.key)).detail
    await firm.refused("GET", "/issuer", 404)


@pytest.mark.parametrize(
    "body",
    [
        {"max_kyc_level": 0},
        {"max_kyc_level": 256},
        {"max_kyc_level": 1.5},
        {"max_kyc_level": "3"},
        {"name": "<script>alert(1)</script>"},
        {"can_revoke_others": "perhaps"},
        {"wallet": "x"},
    ],
)
async def test_registration_with_bad_input_is_a_422_and_writes_nothing(world: World, body: dict[str, Any]) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    problem = await firm.refused("POST", "/issuer/register", 422, headers=firm.key, json=body)
    assert problem.by_field().keys() == body.keys()
    await firm.refused("GET", "/issuer", 404)


@pytest.mark.long
async def test_registration_reaches_the_chain_and_its_repeat_adds_new_chains(world: World) -> None:
    firm = await Firm.issuing(world, SEPOLIA)
    issuer = await firm.get("/issuer")
    wallet = (await firm.get("/wallets"))["wallets"][0]
    assert (issuer["name"], issuer["max_kyc_level"], issuer["can_revoke_others"]) == ("Acme", 3, False)
    shown = [(w["chain_eid"], w["address"], w["status"]) for w in issuer["wallets"]]
    assert shown == [(SEPOLIA, wallet["address"], "registered")]
    assert issuer["wallets"][0]["tx_hash"].startswith("0x")
    answer = await registry.attester(SEPOLIA, (await contracts_of(SEPOLIA)).registry, wallet["address"])
    assert (answer.active, answer.max_kyc_level, answer.name) == (True, 3, "Acme")
    assert int(answer.organization_key, 16) == key_of(firm.id)

    assert (await firm.register())["registered"] is True
    assert (await firm.get("/issuer"))["request_id"] == issuer["request_id"]
    await firm.enable(BASE)
    assert (await firm.register())["registered"] is False
    again = await firm.get("/issuer")
    assert {w["chain_eid"]: w["status"] for w in again["wallets"]} == {SEPOLIA: "registered", BASE: "registered"}
    request = await firm.get(f"/requests/{again['request_id']}")
    assert [(s["chain_eid"], s["status"]) for s in request["steps"]] == [(BASE, "succeeded")]
    assert (await firm.register())["registered"] is True


@pytest.mark.long
async def test_registration_repeat_updates_given_terms_and_keeps_others(world: World) -> None:
    firm = await Firm.issuing(world)
    assert (await firm.register(max_kyc_level=2, can_revoke_others=True))["registered"] is False
    assert (await firm.register(name="Acme Compliance"))["registered"] is False
    issuer = await firm.get("/issuer")
    assert (issuer["name"], issuer["max_kyc_level"], issuer["can_revoke_others"]) == ("Acme Compliance", 2, True)
    at = (await contracts_of(SEPOLIA)).registry
    answer = await registry.attester(SEPOLIA, at, issuer["wallets"][0]["address"])
    assert (answer.name, answer.max_kyc_level, answer.can_revoke_others) == ("Acme Compliance", 2, True)


@pytest.mark.long
async def test_registration_continues_when_one_chain_is_down_and_is_retried(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    firm = await Firm.found(world)
    for eid in (HYPEREVM, SEPOLIA):
        await firm.enable(eid)
    await firm.post("/wallets", {"label": "Treasury"})
    with monkeypatch.context() as down:
        down.setitem(process.part(EmbeddedNodes).urls, HYPEREVM, "http://127.0.0.1:9")
        down.setattr(workflows, "PATIENCE", 1.0)
        await firm.register()
    issuer = await firm.get("/issuer")
    assert {w["chain_eid"]: w["status"] for w in issuer["wallets"]} == {SEPOLIA: "registered", HYPEREVM: "failed"}
    request = await firm.get(f"/requests/{issuer['request_id']}")
    assert (request["status"], request["problem"]["status"], request["can_retry"]) == ("failed", 503, True)
    await firm.post(f"/requests/{issuer['request_id']}/retry")
    assert (await firm.settle(issuer["request_id"], 2))["status"] == "succeeded"
    assert {w["status"] for w in (await firm.get("/issuer"))["wallets"]} == {"registered"}


@pytest.mark.long
async def test_registration_run_twice_sends_nothing_twice(world: World) -> None:
    firm = await Firm.issuing(world)
    before = await firm.get("/issuer")
    await register(await run_of(before["request_id"]))
    assert await firm.get("/issuer") == before
    async with db.worker() as session:
        count = (
            sa.select(sa.func.count())
            .select_from(TransactionRow)
            .where(
                TransactionRow.key.startswith(before["request_id"])  # type: ignore[attr-defined]
            )
        )
        assert await session.scalar(count) == 1


async def test_lineage_is_written_for_the_path_and_follows_a_move(world: World) -> None:
    top, middle = await world.organization("Top"), await world.organization("Elsewhere")
    inner = await world.organization("Inner", top)
    firm = await Firm.issuing(world, SEPOLIA, BASE, name="Leaf", parent=inner)
    for eid in (SEPOLIA, BASE):
        assert await parent_on(eid, firm.id) == key_of(inner)
        assert await parent_on(eid, inner) == key_of(top)
    assert await parent_on(HYPEREVM, firm.id) == 0

    await place(firm.id, middle)
    await place(middle, inner)
    run = Run(top, db.new_id(), firm.id, {}, 1)
    await follow_move(run)
    await follow_move(run)
    for eid in (SEPOLIA, BASE):
        above = [await parent_on(eid, o) for o in (firm.id, middle, inner)]
        assert above == [key_of(middle), key_of(inner), key_of(top)]
    assert await parent_on(HYPEREVM, firm.id) == 0


@pytest.mark.long
async def test_lineage_allows_a_former_ancestor_below(world: World) -> None:
    """The chain still has the old order; it must not look like a cycle."""
    top = await world.organization("Top")
    upper = await Firm.issuing(world, SEPOLIA, name="Upper", parent=top)
    lower = await Firm.issuing(world, SEPOLIA, name="Lower", parent=upper.id)
    await place(lower.id, top)
    await place(upper.id, lower.id)
    await follow_move(Run(top, db.new_id(), upper.id, {}, 1))
    assert await parent_on(SEPOLIA, upper.id) == key_of(lower.id)
    assert await parent_on(SEPOLIA, lower.id) == key_of(top)


async def test_registration_of_another_organization_is_invisible(world: World) -> None:
    firm, other = await Firm.issuing(world), await Firm.found(world, "Other")
    with pytest.raises(ApiProblem) as raised:
        await other.admin.call("GET", f"{firm.base}/issuer")
    assert raised.value.status == 403
    await other.refused("GET", "/issuer", 404)


@pytest.mark.long
async def test_registrations_paid_by_the_operator_are_limited(world: World, limits: None) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    for number in range(20):
        await firm.post("/issuer/register", {"name": f"Issuer {number}"}, headers=firm.key)
    problem = await firm.refused("POST", "/issuer/register", 429, json={"name": "One more"}, headers=firm.key)
    assert problem.type.endswith("blank")
    await firm.settle((await firm.get("/issuer"))["request_id"])
    assert (await firm.get("/issuer"))["name"] == "Issuer 19"


async def test_registration_without_wallet_or_chain_names_the_calls(world: World) -> None:
    firm = await Firm.found(world)
    path = "/issuer/register"
    wallet = (await firm.refused("POST", path, 400, json={}, headers=firm.key)).resolutions[0]
    (label,) = wallet["body"]["properties"]["label"]["examples"]
    await firm.admin.call(wallet["method"], wallet["path"], json={"label": label})
    chain = (await firm.refused("POST", path, 400, json={}, headers=firm.key)).resolutions[0]
    await firm.admin.call(chain["method"], chain["path"])
    await firm.register()
    assert [known["status"] for known in (await firm.get("/issuer"))["wallets"]] == ["registered"]


async def test_registration_in_progress_is_named_with_its_request(world: World, api: Any) -> None:
    firm = await Firm.found(world)
    await firm.enable(SEPOLIA)
    await firm.post("/wallets", {"label": "Treasury"})
    headers = {"cookie": firm.admin.cookie, "origin": settings().origin, **firm.key}
    transport = runtime.local_transport(api)
    async with httpx.AsyncClient(transport=transport, base_url=settings().origin, headers=headers) as http:
        answers = [await http.post(f"/v1{firm.base}/issuer/register", json={}) for _ in range(2)]
    bodies = [answer.json() for answer in answers]
    for answer, body in zip(answers, bodies, strict=True):
        assert (answer.status_code, UUID(body["requestId"]).version) == (201, 7)
        assert answer.headers["location"] == f"/v1{firm.base}/requests/{body['requestId']}"
        assert body["registered"] or body["message"]
    assert bodies[0]["requestId"] == bodies[1]["requestId"]
    assert (bodies[0]["registered"], "in progress" in bodies[0]["message"]) == (False, True)
    await firm.settle(bodies[0]["requestId"])
